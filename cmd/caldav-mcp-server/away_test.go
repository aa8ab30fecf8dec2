package main

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/internal/pgtest"
	"caldav-mcp-server/internal/testdb"
)

// A server whose Postgres dies says 503 and when to come back, on both doors, and goes on by
// itself once the database is there again.
func TestStoreAway(t *testing.T) {
	t.Parallel()
	db := ownPostgres(t, pgtest.Options{})
	c := firstClient(t, serve(t, on(db.URL())))
	c.must(t, http.StatusCreated, "PUT", personal+"before.ics", event("before", "Before"))
	if err := db.Kill(); err != nil {
		t.Fatal(err)
	}
	away := map[string]answer{
		"PUT":      c.must(t, http.StatusServiceUnavailable, "PUT", personal+"during.ics", event("during", "During")),
		"PROPFIND": c.must(t, http.StatusServiceUnavailable, "PROPFIND", personal, "", "Depth", "0"),
		"readyz":   c.must(t, http.StatusServiceUnavailable, "GET", "/readyz", ""),
		"mcp":      c.listTools(t),
	}
	for what, a := range away {
		if seconds, err := strconv.Atoi(a.header.Get("Retry-After")); a.status != http.StatusServiceUnavailable ||
			err != nil || seconds < 1 {
			t.Errorf("%s: answered %d with Retry-After %q", what, a.status, a.header.Get("Retry-After"))
		}
	}
	c.must(t, http.StatusOK, "GET", "/healthz", "")
	if err := db.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, "the server is ready again", func() bool {
		a, err := c.dav(t.Context(), "GET", "/readyz", "")
		return err == nil && a.status == http.StatusOK
	})
	c.must(t, http.StatusOK, "GET", personal+"before.ics", "")
	c.must(t, http.StatusCreated, "PUT", personal+"after.ics", event("after", "After"))
	c.must(t, http.StatusNotFound, "GET", personal+"during.ics", "")
	if a := c.listTools(t); a.status != http.StatusOK {
		t.Errorf("the MCP door answered %d", a.status)
	}
}

// A server that starts before its database waits for it, and says so.
func TestStoreLate(t *testing.T) {
	t.Parallel()
	db := ownPostgres(t, pgtest.Options{})
	if err := db.Kill(); err != nil {
		t.Fatal(err)
	}
	r := serveUnready(t, console.Program, on(db.URL()))
	until(t, "the server says that it waits", func() bool {
		return strings.Contains(r.log.String(), "waiting for the database")
	})
	if err := db.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.awaitReady(); err != nil {
		t.Fatal(err)
	}
	firstClient(t, r).must(t, http.StatusMultiStatus, "PROPFIND", personal, "", "Depth", "0")
}

// ownPostgres is a Postgres that a test may kill.
func ownPostgres(t *testing.T, options pgtest.Options) *pgtest.Server {
	t.Helper()
	return testdb.Server(t, func() (*pgtest.Server, error) { return pgtest.Start(t.Context(), options) })
}

// listTools asks the MCP door for something.
func (c client) listTools(t *testing.T) answer {
	t.Helper()
	a, err := c.send(t.Context(), http.MethodPost, c.mcp(), `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		"Authorization", "Bearer "+c.tok, "Content-Type", "application/json", "Accept",
		"application/json, text/event-stream")
	if err != nil {
		t.Fatal(err)
	}
	return a
}
