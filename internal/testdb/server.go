package testdb

import (
	"errors"
	"testing"

	"caldav-mcp-server/internal/pgtest"
)

// Server returns a Postgres for one test only, which may stop, kill and starve it. Without Postgres' programs the test
// is skipped.
func Server(t testing.TB, start func() (*pgtest.Server, error)) *pgtest.Server {
	t.Helper()
	server, err := start()
	if errors.Is(err, pgtest.ErrNoPostgres) && !pgtest.Required() {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server
}
