package recur_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// setTest is a set, a window and what is in it.
type setTest struct {
	name     string
	lines    string
	from, to time.Time
	want     []string
}

func runSets(t *testing.T, tests []setTest) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := spans(t, parseSet(t, test.lines), test.from, test.to)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

const (
	berlin = "DTSTART;TZID=Europe/Berlin:20260803T200000"
	weekly = "RRULE:FREQ=WEEKLY;COUNT=4"
)

func TestDates(t *testing.T) {
	t.Parallel()
	runSets(t, []setTest{
		{
			name:  "an EXDATE list",
			lines: event(berlin, weekly, "EXDATE;TZID=Europe/Berlin:20260810T200000,20260824T200000"),
			want: []string{
				"2026-08-03 20:00 CEST to 2026-08-03 20:00 CEST", "2026-08-17 20:00 CEST to 2026-08-17 20:00 CEST",
			},
		},
		{
			name: "an EXDATE in UTC, one as a date, one without a zone",
			lines: event(berlin, weekly, "EXDATE:20260803T180000Z", "EXDATE;VALUE=DATE:20260810",
				"EXDATE:20260817T200000"),
			want: []string{"2026-08-24 20:00 CEST to 2026-08-24 20:00 CEST"},
		},
		{
			name: "EXDATEs with a time in a series of days",
			lines: event("DTSTART;VALUE=DATE:20260803", weekly, "EXDATE:20260810T000000",
				"EXDATE;TZID=Europe/Berlin:20260817T090000"),
			want: []string{"2026-08-03 to 2026-08-04", "2026-08-24 to 2026-08-25"},
		},
		{
			name:  "RDATE without a rule",
			lines: event(berlin, "DURATION:PT1H", "RDATE;TZID=Europe/Berlin:20260901T100000,20260801T100000"),
			want: []string{
				"2026-08-01 10:00 CEST to 2026-08-01 11:00 CEST", "2026-08-03 20:00 CEST to 2026-08-03 21:00 CEST",
				"2026-09-01 10:00 CEST to 2026-09-01 11:00 CEST",
			},
		},
		{
			name: "RDATEs as a date, in UTC and as periods",
			lines: event(berlin, "DURATION:PT1H", "RDATE;VALUE=DATE:20260804", "RDATE:20260805T180000Z",
				"RDATE;VALUE=PERIOD;TZID=Europe/Berlin:20260806T200000/20260806T233000,20260807T200000/PT5M"),
			want: []string{
				"2026-08-03 20:00 CEST to 2026-08-03 21:00 CEST", "2026-08-04 20:00 CEST to 2026-08-04 21:00 CEST",
				"2026-08-05 20:00 CEST to 2026-08-05 21:00 CEST", "2026-08-06 20:00 CEST to 2026-08-06 23:30 CEST",
				"2026-08-07 20:00 CEST to 2026-08-07 20:05 CEST",
			},
		},
		{
			name:  "an RDATE that the rule gives too",
			lines: event(berlin, weekly, "RDATE;TZID=Europe/Berlin:20260810T200000"),
			from:  in2026(8, 9), to: in2026(8, 12),
			want: []string{"2026-08-10 20:00 CEST to 2026-08-10 20:00 CEST"},
		},
		{
			name: "two RRULEs and an EXRULE",
			lines: event(berlin, "RRULE:FREQ=DAILY;COUNT=4", "RRULE:FREQ=WEEKLY;COUNT=3",
				"EXRULE:FREQ=DAILY;INTERVAL=2;COUNT=2"),
			want: []string{
				"2026-08-04 20:00 CEST to 2026-08-04 20:00 CEST", "2026-08-06 20:00 CEST to 2026-08-06 20:00 CEST",
				"2026-08-10 20:00 CEST to 2026-08-10 20:00 CEST", "2026-08-17 20:00 CEST to 2026-08-17 20:00 CEST",
			},
		},
		{
			name:  "DTSTART that the rule does not name comes first and counts",
			lines: event(berlin, "RRULE:FREQ=WEEKLY;BYDAY=WE;COUNT=3"),
			want: []string{
				"2026-08-03 20:00 CEST to 2026-08-03 20:00 CEST", "2026-08-05 20:00 CEST to 2026-08-05 20:00 CEST",
				"2026-08-12 20:00 CEST to 2026-08-12 20:00 CEST",
			},
		},
	})
}

