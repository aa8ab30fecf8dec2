package query

import (
	"strings"
	"sync"

	"caldav-mcp-server/calendar"
)

// glanceKey is all that busy times depend on.
type glanceKey struct {
	calendar calendar.CalendarID
	epoch    calendar.Epoch
	edition  calendar.Edition
	version  calendar.Version
	day      int64
	timezone string
	// owner are the addresses by which its owner is invited.
	owner string
}

// glancesMost is how many busy times are remembered, of all calendars together: a megabyte or two.
const glancesMost = 2000

// glances remembers busy times from one look at a home to the next: programs ask each calendar for its tag every
// few minutes, and it takes all of a year to tell.
type glances struct {
	mu    sync.Mutex
	known map[glanceKey]glance
	held  int
}

func (g *glances) get(at glanceKey) (glance, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	found, known := g.known[at]
	return found, known
}

// put remembers one, and forgets all others when there is no more room.
func (g *glances) put(at glanceKey, one glance) {
	g.mu.Lock()
	defer g.mu.Unlock()
	size := len(one.objects) + 1
	if g.held+size > glancesMost || g.known == nil {
		g.known, g.held = make(map[glanceKey]glance), 0
	}
	if size > glancesMost {
		return
	}
	// What was cut out of a calendar's row would keep all of it.
	at.calendar, at.epoch = calendar.CalendarID(strings.Clone(string(at.calendar))), calendar.Epoch(strings.Clone(string(at.epoch)))
	at.timezone = strings.Clone(at.timezone)
	g.known[at] = one
	g.held += size
}
