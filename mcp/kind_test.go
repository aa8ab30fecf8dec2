package mcp

import (
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// TestTasksAreNoMissingEvents: a tool for events that is given a task says that it is one, and which tools there are
// for it; the other way round, too (mcp B10).
func TestTasksAreNoMissingEvents(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.put(t, home, "t", wrapped(calendar.Todo, "t", "DUE:20260303T090000Z", "SUMMARY:Buy"))
	h.put(t, home, "e", wrapped(calendar.Event, "e", "DTSTART:20260303T090000Z", "SUMMARY:Review"))
	h.put(t, home, "j", wrapped(calendar.Journal, "j", "DTSTART:20260303T090000Z", "SUMMARY:Diary"))
	door := h.open(t, h.config())
	at := `{"calendar_id":"` + string(home) + `",`
	for tool, more := range map[string]string{
		"get_event": "", "delete_event": "", "patch_event": `,"title":"x"`,
		"move_event": `,"new_start":"2026-03-04"`,
	} {
		if said := refusalOf(t, door, "alice", tool, at+`"event_uid":"t"`+more+"}"); !strings.Contains(said,
			"is a task, not an event") || !strings.Contains(said, "update_task") {
			t.Errorf("%s of a task: %s", tool, said)
		}
		if said := refusalOf(t, door, "alice", tool, at+`"event_uid":"j"`+more+"}"); !strings.Contains(said,
			"journal entry") {
			t.Errorf("%s of a journal entry: %s", tool, said)
		}
	}
	if said := refusalOf(t, door, "alice", "update_task", at+`"task_uid":"e"}`); !strings.Contains(said,
		"is an event, not a task") {
		t.Errorf("update_task of an event: %s", said)
	}
}

// TestTheDefaultCalendarStays: calendars that are made, named or put first later do not become the default one (mcp
// B5).
func TestTheDefaultCalendarStays(t *testing.T) {
	t.Parallel()
	eachHouse(t, func(t *testing.T, h *house, door string) {
		expect := func(when string) {
			t.Helper()
			var v struct{ Calendars []calendarView }
			use(t, door, "alice", "list_calendars", params{}, &v)
			for _, cal := range v.Calendars {
				if cal.IsDefault != (cal.ID == work) {
					t.Errorf("%s: %s is default: %v", when, cal.Name, cal.IsDefault)
				}
			}
		}
		expect("at first")
		h.Pass(time.Minute)
		first := int64(-1)
		h.calendar(t, "alice", calendar.Properties{Name: "AAA", Order: &first})
		expect("after another was made")
		for id, name := range map[calendar.CalendarID]string{work: "Zzz", home: "Aaa"} {
			err := h.service.PatchCalendar(t.Context(), h.callers["alice"], id,
				func(p *calendar.Properties) ([]calendar.DeadProperty, error) {
					p.Name, p.Order = name, nil
					return nil, nil
				})
			if err != nil {
				t.Fatal(err)
			}
		}
		expect("after names and order were changed")
	})
}
