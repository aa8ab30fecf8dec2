package auth_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store"
)

const (
	rightPassword = "correct horse battery"
	wrongPassword = "incorrect horse battery"
)

// clock is a clock that stands still until it is moved, and a source of ids. The processes on one
// database share it.
type clock struct {
	mu  sync.Mutex
	now time.Time
	ids atomic.Int64
}

func atNoon() *clock { return &clock{now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) newID() string { return fmt.Sprint("user-", c.ids.Add(1)) }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// counter is the real hasher at the least cost, which counts what it is asked for.
type counter struct {
	auth.Argon2id
	checks, made atomic.Int64
	// during runs in each check.
	during func()
}

func (c *counter) Check(secret string, h auth.Hash) (auth.Check, error) {
	c.checks.Add(1)
	if c.during != nil {
		c.during()
	}
	return c.Argon2id.Check(secret, h)
}

func (c *counter) Hash(secret string) (auth.Hash, error) {
	c.made.Add(1)
	return c.Argon2id.Hash(secret)
}

// house is a Service on a real store.
type house struct {
	*auth.Service
	t      *testing.T
	url    string
	store  *store.Store
	clock  *clock
	hasher *counter
	log    *bytes.Buffer
}

// each runs a test in a house of its own on each engine.
func each(t *testing.T, test func(h *house)) {
	t.Helper()
	testdb.Each(t, func(t *testing.T, url string) {
		test(open(t, url, atNoon(), nil))
	})
}

// open opens a house, as one more process would; wrap may put something before its store.
func open(t *testing.T, url string, c *clock, wrap func(auth.Store) auth.Store) *house {
	t.Helper()
	s, err := store.Open(t.Context(), url, store.Options{Now: c.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	h := &house{
		t: t, url: url, store: s, clock: c, log: new(bytes.Buffer),
		hasher: &counter{Argon2id: auth.Argon2id{Cost: auth.Cost{MemoryKiB: 8, Iterations: 1, Parallelism: 1}}},
	}
	var kept auth.Store = s
	if wrap != nil {
		kept = wrap(s)
	}
	h.Service = auth.New(h.config(kept))
	return h
}

func (h *house) config(s auth.Store) auth.Config {
	return auth.Config{
		Store: s, Now: h.clock.Now, NewID: h.clock.newID,
		Logger: slog.New(slog.NewTextHandler(h.log, nil)), Hasher: h.hasher, Limits: auth.DefaultLimits(),
	}
}

// neighbour is another process on the same database.
func (h *house) neighbour() *house {
	h.t.Helper()
	return open(h.t, h.url, h.clock, nil)
}

func (h *house) createUser(name string) calendar.User {
	h.t.Helper()
	u, err := h.CreateUser(h.t.Context(), auth.NewUser{Name: name, Password: rightPassword})
	if err != nil {
		h.t.Fatal(err)
	}
	return u
}

func (h *house) createToken(spec auth.TokenSpec) (auth.Token, string) {
	h.t.Helper()
	if spec.Name == "" {
		spec.Name = "Claude on laptop"
	}
	if spec.Scopes == 0 {
		spec.Scopes = calendar.ScopeRead
	}
	token, secret, err := h.CreateToken(h.t.Context(), spec)
	if err != nil {
		h.t.Fatal(err)
	}
	return token, string(secret)
}

// createCalendar makes a calendar that tokens can be bound to.
func (h *house) createCalendar(owner calendar.UserID, id calendar.CalendarID) {
	h.t.Helper()
	err := h.store.Update(h.t.Context(), func(tx calendar.Tx) error {
		return tx.InsertCalendar(h.t.Context(), calendar.Calendar{
			ID: id, Owner: owner, Segment: calendar.Segment(id), Created: h.clock.Now(), Modified: h.clock.Now(),
			Properties: calendar.Properties{Name: string(id), Timezone: "UTC", Kinds: calendar.AllKinds()},
		})
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

func here() netip.Addr      { return netip.MustParseAddr("192.0.2.1") }
func elsewhere() netip.Addr { return netip.MustParseAddr("198.51.100.7") }

// login logs in with a password, from here.
func (h *house) login(user, password string) error {
	_, err := h.VerifyBasic(h.t.Context(), user, password, here())
	return err
}

// bear logs in with a token, from here.
func (h *house) bear(token string) error {
	_, err := h.VerifyBearer(h.t.Context(), token, here())
	return err
}

// hashes returns how many checks of a hash something took.
func (h *house) hashes(something func()) int64 {
	before := h.hasher.checks.Load()
	something()
	return h.hasher.checks.Load() - before
}
