package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
)

// ask sends a request as a client at 2025-11-25 does, and reads its result.
func ask(t *testing.T, door, token, method, params string, into any) got {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
	g := do(t, request(t, "POST", door, token, body, wire.VersionHeader, "2025-11-25"))
	if into == nil {
		return g
	}
	var r struct{ Result json.RawMessage }
	if err := json.Unmarshal([]byte(g.body), &r); err != nil || r.Result == nil {
		t.Fatalf("%s %s: %v, %s", method, params, err, g.body)
	}
	if err := json.Unmarshal(r.Result, into); err != nil {
		t.Fatal(err)
	}
	return g
}

// resourceResult is what resources/read returns.
type resourceResult struct {
	Contents []struct{ URI, MIMEType, Text string }
}

// TestResourcesAreRead: listed and completed resources can be read, with whole series, by users with access and by no
// others, on either engine.
func TestResourcesAreRead(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.stock(t)
		door := h.open(t, h.config())
		var list struct{ Resources []struct{ URI string } }
		ask(t, door, "alice", "resources/list", `{}`, &list)
		var completed struct{ Completion struct{ Values []string } }
		ask(t, door, "alice", "completion/complete", `{"ref":{"type":"ref/resource","uri":"calendar://event/{id}"},`+
			`"argument":{"name":"id","value":"week"}}`, &completed)
		if len(list.Resources) != 3 || len(completed.Completion.Values) != 1 {
			t.Fatalf("%d calendars, events %v", len(list.Resources), completed.Completion.Values)
		}
		for uri, words := range map[string][]string{
			list.Resources[1].URI:                         {"SUMMARY:Party", "SUMMARY:Weekly", "SUMMARY:Milk"},
			eventAddress + completed.Completion.Values[0]: {"SUMMARY:Weekly", "RRULE:FREQ=WEEKLY"},
		} {
			params := fmt.Sprintf(`{"uri":%q}`, uri)
			var r resourceResult
			ask(t, door, "alice", "resources/read", params, &r)
			if len(r.Contents) == 0 || r.Contents[0].URI != uri || r.Contents[0].MIMEType != "text/calendar" {
				t.Fatalf("%s: %+v", uri, r)
			}
			for _, word := range words {
				if !strings.Contains(r.Contents[0].Text, word+"\r\n") {
					t.Errorf("%s: %s is not in %s", uri, word, r.Contents[0].Text)
				}
			}
			if g := ask(t, door, "bob", "resources/read", params, nil); !strings.Contains(g.body, `-32002`) ||
				strings.Contains(g.body, "Weekly") {
				t.Errorf("%s as bob: %s", uri, g.body)
			}
		}
	})
}

// TestResourceIsBounded: a calendar that is too large for hosts is refused with an alternative.
func TestResourceIsBounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	for i := range 6 {
		uid := fmt.Sprintf("long-%d", i)
		h.put(t, work, uid, wrapped(calendar.Event, uid, "DTSTART:20260302T090000Z", "DURATION:PT1H", "SUMMARY:S",
			"DESCRIPTION:"+strings.Repeat("x", 100<<10)))
	}
	g := ask(t, h.open(t, h.config()), "alice", "resources/read", fmt.Sprintf(`{"uri":"calendar://%s"}`, work), nil)
	if !strings.Contains(g.body, `-32602`) || !strings.Contains(g.body, "has more than 524288 bytes") ||
		!strings.Contains(g.body, "list_events") {
		t.Errorf("%s", g.body)
	}
}

// TestFaultsOfRequests: what fails or panics in a prompt or a resource reaches the log, and of it
// the client the id of the log line.
func TestFaultsOfRequests(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	c := h.config()
	c.Service = nil // every use of it panics
	door := h.openWith(t, c, plain("unused", func(context.Context, *call) (answer, error) { return answer{}, nil }))
	for method, params := range map[string]string{
		"resources/list": `{}`, "resources/read": `{"uri":"calendar://x"}`,
		"completion/complete": `{"ref":{"type":"ref/resource","uri":"calendar://{id}"},"argument":{"name":"id",` +
			`"value":""}}`,
	} {
		g := ask(t, door, "alice", method, params, nil)
		const want = `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the server failed; its log has the ` +
			`details under request-1"}}`
		if g.status != http.StatusOK || strings.TrimSpace(g.body) != want {
			t.Errorf("%s: status %d, body %s", method, g.status, g.body)
		}
		if log := h.Log.String(); !strings.Contains(log, "panic") || !strings.Contains(log, "method="+method) {
			t.Errorf("%s: the log has not what the client lacks:\n%s", method, log)
		}
	}
}

