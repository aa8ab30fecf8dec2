// Package housetest is the fixture for tests above the store: a store with its schema, a manual clock, sequential ids,
// and a log to read.
package housetest

import (
	"bytes"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/store"
)

// Clock is a manual clock and a source of ids. The processes on one database share it.
type Clock struct {
	// Form is the format of ids.
	Form string
	mu   sync.Mutex
	now  time.Time
	ids  atomic.Int64
}

// At makes a clock that shows a time.
func At(now time.Time) *Clock { return &Clock{Form: "id-%d", now: now} }

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Pass advances the clock.
func (c *Clock) Pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Set sets the clock.
func (c *Clock) Set(now time.Time) { c.Pass(now.Sub(c.Now())) }

// NewID returns the next id.
func (c *Clock) NewID() string { return fmt.Sprintf(c.Form, c.ids.Add(1)) }

// IDs returns the number of ids so far.
func (c *Clock) IDs() int64 { return c.ids.Load() }

// Log collects log output; it is safe for concurrent use.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *Log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

// String returns the log so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// House is a process on a database.
type House struct {
	*Clock
	Store   *store.Store
	Log     *Log
	TaskLog *TaskLog
	// URL is the database's.
	URL string
	// Close closes the store before the test ends.
	Close func() error
	t     testing.TB
}

// Open opens a database and creates its schema if necessary. A second House on the same database is another process.
func Open(t testing.TB, url string, c *Clock) *House {
	t.Helper()
	Furnish(t, url)
	s, err := store.Open(t.Context(), url, store.Options{Now: c.Now})
	if err != nil {
		t.Fatal(err)
	}
	h := &House{
		Clock: c, Store: s, Log: new(Log), TaskLog: new(TaskLog), URL: url, Close: sync.OnceValue(s.Close), t: t,
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Errorf("closing the store: %v", err)
		}
	})
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return h
}

// Logger returns a logger that writes to Log.
func (h *House) Logger() *slog.Logger { return slog.New(slog.NewTextHandler(h.Log, nil)) }

// Admit adds users, without passwords.
func (h *House) Admit(t testing.TB, all ...calendar.User) {
	t.Helper()
	for _, u := range all {
		if u.Created.IsZero() {
			u.Created = h.Now()
		}
		if err := h.Store.InsertUser(t.Context(), u, ""); err != nil {
			t.Fatal(err)
		}
	}
}

// Middle returns the configuration of a calendar service on the store, for tests to change. The store checks that every
// message defines the zones that it names.
func (h *House) Middle() service.Config {
	return service.Config{
		Store: explained{h.Store, h.t}, Limits: calendar.DefaultLimits(), Now: h.Now, NewID: h.NewID,
		Task: h.TaskLog.Task,
	}
}

// Cheap is the real hasher with minimal cost.
var Cheap = auth.Argon2id{Cost: auth.Cost{MemoryKiB: 8, Iterations: 1, Parallelism: 1}}

// Login returns the configuration of an auth service with cheap hashes.
func (h *House) Login() auth.Config {
	return auth.Config{
		Store: h.Store, Now: h.Now, NewID: h.NewID, Logger: h.Logger(), Limits: auth.DefaultLimits(),
		Hasher: Cheap,
	}
}
