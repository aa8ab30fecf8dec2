package mirror

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"caldav-mcp-server/calendar"
)

const (
	// holdFor is how long a lease outlives a process that died. A write waits longer than that, see sendTime, so the
	// first one after a crash succeeds. A live process renews its leases every holdAgain, as long as it works. If it
	// could not do so for holdSafe, it stops its work on the calendar, because clocks differ.
	holdFor, holdSafe, holdAgain = 7 * time.Second, 5 * time.Second, 2 * time.Second
	// holdAsk is how often a process asks for a calendar that another process holds.
	holdAsk = 100 * time.Millisecond
)

// leaseHolder takes leases on behalf of this process.
type leaseHolder struct {
	store calendar.Store
	now   func() time.Time
	// process names this process, count counts its leases.
	process func() string
	count   atomic.Int64
	mu      sync.Mutex
	// held contains the names of the leases that this process holds, see hold.
	held map[string]chan struct{}
	// syncing counts the accounts that this process is syncing, by user, see enter.
	syncing map[calendar.UserID]int
}

func newLeaseHolder(c Config) *leaseHolder {
	return &leaseHolder{
		store: c.Store, now: c.Now, process: sync.OnceValue(c.NewID), held: map[string]chan struct{}{},
		syncing: map[calendar.UserID]int{},
	}
}

// hold takes the lease with this name: of a calendar, or of the feeds that a user follows. Until it is released, no
// other process writes to the calendar, here or at its source, or applies changes from the source. hold waits until the
// context ends. The returned context ends when another process may have the lease.
func (h *leaseHolder) hold(ctx context.Context, name string) (context.Context, *lease, error) {
	mine := make(chan struct{})
	for {
		h.mu.Lock()
		theirs := h.held[name]
		if theirs == nil {
			h.held[name] = mine
		}
		h.mu.Unlock()
		if theirs == nil {
			break
		}
		select {
		case <-theirs:
		case <-ctx.Done():
			return nil, nil, errBusy
		}
	}
	free := func() {
		h.mu.Lock()
		delete(h.held, name)
		h.mu.Unlock()
		close(mine)
	}
	l := h.newLease(name)
	for {
		ok, err := l.take(ctx)
		if err != nil {
			free()
			return nil, nil, err
		}
		if ok {
			held := l.keep(ctx)
			l.free = free
			return held, l, nil
		}
		select {
		case <-time.After(holdAsk):
		case <-ctx.Done():
			free()
			return nil, nil, errBusy
		}
	}
}

// tryHold takes the lease with this name, unless another process has it. The lease is renewed until it is released.
func (h *leaseHolder) tryHold(ctx context.Context, name string) (l *lease, ok bool, err error) {
	l = h.newLease(name)
	if ok, err = l.take(ctx); err != nil || !ok {
		return nil, false, err
	}
	l.keep(ctx)
	l.free = func() {}
	return l, true, nil
}

func (h *leaseHolder) newLease(name string) *lease {
	return &lease{leaseHolder: h, Fence: calendar.Fence{Lease: name, Holder: h.nextHolder()}}
}

// lease is one hold of this process on one calendar. Each hold has its own holder name.
type lease struct {
	*leaseHolder
	calendar.Fence
	// lose cancels the work on the calendar, end stops the renewal of the lease, and free admits other goroutines of
	// this process.
	lose      context.CancelCauseFunc
	end, free func()
	mu        sync.Mutex
	heard     time.Time
}

// nextHolder returns a name for one hold that is unique among all processes.
func (h *leaseHolder) nextHolder() string { return fmt.Sprint(h.process(), " ", h.count.Add(1)) }

func leaseOf(id calendar.CalendarID) string { return "mirror " + string(id) }

// feedsOf names the lease for adding a feed to the feeds that a user follows.
func feedsOf(owner calendar.UserID) string { return "feeds " + string(owner) }

// said calls ask and records the time of the call if the store confirmed the lease.
func (l *lease) said(ask func(now time.Time) (bool, error)) (ok bool, err error) {
	now := l.now()
	if ok, err = ask(now); ok {
		l.mu.Lock()
		l.heard = now
		l.mu.Unlock()
	}
	return ok, err
}

