package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
)

// proposer adds a token of alice that reads and proposes.
func (h *house) proposer(t *testing.T) {
	t.Helper()
	for _, name := range []string{"alice", "bob"} {
		mail := name + "@example.com"
		if err := h.Store.ChangeUser(t.Context(), h.callers[name].User.ID, auth.UserEdit{Email: &mail}); err != nil {
			t.Fatal(err)
		}
		c := h.callers[name]
		c.User.Email = mail
		h.callers[name] = c
	}
	c := h.callers["alice"]
	c.Scopes, c.Token, c.Agent = calendar.ScopeRead|calendar.ScopePropose, "token-p", "Claude"
	token := auth.Token{ID: c.Token, User: c.User.ID, Name: c.Agent, Scopes: c.Scopes, Created: noon}
	if err := h.Store.InsertToken(t.Context(), token, "", ""); err != nil {
		t.Fatal(err)
	}
	h.callers["claude"] = c
}

// observed is all that other programs and users see: versions, events, messages.
func (h *house) observed(t *testing.T, door string) (all []string) {
	t.Helper()
	for _, who := range []string{"alice", "bob"} {
		cals, err := h.service.Calendars(t.Context(), h.callers[who])
		if err != nil {
			t.Fatal(err)
		}
		for _, cal := range cals {
			all = append(all, fmt.Sprint(cal.ID, cal.Version))
		}
		days := params{"start": "2026-03-01", "end": "2026-03-31"}
		all = append(all, use(t, door, who, "list_events", days, new(listView)),
			use(t, door, who, "list_tasks", params{}, new(struct{})),
			use(t, door, who, "list_invitations", params{}, new(invitationsView)))
	}
	if _, is := h.callers["reader"]; is { // another assistant of alice
		all = append(all, use(t, door, "reader", "search_events", params{"query": "Other", "include_past": true},
			new(struct{})), use(t, door, "reader", "list_changes", params{}, new(struct{})),
			use(t, door, "reader", "find_time", params{"duration_minutes": 30}, new(struct{})))
	}
	bob, err := h.service.HomeChanges(t.Context(), h.callers["bob"], calendar.SyncToken{})
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, bob.Now.String())
	return append(all, use(t, door, "bob", "get_free_busy", params{
		"usernames": []string{"alice"}, "start_time": "2026-03-01", "end_time": "2026-03-31",
	}, new(struct{})))
}

