package mirror

import (
	"context"
	"errors"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
)

// refreshes shares syncs between callers who ask for the same account at the same moment. A caller never gets a sync
// that began before the call, because it may have missed a change of the source.
type refreshes struct {
	mu sync.Mutex
	// waiting are the syncs that have not begun, running the others.
	waiting, running map[calendar.AccountID]*refresh
}

// refresh is one sync and its result.
type refresh struct {
	done    chan struct{}
	arrived calendar.Arrived
	err     error
}

func newRefreshes() *refreshes {
	return &refreshes{
		waiting: map[calendar.AccountID]*refresh{}, running: map[calendar.AccountID]*refresh{},
	}
}

// share takes part in the next sync of an account. The first caller runs it, after the one before has ended.
func (r *refreshes) share(ctx context.Context, id calendar.AccountID, sync func() (calendar.Arrived, error)) *refresh {
	r.mu.Lock()
	if f := r.waiting[id]; f != nil {
		r.mu.Unlock()
		select {
		case <-f.done:
			return f
		case <-ctx.Done():
			return &refresh{err: ctx.Err()}
		}
	}
	mine, before := &refresh{done: make(chan struct{})}, r.running[id]
	r.waiting[id] = mine
	r.mu.Unlock()
	defer close(mine.done)
	if before != nil {
		select {
		case <-before.done:
		case <-ctx.Done():
		}
	}
	r.mu.Lock()
	delete(r.waiting, id)
	if mine.err = ctx.Err(); mine.err != nil {
		r.mu.Unlock()
		return mine
	}
	r.running[id] = mine
	r.mu.Unlock()
	mine.arrived, mine.err = sync()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running[id] == mine {
		delete(r.running, id)
	}
	return mine
}

// visitShared syncs an account for its owner. It waits while too many accounts of the owner are being synced.
func (m *Mirror) visitShared(ctx context.Context, a calendar.Account) (calendar.Arrived, error) {
	for {
		done := m.share(ctx, a.ID, func() (calendar.Arrived, error) { return m.visit(ctx, a, true) })
		// The caller who ran it may have gone.
		gone := errors.Is(done.err, context.Canceled) || errors.Is(done.err, context.DeadlineExceeded)
		if !gone && !errors.Is(done.err, errBusy) || ctx.Err() != nil {
			return done.arrived, done.err
		}
		select {
		case <-time.After(holdAsk):
		case <-ctx.Done():
		}
	}
}
