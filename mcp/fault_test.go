package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
)

// failing is a tool that fails as it is told.
func failing(err error) tool {
	return plain("fail", func(context.Context, *call) (answer, error) {
		if err == nil {
			panic("secret of a panic")
		}
		return answer{}, err
	})
}

// TestFaultsAreKeptInside: an internal error is logged, and the client gets only the id of the log line.
func TestFaultsAreKeptInside(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"a foreign error": errors.New("secret: no such column"),
		"a wrapped one":   fmt.Errorf("loading: %w", errors.New("secret")),
		"one of ours":     &calendar.Error{Message: "secret message", Cause: errors.New("secret cause")},
		"a panic":         nil,
	} {
		for _, version := range []string{"2025-03-26", "2025-11-25"} {
			t.Run(name+" at "+version, func(t *testing.T) {
				t.Parallel()
				h := newHouse(t, testdb.SQLite(t))
				g := do(t, request(t, "POST", h.openWith(t, h.config(), failing(err)), "alice", calling(1, "fail"),
					wire.VersionHeader, version))
				const want = `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the server failed; its log ` +
					`has the details under request-1"}}`
				if g.status != http.StatusOK || strings.TrimSpace(g.body) != want {
					t.Errorf("status %d, body %s", g.status, g.body)
				}
				told := "secret"
				if err == nil {
					told = "panic: string"
				}
				if log := h.Log.String(); !strings.Contains(log, told) || !strings.Contains(log, "request=request-1") ||
					strings.Contains(log, "secret of") {
					t.Errorf("the log has not what the client lacks:\n%s", log)
				}
			})
		}
	}
}

// TestRefusals is the table of errors: the refusals of the tools, in both kinds of versions.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    error
		code   int
		word   string
		status int
	}{
		{calendar.Errorf(calendar.NotFound, "", "m"), -32000, "not_found", 200},
		{calendar.Errorf(calendar.Exists, calendar.RuleUIDConflict, "m"), -32000, "exists", 200},
		{calendar.Errorf(calendar.Invalid, "", "m"), -32602, "invalid", 200},
		{calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges, "m"), -32001, "forbidden", 200},
		{calendar.Errorf(calendar.Forbidden, calendar.RuleSupportedKind, "m"), -32000, "unsupported", 200},
		{calendar.Errorf(calendar.Stale, "", "m"), -32000, "stale", 200},
		{calendar.Errorf(calendar.TooLarge, "", "m"), -32000, "too_large", 200},
		{calendar.Errorf(calendar.Unsupported, "", "m"), -32000, "unsupported", 200},
		{fmt.Errorf("saving: %w", calendar.Errorf(calendar.NotFound, "", "m")), -32000, "not_found", 200},
		{calendar.Errorf(calendar.Unavailable, "", "secret address"), -32603, "", 503},
		{calendar.Errorf(calendar.Unavailable, calendar.RuleDiskSpace, "m"), -32000, "unavailable", 200},
	} {
		t.Run(c.err.Error(), func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, testdb.SQLite(t))
			door := h.openWith(t, h.config(), failing(c.err))
			old := do(t, request(t, "POST", door, "alice", calling(1, "fail"), wire.VersionHeader, "2025-03-26"))
			if want := fmt.Sprintf(`"error":{"code":%d,`, c.code); old.status != c.status ||
				!strings.Contains(old.body, want) {
				t.Errorf("at 2025-03-26: status %d, body %s", old.status, old.body)
			}
			body, modern := modernly(calling(1, "fail"), "Mcp-Method", "tools/call", "Mcp-Name", "fail")
			for _, g := range []got{
				do(t, request(t, "POST", door, "alice", calling(1, "fail"), wire.VersionHeader, "2025-06-18")),
				do(t, request(t, "POST", door, "alice", body, modern...)),
			} {
				want := fmt.Sprintf(`"structuredContent":{"error":{"code":%q,"message":"m"}}`, c.word)
				if with := advised(c.err); with.Hint != "" {
					want = fmt.Sprintf(`"structuredContent":{"error":{"code":%q,"message":"m","hint":%q}}`,
						c.word, with.Hint)
				}
				if c.status != http.StatusOK {
					want = `"error":{"code":-32603`
				}
				if g.status != c.status || !strings.Contains(g.body, want) || strings.Contains(g.body, "secret") {
					t.Errorf("later: status %d, body %s", g.status, g.body)
				}
				if (g.header.Get("Retry-After") != "") != (c.status == http.StatusServiceUnavailable) {
					t.Errorf("Retry-After: %q", g.header.Get("Retry-After"))
				}
			}
		})
	}
}