func TestUntil(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, start, until string
		floating           string
		want               string // the last day
	}{
		{"in UTC, at the instance", berlin, "20260805T180000Z", "UTC", "2026-08-05 20:00 CEST"},
		{"in UTC, just before the instance", berlin, "20260805T175959Z", "UTC", "2026-08-04 20:00 CEST"},
		{"local", berlin, "20260805T200000", "UTC", "2026-08-05 20:00 CEST"},
		{"a date beside times is the whole day", berlin, "20260805", "UTC", "2026-08-05 20:00 CEST"},
		{"before the start", berlin, "20200101", "UTC", "2026-08-03 20:00 CEST"},
		{"a date for days", "DTSTART;VALUE=DATE:20260803", "20260805", "UTC", "2026-08-05"},
		{"a local time for days", "DTSTART;VALUE=DATE:20260803", "20260805T000000", "UTC", "2026-08-05"},
		{
			"midnight in UTC for days, written west of it", "DTSTART;VALUE=DATE:20260803", "20260805T000000Z",
			"America/New_York", "2026-08-05",
		},
		{
			"local midnight in UTC for days", "DTSTART;VALUE=DATE:20260803", "20260804T220000Z", "Europe/Berlin",
			"2026-08-05",
		},
		{
			"the end of a day in UTC for days", "DTSTART;VALUE=DATE:20260803", "20260805T235959Z", "Europe/Berlin",
			"2026-08-05",
		},
		{
			"in UTC for floating times", "DTSTART:20260803T200000", "20260805T180000Z", "Europe/Berlin",
			"2026-08-05 20:00 floating",
		},
		{"local for UTC", "DTSTART:20260803T200000Z", "20260805T200000", "UTC", "2026-08-05 20:00 UTC"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			floating, err := time.LoadLocation(test.floating)
			if err != nil {
				t.Fatal(err)
			}
			lines := event(test.start, "RRULE:FREQ=DAILY;UNTIL="+test.until)
			set, err := trySet(lines, floating)
			if err != nil {
				t.Fatal(err)
			}
			got := starts(t, set, time.Time{}, 100)
			if last := got[len(got)-1]; last != test.want {
				t.Errorf("the last one is %s, not %s", last, test.want)
			}
		})
	}
}

func override(id string, lines ...string) string {
	return event(append([]string{"RECURRENCE-ID" + id}, lines...)...)
}

func TestOverrides(t *testing.T) {
	t.Parallel()
	master := event(berlin, "DURATION:PT1H", "RRULE:FREQ=DAILY", "SUMMARY:series")
	moved := override(";TZID=Europe/Berlin:20260805T200000", "DTSTART;TZID=Europe/Berlin:20260820T080000",
		"DTEND;TZID=Europe/Berlin:20260820T083000", "SUMMARY:moved")
	runSets(t, []setTest{
		{
			name: "moved out of the window", lines: master + moved, from: in2026(8, 4), to: in2026(8, 7),
			want: []string{
				"2026-08-04 20:00 CEST to 2026-08-04 21:00 CEST (series)",
				"2026-08-06 20:00 CEST to 2026-08-06 21:00 CEST (series)",
			},
		},
		{
			name: "moved into the window", lines: moved + master, from: in2026(8, 20), to: in2026(8, 21),
			want: []string{
				"2026-08-20 08:00 CEST to 2026-08-20 08:30 CEST, was 2026-08-05 20:00 CEST (moved)",
				"2026-08-20 20:00 CEST to 2026-08-20 21:00 CEST (series)",
			},
		},
		{
			name: "cancelled ones are told",
			lines: master +
				override(":20260805T180000Z", "DTSTART:20260805T180000Z", "STATUS:CANCELLED", "SUMMARY:cancelled"),
			from: in2026(8, 5), to: in2026(8, 6),
			want: []string{"2026-08-05 18:00 UTC to 2026-08-05 18:00 UTC, was 2026-08-05 20:00 CEST (cancelled)"},
		},
		{
			name:  "a date names an instance with a time",
			lines: master + override(";VALUE=DATE:20260805", "DTSTART;VALUE=DATE:20260805", "SUMMARY:all day"),
			from:  in2026(8, 5), to: in2026(8, 6),
			want: []string{"2026-08-05 to 2026-08-06, was 2026-08-05 20:00 CEST (all day)"},
		},
		{
			name: "only overrides", lines: moved, from: in2026(8, 1), to: in2026(9, 1),
			want: []string{"2026-08-20 08:00 CEST to 2026-08-20 08:30 CEST, was 2026-08-05 20:00 CEST (moved)"},
		},
		{
			name:  "an override that the series does not have",
			lines: event(berlin, "SUMMARY:single") + moved, from: in2026(8, 1), to: in2026(9, 1),
			want: []string{
				"2026-08-03 20:00 CEST to 2026-08-03 20:00 CEST (single)",
				"2026-08-20 08:00 CEST to 2026-08-20 08:30 CEST, was 2026-08-05 20:00 CEST (moved)",
			},
		},
		{
			name:  "an override of an excluded instance, as Exchange writes both",
			lines: strings.Replace(master, "SUMMARY", "EXDATE;TZID=Europe/Berlin:20260805T200000\nSUMMARY", 1) + moved,
			from:  in2026(8, 20), to: in2026(8, 20).Add(12 * time.Hour),
			want: []string{"2026-08-20 08:00 CEST to 2026-08-20 08:30 CEST, was 2026-08-05 20:00 CEST (moved)"},
		},
	})
}

