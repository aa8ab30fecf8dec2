package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/watch"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
)

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},` +
	`"io.modelcontextprotocol/clientCapabilities":{}}`

// listenBody asks for notifications.
func listenBody(filter string) string {
	return `{"jsonrpc":"2.0","id":"sub-1","method":"subscriptions/listen","params":{"notifications":` + filter + `,` +
		modernMeta + `}}`
}

func listenRequest(t *testing.T, door, token, filter string) *http.Request {
	t.Helper()
	return request(t, "POST", door, token, listenBody(filter), wire.VersionHeader, "2026-07-28", "Mcp-Method",
		"subscriptions/listen")
}

// acknowledged waits for the first message of a subscription, which lists the granted subscriptions.
func (e *ear) acknowledged(t *testing.T, want string) {
	t.Helper()
	all := `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged",` +
		`"params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"sub-1"},"notifications":` + want + `}}`
	if diff := cmp.Diff(decode(t, all), decode(t, e.next(t))); diff != "" {
		t.Errorf("the acknowledgement (-want +got):\n%s", diff)
	}
}

// ended waits for the result that ends a subscription, and the end of the stream.
func (e *ear) ended(t *testing.T) {
	t.Helper()
	const want = `{"jsonrpc":"2.0","id":"sub-1","result":{"resultType":"complete",` +
		`"_meta":{"io.modelcontextprotocol/subscriptionId":"sub-1"}}}`
	if diff := cmp.Diff(decode(t, want), decode(t, e.next(t))); diff != "" {
		t.Errorf("the end (-want +got):\n%s", diff)
	}
	e.silent(t)
}

// TestListenTells: a subscription of 2026-07-28 gets its notifications, each with its id, for changes by any process.
func TestListenTells(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.put(t, work, "party", event("party", "Party"))
		c := h.calmConfig()
		c.Service = h.replica(t, url)
		handler := New(c)
		whole, party := addressOf(work, ""), addressOf(work, "party")
		e := hears(t, listenRequest(t, h.serve(t, handler), "alice", fmt.Sprintf(
			`{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,`+
				`"resourceSubscriptions":[%q,%q,%q]}`, party, whole, party)))
		e.acknowledged(t, fmt.Sprintf(`{"resourcesListChanged":true,"resourceSubscriptions":[%q,%q]}`, party, whole))
		h.put(t, work, "party", event("party", "Another party"))
		got := []string{e.next(t), e.next(t)}
		slices.Sort(got) // two looks may find one change
		for i, uri := range []string{whole, party} {
			want := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":%q,`+
				`"_meta":{"io.modelcontextprotocol/subscriptionId":"sub-1"}}}`, uri)
			if diff := cmp.Diff(decode(t, want), decode(t, got[i])); diff != "" {
				t.Errorf("an update (-want +got):\n%s", diff)
			}
		}
		h.calendar(t, "alice", calendar.Properties{Name: "New"})
		e.told(t, listChanged)
		handler.Close()
		e.ended(t)
	})
}

// TestListenGrantsWhatIsVisible: inaccessible, missing and invalid resources are all omitted; if nothing is left, the
// stream ends at once.
func TestListenGrantsWhatIsVisible(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.put(t, work, "party", event("party", "Party"))
	door := h.open(t, h.config())
	const mine = "calendar://00000000-0000-4000-8000-000000000004"
	foreign := fmt.Sprintf(`%q,%q,"calendar://none","calendar://event/none","http://example.com",""`,
		addressOf(work, ""), addressOf(work, "party"))
	for filter, want := range map[string]string{
		`{}`: `{}`,
		`{"toolsListChanged":true,"promptsListChanged":true}`: `{}`,
		`{"resourceSubscriptions":[` + foreign + `]}`:         `{}`,
	} {
		e := hears(t, listenRequest(t, door, "bob", filter))
		e.acknowledged(t, want)
		e.ended(t)
	}
	e := hears(t, listenRequest(t, door, "bob", `{"resourceSubscriptions":[`+foreign+`,"`+mine+`"]}`))
	e.acknowledged(t, `{"resourceSubscriptions":["`+mine+`"]}`)
	e = hears(t, listenRequest(t, door, "alice-write",
		fmt.Sprintf(`{"resourcesListChanged":true,"resourceSubscriptions":[%q]}`, addressOf(work, ""))))
	e.acknowledged(t, `{}`) // a token that may not read
}

