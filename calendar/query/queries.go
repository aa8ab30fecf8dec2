// Package query answers every read: listings, calendar-query, agenda, search, free/busy, history and feeds. It caches
// the most frequently read calendars in memory.
package query

import (
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/zone"
)

// Queries answers reads. Its methods check access themselves.
type Queries struct {
	*lookup.Reader
	*objectReader
	*journalReader
	store         calendar.Reader
	limits        calendar.Limits
	now           func() time.Time
	newID         func() string
	zones         *zone.DB
	freeBusyCache freeBusyCache
	costs         *meter.Pool
}

// Config holds the dependencies of Queries.
type Config struct {
	Reader *lookup.Reader
	Store  calendar.Reader
	Limits calendar.Limits
	Now    func() time.Time
	NewID  func() string
	Zones  *zone.DB
	// ImageBytes is the approximate memory limit of the calendar cache; 0 disables it.
	ImageBytes int64
	// AnswerBytes is the approximate memory limit of all concurrent requests; 0 means the default.
	AnswerBytes int64
}

// New returns Queries.
func New(c Config) *Queries {
	return &Queries{
		Reader: c.Reader, objectReader: &objectReader{c.Reader, c.Store, newCache(c.Store, c.ImageBytes)},
		journalReader: &journalReader{c.Reader, c.Store}, store: c.Store, limits: c.Limits, now: c.Now, newID: c.NewID,
		zones: c.Zones, costs: newPool(c.AnswerBytes, c.Limits.Cost),
	}
}

// Written updates the cache after this process has changed a calendar. It takes the calendar's new row, the first
// version of the change, and the written objects without data.
func (s *Queries) Written(cal calendar.Calendar, first calendar.Version, objects []calendar.Object) {
	s.cache.note(cal, first, objects)
}
