package edit_test

import (
	"testing"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
)

// TestFind: what is found is what an edit with the same id would be about.
func TestFind(t *testing.T) {
	t.Parallel()
	series := calendarOf(
		eventOf("DTSTART;TZID=Europe/Berlin:20260325T090000", "DURATION:PT1H", "RRULE:FREQ=DAILY;COUNT=8",
			"SUMMARY:usual"),
		eventOf("RECURRENCE-ID;TZID=Europe/Berlin:20260327T090000", "DTSTART;TZID=Europe/Berlin:20260327T140000",
			"DTEND;TZID=Europe/Berlin:20260327T143000", "SUMMARY:moved"),
	)
	for _, tt := range []struct{ name, text, id, wantID, from, to, title string }{
		{"the series", series, "", "", "2026-03-25T09:00:00+01:00", "2026-03-25T10:00:00+01:00", "usual"},
		{
			"an instance", series, "20260330T070000Z", "2026-03-30T09:00:00+02:00", "2026-03-30T09:00:00+02:00",
			"2026-03-30T10:00:00+02:00", "usual",
		},
		{
			"a day", series, "2026-03-27", "2026-03-27T09:00:00+01:00", "2026-03-27T14:00:00+01:00",
			"2026-03-27T14:30:00+01:00", "moved",
		},
		{
			"once", calendarOf(eventOf("DTSTART:20260301T090000Z", "DTEND:20260301T100000Z", "SUMMARY:once")),
			"20260301T090000Z", "", "2026-03-01T09:00:00Z", "2026-03-01T10:00:00Z", "once",
		},
		{
			"whole days", calendarOf(eventOf("DTSTART;VALUE=DATE:20260301", "SUMMARY:day")), "", "",
			"2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z", "day",
		},
		{
			"over a change of the clocks",
			calendarOf(eventOf("DTSTART;TZID=Europe/Berlin:20260328T120000", "DURATION:P1D", "SUMMARY:x")), "", "",
			"2026-03-28T12:00:00+01:00", "2026-03-29T12:00:00+02:00", "x",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			found, err := editor().Find(t.Context(), read(t, tt.text), at(t, tt.id))
			if err != nil {
				t.Fatal(err)
			}
			for what, pair := range map[string]struct {
				got  time.Time
				want string
			}{
				"id": {found.RecurrenceID.Time, tt.wantID}, "start": {found.Start.Time, tt.from},
				"end": {found.End.Time, tt.to},
			} {
				if pair.want == "" && pair.got.IsZero() {
					continue
				}
				if got := pair.got.Format(time.RFC3339); got != pair.want {
					t.Errorf("%s: %s, want %s", what, got, pair.want)
				}
			}
			if title := content.TextOf(found.Component, "SUMMARY"); title != tt.title {
				t.Errorf("it is %q, want %q", title, tt.title)
			}
		})
	}
	_, err := editor().Find(t.Context(), read(t, series), at(t, "2026-03-27T10:00"))
	refused(t, err, edit.NoInstance, "the next one is")
	_, err = editor().Find(t.Context(), read(t, calendarOf(eventOf("DTSTART:20260301T090000Z"))),
		at(t, "2026-03-27T10:00"))
	refused(t, err, edit.NotSeries, "")
}
