package testdb_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	"caldav-mcp-server/internal/pgtest"
	"caldav-mcp-server/internal/testdb"
)

func TestEachGivesBothEngines(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		engine := filepath.Base(t.Name())
		if !strings.HasPrefix(url, engine+":") {
			t.Errorf("subtest %s got the URL %s", engine, url)
		}
	})
}

func TestSQLiteFileDoesNotExistYet(t *testing.T) {
	t.Parallel()
	path, found := strings.CutPrefix(testdb.SQLite(t), "sqlite:")
	if !found || !filepath.IsAbs(path) {
		t.Fatalf("not an absolute sqlite: URL: %q", path)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the database is there before anybody made it: %v", err)
	}
}

// Two tests that make the same table must not meet.
func TestPostgresSchemasAreApart(t *testing.T) {
	t.Parallel()
	for range 2 {
		db := open(t, testdb.Postgres(t))
		if _, err := db.ExecContext(t.Context(), "CREATE TABLE same_name (a TEXT PRIMARY KEY)"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPostgresSchemaIsDropped(t *testing.T) {
	t.Parallel()
	var schema string
	server := ""
	t.Run("user", func(t *testing.T) {
		db := open(t, testdb.Blank(t))
		if _, err := db.ExecContext(t.Context(), "CREATE TABLE left_behind (a TEXT)"); err != nil {
			t.Fatal(err)
		}
		schema = query(t, db, "SELECT current_schema()")
		server = os.Getenv(pgtest.EnvURL)
	})
	if server == "" {
		t.Skip("the schema's test was skipped, for want of Postgres")
	}
	got := query(t, open(t, server), "SELECT count(*) FROM pg_namespace WHERE nspname = '"+schema+"'")
	if got != "0" {
		t.Errorf("schema %s is still there", schema)
	}
}

func open(t testing.TB, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func query(t testing.TB, db *sql.DB, statement string) string {
	t.Helper()
	var value string
	if err := db.QueryRowContext(context.WithoutCancel(t.Context()), statement).Scan(&value); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return value
}
