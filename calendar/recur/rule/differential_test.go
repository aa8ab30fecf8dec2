package rule_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/teambition/rrule-go"

	"caldav-mcp-server/calendar/recur/rule"
	"caldav-mcp-server/calendar/recur/rule/ruletest"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/internal/slowtest"
)

// exclusion is a kind of rule that rrule-go cannot judge.
type exclusion struct {
	why     string
	applies func(r *ical.Recur) bool
}

func exclusions() []exclusion {
	return []exclusion{
		{
			"BYWEEKNO without another part about days stands for the start's weekday (RFC 5545 §3.3.10: what the " +
				"rule " +
				"leaves open comes from DTSTART); rrule-go takes all seven days of the week",
			func(r *ical.Recur) bool {
				return len(r.ByWeekNo) > 0 && len(r.ByDay)+len(r.ByMonthDay)+len(r.ByYearDay) == 0
			},
		},
		{
			"in a WEEKLY rule with BYSETPOS rrule-go counts the positions of the first week from DTSTART instead of " +
				"from " +
				"the week's beginning",
			func(r *ical.Recur) bool { return r.Freq == ical.Weekly && len(r.BySetPos) > 0 },
		},
		{
			"days in the first or last week of a neighbouring year: rrule-go counts that year's weeks wrongly, or " +
				"not at " +
				"all from their end (TestWeeksAgainstISO has these)",
			func(r *ical.Recur) bool {
				return slices.ContainsFunc(r.ByWeekNo, func(n int) bool { return max(n, -n) >= 52 })
			},
		},
		{
			"a weekday that no month has (9FR beside BYMONTH) never comes; rrule-go panics or finds others",
			func(r *ical.Recur) bool {
				return len(r.ByMonth) > 0 &&
					slices.ContainsFunc(r.ByDay, func(day ical.WeekdayNum) bool { return max(day.N, -day.N) > 5 })
			},
		},
		{
			"BYDAY with and without numbers at once (MO,1FR) is a union; rrule-go finds nothing",
			func(r *ical.Recur) bool {
				numbered := 0
				for _, day := range r.ByDay {
					numbered += min(1, day.N*day.N)
				}
				return numbered > 0 && numbered < len(r.ByDay)
			},
		},
		{
			"rrule-go does not return from sub-daily rules whose INTERVAL never meets their time of day",
			func(r *ical.Recur) bool {
				return r.Freq < ical.Daily && r.Interval > 1 && len(r.ByHour)+len(r.ByMinute)+len(r.BySecond) > 0
			},
		},
		{
			"rrule-go takes a SECONDLY rule with BYSETPOS to its end of time",
			func(r *ical.Recur) bool { return r.Freq <= ical.Minutely && len(r.BySetPos) > 0 },
		},
	}
}

// TestAgainstRRuleGo compares random rules with another engine, in UTC, where
// its answers can be trusted.
func TestAgainstRRuleGo(t *testing.T) {
	t.Parallel()
	want := slowtest.Rounds(t, slowtest.Random, 700, 25000)
	generator := ruletest.New(1)
	excluded := make(map[string]int)
	for compared := 0; compared < want; {
		c := generator.Next()
		r, err := ical.ParseRecur(c.Rule)
		if err != nil {
			t.Fatalf("%v: %v", c, err)
		}
		if why := whyExcluded(&r); why != "" {
			excluded[why]++
			continue
		}
		if compare(t, c, &r) {
			compared++
		}
	}
	for why, n := range excluded {
		t.Logf("%d rules left out: %s", n, why)
	}
}

func whyExcluded(r *ical.Recur) string {
	for _, e := range exclusions() {
		if e.applies(r) {
			return e.why
		}
	}
	return ""
}

// compare expands a rule from its start, and over a window later on; it tells
// whether there was anything to compare.
func compare(t *testing.T, c ruletest.Case, r *ical.Recur) bool {
	t.Helper()
	// rrule-go ends 292 years after the start, and what comes rarely enough is
	// searched by it to the end, for minutes.
	const moments, end = 40, "2200"
	ours := expand(t, c, r, rule.WallOf(c.Start), moments)
	ours = slices.DeleteFunc(ours, func(s string) bool { return s >= end })
	if len(ours) < 2 {
		return false
	}
	option, err := rrule.StrToROption(r.String()) // without repeated values, which it would repeat
	if err != nil {
		t.Fatalf("%v: rrule-go: %v", c, err)
	}
	option.Dtstart = time.Unix(c.Start.Seconds(), 0).UTC()
	theirs, err := rrule.NewRRule(*option)
	if err != nil {
		t.Fatalf("%v: rrule-go: %v", c, err)
	}
	var want []string
	next := theirs.Iterator()
	for range ours {
		at, ok := next()
		if !ok {
			break
		}
		want = append(want, wall(rule.Wall(at.Unix())))
	}
	if diff := cmp.Diff(want, ours); diff != "" {
		t.Errorf("%v (-rrule-go +ours)\n%s", c, diff)
	}
	// Seeking must find what walking finds.
	half := len(ours) / 2
	if diff := cmp.Diff(ours[half:], expand(t, c, r, unwall(t, ours[half-1])+1, len(ours)-half)); diff != "" {
		t.Errorf("%v after %s (-walked +sought)\n%s", c, ours[half-1], diff)
	}
	return true
}

func expand(t *testing.T, c ruletest.Case, r *ical.Recur, from rule.Wall, most int) []string {
	t.Helper()
	compiled, err := rule.New(r, ical.Floating(c.Start))
	if err != nil {
		t.Fatalf("%v: %v", c, err)
	}
	meter := rule.NewMeter(context.Background(), 3_000_000)
	cursor, err := compiled.Seek(meter, from, rule.Forever)
	if err != nil {
		t.Fatalf("%v: %v", c, err)
	}
	var list []string
	for len(list) < most {
		w, ok, err := cursor.Next()
		if err != nil {
			t.Fatalf("%v: %v", c, err)
		}
		if !ok {
			break
		}
		list = append(list, wall(w))
	}
	if !slices.IsSorted(list) {
		t.Errorf("%v: not in order: %v", c, list)
	}
	return list
}

func wall(w rule.Wall) string { return w.Civil().String() }

func unwall(t *testing.T, s string) rule.Wall {
	t.Helper()
	at, err := time.Parse("2006-01-02T15:04:05", s)
	if err != nil {
		t.Fatal(err)
	}
	return rule.Wall(at.Unix())
}
