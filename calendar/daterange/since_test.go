package daterange_test

import (
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar/daterange"
)

// TestSinceLooksBack: a name means the latest day that has begun, and times of day and hours are understood.
func TestSinceLooksBack(t *testing.T) {
	t.Parallel()
	// Tuesday afternoon
	r := daterange.Reader{
		Now: at(t, "2026-11-24T15:05:00+01:00"), Zone: zone(t, "Europe/Berlin"), WeekStart: time.Monday,
	}
	for text, want := range map[string]string{
		"monday":             "2026-11-23T00:00:00+01:00",
		"since Monday":       "2026-11-23T00:00:00+01:00",
		"on monday":          "2026-11-23T00:00:00+01:00",
		"tuesday":            "2026-11-24T00:00:00+01:00",
		"wednesday":          "2026-11-18T00:00:00+01:00",
		"sunday":             "2026-11-22T00:00:00+01:00",
		"last monday":        "2026-11-23T00:00:00+01:00",
		"last tuesday":       "2026-11-17T00:00:00+01:00",
		"yesterday":          "2026-11-23T00:00:00+01:00",
		"today":              "2026-11-24T00:00:00+01:00",
		"this week":          "2026-11-23T00:00:00+01:00",
		"noon":               "2026-11-24T12:00:00+01:00",
		"since noon":         "2026-11-24T12:00:00+01:00",
		"12:00":              "2026-11-24T12:00:00+01:00",
		"today 12:00":        "2026-11-24T12:00:00+01:00",
		"today at 9:30 am":   "2026-11-24T09:30:00+01:00",
		"monday 3pm":         "2026-11-23T15:00:00+01:00",
		"yesterday at noon":  "2026-11-23T12:00:00+01:00",
		"2026-10-25 12:00":   "2026-10-25T12:00:00+01:00",
		"2 hours ago":        "2026-11-24T13:05:00+01:00",
		"an hour ago":        "2026-11-24T14:05:00+01:00",
		"90 minutes ago":     "2026-11-24T13:35:00+01:00",
		"the last hour":      "2026-11-24T14:05:00+01:00",
		"last 2 hours":       "2026-11-24T13:05:00+01:00",
		"3 days ago":         "2026-11-21T00:00:00+01:00",
		"december":           "2025-12-01T00:00:00+01:00",
		"november":           "2026-11-01T00:00:00+01:00",
		"dec 24":             "2025-12-24T00:00:00+01:00",
		"nov 24":             "2026-11-24T00:00:00+01:00",
		"29 february":        "2024-02-29T00:00:00+01:00",
		"the 25th":           "2026-10-25T00:00:00+02:00",
		"the 24th":           "2026-11-24T00:00:00+01:00",
		"q4":                 "2026-10-01T00:00:00+02:00",
		"week 50":            "2025-12-08T00:00:00+01:00",
		"week 48":            "2026-11-23T00:00:00+01:00",
		"now":                "2026-11-24T15:05:00+01:00",
		"since right now":    "2026-11-24T15:05:00+01:00",
		"18:00":              "2026-11-23T18:00:00+01:00", // later than now: yesterday's
		"6pm":                "2026-11-23T18:00:00+01:00",
		"15:05":              "2026-11-24T15:05:00+01:00",
		"noon today":         "2026-11-24T12:00:00+01:00",
		"9:30 on monday":     "2026-11-23T09:30:00+01:00",
		"midnight":           "2026-11-24T00:00:00+01:00",
		"last night":         "2026-11-23T18:00:00+01:00",
		"last night 23:00":   "2026-11-23T23:00:00+01:00",
		"yesterday evening":  "2026-11-23T18:00:00+01:00",
		"half an hour ago":   "2026-11-24T14:35:00+01:00",
		"the last half hour": "2026-11-24T14:35:00+01:00",
		"in march":           "2026-03-01T00:00:00+01:00",
	} {
		got, err := r.Since(text)
		if err != nil || got.In(r.Zone).Format(time.RFC3339) != want {
			t.Errorf("%q: %v (%v), want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"25:00", "soon", "13pm", "0 hours ago", "noon yesterday morning"} {
		if got, err := r.Since(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
	for _, text := range []string{
		"tomorrow", "next 7 days", "rest of the week", "until friday", "in 3 days", "2 days from now",
		"monday to friday", "coming friday", "tomorrow noon",
	} {
		if got, err := r.Since(text); err == nil || !strings.Contains(err.Error(), "and this takes") {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// TestBeforeLooksAhead: a deadline is the start of a day, the end of a period that has begun, or a time of day.
func TestBeforeLooksAhead(t *testing.T) {
	t.Parallel()
	// Sunday afternoon
	r := daterange.Reader{
		Now: at(t, "2026-11-29T15:05:00+01:00"), Zone: zone(t, "Europe/Berlin"), WeekStart: time.Monday,
	}
	for text, want := range map[string]string{
		"rest of the week":      "2026-11-30T00:00:00+01:00",
		"the rest of today":     "2026-11-30T00:00:00+01:00",
		"end of the week":       "2026-11-30T00:00:00+01:00",
		"end of next week":      "2026-12-07T00:00:00+01:00",
		"this week":             "2026-11-30T00:00:00+01:00",
		"next week":             "2026-11-30T00:00:00+01:00",
		"until tomorrow":        "2026-12-01T00:00:00+01:00",
		"today":                 "2026-11-29T00:00:00+01:00",
		"before Tomorrow":       "2026-11-30T00:00:00+01:00",
		"monday":                "2026-11-30T00:00:00+01:00",
		"now":                   "2026-11-29T15:05:00+01:00",
		"noon":                  "2026-11-29T12:00:00+01:00",
		"12:00":                 "2026-11-29T12:00:00+01:00",
		"18:30":                 "2026-11-29T18:30:00+01:00",
		"noon tomorrow":         "2026-11-30T12:00:00+01:00",
		"tomorrow at 9am":       "2026-11-30T09:00:00+01:00",
		"midnight":              "2026-11-30T00:00:00+01:00",
		"00:00":                 "2026-11-29T00:00:00+01:00",
		"in 2 hours":            "2026-11-29T17:05:00+01:00",
		"within the next hour":  "2026-11-29T16:05:00+01:00",
		"half an hour from now": "2026-11-29T15:35:00+01:00",
		"the next 2 hours":      "2026-11-29T17:05:00+01:00",
		"in 3 days":             "2026-12-02T00:00:00+01:00",
	} {
		got, err := r.Before(text)
		if err != nil || got.In(r.Zone).Format(time.RFC3339) != want {
			t.Errorf("%q: %v (%v), want %s", text, got, err, want)
		}
	}
}
