package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
)

// TestAssistantOfADelegate: with consent, an assistant reads and changes the calendars of a user who made its user
// their delegate. The journal names both users, texts are marked, and what no delegate may do is refused.
func TestAssistantOfADelegate(t *testing.T) {
	t.Parallel()
	eachHouse(t, func(t *testing.T, h *house, door string) {
		appoint := func(access calendar.Access) {
			t.Helper()
			if _, err := h.service.AddDelegate(t.Context(), h.callers["alice"], "bob", access); err != nil {
				t.Fatal(err)
			}
		}
		refused := func(tool string, args params, want string) {
			t.Helper()
			data, err := json.Marshal(args)
			if err != nil {
				t.Fatal(err)
			}
			got := do(t, request(t, "POST", door, "bob", fmt.Sprintf(
				`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, data),
				wire.VersionHeader, "2025-11-25")).body
			if !strings.Contains(got, want) {
				t.Errorf("%s %s: %s, want %s", tool, data, got, want)
			}
		}
		appoint(calendar.WriteAccess)
		h.put(t, work, "plan", wrapped(calendar.Event, "plan", "DTSTART:20260303T090000Z", "SUMMARY:Plan"))
		day := params{"calendar_id": work, "start": "2026-03-03", "end": "2026-03-04"}
		meeting := params{
			"calendar_id": work, "title": "Lunch", "start": "2026-03-03T12:00:00Z", "end": "2026-03-03T13:00:00Z",
		}
		none := `no calendar \"` + string(work)
		refused("list_events", day, none)
		list := use(t, door, "bob", "list_calendars", params{}, new(calendarsView))
		if strings.Contains(list, string(work)) {
			t.Errorf("listed without consent: %s", list)
		}

		bob := h.callers["bob"]
		bob.ForOthers = true
		h.callers["bob"] = bob
		list = use(t, door, "bob", "list_calendars", params{}, new(calendarsView))
		for _, part := range []string{
			string(work), `\"owner\":\"alice\"`, `\"permission\":\"read-write\"`,
			`\"untrusted_text_by\":\"alice\"`,
		} {
			if !strings.Contains(list, part) {
				t.Errorf("the list lacks %s: %s", part, list)
			}
		}
		if events := use(t, door, "bob", "list_events", day, new(struct{})); !strings.Contains(events, "Plan") ||
			!strings.Contains(events, "untrusted") {
			t.Errorf("the events are %s", events)
		}
		use(t, door, "bob", "create_event", meeting, new(struct{}))
		by := ""
		for line, err := range h.Store.Journal(t.Context(), work, calendar.JournalQuery{}) {
			if err != nil {
				t.Fatal(err)
			}
			by = line.By()
			if !line.Assistant || line.Token != bob.Token {
				t.Errorf("the journal has %+v", line)
			}
			break
		}
		if by != "bob as delegate of alice" {
			t.Errorf("the journal names %q", by)
		}
		refused("share_calendar", params{"calendar_id": work, "username": "bob", "permission": "read"}, none)
		refused("delete_calendar", params{"calendar_id": work}, none)
		refused("create_event", params{
			"calendar_id": "no-such", "title": "x", "start": "2026-03-03T12:00:00Z", "end": "2026-03-03T13:00:00Z",
		}, `no calendar \"no-such`)

		appoint(calendar.ReadAccess)
		use(t, door, "bob", "list_events", day, new(struct{}))
		refused("create_event", meeting, `as a delegate of \"alice\" you may not`)
		if err := h.service.RemoveDelegate(t.Context(), h.callers["alice"], "bob"); err != nil {
			t.Fatal(err)
		}
		refused("list_events", day, none)
	})
}

// TestDelegatedCalendarsInAllTools: a delegate's assistant also searches, adds up, finds times, makes several changes
// and undoes them in the calendars of the user who appointed its user.
func TestDelegatedCalendarsInAllTools(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice", "bob")
		door := h.open(t, h.config())
		if _, err := h.service.AddDelegate(t.Context(), h.callers["alice"], "bob", calendar.WriteAccess); err != nil {
			t.Fatal(err)
		}
		h.put(t, work, "plan", wrapped(calendar.Event, "plan", "DTSTART:20260303T090000Z", "DURATION:PT1H",
			"SUMMARY:Plan"))
		calls := []struct {
			tool string
			args params
			want string
		}{
			{"search_events", params{"calendar_id": work, "query": "plan"}, `untrusted text by \"alice\"`},
			{"sum_hours", params{"calendar_id": work, "date_range": "2026-03-03"}, "1 h 00 min"},
			{"get_free_busy", params{
				"calendar_ids": []any{work}, "start_time": "2026-03-03", "end_time": "2026-03-03",
			}, "Tue 2026-03-03, 09:00"},
			{"find_time", params{
				"calendar_ids": []any{work}, "duration_minutes": 60, "date_range": "2026-03-03", "timezone": "UTC",
				"working_hours": "09:00-11:00",
			}, "10:00–11:00"},
		}
		for _, call := range calls {
			data, _ := json.Marshal(call.args)
			if said := refusalOf(t, door, "bob", call.tool, string(data)); !strings.Contains(said, "no calendar") {
				t.Errorf("%s without consent: %s", call.tool, said)
			}
		}
		bob := h.callers["bob"]
		bob.ForOthers = true
		h.callers["bob"] = bob
		for _, call := range calls {
			if said := use(t, door, "bob", call.tool, call.args, new(any)); !strings.Contains(said, call.want) {
				t.Errorf("%s: %s, want %s", call.tool, said, call.want)
			}
		}
		const plans = "00000000-0000-4000-8000-000000000004"
		create := func(in any, title string) params {
			return params{
				"tool": "create_event", "calendar_id": in, "title": title, "start": "2026-03-05T12:00",
				"end": "2026-03-05T13:00",
			}
		}
		var made manyView
		use(t, door, "bob", "change_many", params{"changes": []params{create(work, "One"), create(work, "Two")}}, &made)
		if events := h.agendaOf(t, "alice"); events != "One Two" {
			t.Errorf("alice has %q", events)
		}
		mixed, _ := json.Marshal(params{"changes": []params{create(plans, "Mine"), create(work, "Hers")}})
		if said := refusalOf(t, door, "bob", "change_many", string(mixed)); !strings.Contains(said, "same owner") {
			t.Errorf("of two owners: %s", said)
		}
		var undone undoView
		use(t, door, "bob", "undo_change", params{
			"since": "2026-03-01", "preview": true, "calendar_id": work,
		}, &undone)
		if undone.Changes != 2 || undone.Others != nil {
			t.Errorf("the preview: %+v", undone)
		}
		var changes struct {
			Changes []struct {
				ID string `json:"change_id"`
			}
		}
		use(t, door, "bob", "list_changes", params{"calendar_id": work, "limit": 1}, &changes)
		use(t, door, "bob", "undo_change", params{"change_id": changes.Changes[0].ID}, &undone)
		if events := h.agendaOf(t, "alice"); events != "" {
			t.Errorf("after the undo alice has %q", events)
		}
		use(t, door, "bob", "create_event", params{
			"calendar_id": plans, "title": "Mine", "start": "2026-03-05T12:00", "end": "2026-03-05T13:00",
		}, new(any))
		undone = undoView{}
		since := params{"since": "2026-03-01", "preview": true}
		text := contentText(t, use(t, door, "bob", "undo_change", since, &undone))
		if undone.Changes != 1 || !slices.Equal(undone.Others, []shown{"alice"}) ||
			!strings.Contains(text, "not searched") {
			t.Errorf("without a calendar: %+v %s", undone, text)
		}
		if err := h.service.RemoveDelegate(t.Context(), h.callers["alice"], "bob"); err != nil {
			t.Fatal(err)
		}
		for _, call := range calls {
			data, _ := json.Marshal(call.args)
			if said := refusalOf(t, door, "bob", call.tool, string(data)); !strings.Contains(said, "no calendar") {
				t.Errorf("%s after the removal: %s", call.tool, said)
			}
		}
	})
}

// agendaOf lists the titles of a user's events on 5 March.
func (h *house) agendaOf(t *testing.T, token string) string {
	t.Helper()
	found, err := h.service.Agenda(t.Context(), h.callers[token], query.AgendaQuery{
		From: noon.AddDate(0, 0, 3), Until: noon.AddDate(0, 0, 5), Limit: 10,
	})
	if err != nil {
		t.Fatal(err)
	}
	titles := each(found.Occurrences, titleOf)
	slices.Sort(titles)
	return strings.Join(titles, " ")
}