// TestSuggestions: an assistant with the scope propose changes nothing. Its user accepts a suggestion, and then the
// guests hear of it.
func TestSuggestions(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.proposer(t)
		door := h.open(t, h.config())
		h.put(t, work, "plan", wrapped(calendar.Event, "plan", "DTSTART:20260303T090000Z", "DTEND:20260303T100000Z",
			"SUMMARY:Plan"))
		before := h.observed(t, door)
		var made, moved, gone, none suggestedView
		said := use(t, door, "claude", "create_event", params{
			"calendar_id": work, "title": "Lunch", "start": "2026-03-03T12:00:00Z", "end": "2026-03-03T13:00:00Z",
			"attendees": []string{"bob@example.com"}, "idempotency_key": "k",
		}, &made)
		if page := "https://cal.example/dav/account/suggestions"; !strings.Contains(said, page) {
			t.Errorf("the text does not lead to %s: %s", page, said)
		}
		var repeated suggestedView
		use(t, door, "claude", "create_event", params{
			"calendar_id": work, "title": "Lunch", "start": "2026-03-03T12:00:00Z", "end": "2026-03-03T13:00:00Z",
			"attendees": []string{"bob@example.com"}, "idempotency_key": "k",
		}, &repeated)
		use(t, door, "claude", "move_event", params{
			"calendar_id": work, "event_uid": "plan", "new_start": "2026-03-04T09:00:00Z",
		}, &moved)
		use(t, door, "claude", "change_many", params{"changes": []params{
			{"tool": "delete_event", "calendar_id": work, "event_uid": "plan"},
		}}, &gone)
		use(t, door, "claude", "patch_event", params{"calendar_id": work, "event_uid": "plan", "title": "Plan"}, &none)
		if !made.Proposed || made.ID == "" || repeated.ID != made.ID || none.Proposed || none.ID != "" {
			t.Errorf("proposed %+v, again %+v, nothing %+v", made, repeated, none)
		}
		if diff := cmp.Diff(before, h.observed(t, door)); diff != "" {
			t.Errorf("a suggestion is seen (-before +after):\n%s", diff)
		}
		h.refuses(t, door, "share_calendar", params{"calendar_id": work, "user": "bob"}, "lacks")
		h.refuses(t, door, "webhooks", params{"action": "add", "url": "https://hooks.example/a"}, "lacks")
		h.refuses(t, door, "delete_calendar", params{"calendar_id": work}, "lacks")
		h.refuses(t, door, "create_booking_page", params{"calendar_id": work, "title": "Talk"}, "lacks")
		h.refuses(t, door, "move_event", params{
			"calendar_id": work, "event_uid": "plan", "to_calendar_id": home,
		}, "to_calendar_id")

		list := func(want ...string) {
			t.Helper()
			var v suggestionsView
			use(t, door, "claude", "list_proposals", params{}, &v)
			var got []string
			for _, s := range v.Proposals {
				got = append(got, string(s.State)+" "+fmt.Sprint(len(s.Changes)))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("listed (-want +got):\n%s", diff)
			}
		}
		list("open 1", "open 1", "open 1")
		user := h.callers["alice"]
		user.Token = ""
		accept := func(id calendar.SuggestionID) ([]calendar.Told, error) {
			t.Helper()
			m := h.service.Meter(t.Context(), user)
			defer m.Close()
			seen, err := h.service.Consider(t.Context(), user, m, id)
			if err != nil {
				return nil, err
			}
			return h.service.AcceptSuggestion(t.Context(), user, m, id, seen.State)
		}
		told, err := accept(made.ID)
		if err != nil || calendar.People(told) != 1 {
			t.Errorf("accepted: %v, told %v", err, told)
		}
		if _, err := accept(made.ID); calendar.ReasonOf(err) != calendar.NotFound {
			t.Errorf("accepted twice: %v", err)
		}
		if _, err := accept(moved.ID); err != nil {
			t.Error(err)
		}
		got := use(t, door, "bob", "list_invitations", params{}, new(invitationsView))
		if !strings.Contains(got, "Lunch") {
			t.Errorf("bob is not invited: %s", got)
		}
		got = use(t, door, "alice", "list_changes", params{"token": "token-p"}, new(changesView))
		if !strings.Contains(got, "2026-03-04") && !strings.Contains(got, "Wed 4 Mar") {
			t.Errorf("the journal does not name the assistant: %s", got)
		}
		list("accepted 0", "accepted 0", "open 1")
		use(t, door, "claude", "withdraw_proposal", params{"id": gone.ID}, new(withdrawnView))
		h.refuses(t, door, "withdraw_proposal", params{"id": made.ID}, "may have decided it")
		list("accepted 0", "accepted 0")
		assistant := h.callers["claude"]
		assistant.Assistant = true
		if _, err := h.service.AcceptSuggestion(t.Context(), assistant, nil, moved.ID,
			""); calendar.ReasonOf(err) != calendar.Forbidden {
			t.Errorf("an assistant accepted: %v", err)
		}
	})
}

