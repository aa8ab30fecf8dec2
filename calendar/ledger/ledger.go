// Package ledger has the operations that change calendars: saving, editing, importing, sharing, deleting, restoring and
// undoing. Each checks the caller's access and runs as a change of package change.
package ledger

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/change"
	"caldav-mcp-server/calendar/delivery"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/zone"
)

// Ledger makes changes. Its methods check access themselves.
type Ledger struct {
	*lookup.Reader
	*delivery.Scheduler
	*Sharer
	*Delegator
	*Homes
	*Attempts
	*Suggester
	planner
	writer    *change.Writer
	validator *change.Validator
	store     calendar.Store
	limits    calendar.Limits
	now       func() time.Time
	newID     func() string
	zones     *zone.DB
}

// Config holds the dependencies and settings of a Ledger.
type Config struct {
	Reader *lookup.Reader
	Store  calendar.Store
	Limits calendar.Limits
	Now    func() time.Time
	NewID  func() string
	Zones  *zone.DB
	// Mailed is set if the outbox is sent as mail. Otherwise external attendees are not notified, and the organizer
	// sees that (SCHEDULE-STATUS 5.2).
	Mailed bool
	// Sources accesses the sources of linked calendars; nil refuses changes of linked calendars.
	Sources change.Sources
	// Written is called after a calendar was changed, see [WriterConfig].
	Written func(cal calendar.Calendar, first calendar.Version, objects []calendar.Object)
	// Changed is called after a change with its id in the journal; it may be nil.
	Changed func(context.Context, calendar.ChangeID)
	// Task traces each answer of a room; nil for no tracing.
	Task calendar.Task
}

// New returns a Ledger.
func New(c Config) *Ledger {
	validator := change.NewValidator(c.Limits, c.Zones)
	writer := change.NewWriter(change.WriterConfig{
		Reader: c.Reader, Store: c.Store, Validator: validator, Now: c.Now, Outbox: c.Limits.Outbox, Sources: c.Sources,
		Written: c.Written, Changed: c.Changed,
	})
	sharer := &Sharer{c.Reader, writer, c.Store}
	s := &Ledger{
		Reader: c.Reader, writer: writer, validator: validator, store: c.Store, limits: c.Limits, now: c.Now,
		newID: c.NewID, zones: c.Zones,
		Sharer:    sharer,
		Delegator: &Delegator{sharer, c.Now},
		Homes:     &Homes{c.Reader, writer, c.Store, c.Now},
		Attempts:  &Attempts{c.Store, c.Now, c.NewID},
		planner:   planner{c.Now, c.NewID, c.Zones},
		Scheduler: delivery.NewScheduler(delivery.SchedulerConfig{
			Reader: c.Reader, Writer: writer, Validator: validator, Store: c.Store, Limits: c.Limits, Now: c.Now,
			NewID: c.NewID,
			Zones: c.Zones, Mailed: c.Mailed, Task: c.Task,
		}),
	}
	s.Suggester = &Suggester{s}
	return s
}

// Reindex rebuilds everything that the store derives from the objects' bytes.
func (s *Ledger) Reindex(ctx context.Context, walk calendar.Walk) (int, error) {
	return s.store.Rederive(ctx, walk, func(o calendar.Object) calendar.Derived {
		d, err := s.validator.Derive(o.Data)
		if err != nil {
			// An older version accepted an object that is invalid now: keep its index data.
			return o.Derived
		}
		return d
	})
}
