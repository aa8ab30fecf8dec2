package daterange_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar/daterange"
)

// reader stands in Berlin on Wednesday 2026-02-18, late enough that UTC is still on the
// 17th would be wrong: 00:30 local is 23:30 UTC the day before.
func reader(t *testing.T) daterange.Reader {
	t.Helper()
	return daterange.Reader{
		Now: at(t, "2026-02-18T00:30:00+01:00"), Zone: zone(t, "Europe/Berlin"), WeekStart: time.Monday,
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	r := reader(t)
	for _, c := range []struct{ text, first, last string }{
		{"today", "2026-02-18", "2026-02-18"},
		{"Tonight", "2026-02-18", "2026-02-18"},
		{" TOMORROW ", "2026-02-19", "2026-02-19"},
		{"yesterday", "2026-02-17", "2026-02-17"},
		{"the day after tomorrow", "2026-02-20", "2026-02-20"},
		{"this week", "2026-02-16", "2026-02-22"},
		{"week", "2026-02-16", "2026-02-22"},
		{"next week.", "2026-02-23", "2026-03-01"},
		{"last week", "2026-02-09", "2026-02-15"},
		{"this weekend", "2026-02-21", "2026-02-22"},
		{"next weekend", "2026-02-28", "2026-03-01"},
		{"this month", "2026-02-01", "2026-02-28"},
		{"next month", "2026-03-01", "2026-03-31"},
		{"last month", "2026-01-01", "2026-01-31"},
		{"this quarter", "2026-01-01", "2026-03-31"},
		{"last quarter", "2025-10-01", "2025-12-31"},
		{"next year", "2027-01-01", "2027-12-31"},
		{"next 7 days", "2026-02-18", "2026-02-24"},
		{"the next two weeks", "2026-02-18", "2026-03-03"},
		{"next 1 month", "2026-02-18", "2026-03-17"},
		{"past 3 days", "2026-02-16", "2026-02-18"},
		{"in 3 days", "2026-02-21", "2026-02-21"},
		{"in a week", "2026-02-25", "2026-02-25"},
		{"wednesday", "2026-02-18", "2026-02-18"},
		{"tue", "2026-02-24", "2026-02-24"},
		{"this monday", "2026-02-16", "2026-02-16"},
		{"next friday", "2026-02-27", "2026-02-27"},
		{"on last sunday", "2026-02-15", "2026-02-15"},
		{"march", "2026-03-01", "2026-03-31"},
		{"January", "2027-01-01", "2027-01-31"},
		{"february 2024", "2024-02-01", "2024-02-29"},
		{"2026-W08", "2026-02-16", "2026-02-22"},
		{"2020w53", "2020-12-28", "2021-01-03"},
		{"2026-02", "2026-02-01", "2026-02-28"},
		{"2026", "2026-01-01", "2026-12-31"},
		{"2026-02-20", "2026-02-20", "2026-02-20"},
		{"2026-02-20 to 2026-02-27", "2026-02-20", "2026-02-27"},
		{"2026-02-20..2026-02-27", "2026-02-20", "2026-02-27"},
		{"from monday until next friday", "2026-02-23", "2026-02-27"},
		{"today through sunday", "2026-02-18", "2026-02-22"},
	} {
		got, err := r.Parse(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		first, last := got.From.Format(time.DateOnly), got.Until.AddDate(0, 0, -1).Format(time.DateOnly)
		if first != c.first || last != c.last {
			t.Errorf("%q: %s to %s, want %s to %s", c.text, first, last, c.first, c.last)
		}
	}
}

// TestWeeksBeginWhereTheCallerSays: a week begins on the day on which its reader lets it begin (time F6).
func TestWeeksBeginWhereTheCallerSays(t *testing.T) {
	t.Parallel()
	r := reader(t)
	r.WeekStart = time.Sunday
	got, err := r.Parse("this week")
	if err != nil || got.From.Format(time.DateOnly) != "2026-02-15" {
		t.Errorf("this week begins %v (%v), want Sunday 2026-02-15", got.From, err)
	}
	if got, _ := r.Parse("this sunday"); got.From.Format(time.DateOnly) != "2026-02-15" {
		t.Errorf("this sunday is %v, want 2026-02-15", got.From)
	}
}

// TestDaysOfOddLength covers days which clock changes make shorter, longer or begin late.
func TestDaysOfOddLength(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone, day, from string
		hours           float64
	}{
		{"Europe/Berlin", "2026-03-29", "2026-03-29T00:00:00+01:00", 23},
		{"Europe/Berlin", "2026-10-25", "2026-10-25T00:00:00+02:00", 25},
		// Clocks in Beirut spring from midnight to one.
		{"Asia/Beirut", "2024-03-31", "2024-03-31T01:00:00+03:00", 23},
		{"America/Sao_Paulo", "2018-11-04", "2018-11-04T01:00:00-02:00", 23},
	} {
		r := daterange.Reader{Now: at(t, "2026-02-18T00:30:00+01:00"), Zone: zone(t, c.zone)}
		got, err := r.Parse(c.day)
		if err != nil {
			t.Errorf("%s %s: %v", c.zone, c.day, err)
			continue
		}
		if !got.From.Equal(at(t, c.from)) || got.Until.Sub(got.From).Hours() != c.hours {
			t.Errorf("%s %s: from %v for %v, want %s for %v h", c.zone, c.day, got.From, got.Until.Sub(got.From),
				c.from, c.hours)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	r := reader(t)
	for text, why := range map[string]string{
		"":                                 "examples",
		"sometime":                         "examples",
		"2026-02-30":                       "there is no day 2026-02-30",
		"2026-13":                          "there is no month 13",
		"2026-W54":                         "2026 has no week 54",
		"next 0 days":                      "the number must be from 1",
		"next 9999 days":                   "the number must be from 1",
		"2026-03-01 to 2026-02-01":         "ends before it begins",
		"2026-03-01 to whenever":           "examples",
		"monday to tuesday to wednesday":   "more than one",
		strings.Repeat("to ", 1<<12) + "x": "",
	} {
		_, err := r.Parse(text)
		var e *daterange.Error
		if !errors.As(err, &e) || !strings.Contains(e.Error(), why) {
			t.Errorf("%.40q: %v, want an Error with %q", text, err, why)
		}
	}
}

func TestEveryExampleIsReadable(t *testing.T) {
	t.Parallel()
	for _, example := range daterange.Examples() {
		if _, err := reader(t).Parse(strings.Trim(example, `"`)); err != nil {
			t.Error(err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, example := range daterange.Examples() {
		f.Add(strings.Trim(example, `"`))
	}
	now := time.Date(2026, 2, 18, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := daterange.Reader{Now: now, Zone: time.UTC, WeekStart: time.Monday}.Parse(text)
		if err == nil && !r.From.Before(r.Until) {
			t.Errorf("%q: from %v until %v", text, r.From, r.Until)
		}
	})
}

func at(t *testing.T, s string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}
