package store

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"caldav-mcp-server/calendar"
)

// gates keep those that change one calendar waiting in front of the pool of connections, not in it: each of them would
// hold a connection while it waits for the calendar's lock, and all others would have none. Who changes nothing but the
// calendar hands connection, lock and transaction on to the next: one commit keeps what all of them wrote.
type gates struct {
	end func(context.Context, *batch) error
	mu  sync.Mutex
	all map[calendar.CalendarID]*gate
	// left are those that nobody is at any more, in the order in which they were left.
	left []*gate
	// marks counts what may make out of date what was read, see convoy.
	marks *atomic.Int64
}

// gatesKept is how many are remembered that nobody is at.
const gatesKept = 64

// gate is there for as long as somebody is at it.
type gate struct {
	turns
	convoy convoy

	id   calendar.CalendarID
	here int
}

func newGates(marks *atomic.Int64, end func(context.Context, *batch) error) *gates {
	return &gates{end: end, all: map[calendar.CalendarID]*gate{}, marks: marks}
}

// maxShared bounds how many changes of a calendar one commit keeps. Each is a version of the calendar's row that the next one
// walks over, and a part of a transaction, of which Postgres remembers 64.
const maxShared = 16

// enter waits for the turn at a calendar. A change that has entered has no connection yet, or that of the one before it, and
// no change that has one waits here: so they never wait for each other.
func (g *gates) enter(ctx context.Context, id calendar.CalendarID) (*gate, error) {
	at := g.arrive(id)
	if err := at.enter(ctx); err != nil {
		g.depart(at)
		return nil, err
	}
	return at, nil
}

func (g *gates) arrive(id calendar.CalendarID) *gate {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.all[id]
	if at == nil {
		at = &gate{turns: turns{most: maxShared, end: g.end}, convoy: convoy{marks: g.marks}, id: id}
		g.all[id] = at
	}
	at.here++
	return at
}

func (g *gates) depart(at *gate) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if at.here--; at.here > 0 {
		return
	}
	if g.left = append(g.left, at); len(g.left) <= gatesKept {
		return
	}
	// One may have been left several times, and have somebody again.
	if first := g.left[0]; first.here == 0 && g.all[first.id] == first && !slices.Contains(g.left[1:], first) {
		delete(g.all, first.id)
	}
	g.left = g.left[1:]
}

// reachesFurther tells whether a statement locks more than what its calendar's lock covers. A change that does must not hand
// on its transaction: the next one would wait for further calendars while it has such locks.
func (at *gate) reachesFurther(text string, args []any) bool {
	switch {
	case strings.HasPrefix(text, "SELECT"):
		return strings.Contains(text, "FOR UPDATE")
	case len(args) == 0 || !inCalendar[text]:
		return true
	}
	first := reflect.ValueOf(args[0])
	return first.Kind() != reflect.String || first.String() != string(at.id)
}

// inCalendar are the statements that change a calendar, its objects and its journal. The first argument of each is the calendar.
var inCalendar = map[string]bool{
	advanceCalendar: true, countOne: true, insertObject.one: true, bury: true, insertLine.one: true, insertUnit: true, insertUndone: true,
	uncountKept: true, `DELETE` + ofItem: true,
}
