package calendar_test

import (
	"testing"
	"time"

	"caldav-mcp-server/calendar"
)

// TestUntilNext: loops with different intervals meet, and no loop waits longer than its interval or not at all.
func TestUntilNext(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.FixedZone("", 5400))
	for after, want := range map[time.Duration][2]time.Duration{
		0:                       {2 * time.Second, 5 * time.Second},
		time.Nanosecond:         {2*time.Second - time.Nanosecond, 5*time.Second - time.Nanosecond},
		9900 * time.Millisecond: {100 * time.Millisecond, 100 * time.Millisecond},
		13 * time.Second:        {time.Second, 2 * time.Second},
	} {
		now := noon.Add(after)
		got := [2]time.Duration{
			calendar.UntilNext(now, 2*time.Second), calendar.UntilNext(now, 5*time.Second),
		}
		if got != want {
			t.Errorf("%v after noon: %v, want %v", after, got, want)
		}
	}
}