// TestSuggestionsChangeNothing: whatever an assistant proposes, no other program sees a difference.
func TestSuggestionsChangeNothing(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.proposer(t)
		door := h.open(t, h.config())
		h.put(t, work, "plan", wrapped(calendar.Event, "plan", "DTSTART:20260303T090000Z", "DTEND:20260303T100000Z",
			"SUMMARY:Plan", "RRULE:FREQ=DAILY;COUNT=9", "ORGANIZER:mailto:alice@example.com",
			"ATTENDEE:mailto:bob@example.com"))
		// Other tokens read, or may write in some calendars and only propose in this one.
		reader, mixed := h.callers["claude"], h.callers["claude"]
		reader.Scopes, reader.Token = calendar.ScopeRead, "token-r"
		mixed.Scopes, mixed.Token = calendar.ScopeAll|calendar.ScopePropose, "token-m"
		mixed.Rights = calendar.Rights{Others: calendar.RightRead, Of: map[calendar.CalendarID]calendar.Right{
			work: calendar.RightPropose,
		}}
		h.callers["reader"], h.callers["mixed"] = reader, mixed
		for _, c := range []calendar.Caller{reader, mixed} {
			token := auth.Token{ID: c.Token, User: c.User.ID, Name: "Other", Scopes: c.Scopes, Created: noon}
			if err := h.Store.InsertToken(t.Context(), token, "", ""); err != nil {
				t.Fatal(err)
			}
		}
		before := h.observed(t, door)
		seed := rand.Uint64()
		random := rand.New(rand.NewPCG(seed, 1))
		callers := []string{"claude", "mixed"}
		for _, who := range callers {
			h.try(t, door, who, "delete_event", params{
				"calendar_id": work, "event_uid": "plan", "scope": "all", "recurrence_id": "20260303T090000Z",
			})
		}
		times := []string{"2026-03-05T09:00:00Z", "2026-03-06T15:30:00Z", "2026-03-09", "20260310T080000Z", "nonsense"}
		for range slowtest.Rounds(t, slowtest.Random, 30, 400) {
			args := params{"calendar_id": []calendar.CalendarID{
				work, home, "00000000-0000-4000-8000-000000000003",
			}[random.IntN(3)]}
			if random.IntN(4) > 0 {
				args["calendar_id"], args["event_uid"], args["task_uid"] = work, "plan", "plan"
			}
			// Each is right for some tool, so most calls are accepted.
			for _, one := range []struct {
				name  string
				often int
			}{{"new_start", 1}, {"start", 1}, {"end", 6}, {"due", 2}} {
				if random.IntN(one.often) == 0 {
					args[one.name] = times[random.IntN(len(times))]
				}
			}
			if random.IntN(4) > 0 {
				args["title"] = "Other"
			}
			if random.IntN(2) == 0 {
				args["attendees"] = []string{"bob@example.com"}
			}
			if random.IntN(2) == 0 {
				args["scope"] = []string{"this", "following", "all"}[random.IntN(3)]
				args["recurrence_id"] = "20260305T090000Z"
			}
			tool := together[random.IntN(len(together))]
			maps.DeleteFunc(args, func(name string, _ any) bool { return !takes(h.config().toolbox(), tool, name) })
			who := callers[random.IntN(len(callers))]
			h.try(t, door, who, tool, args)
			args["tool"] = tool
			h.try(t, door, who, manyName, params{"changes": []params{args, args}})
		}
		if diff := cmp.Diff(before, h.observed(t, door)); diff != "" {
			t.Errorf("seed %d: a suggestion is seen (-before +after):\n%s", seed, diff)
		}
		for _, who := range callers {
			var v suggestionsView
			if use(t, door, who, "list_proposals", params{}, &v); len(v.Proposals) == 0 {
				t.Errorf("seed %d: %s proposed nothing", seed, who)
			}
		}
	})
}

// takes reports whether a tool has a parameter.
func takes(b toolbox, of, name string) bool {
	return slices.ContainsFunc(b.tools(), func(t tool) bool {
		return t.name == of && slices.ContainsFunc(t.begin().takes, func(f field) bool { return f.name == name })
	})
}

// try calls a tool, with any outcome.
func (h *house) try(t *testing.T, door, token, tool string, args params) string {
	t.Helper()
	given, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	data := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool,
		given)
	return do(t, request(t, "POST", door, token, data, "MCP-Protocol-Version", "2025-11-25")).body
}

func (h *house) refuses(t *testing.T, door, tool string, args params, want string) {
	t.Helper()
	if got := h.try(t, door, "claude", tool, args); !strings.Contains(got, want) || !strings.Contains(got, "error") {
		t.Errorf("%s: %s, want an error with %q", tool, got, want)
	}
}

