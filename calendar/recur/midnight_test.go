package recur_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestMidnightNamesADay: Outlook and Exchange write the RECURRENCE-ID of a series at 9:00 as the midnight of its day
// (RECURRENCE-ID;TZID=GMT Standard Time:20260721T000000). It is the instance of that day where none can start at
// midnight.
func TestMidnightNamesADay(t *testing.T) {
	t.Parallel()
	const berlin = ";TZID=Europe/Berlin:"
	override := func(id string) string {
		return event("RECURRENCE-ID"+id, "DTSTART"+berlin+"20260310T110000", "DTEND"+berlin+"20260310T120000")
	}
	nine := []string{"DTSTART" + berlin + "20260309T090000", "DTEND" + berlin + "20260309T100000"}
	series := func(lines ...string) string { return event(append(nine[:2:2], lines...)...) }
	const moved = "2026-03-09 09:00 CET, 2026-03-10 11:00 CET, 2026-03-11 09:00 CET"
	const beside = "2026-03-09 09:00 CET, 2026-03-10 09:00 CET, 2026-03-10 11:00 CET, 2026-03-11 09:00 CET"
	for name, c := range map[string]struct{ lines, want string }{
		"in its zone":     {series("RRULE:FREQ=DAILY;COUNT=3") + override(berlin+"20260310T000000"), moved},
		"without a zone":  {series("RRULE:FREQ=DAILY;COUNT=3") + override(":20260310T000000"), moved},
		"in UTC":          {series("RRULE:FREQ=DAILY;COUNT=3") + override(":20260309T230000Z"), moved},
		"midnight of UTC": {series("RRULE:FREQ=DAILY;COUNT=3") + override(":20260310T000000Z"), beside},
		"another time":    {series("RRULE:FREQ=DAILY;COUNT=3") + override(berlin+"20260310T080000"), beside},
		"an excluded day": {
			series("RRULE:FREQ=DAILY;COUNT=3", "EXDATE"+berlin+"20260310T000000"),
			"2026-03-09 09:00 CET, 2026-03-11 09:00 CET",
		},
		"beside an RDATE": {
			series("RRULE:FREQ=DAILY;COUNT=3", "RDATE"+berlin+"20260310T090000") + override(berlin+"20260310T000000"),
			beside,
		},
		"two a day": {
			series("RRULE:FREQ=DAILY;BYHOUR=9;COUNT=3") + override(berlin+"20260310T000000"), beside,
		},
		"a series at midnight": {
			strings.ReplaceAll(series("RRULE:FREQ=DAILY;COUNT=3"), "T090000", "T000000") +
				override(berlin+"20260310T000000"),
			"2026-03-09 00:00 CET, 2026-03-10 11:00 CET, 2026-03-11 00:00 CET",
		},
		"overrides by themself": {override(berlin + "20260310T000000"), "2026-03-10 11:00 CET"},
	} {
		got := strings.Join(starts(t, parseSet(t, c.lines), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), 9), ", ")
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
