package auth

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func TestFlightsShareOneCheck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFlights()
		var runs atomic.Int64
		land := make(chan struct{})
		outcomes := make(chan verdict, 32)
		for range 32 {
			go func() {
				v, err := f.do(t.Context(), flightKey{}, func() (verdict, error) {
					runs.Add(1)
					<-land
					return rightOne(), nil
				})
				if err != nil {
					t.Error(err)
				}
				outcomes <- v
			}()
		}
		synctest.Wait()
		close(land)
		for range 32 {
			if v := <-outcomes; !v.right {
				t.Errorf("somebody got %+v", v)
			}
		}
		if runs.Load() != 1 || len(f.open) != 0 {
			t.Errorf("%d checks ran, %d are open; want 1, 0", runs.Load(), len(f.open))
		}
	})
}

// A request that came after a revocation sees another generation, and must not join.
func TestFlightsOfDifferentGenerationsAreApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFlights()
		land := make(chan struct{})
		go func() {
			_, _ = f.do(t.Context(), flightKey{generation: 7}, func() (verdict, error) {
				<-land
				return rightOne(), nil
			})
		}()
		synctest.Wait()
		v, err := f.do(t.Context(), flightKey{generation: 8}, func() (verdict, error) { return verdict{}, nil })
		if err != nil || v.right {
			t.Errorf("generation 8 got %+v, %v", v, err)
		}
		close(land)
	})
}

func TestFlightsLetGoOfWhoLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFlights()
		land := make(chan struct{})
		go func() {
			_, _ = f.do(t.Context(), flightKey{}, func() (verdict, error) { <-land; return rightOne(), nil })
		}()
		synctest.Wait()
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := f.do(gone, flightKey{}, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want canceled", err)
		}
		close(land)
	})
}

// A panic in the check must reach who began it, and must not leave the others waiting.
func TestFlightsSurviveAPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFlights()
		crash := make(chan struct{})
		go func() {
			defer func() { _ = recover() }()
			_, _ = f.do(t.Context(), flightKey{}, func() (verdict, error) { <-crash; panic("broken") })
		}()
		synctest.Wait()
		outcome := make(chan error)
		go func() { _, err := f.do(t.Context(), flightKey{}, nil); outcome <- err }()
		synctest.Wait()
		close(crash)
		if err := <-outcome; err == nil {
			t.Error("who waited was told that all is well")
		}
		if v, err := f.do(t.Context(), flightKey{}, func() (verdict, error) { return rightOne(), nil }); err != nil ||
			!v.right {
			t.Errorf("the next one: %+v, %v", v, err)
		}
	})
}
