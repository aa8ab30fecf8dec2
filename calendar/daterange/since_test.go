package daterange_test

import (
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
		"monday":            "2026-11-23T00:00:00+01:00",
		"since Monday":      "2026-11-23T00:00:00+01:00",
		"on monday":         "2026-11-23T00:00:00+01:00",
		"tuesday":           "2026-11-24T00:00:00+01:00",
		"wednesday":         "2026-11-18T00:00:00+01:00",
		"sunday":            "2026-11-22T00:00:00+01:00",
		"last monday":       "2026-11-23T00:00:00+01:00",
		"last tuesday":      "2026-11-17T00:00:00+01:00",
		"yesterday":         "2026-11-23T00:00:00+01:00",
		"today":             "2026-11-24T00:00:00+01:00",
		"this week":         "2026-11-23T00:00:00+01:00",
		"noon":              "2026-11-24T12:00:00+01:00",
		"since noon":        "2026-11-24T12:00:00+01:00",
		"12:00":             "2026-11-24T12:00:00+01:00",
		"today 12:00":       "2026-11-24T12:00:00+01:00",
		"today at 9:30 am":  "2026-11-24T09:30:00+01:00",
		"monday 3pm":        "2026-11-23T15:00:00+01:00",
		"yesterday at noon": "2026-11-23T12:00:00+01:00",
		"2026-10-25 12:00":  "2026-10-25T12:00:00+01:00",
		"2 hours ago":       "2026-11-24T13:05:00+01:00",
		"an hour ago":       "2026-11-24T14:05:00+01:00",
		"90 minutes ago":    "2026-11-24T13:35:00+01:00",
		"the last hour":     "2026-11-24T14:05:00+01:00",
		"last 2 hours":      "2026-11-24T13:05:00+01:00",
		"3 days ago":        "2026-11-21T00:00:00+01:00",
		"december":          "2025-12-01T00:00:00+01:00",
		"november":          "2026-11-01T00:00:00+01:00",
		"dec 24":            "2025-12-24T00:00:00+01:00",
		"nov 24":            "2026-11-24T00:00:00+01:00",
		"29 february":       "2024-02-29T00:00:00+01:00",
		"the 25th":          "2026-10-25T00:00:00+02:00",
		"the 24th":          "2026-11-24T00:00:00+01:00",
		"q4":                "2026-10-01T00:00:00+02:00",
		"week 50":           "2025-12-08T00:00:00+01:00",
		"week 48":           "2026-11-23T00:00:00+01:00",
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
}
