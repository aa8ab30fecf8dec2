package mcp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/server"

	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
)

// reporter is a tool that reports its progress.
func reporter(name string, end error) tool {
	return plain(name, func(ctx context.Context, _ *call) (answer, error) {
		s := server.ServerFromContext(ctx)
		for i := range 5 {
			if err := s.SendNotificationToClient(ctx, "notifications/progress", map[string]any{
				"progressToken": "p",
				"progress":      i,
			}); err != nil {
				return answer{}, err
			}
		}
		return answer{"done", map[string]any{}}, end
	})
}

func calling(id int, tool string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,`+
		`"_meta":{"progressToken":"p"}}}`, id, tool)
}

// modernly says the same at 2026-07-28, in the body and in the header.
func modernly(body string, header ...string) (string, []string) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t",` +
		`"version":"1"},`
	return strings.Replace(body, `"_meta":{`, meta, 1), append(header, wire.VersionHeader, "2026-07-28")
}

// TestProgressGoesToItsCaller: with a stream of alice's open, bob's progress is bob's to see.
// mcp-go alone keeps all clients without a session under one id, and sends it to alice.
func TestProgressGoesToItsCaller(t *testing.T) {
	t.Parallel()
	for name, withSession := range map[string]bool{"with a session": true, "without one": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, testdb.SQLite(t))
			handler := newHandler(h.config(), []tool{reporter("report", nil)})
			door := h.serve(t, handler)
			var header []string
			if withSession {
				header = []string{wire.SessionHeader, initialize(t, door, "alice", "2025-11-25")}
			}
			listening := openStream(t, request(t, "GET", door, "alice", "", header...))
			body, modern := modernly(calling(1, "report"), "Mcp-Method", "tools/call", "Mcp-Name", "report")
			for _, r := range []*http.Request{
				request(t, "POST", door, "bob", calling(1, "report")), request(t, "POST", door, "bob", body, modern...),
				request(t, "POST", door, "bob", calling(1, "report"), wire.SessionHeader, initialize(t, door, "bob",
					"2025-11-25")),
			} {
				if g := do(t, r); !strings.Contains(g.body, "notifications/progress") ||
					!strings.Contains(g.body, "done") {
					t.Errorf("bob got %s", g.body)
				}
			}
			handler.Close()
			if heard := listening.rest(t); heard != "" {
				t.Errorf("alice heard %s", heard)
			}
		})
	}
}

// TestCancelEndsOnlyOnesOwn: a guessed request id cancels no other user's call. mcp-go itself identifies calls without
// a session, and all of 2026-07-28, only by their request id.
func TestCancelEndsOnlyOnesOwn(t *testing.T) {
	t.Parallel()
	const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"_meta":{"x":1}}}`
	modernCancel, modernHeader := modernly(cancel, "Mcp-Method", wire.MethodCancelled)
	modernCall, modernCallHeader := modernly(calling(7, "wait"), "Mcp-Method", "tools/call", "Mcp-Name", "wait")
	for _, c := range []struct {
		name         string
		call, cancel string
		as           []string
		with         []string
		who          string
		session      bool
		want         string
	}{
		{
			name: "at 2026-07-28", call: modernCall, as: modernCallHeader, cancel: modernCancel, with: modernHeader,
			who: "alice", want: "finished",
		},
		{
			name: "from the version before", call: modernCall, as: modernCallHeader, cancel: cancel, who: "alice",
			want: "finished",
		},
		{name: "without a session", call: calling(7, "wait"), cancel: cancel, who: "alice", want: "finished"},
		{
			name: "with a session of bob's that is alice's to guess", call: calling(7, "wait"), cancel: cancel,
			who: "alice", session: true, want: "finished",
		},
		{name: "one's own", call: calling(7, "wait"), cancel: cancel, who: "bob", session: true, want: "cancelled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, testdb.SQLite(t))
			started, release := make(chan struct{}), make(chan struct{})
			door := h.openWith(t, h.config(), plain("wait", func(ctx context.Context, _ *call) (answer, error) {
				close(started)
				select {
				case <-release:
				case <-ctx.Done():
				}
				return answer{map[bool]string{true: "cancelled", false: "finished"}[ctx.Err() != nil], nil}, nil
			}))
			if c.session {
				session := initialize(t, door, "bob", "2025-11-25")
				c.as, c.with = append(c.as, wire.SessionHeader, session), append(c.with, wire.SessionHeader, session)
			}
			result := make(chan got)
			asked := request(t, "POST", door, "bob", c.call, c.as...)
			go func() { result <- do(t, asked) }()
			<-started
			do(t, request(t, "POST", door, c.who, c.cancel, c.with...))
			close(release)
			if g := <-result; !strings.Contains(g.body, c.want) {
				t.Errorf("want %s, got status %d, %s", c.want, g.status, g.body)
			}
		})
	}
}

// listening is a stream that a test hears.
type listening struct {
	body   io.ReadCloser
	header http.Header
	cancel context.CancelFunc
}

// openStream opens a stream; it is open on the server when this returns.
func openStream(t *testing.T, r *http.Request) listening {
	t.Helper()
	ctx, cancel := context.WithCancel(r.Context())
	resp, err := http.DefaultClient.Do(r.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = resp.Body.Close()
	})
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s: status %d, %v", r.Method, resp.StatusCode, resp.Header)
	}
	return listening{resp.Body, resp.Header, cancel}
}

// rest returns the events until the stream ends.
func (l listening) rest(t *testing.T) string {
	t.Helper()
	data, _ := io.ReadAll(l.body) // it ends with an error where the test ended it
	return string(data)
}
