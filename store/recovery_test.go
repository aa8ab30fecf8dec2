package store_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/pgtest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store"
)

// patience bounds the waits of these tests for another process.
const patience = time.Minute

// startPostgres starts a server that a test may kill.
func startPostgres(t *testing.T) *pgtest.Server {
	t.Helper()
	return testdb.Server(t, func() (*pgtest.Server, error) { return pgtest.Start(t.Context(), pgtest.Options{}) })
}

// TestPostgresGoesAndComes: while Postgres is away every call fails with that error. Afterwards the same store
// works by itself, and no acknowledged write is lost.
func TestPostgresGoesAndComes(t *testing.T) {
	t.Parallel()
	server := startPostgres(t)
	s := open(t, server.URL(), store.Options{})
	prepare(t, s)
	for round := range 3 {
		before := version(t, s)
		written := writeWhile(t, s, fmt.Sprint(round), func() {
			if err := server.Kill(); err != nil {
				t.Error(err)
			}
		})
		away(t, s)
		if err := server.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		comesBack(t, s)
		survives(t, s, before, written)
		if _, err := put(t.Context(), s, fmt.Sprintf("after %d", round)); err != nil {
			t.Error(err)
		}
	}
}

// writeWhile writes until a write fails, and runs a function meanwhile.
func writeWhile(t *testing.T, s *store.Store, prefix string, happen func()) map[string]calendar.Version {
	t.Helper()
	written := map[string]calendar.Version{}
	var mu sync.Mutex
	begun := make(chan struct{}, crashWriters)
	var all sync.WaitGroup
	for w := range crashWriters {
		all.Go(func() {
			for i := 0; ; i++ {
				name := fmt.Sprintf("%s-%d-%d", prefix, w, i)
				v, err := put(t.Context(), s, name)
				if err != nil {
					refused(t, "put", err)
					return
				}
				mu.Lock()
				written[name] = v
				mu.Unlock()
				if i == 3 {
					begun <- struct{}{}
				}
			}
		})
	}
	for range crashWriters {
		<-begun
	}
	happen()
	all.Wait()
	return written
}

// refused requires the error of a database that is away.
func refused(t *testing.T, what string, err error) {
	t.Helper()
	if calendar.ReasonOf(err) != calendar.Unavailable || err == nil {
		t.Errorf("%s: got error %v, want one of reason unavailable", what, err)
	}
}

// away requires that every kind of call fails.
func away(t *testing.T, s *store.Store) {
	t.Helper()
	ctx := t.Context()
	refused(t, "Ping", s.Ping(ctx))
	_, err := s.Object(ctx, theCalendar, "a")
	refused(t, "Object", err)
	_, err = s.CredentialGeneration(ctx, auth.Subject{Name: "ann"})
	refused(t, "CredentialGeneration", err)
	_, err = s.PasswordByName(ctx, "ann")
	refused(t, "PasswordByName", err)
	_, err = s.Schema(ctx)
	refused(t, "Schema", err)
	for _, err := range s.Objects(ctx, theCalendar, calendar.ObjectQuery{}) {
		refused(t, "Objects", err)
	}
	refused(t, "Update", s.Update(ctx, func(calendar.Tx) error { return nil }))
	refused(t, "Migrate", s.Migrate(ctx))
}

// comesBack waits until the store works again: each connection that died with the database may cost one
// attempt.
func comesBack(t *testing.T, s *store.Store) {
	t.Helper()
	const connections = 16
	for range connections + 1 {
		if err := s.Ping(t.Context()); err == nil {
			return
		}
	}
	t.Fatalf("the store does not recover: %v", s.Ping(t.Context()))
}

// TestOpenWaitsForPostgres: the database may start later than the program.
func TestOpenWaitsForPostgres(t *testing.T) {
	t.Parallel()
	server := startPostgres(t)
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	password := passwordOf(t, server.URL())

	_, err := store.Open(t.Context(), server.URL(), store.Options{})
	refused(t, "without waiting", err)
	if !strings.Contains(fmt.Sprint(err), hostOf(t, server.URL())) || strings.Contains(fmt.Sprint(err), password) {
		t.Errorf("the error does not tell where the database should be, or tells the password: %v", err)
	}

	heard := make(chan string, 1000)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	opened := make(chan error, 1)
	go func() {
		s, err := store.Open(ctx, server.URL(),
			store.Options{Wait: patience, Logger: slog.New(slog.NewTextHandler(lines(heard), nil))})
		if err == nil {
			err = errors.Join(s.Migrate(ctx), s.Close())
		}
		opened <- err
	}()
	line := <-heard
	if !strings.Contains(line, "waiting for the database") || !strings.Contains(line, hostOf(t, server.URL())) ||
		strings.Contains(line, password) {
		t.Errorf("logged %q", line)
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Error(err)
	}
}

// lines is a writer that passes on the written lines.
type lines chan<- string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

func hostOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

func passwordOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	return password
}

// TestOpenDoesNotWaitInVain: Open does not wait for a database that answers with a refusal.
func TestOpenDoesNotWaitInVain(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(testdb.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/no_such_database"
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err = store.Open(ctx, u.String(), store.Options{Wait: 100 * patience})
	if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "no_such_database") {
		t.Errorf("got error %v, want one that names the database, at once", err)
	}
}

// TestStatementTimeout: a statement that waits too long for a lock is canceled.
func TestStatementTimeout(t *testing.T) {
	t.Parallel()
	address := testdb.Postgres(t)
	holder := open(t, address, store.Options{})
	prepare(t, holder)
	waiter := open(t, address, store.Options{StatementTimeout: time.Second})
	err := holder.Update(t.Context(), func(tx calendar.Tx) error {
		if _, err := tx.Advance(t.Context(), theCalendar); err != nil {
			return err
		}
		_, err := put(t.Context(), waiter, "a")
		refused(t, "put behind a lock", err)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := put(t.Context(), waiter, "a"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
