package mcp

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// TestNamesStandForIDs: a calendar's name, and primary, do where its id would, as long as they mean one calendar alone;
// and an event_id where the parts of it would.
func TestNamesStandForIDs(t *testing.T) {
	t.Parallel()
	eachHouse(t, func(t *testing.T, h *house, door string) {
		h.put(t, work, "standup", wrapped(calendar.Event, "standup", "DTSTART:20260302T080000Z", "DURATION:PT15M",
			"RRULE:FREQ=DAILY;COUNT=5", "SUMMARY:Standup"))
		var made createdView
		for name, want := range map[string]calendar.CalendarID{
			"work": work, "Home\\u202e": home,
			"primary": h.first(t, door),
		} {
			use(t, door, "alice", "create_event", params{
				"calendar_id": name, "title": "Lunch",
				"start": "2026-03-05T12:00", "end": "2026-03-05T13:00",
			}, &made)
			if made.Calendar != want {
				t.Errorf("%q is taken for %s, not for %s", name, made.Calendar, want)
			}
		}
		id := eventID{Calendar: work, UID: "standup", RecurrenceID: "20260304T080000Z"}.String()
		for _, named := range []params{{"event_id": id}, {"calendar_id": "Work", "event_uid": id}} {
			var v fullView
			use(t, door, "alice", "get_event", named, &v)
			if v.UID != "standup" || v.RecurrenceID != "20260304T080000Z" {
				t.Errorf("%v finds %s %s", named, v.UID, v.RecurrenceID)
			}
		}
		h.calendar(t, "alice", calendar.Properties{Name: "Work"})
		if said := refusalOf(t, door, "alice", "query_events", `{"calendar_id":"Work"}`); !strings.Contains(said,
			"2 calendars are called") {
			t.Errorf("two of that name: %s", said)
		}
		if said := refusalOf(t, door, "alice", "get_event", fmt.Sprintf(`{"event_id":%q,"event_uid":"standup"}`,
			id)); !strings.Contains(said, "not both") {
			t.Errorf("an event named twice: %s", said)
		}
	})
}

// TestNamesOfOthersTakeNothingOver: a user who shares a calendar chooses its name, and the uids of its events. Neither
// can divert calls that are meant for another.
func TestNamesOfOthersTakeNothingOver(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	first := h.first(t, door)
	h.lend(t, "bob", "primary", calendar.WriteAccess, "DTSTART:20260302T080000Z")
	var made createdView
	use(t, door, "alice", "create_event", params{
		"calendar_id": "primary", "title": "Lunch",
		"start": "2026-03-05T12:00", "end": "2026-03-05T13:00",
	}, &made)
	if made.Calendar != first {
		t.Errorf("primary is %s, not %s", made.Calendar, first)
	}
	h.put(t, work, "victim", wrapped(calendar.Event, "victim", "DTSTART:20260302T080000Z", "SUMMARY:Victim"))
	uid := eventID{Calendar: work, UID: "victim"}.String()
	h.put(t, work, "trap", wrapped(calendar.Event, uid, "DTSTART:20260302T080000Z", "SUMMARY:Trap"))
	var gone deletedView
	use(t, door, "alice", "delete_event", params{"calendar_id": work, "event_uid": uid}, &gone)
	if gone.Title != "Trap" {
		t.Errorf("deleted %s", gone.Title)
	}
}

// first is alice's default calendar.
func (h *house) first(t *testing.T, door string) calendar.CalendarID {
	t.Helper()
	var v calendarsView
	use(t, door, "alice", "list_calendars", params{}, &v)
	for _, cal := range v.Calendars {
		if cal.IsDefault {
			return cal.ID
		}
	}
	t.Fatal("no default calendar")
	return ""
}

// TestForeignMarkdownIsDefused: foreign images and links are plain text in texts, and unchanged in the structured
// content; the user's own stay.
func TestForeignMarkdownIsDefused(t *testing.T) {
	t.Parallel()
	eachHouse(t, func(t *testing.T, h *house, door string) {
		h.reachable(t, "alice")
		const lure = "![x](https://evil.example/?q=1) <img src=x>"
		h.put(t, work, "trap", wrapped(calendar.Event, "trap", "DTSTART:20260303T090000Z", "DURATION:PT1H", "SUMMARY:"+
			lure, "ORGANIZER:mailto:eve@example.net", "ATTENDEE:mailto:alice@example.com"))
		h.put(t, work, "own", wrapped(calendar.Event, "own", "DTSTART:20260304T090000Z", "DURATION:PT1H",
			"SUMMARY:[plan](https://wiki.example)"))
		of := params{"calendar_id": work, "event_uid": "trap"}
		for tool, args := range map[string]params{
			"list_events": {"date_range": "2026-03-03"}, "search_events": {"query": "evil"},
			"query_events": {"calendar_id": work}, "get_event": of,
			"fetch": {"id": eventID{Calendar: work, UID: "trap"}.String()}, "search": {"query": "evil"},
			"list_invitations": {}, "list_changes": {}, "delete_event": of,
		} {
			if tool == "delete_event" {
				continue // the last
			}
			h.defused(t, door, tool, args)
		}
		h.defused(t, door, "delete_event", of)
		if text := contentText(t, use(t, door, "alice", "list_events", params{"date_range": "2026-03-04"},
			&struct{}{})); !strings.Contains(text, "[plan](https://wiki.example)") {
			t.Errorf("one's own words are others: %s", text)
		}
	})
}

