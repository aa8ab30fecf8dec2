package store

import (
	"context"
	"sync"

	"caldav-mcp-server/calendar"
)

// gatePlaces is how many changes of one calendar have a connection at a time: one that has the calendar's lock, and one to follow at once.
const gatePlaces = 2

// gates keep those that change one calendar waiting in front of the pool of connections, not in it: each of them would
// hold a connection while it waits for the calendar's lock, and all others would have none.
type gates struct {
	mu  sync.Mutex
	all map[calendar.CalendarID]*gate
}

// gate is there for as long as somebody is at it.
type gate struct {
	places chan struct{}
	here   int
}

// enter waits for a place at a calendar. A change that has entered has no connection yet, and no change that has one
// waits here: so they never wait for each other.
func (g *gates) enter(ctx context.Context, id calendar.CalendarID) (leave func(), err error) {
	at := g.arrive(id)
	select {
	case at.places <- struct{}{}:
		return func() { <-at.places; g.depart(id, at) }, nil
	case <-ctx.Done():
		g.depart(id, at)
		return nil, ctx.Err()
	}
}

func (g *gates) arrive(id calendar.CalendarID) *gate {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.all[id]
	if at == nil {
		at = &gate{places: make(chan struct{}, gatePlaces)}
		g.all[id] = at
	}
	at.here++
	return at
}

func (g *gates) depart(id calendar.CalendarID, at *gate) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if at.here--; at.here == 0 {
		delete(g.all, id)
	}
}
