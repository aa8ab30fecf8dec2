package auth

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"caldav-mcp-server/calendar"
)

// occupied returns a gate whose only place is taken until leave is called.
func occupied(t *testing.T, wait time.Duration) (g *gate, leave func()) {
	t.Helper()
	g = newGate(2, 1, wait)
	stop, inside, left := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(left)
		if err := g.do(t.Context(), 0, func() error { close(inside); <-stop; return nil }); err != nil {
			t.Error(err)
		}
	}()
	<-inside
	return g, func() { close(stop); <-left }
}

func TestGateBoundsTheLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, leave := occupied(t, time.Hour)
		outcome := make(chan error, 2)
		wait := func() { outcome <- g.do(t.Context(), 0, func() error { return nil }) }
		go wait()
		synctest.Wait()
		wait()
		if err := <-outcome; calendar.ReasonOf(err) != calendar.Unavailable {
			t.Errorf("the third in a line for two: %v, want Unavailable", err)
		}
		leave()
		if err := <-outcome; err != nil {
			t.Errorf("who stood in line: %v", err)
		}
	})
}

// Whoever comes from where fewer wrong passwords came from goes first, and takes the place of the last in a full line.
func TestGateServesTheFewestFailuresFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, leave := occupied(t, time.Hour)
		g.most = 3
		var served []int
		refused := make(chan int, 8)
		ask := func(rank int) {
			go func() {
				if err := g.do(t.Context(), rank, func() error {
					served = append(served, rank)
					return nil
				}); err != nil {
					refused <- rank
				}
			}()
			synctest.Wait()
		}
		for _, rank := range []int{3, 9, 4, 4, 1, 9, 2} {
			ask(rank)
		}
		leave()
		synctest.Wait()
		close(refused)
		var out []int
		for rank := range refused {
			out = append(out, rank)
		}
		// The first in line waits for the place already, and keeps it.
		if !slices.Equal(served, []int{3, 1, 2}) && !slices.Equal(served, []int{1, 2, 3}) ||
			!slices.Equal(out, []int{9, 4, 9, 4}) {
			t.Errorf("served are %v, refused %v", served, out)
		}
		if g.waiting() != 0 || len(g.places) != 0 {
			t.Errorf("%d are left in line, %d at work", g.waiting(), len(g.places))
		}
	})
}

func TestGateBoundsTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, leave := occupied(t, 3*time.Second)
		defer leave()
		start := time.Now()
		err := g.do(t.Context(), 0, func() error { t.Error("ran"); return nil })
		if calendar.ReasonOf(err) != calendar.Unavailable || time.Since(start) != 3*time.Second {
			t.Errorf("%v after %v; want Unavailable after 3s", err, time.Since(start))
		}
	})
}

func TestGateEndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, leave := occupied(t, time.Hour)
		defer leave()
		ctx, cancel := context.WithCancel(t.Context())
		outcome := make(chan error)
		go func() { outcome <- g.do(ctx, 0, func() error { t.Error("ran"); return nil }) }()
		synctest.Wait()
		cancel()
		if err := <-outcome; !errors.Is(err, context.Canceled) || g.waiting() != 0 || len(g.places) != 1 {
			t.Errorf("%v, %d still in line, %d at work; want canceled, none and one", err, g.waiting(), len(g.places))
		}
	})
}

func TestGateKeepsToItsPlaces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(10, 2, time.Hour)
		done, inside := make(chan struct{}), make(chan struct{}, 10)
		for range 5 {
			go func() {
				if err := g.do(t.Context(), 0, func() error { inside <- struct{}{}; <-done; return nil }); err != nil {
					t.Error(err)
				}
			}()
		}
		synctest.Wait()
		if len(inside) != 2 {
			t.Errorf("%d work at once, want 2", len(inside))
		}
		close(done)
		synctest.Wait()
		if len(inside) != 5 || len(g.places) != 0 || g.waiting() != 0 {
			t.Errorf("%d ran, %d places taken, %d in line; want 5, 0, 0", len(inside), len(g.places), g.waiting())
		}
	})
}

// A panic must neither keep the place nor the spot in the line.
func TestGateSurvivesAPanic(t *testing.T) {
	t.Parallel()
	g := newGate(1, 1, time.Hour)
	func() {
		defer func() { _ = recover() }()
		_ = g.do(t.Context(), 0, func() error { panic("broken") })
	}()
	if len(g.places) != 0 || g.waiting() != 0 {
		t.Errorf("%d places taken, %d in line after a panic", len(g.places), g.waiting())
	}
}
