package recur_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar/recur"
)

// everExcluded has one instance, for its EXRULE takes away all that its RRULE makes.
var everExcluded = event("DTSTART:20260512T080000Z", "DTEND:20260512T090000Z", "RRULE:FREQ=YEARLY",
	"RDATE:20260601T080000Z", "EXRULE:FREQ=YEARLY")

// TestAWalkEndsWithItsWindow: what is excluded for ever is not followed for ever (time F1).
func TestAWalkEndsWithItsWindow(t *testing.T) {
	t.Parallel()
	set := parseSet(t, everExcluded)
	few := recur.Budget{Steps: 100, Instances: 10}
	for _, test := range []struct {
		from, to time.Time
		want     int
	}{
		{in2026(6, 1), in2026(6, 2), 1},
		{in2026(1, 1), in2026(12, 31), 1},
		{in2026(6, 2).AddDate(5, 0, 0), in2026(7, 2).AddDate(5, 0, 0), 0},
	} {
		found, err := set.Instances(context.Background(), test.from, test.to, few)
		if err != nil || len(found) != test.want {
			t.Errorf("%v: %d instances and %v, want %d", test.from, len(found), err, test.want)
		}
	}
}

// TestASearchEndsWithItsWindow: a rule of which nothing is near is not followed until it is.
func TestASearchEndsWithItsWindow(t *testing.T) {
	t.Parallel()
	set := parseSet(t, event("DTSTART:20260101T000000Z", "RRULE:FREQ=HOURLY;INTERVAL=997;BYYEARDAY=366;BYHOUR=0"))
	found, err := set.Instances(context.Background(), in2026(2, 1), in2026(3, 1),
		recur.Budget{Steps: 100, Instances: 10})
	if err != nil || len(found) != 0 {
		t.Errorf("%d instances and %v", len(found), err)
	}
}

// TestWhatIsInHandIsGiven: a search that is too expensive hides nothing that is known without it (time F1).
func TestWhatIsInHandIsGiven(t *testing.T) {
	t.Parallel()
	few := recur.Budget{Steps: 100, Instances: 100}
	for _, test := range []struct {
		name, lines string
		want        []string
	}{
		{"what an EXRULE leaves, until it is too expensive", everExcluded, []string{"2026-06-01 08:00 UTC"}},
		{
			"dates beside a rule that is too expensive",
			event("DTSTART:20260512T080000Z", "RRULE:FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30;INTERVAL=7",
				"RDATE:20260601T080000Z"),
			[]string{"2026-05-12 08:00 UTC", "2026-06-01 08:00 UTC"},
		},
		{
			"an override beside one",
			event("DTSTART:20260512T080000Z", "RRULE:FREQ=SECONDLY;COUNT=99999999", "EXRULE:FREQ=SECONDLY") +
				override(":20260512T080001Z", "DTSTART:20261001T080000Z"),
			[]string{"2026-10-01 08:00 UTC"},
		},
	} {
		var got []string
		var last error
		for i, err := range parseSet(t, test.lines).Between(context.Background(), time.Time{}, time.Time{}, few) {
			if last = err; err == nil {
				got = append(got, show(i.Start))
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" || !errors.Is(last, recur.ErrBudget) {
			t.Errorf("%s: %v and %s", test.name, last, diff)
		}
	}
}

// TestAPeriodSaysHowLong: of two RDATEs at one time the PERIOD counts, whichever is first (time N1).
func TestAPeriodSaysHowLong(t *testing.T) {
	t.Parallel()
	dates := []string{"RDATE:20270201T090000Z", "RDATE;VALUE=PERIOD:20270201T090000Z/PT3H"}
	for _, order := range [][]string{dates, {dates[1], dates[0]}} {
		set := parseSet(t, event(append([]string{"DTSTART:20270101T090000Z", "DURATION:PT1H"}, order...)...))
		got := spans(t, set, in2026(1, 1).AddDate(1, 1, 0), in2026(1, 1).AddDate(1, 2, 0))
		if want := []string{"2027-02-01 09:00 UTC to 2027-02-01 12:00 UTC"}; !cmp.Equal(got, want) {
			t.Errorf("%s: %v", strings.Join(order, ", "), got)
		}
	}
}

// TestWhatClocksSkipCountsOnce: two moments that clocks make one are one of a COUNT (time N2).
func TestWhatClocksSkipCountsOnce(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{
			"a day that Samoa skipped",
			[]string{"DTSTART;TZID=Pacific/Apia:20111229T100000", "RRULE:FREQ=DAILY;COUNT=4"},
			[]string{
				"2011-12-29 10:00 -10", "2011-12-31 10:00 +14", "2012-01-01 10:00 +14", "2012-01-02 10:00 +14",
			},
		},
		{
			"a start on that day",
			[]string{"DTSTART;TZID=Pacific/Apia:20111230T100000", "RRULE:FREQ=DAILY;COUNT=2"},
			[]string{
				"2011-12-31 10:00 +14", "2012-01-01 10:00 +14",
			},
		},
		{
			"two hours that become one",
			[]string{"DTSTART;TZID=Europe/Berlin:20260328T023000", "RRULE:FREQ=DAILY;BYHOUR=2,3;COUNT=5"},
			[]string{
				"2026-03-28 02:30 CET", "2026-03-28 03:30 CET", "2026-03-29 03:30 CEST", "2026-03-30 02:30 CEST",
				"2026-03-30 03:30 CEST",
			},
		},
		{
			"an hour that moves",
			[]string{"DTSTART;TZID=Europe/Berlin:20260328T023000", "RRULE:FREQ=DAILY;COUNT=3"},
			[]string{
				"2026-03-28 02:30 CET", "2026-03-29 03:30 CEST", "2026-03-30 02:30 CEST",
			},
		},
	} {
		set := parseSet(t, event(test.lines...))
		if diff := cmp.Diff(test.want, starts(t, set, time.Time{}, 9)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
		last := test.want[len(test.want)-1:]
		all := instants(t, set, time.Time{}, 9)
		if got := starts(t, set, all[len(all)-1], 9); !cmp.Equal(got, last) {
			t.Errorf("%s, sought: %v, want %v", test.name, got, last)
		}
		if span, _ := set.Span(1000); !span.End.Equal(all[len(all)-1]) {
			t.Errorf("%s: the span ends at %v", test.name, span.End)
		}
	}
}
