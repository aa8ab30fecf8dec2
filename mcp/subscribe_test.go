package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
	"caldav-mcp-server/store/storetest"
)

// calmConfig is a configuration in which streams notify without delay.
func (h *house) calmConfig() Config {
	c := h.config()
	c.Limits.Calm = time.Millisecond
	return c
}

// replica is a service on the same database, as another process has it.
func (h *house) replica(t *testing.T, url string) *service.Service {
	t.Helper()
	return service.New(housetest.Open(t, url, h.Clock).Middle())
}

// ear hears the messages of a stream.
type ear struct {
	listening
	lines *bufio.Scanner
}

// hears opens a stream; it is open on the server when this returns.
func hears(t *testing.T, r *http.Request) *ear {
	t.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), time.Minute) // no test hangs
	t.Cleanup(cancel)
	s := openStream(t, r.WithContext(ctx))
	return &ear{s, bufio.NewScanner(s.body)}
}

// next waits for a message.
func (e *ear) next(t *testing.T) string {
	t.Helper()
	for e.lines.Scan() {
		if data, ok := strings.CutPrefix(e.lines.Text(), "data: "); ok {
			return data
		}
	}
	t.Fatalf("the stream ended: %v", e.lines.Err())
	return ""
}

// told waits for as many notifications as are wanted, in any order, since two of one change may be
// found by two looks: addresses of resources that changed, and methods where there is no address.
func (e *ear) told(t *testing.T, want ...string) {
	t.Helper()
	var heard []string
	for range want {
		var n struct {
			Method string
			Params struct{ URI string }
		}
		if err := json.Unmarshal([]byte(e.next(t)), &n); err != nil {
			t.Fatal(err)
		}
		if n.Params.URI != "" {
			n.Method = n.Params.URI
		}
		heard = append(heard, n.Method)
	}
	slices.Sort(want)
	slices.Sort(heard)
	if diff := cmp.Diff(want, heard); diff != "" {
		t.Errorf("heard (-want +got):\n%s", diff)
	}
}

// silent wants nothing more to be said until the stream ends.
func (e *ear) silent(t *testing.T) {
	t.Helper()
	for e.lines.Scan() {
		if strings.HasPrefix(e.lines.Text(), "data: ") {
			t.Errorf("heard %s", e.lines.Text())
		}
	}
}

const listChanged = "notifications/resources/list_changed"

// addressOf is a resource's: a calendar's, or an event's in it.
func addressOf(cal calendar.CalendarID, uid calendar.UID) string {
	if uid == "" {
		return calendarAddress + string(cal)
	}
	return eventAddress + eventID{Calendar: cal, UID: uid}.String()
}

// inSession sends a request of a session, and wants a result.
func inSession(t *testing.T, door, token, session, method, uri string) {
	t.Helper()
	if g := sayInSession(t, door, token, session, method, uri); strings.TrimSpace(g.body) != `{"jsonrpc":"2.0",`+
		`"id":9,"result":{}}` {
		t.Fatalf("%s %s: %s", method, uri, g.body)
	}
}

func sayInSession(t *testing.T, door, token, session, method, uri string) got {
	t.Helper()
	return do(t, request(t, "POST", door, token, fmt.Sprintf(`{"jsonrpc":"2.0","id":9,"method":%q,"params":{"uri":%q}}`,
		method, uri), wire.SessionHeader, session))
}

func event(uid, title string) string {
	return wrapped(calendar.Event, uid, "DTSTART:20260302T090000Z", "DURATION:PT1H", "SUMMARY:"+title)
}

// TestSubscriptionCrossesProcesses: a session that subscribes at one process gets notifications over its stream at
// another, of changes over any protocol of any process.
func TestSubscriptionCrossesProcesses(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		c := h.calmConfig()
		one := h.open(t, c)
		c.Service = h.replica(t, url)
		handler := New(c)
		other := h.serve(t, handler)
		party, whole := addressOf(work, "party"), addressOf(work, "")
		h.put(t, work, "party", event("party", "Party"))
		session := initialize(t, one, "alice", "2025-11-25")
		e := hears(t, request(t, "GET", other, "alice", "", wire.SessionHeader, session))
		inSession(t, one, "alice", session, "resources/subscribe", whole)
		inSession(t, one, "alice", session, "resources/subscribe", party)

		h.put(t, work, "party", event("party", "Another party")) // as CalDAV does
		e.told(t, whole, party)
		h.put(t, work, "lunch", event("lunch", "Lunch"))
		e.told(t, whole)
		g := do(t, request(t, "POST", one, "alice-other",
			`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"delete_event",`+
				`"arguments":{"calendar_id":"`+
				string(work)+`","event_uid":"party"}}}`, wire.VersionHeader, "2025-11-25"))
		if strings.Contains(g.body, `"isError":true`) {
			t.Fatal(g.body)
		}
		e.told(t, whole, party)
		inSession(t, other, "alice", session, "resources/unsubscribe", whole)
		h.put(t, work, "dinner", event("dinner", "Dinner"))
		h.put(t, work, "party", event("party", "The last party"))
		e.told(t, party)
		handler.Close()
		e.silent(t)
	})
}

