// Package lease takes leases of the store for this process, and renews them while their work lasts.
package lease

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"caldav-mcp-server/calendar"
)

const (
	// Term is how long a lease outlives a process that died. A live process renews its leases every renewEvery, as long
	// as it works. If it could not do so for safe, it stops its work, because clocks differ.
	Term, safe, renewEvery = 7 * time.Second, 5 * time.Second, 2 * time.Second
)

// Keeper takes leases on behalf of this process.
type Keeper struct {
	store calendar.Leases
	now   func() time.Time
	// process names this process, count counts its leases.
	process func() string
	count   atomic.Int64
}

// NewKeeper makes a Keeper.
func NewKeeper(s calendar.Leases, now func() time.Time, newID func() string) *Keeper {
	return &Keeper{store: s, now: now, process: sync.OnceValue(newID)}
}

// New returns a lease, which is not taken yet. Its holder's name is unique among all processes.
func (k *Keeper) New(name string) *Lease {
	return &Lease{
		keeper: k, Fence: calendar.Fence{Lease: name, Holder: fmt.Sprint(k.process(), " ", k.count.Add(1))},
	}
}

// Lease is the right to one kind of work, under the name of one holder.
type Lease struct {
	calendar.Fence
	// Also is called with each renewal, to extend what depends on the lease; nil for nothing.
	Also   func(ctx context.Context, until time.Time)
	keeper *Keeper
	// lose cancels the work, end stops the renewal of the lease.
	lose  context.CancelCauseFunc
	end   func()
	mu    sync.Mutex
	heard time.Time
}

// said calls ask and records the time of the call if the store confirmed the lease.
func (l *Lease) said(ask func(now time.Time) (bool, error)) (ok bool, err error) {
	now := l.keeper.now()
	if ok, err = ask(now); ok {
		l.mu.Lock()
		l.heard = now
		l.mu.Unlock()
	}
	return ok, err
}

// Take takes the lease, unless another holder has it.
func (l *Lease) Take(ctx context.Context) (bool, error) {
	return l.said(func(now time.Time) (bool, error) {
		return l.keeper.store.Lease(ctx, l.Lease, l.Holder, now, now.Add(Term))
	})
}

// renew prolongs the lease, unless another process has had it since.
func (l *Lease) renew(ctx context.Context) (bool, error) {
	return l.said(func(now time.Time) (bool, error) {
		ok, err := l.keeper.store.Prolong(ctx, l.Lease, l.Holder, now.Add(Term))
		if ok && l.Also != nil {
			l.Also(ctx, now.Add(Term))
		}
		return ok, err
	})
}

// Keep renews the lease until Rest or Release, or until it is lost, which ends the returned context.
func (l *Lease) Keep(ctx context.Context) context.Context {
	held, lose := context.WithCancelCause(ctx)
	asking, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	l.lose, l.end = lose, func() {
		cancel()
		<-done
		lose(nil)
	}
	go func() {
		defer close(done)
		again := time.NewTicker(renewEvery)
		defer again.Stop()
		for l.Sure(held) == nil {
			select {
			case <-again.C:
			case <-asking.Done():
				return
			}
			within, enough := context.WithTimeout(asking, renewEvery)
			if ok, err := l.renew(within); err == nil && !ok { // after an error, the next tick tries again
				lose(calendar.ErrOverslept)
			}
			enough()
		}
	}()
	return held
}

// Sure returns an error if the lease may be lost, as far as this process knows; it does not ask the store. The
// transaction that stores the result can, see [calendar.MirrorKeeper].
func (l *Lease) Sure(held context.Context) error {
	l.mu.Lock()
	late := l.keeper.now().Sub(l.heard) >= safe
	l.mu.Unlock()
	if late {
		l.lose(calendar.ErrOverslept)
	}
	if context.Cause(held) == error(calendar.ErrOverslept) { //nolint:errorlint // the identity matters
		return calendar.ErrOverslept
	}
	return nil
}

// Rest ends the renewal. The lease remains the holder's for up to its term.
func (l *Lease) Rest() { l.end() }

// Release ends the renewal and gives the lease back.
func (l *Lease) Release(ctx context.Context) {
	l.Rest()
	l.GiveBack(ctx)
}

// GiveBack gives a resting lease back.
func (l *Lease) GiveBack(ctx context.Context) {
	_ = l.keeper.store.Release(context.WithoutCancel(ctx), l.Lease, l.Holder)
}
