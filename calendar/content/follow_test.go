package content_test

import (
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// TestFollowLeavesNothingOut: until when it says that it knows them, it has every instance. A rule that never comes
// spends all steps, and the dates beside it go on without it.
func TestFollowLeavesNothingOut(t *testing.T) {
	t.Parallel()
	never := "RRULE:FREQ=WEEKLY;BYHOUR=23;BYSETPOS=2;COUNT=35"
	for name, tt := range map[string]struct {
		lines string
		known bool
	}{
		"a rule alone":             {"RRULE:FREQ=DAILY;INTERVAL=4;BYDAY=SU;COUNT=24", true},
		"beside one that never is": {"RRULE:FREQ=DAILY;INTERVAL=4;BYDAY=SU;COUNT=24\n" + never, false},
		"and a date": {
			"RRULE:FREQ=DAILY;INTERVAL=4;BYDAY=SU;COUNT=24\n" + never + "\nRDATE:20260726T000000Z", false,
		},
		"and many dates": {never + "\nRDATE:" + strings.Join(hours(600), ","), false},
		"without an end": {"RRULE:FREQ=DAILY", true},
	} {
		text := "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//test//EN\nBEGIN:VEVENT\nUID:a\nDTSTAMP:20260101T000000Z\n" +
			"DTSTART:20260126T230000Z\nDURATION:PT1H\n" + tt.lines + "\nEND:VEVENT\nEND:VCALENDAR\n"
		o, err := content.Read([]byte(strings.ReplaceAll(text, "\n", "\r\n")), ical.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		var last int64
		known, ok := o.Follow(zone.NewDB(), func(start, _ int64) {
			if start < last {
				t.Errorf("%s: %s comes after a later one", name, time.Unix(start, 0))
			}
			last = start
		})
		if ok != tt.known || ok && known < last {
			t.Errorf("%s: known is %v until %d, the last is %d", name, ok, known, last)
		}
	}
}

// hours are so many, one behind the other.
func hours(n int) []string {
	first := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	list := make([]string, n)
	for i := range list {
		list[i] = first.Add(time.Duration(i) * time.Hour).Format("20060102T150405Z")
	}
	return list
}
