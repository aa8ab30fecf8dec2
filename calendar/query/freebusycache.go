package query

import (
	"strings"
	"sync"

	"caldav-mcp-server/calendar"
)

// freeBusyKey holds everything that a free/busy view depends on.
type freeBusyKey struct {
	calendar calendar.CalendarID
	epoch    calendar.Epoch
	edition  calendar.Edition
	version  calendar.Version
	day      int64
	timezone string
	// owner holds the addresses to recognize the owner among the attendees.
	owner string
}

// freeBusyMost bounds the cached busy times of all calendars together: one or two megabytes.
const freeBusyMost = 2000

// freeBusyCache caches free/busy views. Clients poll the tag of each calendar every few minutes, and the tag takes a
// whole year to compute.
type freeBusyCache struct {
	mu    sync.Mutex
	known map[freeBusyKey]freeBusyView
	held  int
}

func (g *freeBusyCache) get(at freeBusyKey) (freeBusyView, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	found, known := g.known[at]
	return found, known
}

// put adds a view. If there is no room, it clears the cache first.
func (g *freeBusyCache) put(at freeBusyKey, one freeBusyView) {
	g.mu.Lock()
	defer g.mu.Unlock()
	size := len(one.objects) + 1
	if g.held+size > freeBusyMost || g.known == nil {
		g.known, g.held = make(map[freeBusyKey]freeBusyView), 0
	}
	if size > freeBusyMost {
		return
	}
	// A substring would keep the calendar's whole row in memory.
	at.calendar, at.epoch = calendar.CalendarID(strings.Clone(string(at.calendar))),
		calendar.Epoch(strings.Clone(string(at.epoch)))
	at.timezone = strings.Clone(at.timezone)
	g.known[at] = one
	g.held += size
}
