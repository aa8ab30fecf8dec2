package auth

import (
	"context"
	"slices"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
)

// gate limits how many hashes are computed at once and how many callers wait. Each hash occupies a core and
// DefaultCost's memory for tens of milliseconds. Callers whose credential was right before have a separate gate, which
// strangers cannot fill.
//
// Other callers have a rank: the number of recent wrong passwords from their site. The lowest rank goes first and
// evicts the highest from a full line. A flood of guesses therefore delays a person's first sign-in but does not refuse
// it.
type gate struct {
	places chan struct{}
	most   int
	wait   time.Duration

	mu   sync.Mutex
	line []*waiter // by rank, then by arrival
}

// waiter is a queued caller.
type waiter struct {
	rank int
	// first is closed when the caller is next; out is closed when another caller has evicted this one.
	first, out chan struct{}
	called     bool
}

// newGate makes a gate that admits so many callers in total, running and waiting.
func newGate(callers, places int, wait time.Duration) *gate {
	return &gate{places: make(chan struct{}, places), most: callers - places, wait: wait}
}

// do runs work in one of the places. It returns Unavailable if the line is full of callers with no higher rank, or if
// the wait takes too long.
func (g *gate) do(ctx context.Context, rank int, work func() error) error {
	select {
	case g.places <- struct{}{}:
	default:
		if err := g.queue(ctx, rank); err != nil {
			return err
		}
	}
	defer func() { <-g.places }()
	return work()
}

// queue waits for a place.
func (g *gate) queue(ctx context.Context, rank int) error {
	w, ok := g.join(rank)
	if !ok {
		return errBusy()
	}
	defer g.leave(w)
	timer := time.NewTimer(g.wait)
	defer timer.Stop()
	var places chan struct{} // nil, which blocks, until the caller is next
	first := w.first
	for {
		select {
		case <-first:
			places, first = g.places, nil
		case places <- struct{}{}:
			return nil
		case <-w.out:
			return errBusy()
		case <-timer.C:
			return errBusy()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (g *gate) join(rank int) (*waiter, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.line) >= g.most {
		if g.most <= 0 || g.line[len(g.line)-1].rank <= rank {
			return nil, false
		}
		close(g.line[len(g.line)-1].out)
		g.line = g.line[:len(g.line)-1]
	}
	w := &waiter{rank: rank, first: make(chan struct{}), out: make(chan struct{})}
	at := len(g.line)
	for at > 0 && g.line[at-1].rank > rank {
		at--
	}
	g.line = slices.Insert(g.line, at, w)
	g.call()
	return w, true
}

func (g *gate) leave(w *waiter) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.line = slices.DeleteFunc(g.line, func(one *waiter) bool { return one == w })
	g.call()
}

// call wakes the first waiter.
func (g *gate) call() {
	if len(g.line) > 0 && !g.line[0].called {
		g.line[0].called = true
		close(g.line[0].first)
	}
}

// waiting returns the number of queued callers.
func (g *gate) waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.line)
}

func errBusy() error {
	return calendar.Errorf(calendar.Unavailable, "", "too many logins at once; try again in a moment")
}
