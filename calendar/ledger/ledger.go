package ledger

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/zone"
)

// Ledger makes changes. Its methods check access themselves.
type Ledger struct {
	*lookup.Reader
	store     calendar.Store
	limits    calendar.Limits
	now       func() time.Time
	newID     func() string
	zones     *zone.DB
	mailed    bool
	elsewhere Elsewhere
	written   func(cal calendar.Calendar, first calendar.Version, objects []calendar.Object)
	task      calendar.Task
	brought   deliveries
	tries     tries
	resends   resends
}

// Config has the parts and settings of a Ledger.
type Config struct {
	Reader *lookup.Reader
	Store  calendar.Store
	Limits calendar.Limits
	Now    func() time.Time
	NewID  func() string
	Zones  *zone.DB
	// Mailed tells that somebody mails what is posted to people elsewhere. Without that they are told nothing, which
	// their organizer sees (SCHEDULE-STATUS 5.2).
	Mailed bool
	// Elsewhere is where linked calendars live; nil refuses what is to be written to one.
	Elsewhere Elsewhere
	// Written is told of a calendar that was changed: how it is by now, the first version that the
	// change took, and the objects that it wrote, without data.
	Written func(cal calendar.Calendar, first calendar.Version, objects []calendar.Object)
	// Task is told of each answer of a room; nil where nobody wants to know.
	Task calendar.Task
}

// New makes a Ledger.
func New(c Config) *Ledger {
	return &Ledger{
		Reader: c.Reader, store: c.Store, limits: c.Limits, now: c.Now, newID: c.NewID, zones: c.Zones,
		mailed: c.Mailed, elsewhere: c.Elsewhere, written: c.Written, task: c.Task.OrNone(),
	}
}

// Reindex rebuilds everything that the store derives from the objects' bytes.
func (s *Ledger) Reindex(ctx context.Context, walk calendar.Walk) (int, error) {
	return s.store.Rederive(ctx, walk, func(o calendar.Object) calendar.Derived {
		d, err := s.derive(o.Data)
		if err != nil {
			// Stored by an older program that took what we would refuse: keep what it knew.
			return o.Derived
		}
		return d
	})
}
