package ical_test

import (
	"testing"
	"time"

	"caldav-mcp-server/ical"

	"github.com/google/go-cmp/cmp"
)

func civilOf(t time.Time) ical.Civil {
	return ical.Civil{
		Year: t.Year(), Month: t.Month(), Day: t.Day(),
		Hour: t.Hour(), Minute: t.Minute(), Second: t.Second(),
	}
}

// The standard library's calendar is the second opinion, day by day over all
// years that can be written and a margin on both sides.
func TestCivilAgreesWithTheStandardCalendar(t *testing.T) {
	t.Parallel()
	day := time.Date(-4, time.December, 28, 0, 0, 0, 0, time.UTC)
	first := int(day.Unix() / 86400)
	for days := first; day.Year() < 10001; days++ {
		c := ical.CivilFromDays(days)
		if c != civilOf(day) {
			t.Fatalf("CivilFromDays(%d) = %v, want %v", days, c, day)
		}
		if c.Days() != days || c.Weekday() != day.Weekday() || c.YearDay() != day.YearDay() {
			t.Fatalf("%v: days %d, %v, day %d of the year; want %d, %v, %d",
				c, c.Days(), c.Weekday(), c.YearDay(), days, day.Weekday(), day.YearDay())
		}
		day = day.AddDate(0, 0, 1)
	}
}

func TestCivilCountsDaysOutsideTheirMonth(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		year  int
		month time.Month
		day   int
	}{
		{2026, 4, 31},
		{2026, 2, 29},
		{2024, 2, 30},
		{2026, 1, 0},
		{2026, 3, -30},
		{2026, 13, 1},
		{2026, 0, 1},
		{2026, -11, 15},
		{2026, 27, 400},
	} {
		got := ical.CivilDate(tt.year, tt.month, tt.day).AddDays(0)
		want := civilOf(time.Date(tt.year, tt.month, tt.day, 0, 0, 0, 0, time.UTC))
		if got != want {
			t.Errorf("%d-%d-%d is %v, want %v", tt.year, tt.month, tt.day, got, want)
		}
	}
}

func TestCivilMovesOnTheWallClock(t *testing.T) {
	t.Parallel()
	start := ical.Civil{Year: 2024, Month: 2, Day: 28, Hour: 23, Minute: 59, Second: 59}
	for _, tt := range []struct {
		name string
		got  ical.Civil
		want string
	}{
		{"a second", start.AddSeconds(1), "2024-02-29T00:00:00"},
		{"two days of seconds", start.AddSeconds(2*86400 + 1), "2024-03-02T00:00:00"},
		{"back over the epoch", start.AddSeconds(-2_000_000_000), "1960-10-13T20:26:39"},
		{"a day", start.AddDays(1), "2024-02-29T23:59:59"},
		{"back over a century", start.AddDays(-365 * 130), "1894-03-31T23:59:59"},
		{"midnight", start.Date(), "2024-02-28T00:00:00"},
	} {
		if diff := cmp.Diff(tt.want, tt.got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if got := ical.CivilFromSeconds(start.Seconds()); got != start {
		t.Errorf("to seconds and back: %v, want %v", got, start)
	}
}

func TestCivilCompares(t *testing.T) {
	t.Parallel()
	sorted := []ical.Civil{
		{Year: 2025, Month: 12, Day: 31, Hour: 23},
		{Year: 2026, Month: 1, Day: 1},
		{Year: 2026, Month: 1, Day: 1, Second: 1},
		{Year: 2026, Month: 1, Day: 1, Minute: 1},
		{Year: 2026, Month: 1, Day: 2},
		{Year: 2026, Month: 2, Day: 1},
	}
	for i, a := range sorted {
		for j, b := range sorted {
			if got := a.Compare(b); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%v.Compare(%v) = %d", a, b, got)
			}
			if a.Before(b) != (i < j) || a.After(b) != (i > j) {
				t.Errorf("%v before, after %v: %t, %t", a, b, a.Before(b), a.After(b))
			}
		}
	}
}

func TestCivilValid(t *testing.T) {
	t.Parallel()
	for c, want := range map[ical.Civil]bool{
		{}:                          false,
		{Year: 1, Month: 1, Day: 1}: true,
		{Year: 0, Month: 1, Day: 1}: false,
		{Year: 9999, Month: 12, Day: 31, Hour: 23}: true,
		{Year: 10000, Month: 1, Day: 1}:            false,
		{Year: 2024, Month: 2, Day: 29}:            true,
		{Year: 1900, Month: 2, Day: 29}:            false,
		{Year: 2000, Month: 2, Day: 29}:            true,
		{Year: 2026, Month: 4, Day: 31}:            false,
		{Year: 2026, Month: 13, Day: 1}:            false,
		{Year: 2026, Month: 1, Day: 0}:             false,
		{Year: 2026, Month: 1, Day: 1, Hour: 24}:   false,
		{Year: 2026, Month: 1, Day: 1, Minute: 60}: false,
		{Year: 2026, Month: 1, Day: 1, Second: 60}: false,
	} {
		if c.Valid() != want {
			t.Errorf("%v valid: %t, want %t", c, c.Valid(), want)
		}
	}
}
