package rule_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar/recur/rule"
	"caldav-mcp-server/calendar/recur/rule/ruletest"
	"caldav-mcp-server/ical"
)

// skipCase is a rule of RFC 7529 with its start.
func skipCase(t *testing.T, value string, year int, month time.Month, day int) (ruletest.Case, *ical.Recur) {
	t.Helper()
	r, err := ical.ParseRecur(value)
	if err != nil {
		t.Fatal(err)
	}
	return ruletest.Case{Rule: value, Start: ical.CivilDate(year, month, day)}, &r
}

// TestSkip has the examples of RFC 7529 in the Gregorian calendar: birthdays on leap days, and the 31st of each month
// (time N8).
func TestSkip(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rule       string
		year       int
		month      time.Month
		day        int
		want, says string
	}{
		{
			"RSCALE=GREGORIAN;FREQ=YEARLY;SKIP=FORWARD", 2016, 2, 29,
			"2016-02-29 2017-03-01 2018-03-01 2019-03-01 2020-02-29 2021-03-01", "",
		},
		{
			"RSCALE=GREGORIAN;FREQ=YEARLY;SKIP=BACKWARD", 2016, 2, 29,
			"2016-02-29 2017-02-28 2018-02-28 2019-02-28 2020-02-29 2021-02-28", "",
		},
		{
			"RSCALE=GREGORIAN;FREQ=YEARLY;SKIP=OMIT", 2016, 2, 29,
			"2016-02-29 2020-02-29 2024-02-29 2028-02-29 2032-02-29 2036-02-29", "",
		},
		{
			"RSCALE=GREGORIAN;FREQ=YEARLY", 2016, 2, 29,
			"2016-02-29 2020-02-29 2024-02-29 2028-02-29 2032-02-29 2036-02-29", "",
		},
		{
			"RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=OMIT", 2014, 1, 31,
			"2014-01-31 2014-03-31 2014-05-31 2014-07-31 2014-08-31 2014-10-31", "",
		},
		{
			"RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=BACKWARD", 2014, 1, 31,
			"2014-01-31 2014-02-28 2014-03-31 2014-04-30 2014-05-31 2014-06-30", "",
		},
		{
			"RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=FORWARD", 2014, 1, 31,
			"2014-01-31 2014-03-01 2014-03-31 2014-05-01 2014-05-31 2014-07-01", "",
		},
		{
			"RSCALE=GREGORIAN;FREQ=MONTHLY;BYMONTHDAY=1,31;SKIP=FORWARD", 2014, 1, 31,
			"2014-01-31 2014-02-01 2014-03-01 2014-03-31 2014-04-01 2014-05-01", "",
		},
		{
			"RSCALE=GREGORIAN;FREQ=MONTHLY;BYMONTHDAY=30,31;SKIP=BACKWARD;BYSETPOS=1;INTERVAL=2", 2014, 2, 28,
			"2014-02-28 2014-04-30 2014-06-30 2014-08-30 2014-10-30 2014-12-30", "",
		},
		{
			"RSCALE=GREGORIAN;FREQ=DAILY;BYMONTHDAY=31;SKIP=FORWARD", 2014, 1, 31,
			"2014-01-31 2014-03-31 2014-05-31 2014-07-31 2014-08-31 2014-10-31", "",
		},
		{"RSCALE=GREGORIAN;FREQ=MONTHLY;INTERVAL=2;SKIP=FORWARD", 2014, 1, 31, "", "beside INTERVAL"},
		{"RSCALE=GREGORIAN;FREQ=MONTHLY;BYMONTHDAY=-31;SKIP=BACKWARD", 2014, 1, 1, "", "from the month's end"},
		{"RSCALE=GREGORIAN;FREQ=YEARLY;BYYEARDAY=366;SKIP=FORWARD", 2016, 12, 31, "", "BYYEARDAY"},
	} {
		c, r := skipCase(t, tt.rule, tt.year, tt.month, tt.day)
		if tt.says != "" {
			if _, err := rule.New(r, ical.Date(c.Start)); !errors.Is(err, rule.ErrUnsupported) ||
				!strings.Contains(err.Error(), tt.says) {
				t.Errorf("%s: %v", tt.rule, err)
			}
			continue
		}
		var got []string
		for _, at := range expand(t, c, r, rule.WallOf(c.Start), 6) {
			got = append(got, at[:10])
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.rule, diff)
		}
	}
}

// TestSkipAgainstBruteForce goes through months by hand: each day that is named, or the one it is skipped to.
func TestSkipAgainstBruteForce(t *testing.T) {
	t.Parallel()
	for _, freq := range []string{"MONTHLY", "YEARLY"} {
		for _, skip := range []string{"OMIT", "BACKWARD", "FORWARD"} {
			for _, months := range [][]int{nil, {2}, {1, 2, 4}, {3, 11, 12}} {
				for _, days := range [][]int{{31}, {29}, {1, 30, 31}, {15, 29, 30}} {
					for _, weekdays := range []string{"", "MO,WE,FR"} {
						compareSkip(t, freq, skip, months, days, weekdays)
					}
				}
			}
		}
	}
}

func compareSkip(t *testing.T, freq, skip string, months, days []int, weekdays string) {
	t.Helper()
	value := fmt.Sprintf("RSCALE=GREGORIAN;FREQ=%s;SKIP=%s;BYMONTHDAY=%s", freq, skip, list(days))
	if months != nil {
		value += ";BYMONTH=" + list(months)
	}
	if weekdays != "" {
		value += ";BYDAY=" + weekdays
	}
	const first, last = 2019, 2025
	var want []string
	for at := time.Date(first, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < last; at = at.AddDate(0, 1, 0) {
		if months != nil && !slices.Contains(months, int(at.Month())) {
			continue
		}
		end := at.AddDate(0, 1, -1).Day()
		for _, n := range days {
			if n > end && skip == "OMIT" {
				continue
			}
			if n > end {
				n = map[string]int{"BACKWARD": end, "FORWARD": end + 1}[skip]
			}
			day := at.AddDate(0, 0, n-1)
			if weekdays == "" || strings.Contains(weekdays, strings.ToUpper(day.Weekday().String()[:2])) {
				want = append(want, day.Format("2006-01-02T15:04:05"))
			}
		}
	}
	slices.Sort(want)
	want = slices.Compact(want)
	c, r := skipCase(t, value, first, 1, 1)
	if diff := cmp.Diff(want, expand(t, c, r, rule.WallOf(c.Start), len(want))); diff != "" {
		t.Errorf("%s (-want +got):\n%s", value, diff)
	}
	if len(want) == 0 {
		return // the 31st of February
	}
	half := len(want) / 2
	if diff := cmp.Diff(want[half:], expand(t, c, r, unwall(t, want[half]), len(want)-half)); diff != "" {
		t.Errorf("%s from %s on (-want +got):\n%s", value, want[half], diff)
	}
}

func list(numbers []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers), " ", ","), "[]")
}