// TestSubscriptionOutlivesItsStream: what changes while no stream is open is told over the next
// one, once.
func TestSubscriptionOutlivesItsStream(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		door := h.open(t, h.calmConfig())
		session := initialize(t, door, "alice", "2025-06-18")
		inSession(t, door, "alice", session, "resources/subscribe", addressOf(work, ""))
		inSession(t, door, "alice", session, "resources/subscribe", addressOf(home, ""))
		h.put(t, work, "a", event("a", "A"))
		h.put(t, work, "b", event("b", "B"))
		handler := New(h.calmConfig())
		first := hears(t, request(t, "GET", h.serve(t, handler), "alice", "", wire.SessionHeader, session))
		first.told(t, addressOf(work, ""))
		handler.Close()
		first.silent(t) // its response ends when what was told is noted
		second := hears(t, request(t, "GET", door, "alice", "", wire.SessionHeader, session))
		h.put(t, home, "c", event("c", "C"))
		second.told(t, addressOf(home, ""))
	})
}

// TestSubscriptionEndsWithTheShare: after a share ends, there are no more notifications about the calendar.
func TestSubscriptionEndsWithTheShare(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.put(t, work, "party", event("party", "Party"))
		share := func(access calendar.Access) {
			t.Helper()
			if err := storetest.Share(t.Context(), h.Store, work, "bob-id", access); err != nil {
				t.Fatal(err)
			}
		}
		share(calendar.ReadAccess)
		handler := New(h.calmConfig())
		door := h.serve(t, handler)
		session := initialize(t, door, "bob", "2025-11-25")
		e := hears(t, request(t, "GET", door, "bob", "", wire.SessionHeader, session))
		mine := addressOf("00000000-0000-4000-8000-000000000004", "")
		for _, uri := range []string{mine, addressOf(work, ""), addressOf(work, "party")} {
			inSession(t, door, "bob", session, "resources/subscribe", uri)
		}
		h.put(t, work, "party", event("party", "Another party"))
		e.told(t, addressOf(work, ""), addressOf(work, "party"))
		for _, access := range []calendar.Access{calendar.NoAccess, calendar.FreeBusyAccess} {
			share(access)
			h.put(t, work, "party", event("party", "A secret party, "+fmt.Sprint(access)))
		}
		e.told(t, listChanged) // it went out of bob's list
		cal, err := h.service.Calendar(t.Context(), h.callers["bob"], "00000000-0000-4000-8000-000000000004")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.service.Put(t.Context(), h.callers["bob"], cal, calendar.Draft{
			Name: "x.ics",
			Data: []byte(strings.ReplaceAll(event("x", "X"), "\n", "\r\n")),
		}); err != nil {
			t.Fatal(err)
		}
		e.told(t, mine)
		handler.Close()
		e.silent(t)
	})
}

// TestStreamEndsWithItsToken: anyone who may not any more, hears nothing any more.
func TestStreamEndsWithItsToken(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(h *house, revoked *atomic.Bool){
		"revoked": func(_ *house, revoked *atomic.Bool) { revoked.Store(true) },
		"expired": func(h *house, _ *atomic.Bool) { h.Pass(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, testdb.SQLite(t))
			brief := h.callers["alice"]
			brief.Expires = noon.Add(time.Hour)
			h.callers["alice"] = brief
			var revoked atomic.Bool
			c := h.calmConfig()
			c.Good = func(_ context.Context, who calendar.Caller) error {
				if revoked.Load() && who.Token == brief.Token {
					return auth.ErrUnauthorized
				}
				return nil
			}
			door := h.open(t, c)
			session := initialize(t, door, "alice", "2025-11-25")
			inSession(t, door, "alice", session, "resources/subscribe", addressOf(work, ""))
			e := hears(t, request(t, "GET", door, "alice", "", wire.SessionHeader, session))
			h.put(t, work, "a", event("a", "A"))
			e.told(t, addressOf(work, ""))
			end(h, &revoked)
			h.put(t, work, "b", event("b", "B"))
			e.silent(t) // and comes to its end
		})
	}
}

// TestStreamOutlivesAnOutage: while the store is away nothing is told, and nothing is lost.
func TestStreamOutlivesAnOutage(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	c := h.calmConfig()
	var asked atomic.Int64
	c.Good = func(context.Context, calendar.Caller) error {
		if asked.Add(1) < 4 {
			return calendar.Errorf(calendar.Unavailable, "", "the database is away")
		}
		return nil
	}
	door := h.open(t, c)
	session := initialize(t, door, "alice", "2025-11-25")
	inSession(t, door, "alice", session, "resources/subscribe", addressOf(work, ""))
	h.put(t, work, "a", event("a", "A"))
	e := hears(t, request(t, "GET", door, "alice", "", wire.SessionHeader, session))
	e.told(t, addressOf(work, ""))
}

