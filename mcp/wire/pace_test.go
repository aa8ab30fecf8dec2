package wire

import (
	"fmt"
	"testing"
	"time"
)

// TestPaceForgets: tokens that rest take no room.
func TestPaceForgets(t *testing.T) {
	t.Parallel()
	now := noon
	p := newPace(1, func() time.Time { return now })
	for i := range 3 * maxPaced {
		if i%maxPaced == 0 {
			now = now.Add(time.Minute)
		}
		if wait := p.take(Owner{Token: fmt.Sprint(i)}); wait > 0 {
			t.Fatalf("%d waits %v", i, wait)
		}
	}
	if len(p.rested) > maxPaced {
		t.Errorf("%d tokens are remembered, want at most %d", len(p.rested), maxPaced)
	}
}