func TestThisAndFuture(t *testing.T) {
	t.Parallel()
	master := event(berlin, "DURATION:PT1H", "RRULE:FREQ=DAILY;COUNT=8", "SUMMARY:first")
	later := override(";TZID=Europe/Berlin;RANGE=THISANDFUTURE:20260806T200000",
		"DTSTART;TZID=Europe/Berlin:20260807T090000", "DURATION:PT30M", "SUMMARY:second")
	latest := override(";TZID=Europe/Berlin;RANGE=THISANDFUTURE:20260809T200000",
		"DTSTART;TZID=America/New_York:20260809T090000", "SUMMARY:third")
	alone := override(";TZID=Europe/Berlin:20260808T200000", "DTSTART;TZID=Europe/Berlin:20260808T120000",
		"SUMMARY:alone")
	runSets(t, []setTest{
		{
			name: "shifts, shortens and ends where the next one begins", lines: master + later + latest + alone,
			want: []string{
				"2026-08-03 20:00 CEST to 2026-08-03 21:00 CEST (first)",
				"2026-08-04 20:00 CEST to 2026-08-04 21:00 CEST (first)",
				"2026-08-05 20:00 CEST to 2026-08-05 21:00 CEST (first)",
				"2026-08-07 09:00 CEST to 2026-08-07 09:30 CEST, was 2026-08-06 20:00 CEST (second)",
				"2026-08-08 09:00 CEST to 2026-08-08 09:30 CEST, was 2026-08-07 20:00 CEST (second)",
				"2026-08-08 12:00 CEST to 2026-08-08 12:00 CEST, was 2026-08-08 20:00 CEST (alone)",
				"2026-08-09 09:00 EDT to 2026-08-09 09:00 EDT, was 2026-08-09 20:00 CEST (third)",
				"2026-08-10 09:00 EDT to 2026-08-10 09:00 EDT, was 2026-08-10 20:00 CEST (third)",
			},
		},
		{
			name: "the window is that of the moved ones", lines: master + later, from: in2026(8, 8), to: in2026(8, 9),
			want: []string{"2026-08-08 09:00 CEST to 2026-08-08 09:30 CEST, was 2026-08-07 20:00 CEST (second)"},
		},
		{
			name: "keeps the wall clock over a change of it",
			lines: event("DTSTART;TZID=Europe/Berlin:20261023T200000", "RRULE:FREQ=DAILY;COUNT=4") +
				override(";TZID=Europe/Berlin;RANGE=THISANDFUTURE:20261024T200000",
					"DTSTART;TZID=Europe/Berlin:20261024T070000"),
			from: in2026(10, 24), to: in2026(10, 26),
			want: []string{
				"2026-10-24 07:00 CEST to 2026-10-24 07:00 CEST, was 2026-10-24 20:00 CEST",
				"2026-10-25 07:00 CET to 2026-10-25 07:00 CET, was 2026-10-25 20:00 CET",
			},
		},
		{
			name: "what falls into a gap lasts days of the clock from where it begins, as it does without it",
			lines: event("DTSTART;TZID=Europe/Berlin:20260327T053000", "RRULE:FREQ=DAILY;COUNT=4", "DURATION:P1D") +
				override(";TZID=Europe/Berlin;RANGE=THISANDFUTURE:20260328T053000",
					"DTSTART;TZID=Europe/Berlin:20260328T023000", "DURATION:P1D"),
			from: in2026(3, 28), to: in2026(3, 30),
			want: []string{
				"2026-03-27 05:30 CET to 2026-03-28 05:30 CET",
				"2026-03-28 02:30 CET to 2026-03-29 03:30 CEST, was 2026-03-28 05:30 CET",
				"2026-03-29 03:30 CEST to 2026-03-30 03:30 CEST, was 2026-03-29 05:30 CEST",
			},
		},
		{
			name: "days become times",
			lines: event("DTSTART;VALUE=DATE:20260803", "RRULE:FREQ=DAILY;COUNT=3") +
				override(";VALUE=DATE;RANGE=THISANDFUTURE:20260804", "DTSTART;TZID=Europe/Berlin:20260804T090000",
					"DURATION:PT1H"),
			want: []string{
				"2026-08-03 to 2026-08-04", "2026-08-04 09:00 CEST to 2026-08-04 10:00 CEST, was 2026-08-04",
				"2026-08-05 09:00 CEST to 2026-08-05 10:00 CEST, was 2026-08-05",
			},
		},
	})
}