func (h *house) defused(t *testing.T, door, tool string, args params) {
	t.Helper()
	text := contentText(t, use(t, door, "alice", tool, args, &struct{}{}))
	if before, _, raw := strings.Cut(text, `"ical_data":`); raw {
		text = before // ical_data is not defused
	}
	if strings.Contains(text, "](https://evil") || strings.Contains(text, "<img") || !strings.Contains(text, "evil") {
		t.Errorf("%s says %s", tool, text)
	}
}

// TestMovesTellConflicts: every move of an event reports its conflicts; a single instance is compared alone
// (mcp C6).
func TestMovesTellConflicts(t *testing.T) {
	t.Parallel()
	eachHouse(t, func(t *testing.T, h *house, door string) {
		h.put(t, work, "board", wrapped(calendar.Event, "board", "DTSTART:20260304T090000Z", "DURATION:PT1H",
			"SUMMARY:Board"))
		h.put(t, work, "gym", wrapped(calendar.Event, "gym", "DTSTART:20260310T120000Z", "DURATION:PT1H",
			"SUMMARY:Gym"))
		h.put(t, work, "lunch", wrapped(calendar.Event, "lunch", "DTSTART:20260303T120000Z", "DURATION:PT1H",
			"SUMMARY:Lunch", "RRULE:FREQ=WEEKLY;COUNT=3"))
		of := params{"calendar_id": work, "event_uid": "lunch", "recurrence_id": "20260303T120000Z", "scope": "this"}
		with := func(more params) params {
			all := params{}
			for _, p := range []params{of, more} {
				maps.Copy(all, p)
			}
			return all
		}
		for _, call := range []struct {
			tool string
			args params
			want string
		}{
			{"move_event", with(params{"new_start": "2026-03-04T10:30"}), "Board"},
			{"patch_event", with(params{"title": "Long lunch"}), ""},
			{"patch_event", with(params{"start": "2026-03-04T10:00", "end": "2026-03-04T10:30"}), "Board"},
			{"update_event", with(params{
				"title": "Lunch", "start": "2026-03-05T10:00",
				"end": "2026-03-05T11:00",
			}), ""},
			{"move_event", params{"calendar_id": work, "event_uid": "board", "new_start": "2026-03-10T13:15"}, "Gym"},
		} {
			var v changedView
			text := contentText(t, use(t, door, "alice", call.tool, call.args, &v))
			got := ""
			for _, c := range v.Conflicts {
				got += string(c.Title)
			}
			// Lunch of March 10th is at noon UTC, too.
			if got = strings.ReplaceAll(got, "Lunch", ""); got != call.want || !strings.Contains(text, call.want) {
				t.Errorf("%s %v meets %q, not %q", call.tool, call.args, got, call.want)
			}
		}
	})
}

// TestHoursWithBreaks: no time is found at lunch, which the hours leave out (mcp C9).
func TestHoursWithBreaks(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	var v slotsView
	use(t, door, "alice", "find_time", params{
		"duration_minutes": 120, "date_range": "2026-03-05",
		"working_hours":   "10:00-12:30, 13:30-16:00",
		"hours_elsewhere": []string{"Bob Ray 09:00-12:00, 14:00-18:00 Europe/Berlin"}, "limit": 20,
	}, &v)
	var got []string
	for _, s := range v.Slots {
		got = append(got, s.Start[11:16])
	}
	if fmt.Sprint(got) != "[10:00 14:00]" {
		t.Errorf("found %v", got)
	}
	for _, hours := range []string{"13:00-18:00, 09:00-12:00", "09:00-12:00, 11:00-13:00", "09:00-12:00, noon", ","} {
		if said := refusalOf(t, door, "alice", "find_time", fmt.Sprintf(`{"duration_minutes":30,"working_hours":%q}`,
			hours)); !strings.Contains(said, "earlier times first") {
			t.Errorf("%s: %s", hours, said)
		}
	}
}
