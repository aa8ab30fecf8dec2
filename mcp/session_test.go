package mcp

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
)

// TestSessionIsItsTokens uses a session of alice's in every way that is not hers: each is a
// 404 on each method, and looks the same.
func TestSessionIsItsTokens(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	id := initialize(t, door, "alice", "2025-11-25")
	foreign := newHouse(t, testdb.SQLite(t))
	c := h.config()
	c.SessionKey = []byte("another key")
	text, seal, _ := strings.Cut(id, ".")
	for _, use := range []struct{ name, token, id string }{
		{"another user", "bob", id},
		{"another token of the same user", "alice-other", id},
		{"of another key", "alice", initialize(t, foreign.open(t, c), "alice", "2025-11-25")},
		{"without its seal", "alice", text},
		{"with a part of its seal", "alice", text + "." + seal[:10]},
		{"with an empty seal", "alice", text + "."},
		{"with another text", "alice", "x" + id},
		{"with another version", "alice", wire.Base64([]byte("2025-03-26 1772366400 x")) + "." + seal},
		{"of mcp-go's form", "alice", "mcp-session-00000000-0000-4000-8000-000000000001"},
		{"of the form for one request", "alice", "once-00000000-0000-4000-8000-000000000001"},
	} {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			g := do(t, request(t, method, door, use.token, listCalls, wire.SessionHeader, use.id))
			if g.status != http.StatusNotFound || !strings.Contains(g.body, "no such session") {
				t.Errorf("%s: %s: status %d, body %s", use.name, method, g.status, g.body)
			}
		}
	}
	if g := do(t, request(t, "POST", door, "alice", listCalls, wire.SessionHeader, id)); g.status != http.StatusOK {
		t.Errorf("afterwards, alice herself: status %d, body %s", g.status, g.body)
	}
}

// TestSessionHoldsOnEveryReplica opens a session with one process and uses it with another,
// which must know the version that was agreed on.
func TestSessionHoldsOnEveryReplica(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		one, other := h.open(t, h.config()), h.open(t, h.config())
		for version, want := range map[string]string{
			"2025-03-26": `"code":-32000`, "2025-06-18": `"isError":true`, "2025-11-25": `"isError":true`,
			"2024-11-05": `"isError":true`, // it agrees on 2025-11-25
		} {
			id := initialize(t, one, "alice", version)
			g := do(t, request(t, "POST", other, "alice", listCalls, wire.SessionHeader, id))
			if g.status != http.StatusOK || !strings.Contains(g.body, "Work") {
				t.Errorf("%s: status %d, body %s", version, g.status, g.body)
			}
			const wrong = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"create_event","arguments":` +
				`{"calendar_id":"x","title":"t","start":"20260301","end":"20260301"}}}`
			if g = do(t, request(t, "POST", other, "alice", wrong, wire.SessionHeader, id)); !strings.Contains(
				g.body, want) {
				t.Errorf("%s: want %s, got %s", version, want, g.body)
			}
		}
	})
}

// TestVersionWeDoNotSpeak: a client that asks for such a version gets a session of another one (MCP 2025-11-25 "Version
// Negotiation"). A request in such a version is refused.
func TestVersionWeDoNotSpeak(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	for _, version := range []string{"1999-01-01", "2024-10-07", "2024-11-05"} {
		g := do(t, request(t, "POST", door, "alice", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+
			`{"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`))
		id := g.header.Get(wire.SessionHeader)
		if g.status != http.StatusOK || !strings.Contains(g.body, `"protocolVersion":"2025-11-25"`) ||
			!strings.Contains(g.body, `"completions"`) {
			t.Errorf("initialize in %s: status %d, body %s", version, g.status, g.body)
		}
		for _, session := range []string{"", id} {
			for _, method := range []string{"POST", "GET"} {
				r := request(t, method, door, "alice", listCalls, wire.VersionHeader, version)
				if session != "" {
					r.Header.Set(wire.SessionHeader, session)
				}
				if g = do(t, r); g.status != http.StatusBadRequest || !strings.Contains(g.body,
					"speaks 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26\"") {
					t.Errorf("%s in %s, session %q: status %d, body %s", method, version, session, g.status, g.body)
				}
			}
		}
	}
}

func TestSessionEnds(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	use := func(id string) int {
		return do(t, request(t, "POST", door, "alice", listCalls, wire.SessionHeader, id)).status
	}
	given, old := initialize(t, door, "alice", "2025-11-25"), initialize(t, door, "alice", "2025-11-25")
	for _, want := range []int{http.StatusNoContent, http.StatusNotFound} {
		if g := do(t, request(t, "DELETE", door, "alice", "", wire.SessionHeader, given)); g.status != want {
			t.Errorf("DELETE: status %d, want %d", g.status, want)
		}
	}
	if got := use(given); got != http.StatusNotFound {
		t.Errorf("a session that was given up: status %d", got)
	}
	h.Set(noon.Add(DefaultLimits().SessionAge - time.Second))
	if got := use(old); got != http.StatusOK {
		t.Errorf("a session of almost seven days: status %d", got)
	}
	h.Pass(time.Second)
	if got := use(old); got != http.StatusNotFound {
		t.Errorf("a session of seven days: status %d", got)
	}
}

// TestSessionWithoutKey holds within one door, and no further.
func TestSessionWithoutKey(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	c := h.config()
	c.SessionKey = nil
	one, other := h.open(t, c), h.open(t, c)
	id := initialize(t, one, "alice", "2025-11-25")
	for door, want := range map[string]int{one: http.StatusOK, other: http.StatusNotFound} {
		if g := do(t, request(t, "POST", door, "alice", listCalls, wire.SessionHeader, id)); g.status != want {
			t.Errorf("status %d, want %d", g.status, want)
		}
	}
}