// TestOneStreamOfASessionSpeaks: the newest, and when it ends the one before goes on.
func TestOneStreamOfASessionSpeaks(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	handler := New(h.calmConfig())
	door := h.serve(t, handler)
	session := initialize(t, door, "alice", "2025-11-25")
	inSession(t, door, "alice", session, "resources/subscribe", addressOf(work, ""))
	older := hears(t, request(t, "GET", door, "alice", "", wire.SessionHeader, session))
	short := h.callers["alice"]
	short.Expires = h.Now().Add(3 * time.Second) // a stream lasts no longer than its token
	h.callers["alice-short"] = short
	newer := hears(t, request(t, "GET", door, "alice-short", "", wire.SessionHeader, session))
	h.put(t, work, "a", event("a", "A"))
	newer.told(t, addressOf(work, ""))
	newer.silent(t) // its response ends when what was told is noted
	h.put(t, work, "b", event("b", "B"))
	older.told(t, addressOf(work, ""))
	handler.Close()
	older.silent(t)
}

// TestListOfResourcesIsTold: a calendar that is added, removed or renamed changes the list of users who have it, and of
// no others.
func TestListOfResourcesIsTold(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	handler := New(h.calmConfig())
	door := h.serve(t, handler)
	stream := func(token, version string) *ear {
		return hears(t, request(t, "GET", door, token, "", wire.SessionHeader, initialize(t, door, token, version)))
	}
	alice, bob, old := stream("alice", "2025-11-25"), stream("bob", "2025-11-25"), stream("alice", "2025-03-26")
	h.calendar(t, "alice", calendar.Properties{Name: "New"})
	alice.told(t, listChanged)
	if err := h.service.PatchCalendar(t.Context(), h.callers["alice"], work,
		func(p *calendar.Properties) ([]calendar.DeadProperty, error) {
			p.Name = "Toil"
			return nil, nil
		}); err != nil {
		t.Fatal(err)
	}
	alice.told(t, listChanged)
	h.homeIsDefault(t)
	if err := h.service.DeleteCalendar(t.Context(), h.callers["alice"], work); err != nil {
		t.Fatal(err)
	}
	alice.told(t, listChanged)
	handler.Close()
	for _, e := range []*ear{alice, bob, old} {
		e.silent(t)
	}
}

// TestSubscribeRefuses: inaccessible and missing resources are refused alike.
func TestSubscribeRefuses(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.put(t, work, "party", event("party", "Party"))
	door := h.open(t, h.config())
	session := initialize(t, door, "bob", "2025-11-25")
	refusal := func(uri string) string {
		t.Helper()
		g := sayInSession(t, door, "bob", session, "resources/subscribe", uri)
		return g.body
	}
	for foreign, none := range map[string]string{
		addressOf(work, ""):      addressOf("00000000-0000-4000-8000-000000000099", ""),
		addressOf(work, "party"): addressOf("00000000-0000-4000-8000-000000000099", "party"),
	} {
		alike := strings.NewReplacer(foreign, "URI", none, "URI", string(work), "ID",
			"00000000-0000-4000-8000-000000000099", "ID")
		one, other := alike.Replace(refusal(foreign)), alike.Replace(refusal(none))
		if one != other || !strings.Contains(one, "-32002") {
			t.Errorf("somebody else's: %s\nnobody's: %s", one, other)
		}
	}
	for uri, want := range map[string]string{
		"http://example.com": "-32002", "": "-32602", eventAddress + "x": "-32602",
		addressOf("00000000-0000-4000-8000-000000000004", "none"): "-32002",
	} {
		if got := refusal(uri); !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", uri, got, want)
		}
	}
	g := do(t, request(t, "POST", door, "bob",
		`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"calendar://x"}}`, wire.VersionHeader,
		"2025-11-25"))
	if !strings.Contains(g.body, "needs a session") {
		t.Errorf("without a session: %s", g.body)
	}
}

// TestEndedSessionHasNoSubscriptions: anyone who gives a session up is told nothing more of it.
func TestEndedSessionHasNoSubscriptions(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	session := initialize(t, door, "alice", "2025-11-25")
	inSession(t, door, "alice", session, "resources/subscribe", addressOf(work, ""))
	id := subscriberOf(wire.SessionID(session))
	kept := func() int {
		all, err := h.Store.Subscriptions(t.Context(), id, h.Now())
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	if kept() != 1 {
		t.Fatal("the subscription is not kept")
	}
	do(t, request(t, "DELETE", door, "alice", "", wire.SessionHeader, session))
	if kept() != 0 {
		t.Error("the subscription outlives its session")
	}
}