var backticked = regexp.MustCompile("`([^`]*)`")

// TestPromptsNameTools: the tools that a prompt names exist.
func TestPromptsNameTools(t *testing.T) {
	t.Parallel()
	names := make(map[string]bool)
	for _, row := range (toolbox{}).tools() {
		names[row.name] = true
	}
	for _, p := range (toolbox{}).prompts() {
		for _, sent := range []map[string]json.RawMessage{nil, {
			"meeting": json.RawMessage(`"Budget"`),
			"what":    json.RawMessage(`"Lunch"`),
		}} {
			filled := p.asks()
			_ = readArguments(p.name, filled.takes(), sent, false) // each takes some of it
			found := backticked.FindAllStringSubmatch(strings.Join(filled.lines(), "\n"), -1)
			if len(found) == 0 {
				t.Errorf("%s names no tool", p.name)
			}
			for _, word := range found {
				if !names[word[1]] {
					t.Errorf("%s names %s, which is no tool", p.name, word[1])
				}
			}
		}
	}
}

// TestPromptPanics: mcp-go recovers from no prompt, so ours must not let a panic get there.
func TestPromptPanics(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := New(h.config())
	x := &wire.Exchange{Caller: peerOf(h.callers["alice"]), Version: "2025-11-25", FaultID: "request-1"}
	broken := prompt{name: "broken", asks: func() form { panic("secret of a panic") }}
	_, err := door.prompter(broken)(x.Within(t.Context()), mcpgo.GetPromptRequest{})
	if err != nil || x.Refused == nil || x.Refused.Err.Code != wire.CodeInternal ||
		strings.Contains(x.Refused.Err.Message, "secret") {
		t.Errorf("err %v, refused %+v", err, x.Refused)
	}
	// A panic's value may contain user data.
	if log := h.Log.String(); !strings.Contains(log, "panic: string") || !strings.Contains(log, "TestPromptPanics") ||
		strings.Contains(log, "secret") {
		t.Errorf("the log has not what the client lacks, or more:\n%s", log)
	}
}

// TestResourceWithoutWhatCannotBeRead: an object that a damaged disk left unreadable is omitted from its calendar, as
// in a GET, and the log tells its position, not its content (security M10).
func TestResourceWithoutWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.put(t, work, "w", wrapped(calendar.Event, "w", "DTSTART:20260302T090000Z", "SUMMARY:whole"))
	damaged := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:d\r\nSUMMARY ZZSECRET without " +
		"colon\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
	err := h.Store.Update(t.Context(), func(tx calendar.Tx) error {
		cal, err := tx.Advance(t.Context(), work)
		if err != nil {
			return err
		}
		o := calendar.Object{
			Calendar: work, Name: "d.ics", ETag: calendar.ETagOf([]byte(damaged)),
			Size: int64(len(damaged)), Data: []byte(damaged), Version: cal.Version,
		}
		o.UID, o.Kind = "d", calendar.Event
		return tx.PutObject(t.Context(), o)
	})
	if err != nil {
		t.Fatal(err)
	}
	g := ask(t, h.open(t, h.config()), "alice", "resources/read", fmt.Sprintf(`{"uri":"calendar://%s"}`, work), nil)
	if !strings.Contains(g.body, "SUMMARY:whole") || strings.Contains(g.body, "ZZSECRET") {
		t.Errorf("%s", g.body)
	}
	if log := h.Log.String(); !strings.Contains(log, "line 6 of an object cannot be read (syntax)") ||
		strings.Contains(log, "ZZSECRET") {
		t.Errorf("the log says %s", log)
	}
}