func TestDurations(t *testing.T) {
	t.Parallel()
	// On 2026-10-25 the day in Berlin has 25 hours.
	const saturday = "DTSTART;TZID=Europe/Berlin:20261024T120000"
	component := func(name string, lines ...string) string {
		return strings.ReplaceAll(event(lines...), "VEVENT", name)
	}
	tests := []struct{ name, lines, want string }{
		{"a day is nominal", event(saturday, "DURATION:P1D"), "2026-10-24 12:00 CEST to 2026-10-25 12:00 CET"},
		{"hours are exact", event(saturday, "DURATION:PT24H"), "2026-10-24 12:00 CEST to 2026-10-25 11:00 CET"},
		{"days, then hours", event(saturday, "DURATION:P1DT1H"), "2026-10-24 12:00 CEST to 2026-10-25 13:00 CET"},
		{
			"an end in another zone", event(saturday, "DTEND;TZID=America/New_York:20261024T070000"),
			"2026-10-24 12:00 CEST to 2026-10-24 13:00 CEST",
		},
		{
			"an end before the start", event(saturday, "DTEND;TZID=Europe/Berlin:20261024T110000"),
			"2026-10-24 12:00 CEST to 2026-10-24 12:00 CEST",
		},
		{"a day without an end", event("DTSTART;VALUE=DATE:20261024"), "2026-10-24 to 2026-10-25"},
		{
			"a day that ends on itself", event("DTSTART;VALUE=DATE:20261024", "DTEND;VALUE=DATE:20261024"),
			"2026-10-24 to 2026-10-25",
		},
		{"three days", event("DTSTART;VALUE=DATE:20261024", "DTEND;VALUE=DATE:20261027"), "2026-10-24 to 2026-10-27"},
		{"hours of whole days", event("DTSTART;VALUE=DATE:20261024", "DURATION:PT25H"), "2026-10-24 to 2026-10-26"},
		{
			"a task", component("VTODO", saturday, "DUE;TZID=Europe/Berlin:20261024T130000"),
			"2026-10-24 12:00 CEST to 2026-10-24 13:00 CEST",
		},
		{
			"a task with DUE alone", component("VTODO", "DUE:20261024T130000Z"),
			"2026-10-24 13:00 UTC to 2026-10-24 13:00 UTC",
		},
		{
			"a task that is due on the day it starts",
			component("VTODO", "DTSTART;VALUE=DATE:20261024", "DUE;VALUE=DATE:20261024"), "2026-10-24 to 2026-10-24",
		},
		{"a journal entry", component("VJOURNAL", "DTSTART;VALUE=DATE:20261024"), "2026-10-24 to 2026-10-25"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff([]string{test.want},
				spans(t, parseSet(t, test.lines), time.Time{}, time.Time{})); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestWindow looks at the borders: [from, to), and nothing that only touches.
func TestWindow(t *testing.T) {
	t.Parallel()
	hour := event("DTSTART:20260803T100000Z", "DURATION:PT1H")
	point := event("DTSTART:20260803T100000Z")
	at := func(clock string) time.Time {
		parsed, err := time.Parse("2006-01-02 15:04", "2026-08-03 "+clock)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	tests := []struct {
		name, lines, from, to string
		want                  int
	}{
		{"ends when the window begins", hour, "11:00", "12:00", 0},
		{"starts when the window ends", hour, "09:00", "10:00", 0},
		{"overlaps the beginning", hour, "10:59", "12:00", 1},
		{"overlaps the end", hour, "09:00", "10:01", 1},
		{"around the window", hour, "10:10", "10:20", 1},
		{"no duration, at the beginning", point, "10:00", "11:00", 1},
		{"no duration, at the end", point, "09:00", "10:00", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := spans(t, parseSet(t, test.lines), at(test.from), at(test.to)); len(got) != test.want {
				t.Errorf("got %v, want %d", got, test.want)
			}
		})
	}
}
