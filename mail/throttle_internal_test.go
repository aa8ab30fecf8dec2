package mail

import (
	"testing"
	"time"
)

// TestThrottleOfAClockSetBack: so many in an hour, also where the hour began at a time that the clock has left again.
func TestThrottleOfAClockSetBack(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	h := throttle{most: 1}
	for _, c := range []struct {
		at time.Time
		ok bool
	}{{noon, true}, {noon.Add(59 * time.Minute), false}, {noon.Add(-24 * time.Hour), true}, {
		noon.Add(-24 * time.Hour), false,
	}, {noon.Add(-23 * time.Hour), true}} {
		if _, ok := h.take("zoe", c.at); ok != c.ok {
			t.Errorf("at %v: %v", c.at, ok)
		}
	}
}