// take takes the lease, unless another holder has it.
func (l *lease) take(ctx context.Context) (bool, error) {
	return l.said(func(now time.Time) (bool, error) {
		return l.store.Lease(ctx, l.Lease, l.Holder, now, now.Add(holdFor))
	})
}

// renew prolongs the lease, unless another process has had it since.
func (l *lease) renew(ctx context.Context) (bool, error) {
	return l.said(func(now time.Time) (bool, error) {
		return l.store.Prolong(ctx, l.Lease, l.Holder, now.Add(holdFor))
	})
}

// keep renews the lease until it is released or lost.
func (l *lease) keep(ctx context.Context) context.Context {
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
		again := time.NewTicker(holdAgain)
		defer again.Stop()
		for l.sure(held) == nil {
			select {
			case <-again.C:
			case <-asking.Done():
				return
			}
			within, enough := context.WithTimeout(asking, holdAgain)
			if ok, err := l.renew(within); err == nil && !ok { // after an error, the next tick tries again
				lose(errLost)
			}
			enough()
		}
	}()
	return held
}

// sure returns an error if the lease may be lost, as far as this process knows; it does not ask the store. The
// transaction that stores the result does, see [calendar.MirrorKeeper].
func (l *lease) sure(held context.Context) error {
	l.mu.Lock()
	late := l.now().Sub(l.heard) >= holdSafe
	l.mu.Unlock()
	if late {
		l.lose(errLost)
	}
	if context.Cause(held) == error(errLost) { //nolint:errorlint // the identity matters
		return errLost
	}
	return nil
}

func (l *lease) release(ctx context.Context) {
	l.end()
	_ = l.store.Release(context.WithoutCancel(ctx), l.Lease, l.Holder)
	l.free()
}

// The errors if another process holds a calendar: before the work began, and in the middle of it.
var (
	errBusy = &calendar.Error{
		Reason: calendar.Unavailable, Message: "the calendar is being brought up to date; try again in a moment",
		Cause: calendar.ErrElsewhere,
	}
	errLost = calendar.ErrOverslept
)

// grip is a hold on several calendars.
type grip []*lease

// holdAll takes calendars in the order of their ids, so that two processes cannot deadlock.
func (h *leaseHolder) holdAll(
	ctx context.Context, ids ...calendar.CalendarID,
) (held context.Context, g grip, err error) {
	held = ctx
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		inner, l, err := h.hold(held, leaseOf(id))
		if err != nil {
			err = g.why(held, err)
			g.release(ctx)
			return nil, nil, err
		}
		held, g = inner, append(g, l)
	}
	return held, g, nil
}

// sure returns an error if one of the leases may be lost.
func (g grip) sure(held context.Context) error {
	for _, l := range g {
		if err := l.sure(held); err != nil {
			return err
		}
	}
	return nil
}

// why returns the error of work under these leases. If a lease was lost, that is the error, since it cancelled the
// work.
func (g grip) why(held context.Context, err error) error {
	if err == nil {
		return nil
	}
	return cmp.Or(g.sure(held), err)
}

// fence returns the fence of one of the calendars.
func (g grip) fence(id calendar.CalendarID) calendar.Fence {
	for _, l := range g {
		if l.Lease == leaseOf(id) {
			return l.Fence
		}
	}
	return calendar.Fence{}
}

func (g grip) release(ctx context.Context) {
	for _, l := range slices.Backward(g) {
		l.release(ctx)
	}
}

// syncsMost bounds how many accounts of one user are synced at once, and so the memory that their responses take.
const syncsMost = 2

// enter begins a sync of an account of a user. It fails if syncsMost of that user's accounts are already being synced.
func (h *leaseHolder) enter(owner calendar.UserID) (leave func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.syncing[owner] >= syncsMost {
		return nil, errBusy
	}
	h.syncing[owner]++
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.syncing[owner]--; h.syncing[owner] == 0 {
			delete(h.syncing, owner)
		}
	}, nil
}
