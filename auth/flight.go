package auth

import (
	"context"
	"errors"
	"sync"
)

// flights lets requests that bring the same credential at the same time share one check: a
// client opens several connections at once, and each would cost a hash.
type flights struct {
	mu   sync.Mutex
	open map[flightKey]*flight
}

// flightKey holds the generation, so that a request which came after a revocation never joins a
// check that began before it.
type flightKey struct {
	digest     digest
	generation int64
}

type flight struct {
	done    chan struct{}
	verdict verdict
	err     error
}

func newFlights() *flights { return &flights{open: map[flightKey]*flight{}} }

// do runs work, or waits for the outcome of a run for the same key. The work runs in the
// goroutine of the first caller, so a panic ends where panics of requests are caught.
func (f *flights) do(ctx context.Context, key flightKey, work func() (verdict, error)) (verdict, error) {
	f.mu.Lock()
	if other, ok := f.open[key]; ok {
		f.mu.Unlock()
		return other.outcome(ctx)
	}
	own := &flight{done: make(chan struct{}), err: errors.New("the check of the credential broke off")}
	f.open[key] = own
	f.mu.Unlock()
	defer f.land(key, own)
	own.verdict, own.err = work()
	return own.verdict, own.err
}

func (f *flights) land(key flightKey, own *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, key)
	close(own.done)
}

func (f *flight) outcome(ctx context.Context) (verdict, error) {
	select {
	case <-f.done:
		return f.verdict, f.err
	case <-ctx.Done():
		return verdict{}, ctx.Err()
	}
}
