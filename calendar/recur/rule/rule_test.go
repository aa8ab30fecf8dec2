package rule_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar/recur/rule"
	"caldav-mcp-server/calendar/recur/rule/ruletest"
	"caldav-mcp-server/ical"
)

// TestWeeksAgainstISO compares BYWEEKNO with the weeks of the standard library,
// day by day.
func TestWeeksAgainstISO(t *testing.T) {
	t.Parallel()
	for _, number := range []int{1, 2, 20, 52, 53, -1, -52, -53} {
		t.Run(fmt.Sprint(number), func(t *testing.T) {
			t.Parallel()
			c := ruletest.Case{
				Rule:  fmt.Sprintf("FREQ=YEARLY;BYWEEKNO=%d;BYDAY=MO,TU,WE,TH,FR,SA,SU", number),
				Start: ical.CivilDate(1990, time.January, 1),
			}
			r, err := ical.ParseRecur(c.Rule)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for day := c.Start; len(want) < 200; day = day.AddDays(1) {
				at := time.Date(day.Year, day.Month, day.Day, 0, 0, 0, 0, time.UTC)
				year, week := at.ISOWeek()
				_, weeks := time.Date(year, time.December, 28, 0, 0, 0, 0, time.UTC).ISOWeek()
				if week == number || week == weeks+1+number {
					want = append(want, day.String())
				}
			}
			if diff := cmp.Diff(want, expand(t, c, &r, rule.WallOf(c.Start), len(want))); diff != "" {
				t.Errorf("-ISO +ours\n%s", diff)
			}
		})
	}
}

// TestCountNthLast compares what is calculated with what is walked.
func TestCountNthLast(t *testing.T) {
	t.Parallel()
	generator := ruletest.New(3)
	for range 1500 {
		c := generator.Next()
		r, err := ical.ParseRecur(c.Rule)
		if err != nil {
			t.Fatal(err)
		}
		compiled, err := rule.New(&r, ical.Floating(c.Start))
		if err != nil {
			t.Fatal(err)
		}
		start := rule.WallOf(c.Start)
		walked := expand(t, c, &r, start, 25)
		for i, at := range walked {
			checkMoment(t, c, compiled, start, unwall(t, at), i)
		}
	}
}

// checkMoment looks at the moment that has n others before it.
func checkMoment(t *testing.T, c ruletest.Case, r *rule.Rule, start, at rule.Wall, n int) {
	t.Helper()
	meter := rule.NewMeter(context.Background(), 5_000_000)
	count, err := r.Count(meter, start, at)
	if err != nil || count != int64(n) {
		t.Fatalf("%v: %d moments before %v, %v; want %d", c, count, at.Civil(), err, n)
	}
	nth, ok, err := r.Nth(meter, int64(n))
	if err != nil || !ok || nth != at {
		t.Fatalf("%v: moment %d is %v, %v, %v; want %v", c, n, nth.Civil(), ok, err, at.Civil())
	}
	if r.Frequency() < ical.Daily {
		// Going back is one period at a time, which is too long here.
		return
	}
	last, ok, err := r.Last(meter, at+1)
	if err != nil || !ok || last != at {
		t.Fatalf("%v: the last moment before %v is %v, %v, %v", c, (at + 1).Civil(), last.Civil(), ok, err)
	}
}

func TestYears(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, rule string
		start      ical.Civil
		want       []string
	}{
		{
			"the first week of all", "FREQ=WEEKLY;WKST=SU;BYDAY=SU,SA", ical.CivilDate(1, time.January, 1),
			[]string{"0001-01-06T00:00:00", "0001-01-07T00:00:00", "0001-01-13T00:00:00"},
		},
		{
			"the last days of all", "FREQ=DAILY", ical.CivilDate(9999, time.December, 30),
			[]string{"9999-12-30T00:00:00", "9999-12-31T00:00:00"},
		},
		{
			"the last month of all", "FREQ=MONTHLY;BYMONTHDAY=-1", ical.CivilDate(9999, time.November, 30),
			[]string{"9999-11-30T00:00:00", "9999-12-31T00:00:00"},
		},
		{
			"a leap day in eight years", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", ical.CivilDate(1896, time.February, 29),
			[]string{"1896-02-29T00:00:00", "1904-02-29T00:00:00", "1908-02-29T00:00:00"},
		},
		{
			"BYDAY with and without a number is a union", "FREQ=MONTHLY;BYDAY=MO,1FR",
			ical.CivilDate(2025, time.January, 3),
			[]string{"2025-01-03T00:00:00", "2025-01-06T00:00:00", "2025-01-13T00:00:00"},
		},
		{
			"once in 400 years", "FREQ=YEARLY;INTERVAL=400", ical.CivilDate(1600, time.February, 29),
			[]string{"1600-02-29T00:00:00", "2000-02-29T00:00:00", "2400-02-29T00:00:00"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r, err := ical.ParseRecur(test.rule)
			if err != nil {
				t.Fatal(err)
			}
			c := ruletest.Case{Rule: test.rule, Start: test.start}
			if diff := cmp.Diff(test.want, expand(t, c, &r, rule.WallOf(c.Start), 3)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestNever has rules whose parts exclude one another: nothing may come, not
// even after a turn of the calendar.
func TestNever(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"FREQ=DAILY;INTERVAL=7;BYDAY=TU", "FREQ=HOURLY;INTERVAL=168;BYDAY=TU", "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
		"FREQ=YEARLY;INTERVAL=4;BYYEARDAY=366", "FREQ=WEEKLY;BYDAY=MO;BYSETPOS=2", "FREQ=MONTHLY;INTERVAL=12;BYMONTH=2",
	} {
		r, err := ical.ParseRecur(text)
		if err != nil {
			t.Fatal(err)
		}
		c := ruletest.Case{Rule: text, Start: ical.CivilDate(2025, time.January, 1)} // a Wednesday
		if got := expand(t, c, &r, rule.WallOf(c.Start), 1); len(got) > 0 {
			t.Errorf("%s comes on %s", text, got[0])
		}
	}
}

func TestMeter(t *testing.T) {
	t.Parallel()
	meter := rule.NewMeter(context.Background(), 10)
	if err := meter.Step(10); err != nil || meter.Spent() != 10 {
		t.Errorf("%d spent, %v", meter.Spent(), err)
	}
	if err := meter.Step(1); err == nil ||
		err.Error() != "the recurrence is too expensive: it needs more than 10 steps" {
		t.Errorf("got %v", err)
	}
}
