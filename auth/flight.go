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

// flightKey includes the generation, so that a request after a revocation never joins an older check.
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

// do runs work, or waits for a running call with the same key. The work runs in the first caller's goroutine, so a
// panic is caught like any other panic of a request.
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
