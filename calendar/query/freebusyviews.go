package query

import (
	"strings"
	"sync"

	"caldav-mcp-server/calendar"
)

// glanceKey holds everything that a free/busy view depends on.
type glanceKey struct {
	calendar calendar.CalendarID
	epoch    calendar.Epoch
	edition  calendar.Edition
	version  calendar.Version
	day      int64
	timezone string
	// owner holds the addresses to recognize the owner among the attendees.
	owner string
}

// glancesMost bounds the cached busy times of all calendars together: one or two megabytes.
const glancesMost = 2000

// freeBusyViews caches free/busy views. Clients poll the tag of each calendar every few minutes, and the tag takes a
// whole year to compute.
type glances struct {
	mu    sync.Mutex
	known map[glanceKey]freeBusyView
	held  int
}

func (g *glances) get(at glanceKey) (freeBusyView, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	found, known := g.known[at]
	return found, known
}

// put adds a view. If there is no room, it clears the cache first.
func (g *glances) put(at glanceKey, one freeBusyView) {
	g.mu.Lock()
	defer g.mu.Unlock()
	size := len(one.objects) + 1
	if g.held+size > glancesMost || g.known == nil {
		g.known, g.held = make(map[glanceKey]freeBusyView), 0
	}
	if size > glancesMost {
		return
	}
	// A substring would keep the calendar's whole row in memory.
	at.calendar, at.epoch = calendar.CalendarID(strings.Clone(string(at.calendar))),
		calendar.Epoch(strings.Clone(string(at.epoch)))
	at.timezone = strings.Clone(at.timezone)
	g.known[at] = one
	g.held += size
}
