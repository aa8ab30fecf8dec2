package auth

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"caldav-mcp-server/calendar"
)

// occupied returns a gate whose only place is taken until leave is called.
func occupied(t *testing.T, wait time.Duration) (g *gate, leave func()) {
	t.Helper()
	g = newGate(1, wait)
	stop, inside, left := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(left)
		if err := g.do(t.Context(), make(line, 1), func() error { close(inside); <-stop; return nil }); err != nil {
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
		strangers, known := make(line, 2), make(line, 1)
		outcome := make(chan error, 3)
		wait := func(l line) { outcome <- g.do(t.Context(), l, func() error { return nil }) }
		go wait(strangers)
		go wait(strangers)
		synctest.Wait()
		wait(strangers)
		if err := <-outcome; calendar.ReasonOf(err) != calendar.Unavailable {
			t.Errorf("the third in a line for two: %v, want Unavailable", err)
		}
		go wait(known)
		synctest.Wait()
		leave()
		for range 3 {
			if err := <-outcome; err != nil {
				t.Errorf("who stood in line: %v", err)
			}
		}
	})
}

func TestGateBoundsTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, leave := occupied(t, 3*time.Second)
		defer leave()
		start := time.Now()
		err := g.do(t.Context(), make(line, 1), func() error { t.Error("ran"); return nil })
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
		l := make(line, 1)
		outcome := make(chan error)
		go func() { outcome <- g.do(ctx, l, func() error { t.Error("ran"); return nil }) }()
		synctest.Wait()
		cancel()
		if err := <-outcome; !errors.Is(err, context.Canceled) || len(l) != 0 {
			t.Errorf("%v, %d still in line; want canceled, none", err, len(l))
		}
	})
}

func TestGateKeepsToItsPlaces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(2, time.Hour)
		l, done, inside := make(line, 10), make(chan struct{}), make(chan struct{}, 10)
		for range 5 {
			go func() {
				if err := g.do(t.Context(), l, func() error { inside <- struct{}{}; <-done; return nil }); err != nil {
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
		if len(inside) != 5 || len(g.places) != 0 || len(l) != 0 {
			t.Errorf("%d ran, %d places taken, %d in line; want 5, 0, 0", len(inside), len(g.places), len(l))
		}
	})
}

// A panic must neither keep the place nor the spot in the line.
func TestGateSurvivesAPanic(t *testing.T) {
	t.Parallel()
	g, l := newGate(1, time.Hour), make(line, 1)
	func() {
		defer func() { _ = recover() }()
		_ = g.do(t.Context(), l, func() error { panic("broken") })
	}()
	if len(g.places) != 0 || len(l) != 0 {
		t.Errorf("%d places taken, %d in line after a panic", len(g.places), len(l))
	}
}
