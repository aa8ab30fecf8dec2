package mcp

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
)

func TestStreamEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, door string, h *Handler, session string){
		"with its session": func(t *testing.T, door string, _ *Handler, session string) {
			t.Helper()
			do(t, request(t, "DELETE", door, "alice", "", wire.SessionHeader, session))
		},
		"with the server": func(_ *testing.T, _ string, h *Handler, _ string) { h.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, testdb.SQLite(t))
			handler := New(h.config())
			door := h.serve(t, handler)
			session := initialize(t, door, "alice", "2025-11-25")
			s := openStream(t, request(t, "GET", door, "alice", "", wire.SessionHeader, session))
			end(t, door, handler, session)
			if rest := s.rest(t); rest != "" {
				t.Errorf("heard %q", rest)
			}
		})
	}
}

func TestStreamEndsByAge(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	c := h.config()
	c.Limits.StreamAge = time.Millisecond
	s := openStream(t, request(t, "GET", h.open(t, c), "alice", ""))
	s.rest(t)
}

func TestStreamIsNeverSilent(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	c := h.config()
	c.Limits.StreamPause = time.Millisecond
	s := openStream(t, request(t, "GET", h.open(t, c), "alice", ""))
	if got := s.header.Get("X-Accel-Buffering"); got != "no" {
		t.Errorf("X-Accel-Buffering: %q", got)
	}
	lines := bufio.NewScanner(s.body)
	for range 4 {
		if !lines.Scan() || lines.Text() != "" && !strings.HasPrefix(lines.Text(), ":") {
			t.Fatalf("heard %q, %v; want comments", lines.Text(), lines.Err())
		}
	}
}

func TestStreamsOfATokenAreFew(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	c := h.config()
	c.Limits.Streams = 2
	handler := New(c)
	door := h.serve(t, handler)
	open := func(token string) *http.Request { return request(t, "GET", door, token, "") }
	session := initialize(t, door, "alice", "2025-11-25")
	first := openStream(t, request(t, "GET", door, "alice", "", wire.SessionHeader, session))
	openStream(t, open("alice"))
	if g := do(t, open("alice")); g.status != http.StatusTooManyRequests || g.header.Get("Retry-After") == "" {
		t.Errorf("a third stream: status %d, %v", g.status, g.header)
	}
	openStream(t, open("alice-other"))
	openStream(t, open("bob"))
	do(t, request(t, "DELETE", door, "alice", "", wire.SessionHeader, session))
	first.rest(t) // the response ends when its place was given back
	openStream(t, open("alice"))
	handler.Close()
	if g := do(t, open("bob")); g.status != http.StatusTooManyRequests {
		t.Errorf("a stream of a server that ends: status %d", g.status)
	}
}
