package mirror

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/lease"
)

// TestOneUserIsNotEverybody: of one user's accounts two are spoken to at once, however many others are.
func TestOneUserIsNotEverybody(t *testing.T) {
	t.Parallel()
	m := New(Config{NewID: func() string { return "" }})
	for _, owner := range []calendar.UserID{"ann", "ann", "bob"} {
		leave, err := m.enter(owner)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(leave)
	}
	if _, err := m.enter("ann"); calendar.ReasonOf(err) != calendar.Unavailable {
		t.Errorf("a third: %v", err)
	}
	leave, err := m.enter("bob")
	if err != nil {
		t.Fatal(err)
	}
	leave()
}

// leases are a store of which only leases are asked.
type leases struct {
	calendar.Store
	answer func() (bool, error)
}

func (l leases) Lease(context.Context, string, string, time.Time, time.Time) (bool, error) {
	return l.answer()
}

func (l leases) Prolong(context.Context, string, string, time.Time) (bool, error) { return l.answer() }
func (leases) Release(context.Context, string, string) error                      { return nil }

// TestALostCalendarEndsTheWork: at once when another process has it, and in time where nobody knows.
func TestALostCalendarEndsTheWork(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		ok     bool
		err    error
		within time.Duration
	}{
		"another has it":      {false, nil, 4 * time.Second},
		"nobody can be asked": {false, errors.New("away"), lease.Term - time.Second},
		"it is held":          {true, nil, 0},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var begun atomic.Bool // until then all is well
				m := New(Config{Now: time.Now, NewID: func() string {
					return "me"
				}, Store: leases{answer: func() (bool, error) {
					if !begun.Load() {
						return true, nil
					}
					return c.ok, c.err
				}}})
				held, g, err := m.holdAll(t.Context(), "one", "two")
				if err != nil {
					t.Fatal(err)
				}
				defer g.release(t.Context())
				begun.Store(true)
				start := time.Now()
				within, cancel := context.WithTimeout(held, 3*lease.Term)
				defer cancel()
				<-within.Done()
				if took := time.Since(start); c.within == 0 && held.Err() != nil || c.within != 0 && took > c.within {
					t.Errorf("it ends after %v: %v", took, context.Cause(held))
				}
				// it is this very one
				if lost := g.why(held, context.Canceled); (lost == error(errLost)) != (c.within != 0) {
					t.Errorf("it says %v", lost)
				}
			})
		})
	}
}
