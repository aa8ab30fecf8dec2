package mcp

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
)

// TestPaceOfAToken: a token with too many requests must wait, and other tokens need not (mcp D9).
func TestPaceOfAToken(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	c := h.config()
	c.Limits.Calls = 3
	door := h.open(t, c)
	ping := func(token string) got {
		return do(t, request(t, "POST", door, token, `{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	}
	want := func(status int, tokens ...string) {
		t.Helper()
		for _, token := range tokens {
			if g := ping(token); g.status != status {
				t.Errorf("%s: status %d, want %d: %s", token, g.status, status, g.body)
			}
		}
	}
	want(http.StatusOK, "alice", "alice", "alice")
	if g := ping("alice"); g.status != http.StatusTooManyRequests || g.header.Get("Retry-After") != "20" {
		t.Errorf("a fourth: status %d, %v", g.status, g.header)
	}
	want(http.StatusOK, "alice-other", "bob")
	const told = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	if g := do(t, request(t, "POST", door, "alice", told)); g.status != http.StatusAccepted {
		t.Errorf("a notification: status %d", g.status)
	}
	h.Pass(20 * time.Second)
	want(http.StatusOK, "alice")
	want(http.StatusTooManyRequests, "alice")
	h.Pass(time.Hour)
	want(http.StatusOK, "alice", "alice", "alice")
	want(http.StatusTooManyRequests, "alice")
	h.Pass(-2 * time.Hour) // the clock is set back
	want(http.StatusOK, "alice")
}

// TestPaceIsToldToModels: a tool call that comes too early has a result that a model reads. It says when to repeat the
// call.
func TestPaceIsToldToModels(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	c := h.config()
	c.Limits.Calls = 1
	door := h.open(t, c)
	const status = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"calendar_auth_status"}}`
	const why = "this token has made more than 1 requests in a minute"
	const hint = "wait 60 seconds, then repeat the call; send fewer calls at once"
	for _, seen := range []struct{ version, want string }{
		{"2025-11-25", `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"` + why + ": " + hint +
			`"}],"isError":true,"structuredContent":{"error":{"code":"rate_limited","message":"` + why +
			`","hint":"` + hint + `","retry_after":60}}}}`},
		{"2025-03-26", `"error":{"code":-32000,"message":"` + why + ": " + hint},
	} {
		h.Pass(time.Hour)
		for i := range 2 {
			g := do(t, request(t, "POST", door, "alice", status, wire.VersionHeader, seen.version))
			switch {
			case g.status != http.StatusOK || strings.Contains(g.body, "in a minute") != (i == 1):
				t.Errorf("%s: %d %s", seen.version, g.status, g.body)
			case i == 1 && (!strings.Contains(g.body, seen.want) || g.header.Get("Retry-After") != "60"):
				t.Errorf("%s: %s, want %s", seen.version, g.body, seen.want)
			}
		}
	}
}

// TestCallsAreCounted: by tool and outcome, and never by text from a client.
func TestCallsAreCounted(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	c := h.config()
	var counted housetest.Log
	c.Called = func(tool, outcome string, took time.Duration) { _, _ = fmt.Fprintln(&counted, tool, outcome, took) }
	door := h.open(t, c)
	for _, params := range []string{
		`{"name":"list_calendars","arguments":{}}`, `{"name":"get_calendar","arguments":{"calendar_id":"My secret"}}`,
		`{"name":"get_calendar","arguments":{"My secret":1}}`, `{"name":"My secret","arguments":{}}`,
	} {
		ask(t, door, "alice", "tools/call", params, nil)
	}
	const want = "list_calendars ok 0s\nget_calendar not_found 0s\nget_calendar invalid 0s\n"
	if diff := cmp.Diff(want, counted.String()); diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}
	if strings.Contains(h.Log.String(), "My secret") {
		t.Errorf("the log tells what the client said:\n%s", h.Log.String())
	}
}
