// Package query answers every question about calendars: listings, calendar-query, agenda, search, busy times, history
// and feeds. It keeps in memory the calendars that are asked for often.
package query

import (
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/zone"
)

// Queries answers questions. Its methods check access themselves.
type Queries struct {
	*lookup.Reader
	store   calendar.Reader
	limits  calendar.Limits
	now     func() time.Time
	newID   func() string
	zones   *zone.DB
	cache   *cache
	glances glances
	costs   *meter.Pool
}

// Config is what Queries is made of.
type Config struct {
	Reader *lookup.Reader
	Store  calendar.Reader
	Limits calendar.Limits
	Now    func() time.Time
	NewID  func() string
	Zones  *zone.DB
	// ImageBytes is about how much memory the calendars may take that are asked for most; 0 for none.
	ImageBytes int64
	// AnswerBytes is about how much memory the requests in work may hold together; 0 is the default.
	AnswerBytes int64
}

// New makes Queries.
func New(c Config) *Queries {
	return &Queries{
		Reader: c.Reader, store: c.Store, limits: c.Limits, now: c.Now, newID: c.NewID, zones: c.Zones,
		cache: newCache(c.Store, c.ImageBytes), costs: newPool(c.AnswerBytes, c.Limits.Cost),
	}
}

// Written tells of a calendar that this process has changed: how it is by now, the first version that
// the change took, and the objects that it wrote, without data.
func (s *Queries) Written(cal calendar.Calendar, first calendar.Version, objects []calendar.Object) {
	s.cache.note(cal, first, objects)
}
