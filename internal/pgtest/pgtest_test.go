package pgtest_test

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	"caldav-mcp-server/internal/pgtest"
	"caldav-mcp-server/internal/testdb"
)

// start starts a server that is stopped with the test.
func start(t *testing.T, options pgtest.Options) *pgtest.Server {
	t.Helper()
	return testdb.Server(t, func() (*pgtest.Server, error) { return pgtest.Start(t.Context(), options) })
}

// query runs one statement on a connection of its own.
func query(ctx context.Context, url, statement string) (value string, err error) {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = db.QueryRowContext(ctx, statement).Scan(&value)
	return value, err
}

func mustQuery(t *testing.T, url, statement string) string {
	t.Helper()
	value, err := query(t.Context(), url, statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return value
}

func TestServerLife(t *testing.T) {
	t.Parallel()
	server := start(t, pgtest.Options{})
	const add = "INSERT INTO kept VALUES ('a') RETURNING a"
	const count = "SELECT count(*) FROM kept"
	makeTable(t, server.URL())

	mustQuery(t, server.URL(), add)
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustQuery(t, server.URL(), add)
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := query(t.Context(), server.URL(), count); err == nil {
		t.Error("a killed server answered")
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := mustQuery(t, server.URL(), count); got != "2" {
		t.Errorf("rows after a restart and a crash: %s, want 2: an acknowledged commit was lost", got)
	}
	for range 2 {
		if err := server.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := query(t.Context(), server.URL(), count); err == nil {
		t.Error("a stopped server answered")
	}
}

func makeTable(t *testing.T, url string) {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE kept (a TEXT)"); err != nil {
		t.Fatal(err)
	}
}

func TestServerIsPrivate(t *testing.T) {
	t.Parallel()
	server := start(t, pgtest.Options{})
	address, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	if address.Hostname() != "127.0.0.1" {
		t.Errorf("the server listens on %s", address.Hostname())
	}
	address.User = url.UserPassword(pgtest.Superuser, "guess")
	if _, err := query(t.Context(), address.String(), "SELECT 'in'"); err == nil {
		t.Error("a wrong password was let in")
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	server := start(t, pgtest.Options{
		Durable: true, MaxConnections: 17, Settings: map[string]string{"work_mem": "5MB"},
	})
	for name, want := range map[string]string{
		"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on", "max_connections": "17", "work_mem": "5MB",
	} {
		if got := mustQuery(t, server.URL(), "SHOW "+name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func TestStartSaysWhatPostgresSaid(t *testing.T) {
	t.Parallel()
	_ = start(t, pgtest.Options{}) // skips where there is no Postgres at all
	server, err := pgtest.Start(t.Context(), pgtest.Options{Settings: map[string]string{"no_such_setting": "1"}})
	if err == nil {
		_ = server.Stop()
		t.Fatal("a server with a setting that does not exist started")
	}
	if got := err.Error(); !strings.Contains(got, "no_such_setting") {
		t.Errorf("the error does not name the setting: %s", got)
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	server, err := pgtest.Start(ctx, pgtest.Options{})
	if err == nil {
		_ = server.Stop()
		t.Fatal("a start that was called off went through")
	}
}