// TestListenRefuses: an invalid request is refused like any other, and no stream begins.
func TestListenRefuses(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	c := h.config()
	c.Limits.Streams = 1
	door := h.open(t, c)
	many := strings.Repeat(`"calendar://x",`, watch.MaxFollowed) + `"calendar://y"`
	for name, r := range map[string]struct {
		request *http.Request
		status  int
		code    wire.Code
	}{
		"a filter that is none": {listenRequest(t, door, "alice", `[]`), http.StatusBadRequest, wire.CodeParams},
		"too many": {
			listenRequest(t, door, "alice", `{"resourceSubscriptions":[`+many+`]}`),
			http.StatusBadRequest, wire.CodeParams,
		},
		"no version in the header": {
			request(t, "POST", door, "alice", listenBody(`{}`), "Mcp-Method", "subscriptions/listen"),
			http.StatusBadRequest, -32020,
		},
		"another method in the header": {
			request(t, "POST", door, "alice", listenBody(`{}`), wire.VersionHeader, "2026-07-28", "Mcp-Method",
				"tools/list"), http.StatusBadRequest, -32020,
		},
		"a version before": {
			request(t, "POST", door, "alice",
				`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{}}}`,
				wire.VersionHeader, "2025-11-25"),
			http.StatusOK, wire.CodeMethod,
		},
		"resources/subscribe": {
			request(t, "POST", door, "alice",
				`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"calendar://x",`+
					modernMeta+`}}`,
				wire.VersionHeader, "2026-07-28", "Mcp-Method", "resources/subscribe"),
			http.StatusNotFound, wire.CodeMethod,
		},
	} {
		g := do(t, r.request)
		var answered struct{ Error wire.Error }
		if err := json.Unmarshal([]byte(g.body), &answered); err != nil || g.status != r.status ||
			answered.Error.Code != r.code {
			t.Errorf("%s: status %d, %s; want %d, %d", name, g.status, g.body, r.status, r.code)
		}
	}
	hears(t, listenRequest(t, door, "alice", `{"resourcesListChanged":true}`)).acknowledged(t,
		`{"resourcesListChanged":true}`)
	if g := do(t, listenRequest(t, door, "alice",
		`{"resourcesListChanged":true}`)); g.status != http.StatusTooManyRequests || g.header.Get("Retry-After") == "" {
		t.Errorf("one more than the token may have: status %d, %v", g.status, g.header)
	}
}

// TestListenAlwaysAcknowledges: mcp-go's own acknowledgement is lost now and then when nothing is
// left to be told, since two goroutines then end at once. Ours has one.
func TestListenAlwaysAcknowledges(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	for range 200 {
		e := hears(t, listenRequest(t, door, "alice", `{"toolsListChanged":true}`))
		e.acknowledged(t, `{}`)
		e.ended(t)
	}
}

// TestLinesTell: over lines, a session is told without asking for a stream, and a subscription ends
// when it is cancelled.
func TestLinesTell(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	p := h.converseByLines(t, "alice")
	p.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
		`"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	p.hear(`"subscribe":true`)
	p.say(`{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"` + addressOf(work, "") + `"}}`)
	p.hear(`"id":2`, `"result":{}`)
	h.put(t, work, "a", event("a", "A"))
	p.hear(`notifications/resources/updated`, `"`+addressOf(work, "")+`"`)
	p.say(`{"jsonrpc":"2.0","id":3,"method":"resources/unsubscribe","params":{"uri":"` + addressOf(work, "") + `"}}`)
	p.hear(`"id":3`, `"result":{}`)
	p.say(listenBody(`{"resourceSubscriptions":["` + addressOf(home, "") + `"]}`))
	p.hear(`notifications/subscriptions/acknowledged`, `"sub-1"`, addressOf(home, ""))
	h.put(t, home, "b", event("b", "B"))
	p.hear(`notifications/resources/updated`, `"sub-1"`, addressOf(home, ""))
	p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"sub-1"}}`)
	p.say(`{"jsonrpc":"2.0","id":4,"method":"ping"}`)
	p.hear(`"id":4`)
	h.put(t, home, "c", event("c", "C"))
	p.say(`{"jsonrpc":"2.0","id":5,"method":"resources/subscribe","params":{"uri":"` + addressOf(work, "") + `"}}`)
	p.hear(`"id":5`)
	if got := h.subscriptionsByLines(t); got != 1 {
		t.Fatalf("%d subscriptions are kept", got)
	}
	p.hangUp()
	if got := h.subscriptionsByLines(t); got != 0 {
		t.Errorf("%d subscriptions outlive the connection", got)
	}
}

// subscriptionsByLines counts the subscriptions of alice's sessions of today. Over stdio a client does not learn its
// session id, but it can be computed.
func (h *house) subscriptionsByLines(t *testing.T) int {
	t.Helper()
	all := 0
	for i := range h.IDs() + 1 {
		s := wire.NewSessions(h.config().SessionKey, time.Hour, h.Now,
			func() string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", i) })
		kept, err := h.Store.Subscriptions(t.Context(), subscriberOf(s.Begin(peerOf(h.callers["alice"]).Owner,
			"2025-11-25")), h.Now())
		if err != nil {
			t.Fatal(err)
		}
		all += len(kept)
	}
	return all
}
