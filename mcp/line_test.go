package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/internal/testdb"
)

// host is a program that has started the server and speaks with it by lines.
type host struct {
	t     *testing.T
	in    *io.PipeWriter
	out   *bufio.Scanner
	ended chan error
}

func (h *house) converseByLines(t *testing.T, token string) *host {
	t.Helper()
	toServer, in := io.Pipe()
	out, fromServer := io.Pipe()
	p := &host{t: t, in: in, out: bufio.NewScanner(out), ended: make(chan error, 1)}
	p.out.Buffer(nil, 1<<20)
	door := New(h.config())
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go func() {
		err := door.ServeLines(ctx, h.callers[token], toServer, fromServer)
		_ = fromServer.Close()
		p.ended <- err
	}()
	return p
}

func (p *host) say(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// hear reads the next line, which must be one JSON object with these words in it.
func (p *host) hear(words ...string) string {
	p.t.Helper()
	if !p.out.Scan() {
		p.t.Fatalf("no answer: %v", p.out.Err())
	}
	line := p.out.Text()
	if !json.Valid([]byte(line)) {
		p.t.Errorf("no JSON: %s", line)
	}
	for _, word := range words {
		if !strings.Contains(line, word) {
			p.t.Errorf("%s is not in %s", word, line)
		}
	}
	return line
}

// hangUp ends the input and waits for the server to have had enough.
func (p *host) hangUp() {
	p.t.Helper()
	if err := p.in.Close(); err != nil {
		p.t.Fatal(err)
	}
	if p.out.Scan() {
		p.t.Errorf("one more line: %s", p.out.Text())
	}
	select {
	case err := <-p.ended:
		if err != nil {
			p.t.Error(err)
		}
	case <-time.After(time.Minute):
		p.t.Error("the server does not end")
	}
}

// TestLines: the layer answers by lines as it does over HTTP, at every version, and notifications
// are not answered.
func TestLines(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	p := h.converseByLines(t, "alice")
	p.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26",` +
		`"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	p.hear(`"protocolVersion":"2025-03-26"`, `"capabilities":{"tools":{"listChanged":false}}`)
	p.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	p.say(``)
	p.say(`{"jsonrpc":"2.0","id":"two","method":"tools/call","params":{"name":"get_calendar",` +
		`"arguments":{"calendar_id":"Wark"}}}`)
	p.hear(`"id":"two"`, `"code":-32000`, `Work`) // the session says which version it is
	p.say(`{no JSON`)
	p.hear(`"id":null`, `-32700`)
	p.say(`{"jsonrpc":"2.0","method":"notifications/nonsense"}`)
	p.say(`{"jsonrpc":"2.0","id":3,"method":"nonsense"}`)
	p.hear(`"id":3`, `-32601`)
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{}}`
	p.say(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"list_calendars","arguments":{},` +
		meta + `}}`)
	p.hear(`"id":4`, `"resultType":"complete"`, `"structuredContent"`)
	p.say(`{"jsonrpc":"2.0","id":5,"method":"ping","params":{"filler":"` + strings.Repeat("x", 65<<10) + `"}}`)
	p.hear(`a message has at most 65536 bytes`)
	p.hangUp()
}

// TestLinesKeepToScopes: tools without the scope are neither listed nor run.
func TestLinesKeepToScopes(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	p := h.converseByLines(t, "alice-read")
	p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if line := p.hear(`"list_calendars"`); strings.Contains(line, `"delete_calendar"`) {
		t.Error("delete_calendar is listed")
	}
	p.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"delete_calendar",` +
		`"arguments":{"calendar_id":"` + string(work) + `"}}}`)
	p.hear(`-32001`)
	p.hangUp()
}

// TestLinesOutliveALongOne: a line beyond all measure is refused like any message that is too long, and the next
// is answered (security L19).
func TestLinesOutliveALongOne(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	p := h.converseByLines(t, "alice-read")
	p.say(strings.Repeat("x", 1<<20))
	p.hear(`a message has at most 65536 bytes`)
	p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	p.hear(`"list_calendars"`)
	p.hangUp()
}

// TestLinesEnd: a host that has gone away ends the connection.
func TestLinesEnd(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := New(h.config())
	gone, out := io.Pipe()
	_ = gone.Close()
	if err := door.ServeLines(t.Context(), h.callers["alice"],
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`), out); err == nil {
		t.Error("nobody hears the answers, and all is well")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	silent, _ := io.Pipe()
	if err := door.ServeLines(ctx, h.callers["alice"], silent, io.Discard); err != nil {
		t.Errorf("told to stop: %v", err)
	}
}
