package recur_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestClocksChange looks at what becomes of a series where the clocks of its
// zone are changed: see docs/decisions/0010-recurrence.md for the choices.
func TestClocksChange(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, zone, start, rule string
		want                    []string
	}{
		{
			"a gap is read with the offset before it", "America/New_York", "20260307T023000", "FREQ=DAILY",
			[]string{"2026-03-07 02:30 EST", "2026-03-08 03:30 EDT", "2026-03-09 02:30 EDT"},
		},
		{
			"an overlap is its first time", "America/New_York", "20261031T013000", "FREQ=DAILY",
			[]string{"2026-10-31 01:30 EDT", "2026-11-01 01:30 EDT", "2026-11-02 01:30 EST"},
		},
		{
			"a moment from a gap falls on another one", "America/New_York", "20260308T003000",
			"FREQ=DAILY;BYHOUR=0,2,3",
			[]string{"2026-03-08 00:30 EST", "2026-03-08 03:30 EDT", "2026-03-09 00:30 EDT"},
		},
		{
			"moments from a gap stay in order", "America/New_York", "20260308T010000",
			"FREQ=DAILY;BYHOUR=1,2,3;BYMINUTE=0,20,40",
			[]string{
				"2026-03-08 01:00 EST", "2026-03-08 01:20 EST", "2026-03-08 01:40 EST", "2026-03-08 03:00 EDT",
				"2026-03-08 03:20 EDT", "2026-03-08 03:40 EDT", "2026-03-09 01:00 EDT",
			},
		},
		{
			"no hour twice in spring", "America/New_York", "20260308T000000", "FREQ=HOURLY",
			[]string{"2026-03-08 00:00 EST", "2026-03-08 01:00 EST", "2026-03-08 03:00 EDT", "2026-03-08 04:00 EDT"},
		},
		{
			"every hour in autumn", "America/New_York", "20261101T000000", "FREQ=HOURLY",
			[]string{"2026-11-01 00:00 EDT", "2026-11-01 01:00 EDT", "2026-11-01 01:00 EST", "2026-11-01 02:00 EST"},
		},
		{
			"every sixth hour of the wall clock", "America/New_York", "20260308T000000", "FREQ=HOURLY;INTERVAL=6",
			[]string{"2026-03-08 00:00 EST", "2026-03-08 06:00 EDT", "2026-03-08 12:00 EDT"},
		},
		{
			"skipped hours do not count", "Europe/London", "20260329T000000", "FREQ=HOURLY;COUNT=3",
			[]string{"2026-03-29 00:00 GMT", "2026-03-29 02:00 BST", "2026-03-29 03:00 BST"},
		},
		{
			"repeated hours count", "Europe/London", "20261025T000000", "FREQ=HOURLY;COUNT=4",
			[]string{"2026-10-25 00:00 BST", "2026-10-25 01:00 BST", "2026-10-25 01:00 GMT", "2026-10-25 02:00 GMT"},
		},
		{
			"London in spring", "Europe/London", "20260328T013000", "FREQ=DAILY;COUNT=3",
			[]string{"2026-03-28 01:30 GMT", "2026-03-29 02:30 BST", "2026-03-30 01:30 BST"},
		},
		{
			"half an hour on Lord Howe, in autumn", "Australia/Lord_Howe", "20260405T010000",
			"FREQ=MINUTELY;INTERVAL=30",
			[]string{
				"2026-04-05 01:00 +11", "2026-04-05 01:30 +11", "2026-04-05 01:30 +1030", "2026-04-05 02:00 +1030",
			},
		},
		{
			"half an hour on Lord Howe, in spring", "Australia/Lord_Howe", "20261004T013000",
			"FREQ=MINUTELY;INTERVAL=30",
			[]string{"2026-10-04 01:30 +1030", "2026-10-04 02:30 +11", "2026-10-04 03:00 +11"},
		},
		{
			"a daily one on Lord Howe", "Australia/Lord_Howe", "20261003T021500", "FREQ=DAILY",
			[]string{"2026-10-03 02:15 +1030", "2026-10-04 02:45 +11", "2026-10-05 02:15 +11"},
		},
		{
			"the day that Apia skipped falls on the next one", "Pacific/Apia", "20111228T100000", "FREQ=DAILY;COUNT=5",
			[]string{"2011-12-28 10:00 -10", "2011-12-29 10:00 -10", "2011-12-31 10:00 +14", "2012-01-01 10:00 +14"},
		},
		{
			"a Friday that Apia did not have", "Pacific/Apia", "20111223T100000", "FREQ=WEEKLY",
			[]string{"2011-12-23 10:00 -10", "2011-12-31 10:00 +14", "2012-01-06 10:00 +14"},
		},
		{
			"Ramadan begins in Casablanca", "Africa/Casablanca", "20260214T023000", "FREQ=DAILY",
			[]string{"2026-02-14 02:30 +01", "2026-02-15 02:30 +01", "2026-02-16 02:30 +00"},
		},
		{
			"and ends", "Africa/Casablanca", "20260321T023000", "FREQ=DAILY",
			[]string{"2026-03-21 02:30 +00", "2026-03-22 03:30 +01", "2026-03-23 02:30 +01"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			set := parseSet(t, event("DTSTART;TZID="+test.zone+":"+test.start, "RRULE:"+test.rule))
			if diff := cmp.Diff(test.want, starts(t, set, time.Time{}, len(test.want))); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestSeekEqualsWalk asks for windows that begin at every half hour around
// changes of the clocks: a window must find what a walk from the start finds.
func TestSeekEqualsWalk(t *testing.T) {
	t.Parallel()
	tests := []struct{ zone, start, rule string }{
		{"America/New_York", "20260301T023000", "FREQ=DAILY;COUNT=20"},
		{"America/New_York", "20260301T000000", "FREQ=DAILY;BYHOUR=1,2,3;BYMINUTE=0,30"},
		{"America/New_York", "20261025T000000", "FREQ=HOURLY;COUNT=400"},
		{"Australia/Lord_Howe", "20260401T000000", "FREQ=MINUTELY;INTERVAL=15;COUNT=1500"},
		{"Pacific/Apia", "20111220T100000", "FREQ=DAILY;COUNT=30"},
		{"Pacific/Apia", "20111220T100000", "FREQ=HOURLY;INTERVAL=5;COUNT=90"},
		{"Africa/Casablanca", "20260201T023000", "FREQ=DAILY;COUNT=60"},
		{"Europe/London", "20260320T003000", "FREQ=HOURLY;BYHOUR=0,1,2;COUNT=60"},
	}
	for _, test := range tests {
		t.Run(test.zone+" "+test.rule, func(t *testing.T) {
			t.Parallel()
			set := parseSet(t, event("DTSTART;TZID="+test.zone+":"+test.start, "RRULE:"+test.rule))
			all := instants(t, set, time.Time{}, 300)
			for i, at := range all[:len(all)-1] {
				for _, from := range []time.Time{at, at.Add(time.Second), at.Add(30 * time.Minute)} {
					rest := all[i:]
					for len(rest) > 0 && rest[0].Before(from) {
						rest = rest[1:]
					}
					if len(rest) == 0 {
						continue
					}
					rest = rest[:min(len(rest), 12)]
					if diff := cmp.Diff(rest, instants(t, set, from, len(rest))); diff != "" {
						t.Fatalf("from %v (-walked +sought)\n%s", from, diff)
					}
				}
			}
		})
	}
}
