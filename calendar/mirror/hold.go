package mirror

import (
	"context"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
)

const (
	// holdFor is how long a calendar is held by a process that has died, holdAgain how often one that lives says so.
	holdFor, holdAgain = 15 * time.Second, 4 * time.Second
	// holdAsk is how often a process asks for a calendar that another one holds.
	holdAsk = 100 * time.Millisecond
)

// hold takes a calendar, so that nobody else writes to it, at its source or here, or takes over what is new there. It
// waits for as long as the context lets it.
func (m *Mirror) hold(ctx context.Context, id calendar.CalendarID) (release func(), err error) {
	mine := make(chan struct{})
	for {
		m.mu.Lock()
		theirs := m.held[id]
		if theirs == nil {
			m.held[id] = mine
		}
		m.mu.Unlock()
		if theirs == nil {
			break
		}
		select {
		case <-theirs:
		case <-ctx.Done():
			return nil, errBusy
		}
	}
	free := func() {
		m.mu.Lock()
		delete(m.held, id)
		m.mu.Unlock()
		close(mine)
	}
	name := "mirror " + string(id)
	for {
		ok, err := m.Store.Lease(ctx, name, m.holder(), m.Now(), m.Now().Add(holdFor))
		if err != nil {
			free()
			return nil, err
		}
		if ok {
			quiet := m.keepHolding(ctx, name)
			return func() {
				quiet()
				_ = m.Store.Release(context.WithoutCancel(ctx), name, m.holder())
				free()
			}, nil
		}
		select {
		case <-time.After(holdAsk):
		case <-ctx.Done():
			free()
			return nil, errBusy
		}
	}
}

// keepHolding holds on to a lease until the function that it returns is called.
func (m *Mirror) keepHolding(ctx context.Context, name string) (end func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		again := time.NewTicker(holdAgain)
		defer again.Stop()
		for {
			select {
			case <-again.C:
				_, _ = m.Store.Lease(ctx, name, m.holder(), m.Now(), m.Now().Add(holdFor)) // the next one tries again
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

var errBusy = &calendar.Error{
	Reason: calendar.Unavailable, Message: "the calendar is being brought up to date; try again in a moment", Cause: calendar.ErrElsewhere,
}

// holdAll takes calendars in the order of their ids.
func (m *Mirror) holdAll(ctx context.Context, ids []calendar.CalendarID) (release func(), err error) {
	var held []func()
	release = func() {
		for _, free := range slices.Backward(held) {
			free()
		}
	}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		free, err := m.hold(ctx, id)
		if err != nil {
			release()
			return nil, err
		}
		held = append(held, free)
	}
	return release, nil
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
