// Package testdb hands each test an empty database of its own, on either engine.
//
// A database is known by the URL that the program's own DATABASE_URL would have: sqlite:PATH or postgres://….
package testdb

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"caldav-mcp-server/internal/pgtest"
)

// dropTimeout bounds the clean-up: a test that leaves a transaction open must not hang the run.
const dropTimeout = 20 * time.Second

// Each runs a test once per engine, in parallel, as the subtests "sqlite" and "postgres".
func Each(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	each(t, Postgres, test)
}

// EachBlank is Each for tests about the making of tables, and for those that run the program, which begins with none.
func EachBlank(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	each(t, Blank, test)
}

func each(t *testing.T, postgres func(testing.TB) string, test func(t *testing.T, url string)) {
	t.Helper()
	for engine, database := range map[string]func(testing.TB) string{"sqlite": SQLite, "postgres": postgres} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			test(t, database(t))
		})
	}
}

// EachBenchmark runs a benchmark once per engine, as the sub-benchmarks "sqlite" and "postgres".
func EachBenchmark(b *testing.B, benchmark func(b *testing.B, url string)) {
	b.Helper()
	b.Run("sqlite", func(b *testing.B) { benchmark(b, SQLite(b)) })
	b.Run("postgres", func(b *testing.B) { benchmark(b, Postgres(b)) })
}

// SQLite is the URL of a database file that does not exist yet, in a directory that is removed after the test.
func SQLite(t testing.TB) string {
	t.Helper()
	return "sqlite:" + filepath.Join(t.TempDir(), "test.db")
}

// Anonymous takes the name and the secret that a store gave itself out of its file, so that each copy makes its own. The
// caller knows the driver "sqlite".
func Anonymous(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return fmt.Errorf("opening %s: %w", path, err)
	}
	if _, err = db.ExecContext(ctx, "DELETE FROM meta"); err != nil {
		err = fmt.Errorf("forgetting who %s is: %w", path, err)
	}
	return errors.Join(err, db.Close())
}

// Postgres is the URL of a schema in the server that TEST_DATABASE_URL names: it is empty, or has all tables of the
// program and nothing in them, and is the test's own until it ends. Tables are apart, but advisory locks and NOTIFY
// channels are the whole database's.
//
// Without TEST_DATABASE_URL the test is skipped, unless CI is set: then it fails.
func Postgres(t testing.TB) string {
	t.Helper()
	server := serverURL(t)
	lent, err := borrow(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	tidy(t, lent.end)
	return withSearchPath(server, lent.schema)
}

// Blank is the URL of an empty schema, which is dropped after the test: for tests about the making of tables, and for those that run the program.
func Blank(t testing.TB) string {
	t.Helper()
	server := serverURL(t)
	schema := "test_" + strings.ToLower(rand.Text())
	if err := execute(t.Context(), server, "CREATE SCHEMA "+schema); err != nil {
		t.Fatal(err)
	}
	tidy(t, func(ctx context.Context) error { return execute(ctx, server, "DROP SCHEMA "+schema+" CASCADE") })
	return withSearchPath(server, schema)
}

// tidy ends what a test had of the server, behind what it opened itself.
func tidy(t testing.TB, end func(context.Context) error) {
	t.Helper()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), dropTimeout)
		defer cancel()
		if err := end(ctx); err != nil {
			t.Errorf("tidying up; does the test close what it opened? %v", err)
		}
	})
}

// serverURL is the server that TEST_DATABASE_URL names.
func serverURL(t testing.TB) *url.URL {
	t.Helper()
	value := os.Getenv(pgtest.EnvURL)
	if value == "" {
		missing(t)
	}
	server, err := url.Parse(value)
	if err != nil || (server.Scheme != "postgres" && server.Scheme != "postgresql") {
		t.Fatalf("%s must be a URL such as postgres://user:password@host/database", pgtest.EnvURL)
	}
	return server
}

// missing ends a test that needs a Postgres and has none.
func missing(t testing.TB) {
	t.Helper()
	const advice = pgtest.EnvURL + " is not set: run `make test`, or `go run ./internal/pgtest/withpg -- go test PACKAGE`"
	if pgtest.Required() {
		t.Fatal(advice)
	}
	t.Skip(advice)
}

// withSearchPath is a server's URL whose connections see one schema only. pgx sends parameters of a URL that it
// does not know itself to the server, as settings of the session.
func withSearchPath(server *url.URL, schema string) string {
	own := *server
	query := own.Query()
	query.Set("search_path", schema)
	own.RawQuery = query.Encode()
	return own.String()
}

// execute runs one statement on a connection of its own.
func execute(ctx context.Context, server *url.URL, statement string) error {
	db, err := sql.Open("pgx", server.String())
	if err != nil {
		return fmt.Errorf("opening %s: %w", pgtest.EnvURL, err)
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}
