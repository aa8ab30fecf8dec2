package schedule_test

import (
	"strings"
	"testing"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/ical"
)

// TestLost names the answers that a change removes, each guest once, with the answer of the same instance or else of
// the series.
func TestLost(t *testing.T) {
	t.Parallel()
	event := func(components ...string) *content.Object {
		text := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\n"
		for _, lines := range components {
			text += "BEGIN:VEVENT\r\nUID:a\r\nDTSTAMP:20260301T000000Z\r\nORGANIZER:mailto:ann@example.com\r\n" +
				"ATTENDEE;PARTSTAT=ACCEPTED:mailto:ann@example.com\r\n" +
				strings.ReplaceAll(lines, "\n", "\r\n") + "\r\nEND:VEVENT\r\n"
		}
		o, err := content.Read([]byte(text+"END:VCALENDAR\r\n"), ical.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	const (
		series   = "DTSTART:20260302T090000Z\nRRULE:FREQ=DAILY\n"
		instance = "RECURRENCE-ID:20260303T090000Z\nDTSTART:20260303T100000Z\n"
		bob, eve = ":mailto:bob@example.com", ":mailto:eve@example.com"
		accepted = "ATTENDEE;CN=Bob;PARTSTAT=ACCEPTED"
		declined = "ATTENDEE;CN=Bob;PARTSTAT=DECLINED"
	)
	for name, test := range map[string]struct {
		before, after *content.Object
		want          string
	}{
		"kept":  {event(series + accepted + bob), event(series + accepted + bob), ""},
		"asked": {event(series + accepted + bob), event(series + "ATTENDEE" + bob), "Bob ACCEPTED"},
		"not answered before, and the organizer": {
			event(series + "ATTENDEE" + bob), event(series + "ATTENDEE" + bob + "\nATTENDEE" + eve), "",
		},
		"no longer invited": {event(series + accepted + bob), event(series + "ATTENDEE" + eve), ""},
		"an instance of its own": {
			event(series + accepted + bob), event(series+accepted+bob, instance+"ATTENDEE"+bob), "Bob ACCEPTED",
		},
		"an instance with another answer": {
			event(series+accepted+bob, instance+declined+bob), event(series+accepted+bob, instance+"ATTENDEE"+bob),
			"Bob DECLINED",
		},
		"once": {
			event(series+accepted+bob, instance+declined+bob),
			event(series+"ATTENDEE"+bob, instance+"ATTENDEE"+bob), "Bob ACCEPTED",
		},
	} {
		var got []string
		for _, one := range schedule.Lost(test.before, test.after) {
			got = append(got, one.Name+" "+one.Status)
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
