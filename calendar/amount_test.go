package calendar_test

import (
	"testing"

	"caldav-mcp-server/calendar"
)

// What a bound is shown as reads back as the same bound, and what is none is refused.
func TestBounds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"default": 0, "none": calendar.Unbounded, "1": 1, "500MB": 5e8, "2 kb": 2000, "9223372036854775807": 1<<63 - 1,
	} {
		got, err := calendar.ParseBound(text)
		if got != want || err != nil {
			t.Errorf("%q is %d, %v, want %d", text, got, err, want)
		}
		if again, err := calendar.ParseBound(calendar.BoundText(got)); again != got || err != nil {
			t.Errorf("%d is shown as %q, which is %d, %v", got, calendar.BoundText(got), again, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "1.5", "MB", "10000000TB", "9223372036854775808", "None"} {
		if got, err := calendar.ParseBound(text); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
}