// TestRefusalInAStream: an answer that comes at the end of a stream of events is settled as
// well.
func TestRefusalInAStream(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.openWith(t, h.config(),
		reporter("refuse", calendar.Errorf(calendar.NotFound, "", "nothing there")),
		reporter("fail", errors.New("secret")))
	for name, want := range map[string]string{
		"refuse": `data: {"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"nothing there"}}`,
		"fail": `data: {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the server failed; its log has ` +
			`the details under request-1"}}`,
	} {
		g := do(t, request(t, "POST", door, "alice", calling(1, name)))
		if g.header.Get("Content-Type") != "text/event-stream" || !strings.Contains(g.body, "event: message\n"+
			want+"\n\n") {
			t.Errorf("%s: %s", name, g.body)
		}
		if !strings.Contains(g.body, "notifications/progress") || g.header.Get("X-Accel-Buffering") != "no" {
			t.Errorf("%s: no stream: %v %s", name, g.header, g.body)
		}
	}
}

// TestLogHasNoContent calls with words that may not get into the log.
func TestLogHasNoContent(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	const created = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_event",` +
		`"arguments":{"calendar_id":"%s",` +
		`"title":"Hush title","description":"Hush notes","location":"Hush place","start":"2026-03-01T09:00:00Z",` +
		`"end":"%s"}}}`
	for _, args := range [][]any{
		{"00000000-0000-4000-8000-000000000001", "2026-03-01T10:00:00Z"},
		{"00000000-0000-4000-8000-000000000001", "Hush hour"},
		{"Hush calendar", "2026-03-01T10:00:00Z"},
	} {
		do(t, request(t, "POST", door, "alice", fmt.Sprintf(created, args...)))
	}
	do(t, request(t, "POST", door, "alice", strings.Replace(listCalls, "list_calendars", "Hush tool", 1)))
	log := h.Log.String()
	const want = `msg="tool called" tool=create_event user=alice token=token-a ` +
		`calendar=00000000-0000-4000-8000-000000000001 outcome=ok duration=0s`
	if !strings.Contains(log, want) || !strings.Contains(log, "outcome=invalid") ||
		!strings.Contains(log, "outcome=not_found") {
		t.Errorf("the log lacks %s:\n%s", want, log)
	}
	for _, word := range []string{"Hush", "Work", "Secret plans"} {
		if strings.Contains(log, word) {
			t.Errorf("%q is in the log:\n%s", word, log)
		}
	}
}

// TestLargeBody: a large body is refused before it is read.
func TestLargeBody(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	body := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("a", 70<<10) + `"}}`
	if g := do(t, request(t, "POST", h.open(t, h.config()), "alice",
		body)); g.status != http.StatusRequestEntityTooLarge {
		t.Errorf("status %d, body %s", g.status, g.body)
	}
}

// FuzzBody sends bodies to the server: the response is always JSON or empty, and reveals no internals.
func FuzzBody(f *testing.F) {
	for _, body := range []string{
		listCalls, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}`,
		`{"jsonrpc":"2.0","id":"x","method":"tools/list","params":{"cursor":"x"}}`, `[]`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_event","arguments":{"title":7,` +
			`"start":[],"x":{}}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_calendars","task":{"ttl":1},"_meta":7}}`,
		`{"jsonrpc":"2.0","id":1e400,"method":"ping"}`, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\ud800\"}",
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"server/discover",` +
			`"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen",` +
			`"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"},"notifications":{}}}`,
	} {
		f.Add(body, "")
		f.Add(body, "2026-07-28")
	}
	h := newHouse(f, testdb.SQLite(f))
	door := New(h.config())
	f.Fuzz(func(t *testing.T, body, version string) {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "http://127.0.0.1/mcp", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		if version != "" {
			r.Header.Set(wire.VersionHeader, version)
		}
		w := httptest.NewRecorder()
		door.ServeMCP(w, r, h.callers["alice"])
		reply := w.Body.String()
		if reply != "" && w.Header().Get("Content-Type") == "application/json" && !json.Valid([]byte(reply)) {
			t.Errorf("no JSON: %q", reply)
		}
		for _, inside := range []string{"Go struct", "Go value", "mcp-go", "unmarshal", "panic", "request-1"} {
			if strings.Contains(reply, inside) && !strings.Contains(body, inside) {
				t.Errorf("the answer tells of the inside: %q", reply)
			}
		}
		if w.Code >= http.StatusInternalServerError || strings.Contains(reply, "the server failed") {
			t.Errorf("status %d: %q\n%s", w.Code, reply, h.Log.String())
		}
	})
}
