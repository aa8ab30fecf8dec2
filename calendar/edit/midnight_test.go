package edit_test

import (
	"strings"
	"testing"

	"caldav-mcp-server/calendar/edit"
)

// TestOverrideNamedByMidnight: an edit of a day finds the override that Exchange has named by the midnight of the day,
// and leaves the name as it is.
func TestOverrideNamedByMidnight(t *testing.T) {
	t.Parallel()
	const name = "RECURRENCE-ID;TZID=Europe/Berlin:20260310T000000"
	text := calendarOf("BEGIN:VEVENT\nUID:first\nDTSTAMP:20260101T000000Z\n" +
		"DTSTART;TZID=Europe/Berlin:20260309T090000\nRRULE:FREQ=DAILY;COUNT=3\nEND:VEVENT\n" +
		"BEGIN:VEVENT\nUID:first\nDTSTAMP:20260101T000000Z\n" + name +
		"\nDTSTART;TZID=Europe/Berlin:20260310T110000\nSUMMARY:moved\nEND:VEVENT\n")
	for _, id := range []string{"20260310T080000Z", "2026-03-10", "20260309T230000Z"} {
		got, err := editor().Change(t.Context(), read(t, text), edit.Change{
			Target: edit.Target{Instance: at(t, id), Scope: edit.This}, Fields: edit.Fields{Summary: edit.To("again")},
		})
		if err != nil {
			t.Fatal(err)
		}
		now := got.Document.String()
		if strings.Count(now, "BEGIN:VEVENT") != 2 || !strings.Contains(now, name+"\r\n") ||
			!strings.Contains(now, "SUMMARY:again") || strings.Contains(now, "moved") {
			t.Errorf("by %s:\n%s", id, now)
		}
	}
}
