package mirror

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
)

const (
	// holdFor is how long a calendar is held by a process that has died, holdAgain how often one that lives says so. One that has
	// said nothing for half of that time is at it no more, since clocks differ.
	holdFor, holdAgain = time.Minute, 4 * time.Second
	// holdAsk is how often a process asks for a calendar that another one holds.
	holdAsk = 100 * time.Millisecond
)

// hold takes a calendar, by the name of its lease, so that nobody else writes to it, at its source or here, or takes over what is new
// there; or what a user follows. It waits for as long as the context lets it. The context that it returns ends when it may be another
// process's.
func (m *Mirror) hold(ctx context.Context, name string) (context.Context, *lease, error) {
	mine := make(chan struct{})
	for {
		m.mu.Lock()
		theirs := m.held[name]
		if theirs == nil {
			m.held[name] = mine
		}
		m.mu.Unlock()
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
		m.mu.Lock()
		delete(m.held, name)
		m.mu.Unlock()
		close(mine)
	}
	l := &lease{Mirror: m, Fence: calendar.Fence{Lease: name, Holder: m.nextHolder()}}
	for {
		ok, err := l.said(func(now time.Time) (bool, error) { return m.Store.Lease(ctx, l.Lease, l.Holder, now, now.Add(holdFor)) })
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

// lease is a process's hold on one calendar, each time another one.
type lease struct {
	*Mirror
	calendar.Fence
	// lose ends the context of what is done with the calendar, end the keeping of the lease, free lets others of this
	// process at it.
	lose      context.CancelCauseFunc
	end, free func()
	mu        sync.Mutex
	heard     time.Time
}

// nextHolder names one hold on a calendar, unlike any other of any process.
func (m *Mirror) nextHolder() string { return fmt.Sprint(m.holder(), " ", m.holds.Add(1)) }

func leaseOf(id calendar.CalendarID) string { return "mirror " + string(id) }

// feedsOf is the lease of whoever has a user follow one more feed.
func feedsOf(owner calendar.UserID) string { return "feeds " + string(owner) }

// said notes when the store was told of the lease.
func (l *lease) said(ask func(now time.Time) (bool, error)) (ok bool, err error) {
	now := l.Now()
	if ok, err = ask(now); ok {
		l.mu.Lock()
		l.heard = now
		l.mu.Unlock()
	}
	return ok, err
}

// renew has it for longer, unless somebody else had it in between.
func (l *lease) renew(ctx context.Context) (bool, error) {
	return l.said(func(now time.Time) (bool, error) { return l.Store.Prolong(ctx, l.Lease, l.Holder, now.Add(holdFor)) })
}

// keep holds on to the lease until it is released, or lost.
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
			if ok, err := l.renew(within); err == nil && !ok { // after an error the next one tries again
				lose(errLost)
			}
			enough()
		}
	}()
	return held
}

// sure tells whether the calendar is held still, as far as is known here: it asks nobody. The transaction that stores what came
// of it does, see [calendar.MirrorKeeper].
func (l *lease) sure(held context.Context) error {
	l.mu.Lock()
	late := l.Now().Sub(l.heard) >= holdFor/2
	l.mu.Unlock()
	if late {
		l.lose(errLost)
	}
	if context.Cause(held) == error(errLost) { //nolint:errorlint // it is this very one
		return errLost
	}
	return nil
}

func (l *lease) release(ctx context.Context) {
	l.end()
	_ = l.Store.Release(context.WithoutCancel(ctx), l.Lease, l.Holder)
	l.free()
}

// The errors of a calendar at which another process is: before anything was done, and in the middle of it.
var (
	errBusy = &calendar.Error{
		Reason: calendar.Unavailable, Message: "the calendar is being brought up to date; try again in a moment", Cause: calendar.ErrElsewhere,
	}
	errLost = calendar.ErrOverslept
)

// grip is a hold on several calendars.
type grip []*lease

// holdAll takes calendars in the order of their ids.
func (m *Mirror) holdAll(ctx context.Context, ids ...calendar.CalendarID) (held context.Context, g grip, err error) {
	held = ctx
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		inner, l, err := m.hold(held, leaseOf(id))
		if err != nil {
			err = g.why(held, err)
			g.release(ctx)
			return nil, nil, err
		}
		held, g = inner, append(g, l)
	}
	return held, g, nil
}

// sure tells whether all of them are held still.
func (g grip) sure(held context.Context) error {
	for _, l := range g {
		if err := l.sure(held); err != nil {
			return err
		}
	}
	return nil
}

// why is an error of what was done with them: what was broken off since they are lost says so.
func (g grip) why(held context.Context, err error) error {
	if err == nil {
		return nil
	}
	return cmp.Or(g.sure(held), err)
}

// fence is that of one of them.
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

// visitsMost is how many accounts of one user are spoken to at once: what an answer holds is bounded for each of them.
const visitsMost = 2

// enter begins to speak to an account of a user, unless that is done with others of theirs already.
func (m *Mirror) enter(owner calendar.UserID) (leave func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.visiting[owner] >= visitsMost {
		return nil, errBusy
	}
	m.visiting[owner]++
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.visiting[owner]--; m.visiting[owner] == 0 {
			delete(m.visiting, owner)
		}
	}, nil
}
