package wire

import (
	"context"
	"errors"
	"testing"
)

// TestCallsInWorkAreBounded: so many are in work, so many wait, the others are refused; anyone who goes away leaves the
// line (security H4).
func TestCallsInWorkAreBounded(t *testing.T) {
	t.Parallel()
	p := NewPlaces()
	p.line, p.share = 3, 2
	var leave []func()
	for range placesMost {
		left, err := p.Enter(t.Context(), Owner{})
		if err != nil {
			t.Fatal(err)
		}
		leave = append(leave, left)
	}
	one, other := Owner{Token: "one"}, Owner{Token: "other"}
	for _, who := range []Owner{one, one, other} {
		if !p.queue(who) {
			t.Fatal("there is no place in line")
		}
	}
	if _, err := p.Enter(t.Context(), other); !errors.Is(err, ErrBusy) {
		t.Errorf("a full line: %v", err)
	}
	p.unqueue(other)
	if _, err := p.Enter(t.Context(), one); !errors.Is(err, ErrBusy) {
		t.Errorf("a full share of the line: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Enter(gone, other); !errors.Is(err, context.Canceled) || p.all != 2 {
		t.Errorf("who has gone: %v, %d wait", err, p.all)
	}
	leave[0]()
	if _, err := p.Enter(t.Context(), other); err != nil {
		t.Errorf("a place that was left: %v", err)
	}
}