// TestRightsPerCalendar: a token writes in one calendar, proposes in another and only reads the third.
func TestRightsPerCalendar(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.proposer(t)
		c := h.callers["claude"]
		c.Scopes = calendar.ScopeAll | calendar.ScopePropose
		c.Rights = calendar.Rights{Others: calendar.RightRead, Of: map[calendar.CalendarID]calendar.Right{
			home: calendar.RightWrite, work: calendar.RightPropose,
		}}
		h.callers["claude"] = c
		door := h.open(t, h.config())
		for i, cal := range []calendar.CalendarID{work, home} {
			uid := fmt.Sprintf("plan%d", i)
			h.put(t, cal, uid, wrapped(calendar.Event, uid, "DTSTART:20260303T090000Z",
				"DTEND:20260303T100000Z", "SUMMARY:Plan"))
		}
		version := func(id calendar.CalendarID) calendar.Version {
			t.Helper()
			cal, err := h.service.Calendar(t.Context(), h.callers["alice"], id)
			if err != nil {
				t.Fatal(err)
			}
			return cal.Version
		}
		var v struct {
			Calendars []struct {
				ID         calendar.CalendarID
				Permission string
			}
		}
		use(t, door, "claude", "list_calendars", params{}, &v)
		for _, cal := range v.Calendars {
			want := map[calendar.CalendarID]string{work: "propose", home: ""}
			if said, known := want[cal.ID]; known && said != cal.Permission {
				t.Errorf("the permission in %s is %q, want %q", cal.ID, cal.Permission, said)
			}
		}
		change := func(tool string, args params, in calendar.CalendarID, written bool) suggestedView {
			t.Helper()
			before := version(in)
			var made suggestedView
			use(t, door, "claude", tool, args, &made)
			if made.Proposed == written || (version(in) != before) != written {
				t.Errorf("%s in %s: proposed %t, version %d after %d", tool, in, made.Proposed, version(in), before)
			}
			return made
		}
		change("patch_event", params{"calendar_id": home, "event_uid": "plan1", "title": "New"}, home, true)
		first := change("patch_event", params{
			"calendar_id": work, "event_uid": "plan0", "title": "New", "idempotency_key": "k",
		}, work, false)
		again := change("patch_event", params{
			"calendar_id": work, "event_uid": "plan0", "title": "New", "idempotency_key": "k",
		}, work, false)
		if again.ID != first.ID {
			t.Errorf("the repeated call proposed %s, want %s", again.ID, first.ID)
		}
		both := params{"changes": []params{
			{"tool": "patch_event", "calendar_id": home, "event_uid": "plan1", "title": "Newer"},
			{"tool": "delete_event", "calendar_id": work, "event_uid": "plan0"},
		}}
		if made := change(manyName, both, home, false); len(made.Changes) != 2 {
			t.Errorf("a mixed batch is proposed with %d changes", len(made.Changes))
		}
		change("delete_event", params{"calendar_id": home, "event_uid": "plan1"}, home, true)
		h.refuses(t, door, "share_calendar", params{
			"calendar_id": work, "username": "bob", "permission": "read",
		}, "scope")
		h.refuses(t, door, "delete_calendar", params{"calendar_id": work}, "scope")
		h.refuses(t, door, "update_calendar", params{"calendar_id": work, "name": "X"}, "scope")
		h.refuses(t, door, "create_calendar", params{"name": "X"}, "scope")
		h.refuses(t, door, "move_event", params{
			"calendar_id": work, "event_uid": "plan0", "to_calendar_id": home,
		}, "to_calendar_id")
		c.Rights.Of[work] = calendar.RightRead
		h.callers["claude"] = c
		h.refuses(t, door, "patch_event", params{
			"calendar_id": work, "event_uid": "plan0", "title": "Newest",
		}, "scope")
	})
}

