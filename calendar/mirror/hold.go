package mirror

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/lease"
)

// holdAsk is how often a process asks for a calendar that another process holds. A lease outlives a process that died
// by [lease.Term]. A write waits longer than that, see sendTime, so the first one after a crash succeeds.
const holdAsk = 100 * time.Millisecond

// leaseHolder takes leases on behalf of this process.
type leaseHolder struct {
	leases *lease.Keeper
	mu     sync.Mutex
	// held contains the names of the leases that this process holds, see hold.
	held map[string]chan struct{}
	// syncing counts the accounts that this process is syncing, by user, see enter.
	syncing map[calendar.UserID]int
}

func newLeaseHolder(c Config) *leaseHolder {
	return &leaseHolder{
		leases: lease.NewKeeper(c.Store, c.Now, c.NewID), held: map[string]chan struct{}{},
		syncing: map[calendar.UserID]int{},
	}
}

// hold takes the lease with this name: of a calendar, or of the feeds that a user follows. Until it is released, no
// other process writes to the calendar, here or at its source, or applies changes from the source. hold waits until the
// context ends. The returned context ends when another process may have the lease.
func (h *leaseHolder) hold(ctx context.Context, name string) (context.Context, *hold, error) {
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
	l := &hold{h.leases.New(name), free}
	for {
		ok, err := l.Take(ctx)
		if err != nil {
			free()
			return nil, nil, err
		}
		if ok {
			return l.Keep(ctx), l, nil
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
func (h *leaseHolder) tryHold(ctx context.Context, name string) (l *lease.Lease, ok bool, err error) {
	l = h.leases.New(name)
	if ok, err = l.Take(ctx); err != nil || !ok {
		return nil, false, err
	}
	l.Keep(ctx)
	return l, true, nil
}

// hold is one hold of this process on one calendar. Each hold has its own holder name.
type hold struct {
	*lease.Lease
	// free admits other goroutines of this process.
	free func()
}

func (l *hold) release(ctx context.Context) {
	l.Release(ctx)
	l.free()
}

func leaseOf(id calendar.CalendarID) string { return "mirror " + string(id) }

// feedsOf names the lease for adding a feed to the feeds that a user follows.
func feedsOf(owner calendar.UserID) string { return "feeds " + string(owner) }

// The errors if another process holds a calendar: before the work began, and in the middle of it.
var (
	errBusy = &calendar.Error{
		Reason: calendar.Unavailable, Message: "the calendar is being brought up to date; try again in a moment",
		Cause: calendar.ErrElsewhere,
	}
	errLost = calendar.ErrOverslept
)

// grip is a hold on several calendars.
type grip []*hold

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
		if err := l.Sure(held); err != nil {
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
		if l.Fence.Lease == leaseOf(id) {
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
