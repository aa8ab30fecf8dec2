package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
)

// TestAssistantOfADelegate: with consent, an assistant reads and changes the calendars of a user who made its user
// their delegate. The journal names both users, texts are marked, and what no delegate may do is refused.
func TestAssistantOfADelegate(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		door := h.open(t, h.config())
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