// TestSuggestionPageIsOffered: a client that can open pages is asked to open that of the suggestion, by either kind of
// elicitation. Whatever it answers, the suggestion stays open: only the page accepts.
func TestSuggestionPageIsOffered(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.proposer(t)
	door := h.open(t, h.config())
	const pages = "https://cal.example/dav/account/suggestions/"
	opened := do(t, request(t, "POST", door, "claude",
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",`+
			`"capabilities":{"elicitation":{"url":{}}},"clientInfo":{"name":"t","version":"1"}}}`))
	session := opened.header.Get(wire.SessionHeader)
	const args = `"name":"create_event","arguments":{"calendar_id":"` + string(work) + `","title":"Lunch",` +
		`"start":"2026-03-03T12:00:00Z","end":"2026-03-03T13:00:00Z","attendees":["bob@example.com"]}`
	invited := func(want int) {
		t.Helper()
		got := use(t, door, "bob", "list_invitations", params{}, new(invitationsView))
		if n := strings.Count(got, "“Lunch”") + strings.Count(got, `"Lunch"`); n != want {
			t.Errorf("bob is invited %d times, want %d: %s", n, want, got)
		}
	}
	// accept does what the page does when its button is pressed.
	accept := func(page string) {
		t.Helper()
		user := h.callers["alice"]
		user.Token = ""
		m := h.service.Meter(t.Context(), user)
		defer m.Close()
		id := calendar.SuggestionID(strings.TrimPrefix(page, pages))
		seen, err := h.service.Consider(t.Context(), user, m, id)
		if err == nil {
			_, err = h.service.AcceptSuggestion(t.Context(), user, m, id, seen.State)
		}
		if err != nil {
			t.Error(err)
		}
	}
	open := func(want int) {
		t.Helper()
		var v suggestionsView
		use(t, door, "claude", "list_proposals", params{}, &v)
		if len(v.Proposals) != want {
			t.Errorf("%d proposals, want %d", len(v.Proposals), want)
		}
		for _, one := range v.Proposals {
			if one.State != calendar.SuggestionOpen {
				t.Errorf("one is %s", one.State)
			}
		}
	}
	elicit := func(action string, meanwhile func(page string)) {
		t.Helper()
		e := hears(t, request(t, "POST", door, "claude",
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{`+args+`}}`, wire.SessionHeader, session))
		var asked struct {
			ID, Method string
			Params     struct{ Mode, URL string }
		}
		if err := json.Unmarshal([]byte(e.next(t)), &asked); err != nil || asked.Method != "elicitation/create" ||
			asked.Params.Mode != "url" || !strings.HasPrefix(asked.Params.URL, pages) {
			t.Fatalf("asked %+v, %v", asked, err)
		}
		meanwhile(asked.Params.URL)
		asker{e, session}.say(t, door, "claude", session, asked.ID, action)
		if said := e.next(t); !strings.Contains(said, `"proposed":true`) || !strings.Contains(said, asked.Params.URL) {
			t.Errorf("%s: %s", action, said)
		}
	}
	for i, action := range []string{"accept", "decline", "cancel"} {
		elicit(action, func(string) {})
		open(i + 1)
	}

	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"url":{}}},` +
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}`
	modern := func(token, more string) string {
		return do(t, request(t, "POST", door, token,
			`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{`+args+`,`+more+meta+`}}`,
			wire.VersionHeader, "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "create_event")).body
	}
	first := modern("claude", "")
	var asked struct {
		Result struct {
			InputRequests map[string]struct{ Params struct{ Mode, URL string } }
			RequestState  string
		}
	}
	if err := json.Unmarshal([]byte(first), &asked); err != nil ||
		!strings.HasPrefix(asked.Result.InputRequests["confirm"].Params.URL, pages) {
		t.Fatalf("asked %s, %v", first, err)
	}
	open(4)
	state, _ := json.Marshal(asked.Result.RequestState)
	for _, action := range []string{"accept", "decline"} {
		said := modern("claude",
			`"inputResponses":{"confirm":{"action":"`+action+`"}},"requestState":`+string(state)+`,`)
		if !strings.Contains(said, `"proposed":true`) || !strings.Contains(said,
			asked.Result.InputRequests["confirm"].Params.URL) {
			t.Errorf("%s: %s", action, said)
		}
	}
	open(4)
	invited(0)

	// The user accepts on the page, whatever the client answers.
	elicit("cancel", accept)
	invited(1)
	accept(asked.Result.InputRequests["confirm"].Params.URL)
	invited(2)
	said := modern("claude", `"inputResponses":{"confirm":{"action":"cancel"}},"requestState":`+string(state)+`,`)
	if !strings.Contains(said, "it is accepted so far") {
		t.Errorf("after the acceptance: %s", said)
	}
}
