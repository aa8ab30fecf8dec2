// Package testdb gives each test an empty database of its own, on either engine.
//
// A database is identified by a URL as in the program's DATABASE_URL: sqlite:PATH or postgres://….
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

// dropTimeout limits the clean-up: a test that leaves a transaction open must not hang the run.
const dropTimeout = 20 * time.Second

// Each runs a test once per engine, in parallel, as the subtests "sqlite" and "postgres".
func Each(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	each(t, Postgres, test)
}

// EachBlank is Each with a database without tables, for tests of migrations and for tests that run the program.
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

// SQLite returns the URL of a database file that does not exist yet, in a directory that is removed after the test.
func SQLite(t testing.TB) string {
	t.Helper()
	return "sqlite:" + filepath.Join(t.TempDir(), "test.db")
}

// Anonymous removes a store's identity and secret from its file, so that each copy gets its own. The caller must import
// the driver "sqlite".
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

// Postgres returns the URL of a schema in the server of TEST_DATABASE_URL. It has no tables, or all tables of the
// program without rows, and belongs to the test until it ends. Tables are separate, but advisory locks and NOTIFY
// channels are shared by the whole database.
//
// Without TEST_DATABASE_URL the test is skipped, unless CI is set: then it fails.
func Postgres(t testing.TB) string {
	t.Helper()
	server := serverURL(t)
	lent, err := borrow(t.Context(), server)
	if errors.Is(err, errNoLocks) {
		return Blank(t)
	}
	if err != nil {
		t.Fatal(err)
	}
	tidy(t, lent.end)
	return withSearchPath(server, lent.schema)
}

// Blank returns the URL of an empty schema, which is dropped after the test. It is for tests of migrations and for
// tests that run the program.
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

// tidy runs a clean-up on the server after the test's own clean-ups.
func tidy(t testing.TB, end func(context.Context) error) {
	t.Helper()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), dropTimeout)
		defer cancel()
		if err := end(ctx); err != nil {
			t.Errorf("cleaning up; did the test close all connections? %v", err)
		}
	})
}

// serverURL returns the server of TEST_DATABASE_URL.
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

// missing ends a test that needs Postgres and has none.
func missing(t testing.TB) {
	t.Helper()
	const advice = pgtest.EnvURL +
		" is not set: run `make test`, or `go run ./internal/pgtest/withpg -- go test PACKAGE`"
	if pgtest.Required() {
		t.Fatal(advice)
	}
	t.Skip(advice)
}

// withSearchPath returns a server's URL whose connections see only one schema. pgx passes unknown parameters of a URL
// to the server, as session settings.
func withSearchPath(server *url.URL, schema string) string {
	own := *server
	query := own.Query()
	query.Set("search_path", schema)
	own.RawQuery = query.Encode()
	return own.String()
}

// execute runs one statement on a new connection.
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
