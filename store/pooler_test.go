package store_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/pgtest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store"
)

// TestPooler: everything works through PgBouncer in transaction mode with the settings in docs/scale.md, and
// changes by another process are noticed at once.
func TestPooler(t *testing.T) {
	t.Parallel()
	direct := testdb.Postgres(t)
	pooled := pooler(t, direct)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()

	open := func() *store.Store {
		s, err := store.Open(ctx, pooled, store.Options{MaxConns: 4, Wait: 20 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	one, other := open(), open()
	if err := one.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	listens, heard := make(chan struct{}, 1), make(chan struct{}, 1)
	defer other.Watch(func(h calendar.Hint) { // writers wait for it, so it waits for nothing
		came := listens
		if slices.Contains(h.Calendars, "work") {
			came = heard
		}
		select {
		case came <- struct{}{}:
		default:
		}
	})()
	<-listens

	if err := one.InsertUser(ctx, calendar.User{ID: "ann", Name: "ann"}, "hash"); err != nil {
		t.Fatal(err)
	}
	cal := calendar.Calendar{
		ID: "work", Owner: "ann", Segment: "work",
		Properties: calendar.Properties{Name: "Work", Kinds: calendar.AllKinds()},
	}
	if err := one.Update(ctx, func(tx calendar.Tx) error { return tx.InsertCalendar(ctx, cal) }); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if err := pooledPut(ctx, one, cal.ID, fmt.Sprint(i, ".ics")); err != nil {
			t.Fatal(err)
		}
		if _, err := other.Object(ctx, cal.ID, calendar.ObjectName(fmt.Sprint(i, ".ics"))); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-heard:
	case <-time.After(15 * time.Second): // half the time without notifications
		t.Error("the other process hears of nothing")
	}
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for i := range 10 {
				if err := pooledPut(ctx, []*store.Store{one, other}[w%2], cal.ID,
					fmt.Sprint(w, "-", i, ".ics")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if now, err := other.Calendar(ctx, "ann", cal.ID); err != nil || now.Version != 20+8*10 {
		t.Errorf("many at once: version %d, %v", now.Version, err)
	}
}

// pooledPut creates an object, as a PUT does.
func pooledPut(ctx context.Context, s *store.Store, in calendar.CalendarID, name string) error {
	data := []byte("event " + name)
	return s.Update(ctx, func(tx calendar.Tx) error {
		now, _, _, err := tx.AdvanceTo(ctx, in, calendar.ObjectName(name), calendar.UID(name))
		if err != nil {
			return err
		}
		return tx.PutObject(ctx, calendar.Object{
			Calendar: in, Name: calendar.ObjectName(name), Version: now.Version, ETag: calendar.ETagOf(data),
			Size: int64(len(data)), Data: data,
			Derived: calendar.Derived{UID: calendar.UID(name), Kind: calendar.Event},
		})
	})
}

// TestPoolerBeforeStandby: a standby with a transaction pooler in front answers large reads, once it has the
// tables.
func TestPoolerBeforeStandby(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	start := func(start func() (*pgtest.Server, error)) *pgtest.Server {
		server, err := start()
		if errors.Is(err, pgtest.ErrNoPostgres) && !pgtest.Required() {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Stop() })
		return server
	}
	first := start(func() (*pgtest.Server, error) { return pgtest.Start(ctx, pgtest.Options{}) })
	standby := start(func() (*pgtest.Server, error) { return first.Standby(ctx, "second") })
	second, err := url.Parse(pooler(t, standby.URL()))
	if err != nil {
		t.Fatal(err)
	}
	q := second.Query()
	q.Del("listen")
	second.RawQuery = q.Encode()
	s, err := store.Open(ctx, first.URL(), store.Options{Replica: second.String()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	cal := calendar.Calendar{
		ID: "work", Owner: "ann", Segment: "work",
		Properties: calendar.Properties{Name: "Work", Kinds: calendar.AllKinds()},
	}
	err = errors.Join(s.Migrate(ctx), s.InsertUser(ctx, calendar.User{ID: "ann", Name: "ann"}, "hash"),
		s.Update(ctx, func(tx calendar.Tx) error { return tx.InsertCalendar(ctx, cal) }))
	if err != nil {
		t.Fatal(err)
	}
	for s.ReplicaReads()[store.ReplicaAnswered] == 0 {
		at, err := s.Calendar(ctx, "ann", cal.ID)
		if err != nil {
			t.Fatal(err, s.ReplicaReads())
		}
		for _, err := range s.At(at).Objects(ctx, cal.ID, calendar.ObjectQuery{}) {
			if err != nil {
				t.Fatal(err, s.ReplicaReads())
			}
		}
	}
}

// pooler starts PgBouncer in front of a database and returns its URL.
func pooler(t *testing.T, direct string) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		if program = "/usr/sbin/pgbouncer"; !exists(program) {
			t.Skip("there is no pgbouncer here (Debian: pgbouncer)")
		}
	}
	u, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	port := "5432"
	if u.Port() != "" {
		port = u.Port()
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().(*net.TCPAddr).Port
	l.Close()
	config := fmt.Sprintf(`[databases]
* = host=%s port=%s user=%s password='%s' connect_query='SET search_path TO "%s"'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
ignore_startup_parameters = jit,statement_timeout,search_path
`, u.Hostname(), port, u.User.Username(), password, cmp.Or(u.Query().Get("search_path"), "public"), at)
	//nolint:usetesting // the pooler runs as a user who sees nothing in the test's own
	dir, err := os.MkdirTemp("", "pooler")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	file := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	args := []string{"-q", file}
	if os.Geteuid() == 0 { // it does not run as root
		args = append([]string{"-u", "nobody"}, args...)
	}
	run := exec.CommandContext(t.Context(), program, args...)
	var log strings.Builder
	run.Stderr = &log
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = run.Process.Kill()
		_ = run.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	q := u.Query()
	q.Set("default_query_exec_mode", "exec")
	q.Set("listen", net.JoinHostPort(u.Hostname(), port))
	u.Host, u.RawQuery = net.JoinHostPort("127.0.0.1", fmt.Sprint(at)), q.Encode()
	return u.String()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
