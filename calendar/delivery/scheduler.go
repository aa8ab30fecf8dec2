// Package delivery carries out scheduling. It decides with package schedule which messages a change of an event needs,
// and delivers them: into the copies and inboxes of users, and into the mail outbox. It applies messages that arrive by
// mail, and answers for rooms. Everything runs as a change of package change.
package delivery

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/change"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/zone"
)

// Scheduler delivers messages about events between organizers, attendees and rooms. Its methods check access
// themselves.
type Scheduler struct {
	reader     *lookup.Reader
	writer     *change.Writer
	validator  *change.Validator
	store      calendar.Store
	limits     calendar.Limits
	now        func() time.Time
	newID      func() string
	zones      *zone.DB
	mailed     bool
	task       calendar.Task
	deliveries deliveries
	tries      tries
	resends    resends
}

// SchedulerConfig holds the dependencies and settings of a Scheduler.
type SchedulerConfig struct {
	Reader    *lookup.Reader
	Writer    *change.Writer
	Validator *change.Validator
	Store     calendar.Store
	Limits    calendar.Limits
	Now       func() time.Time
	NewID     func() string
	Zones     *zone.DB
	// Mailed is set if the outbox is sent as mail. Otherwise external attendees are not notified, and the organizer
	// sees that (SCHEDULE-STATUS 5.2).
	Mailed bool
	// Task traces each answer of a room; nil for no tracing.
	Task calendar.Task
}

// NewScheduler returns a Scheduler.
func NewScheduler(c SchedulerConfig) *Scheduler {
	return &Scheduler{
		reader: c.Reader, writer: c.Writer, validator: c.Validator, store: c.Store, limits: c.Limits, now: c.Now,
		newID: c.NewID,
		zones: c.Zones, mailed: c.Mailed, task: c.Task.OrNone(),
	}
}

// Work is the scheduling part of a running change.
type Work struct {
	*change.Tx
	*Scheduler
	// bookings are the invitations that rooms must answer after the commit.
	bookings []calendar.Booking
	// resent lists the external attendees who asked for a copy of the event and get one.
	resent []copyRequest
	// delivered counts the deliveries to other users.
	delivered map[route]amount
}

// NewWork returns the scheduling part of a change. Call it once for each transaction.
func NewWork(s *Scheduler, tx *change.Tx) *Work {
	w := &Work{Tx: tx, Scheduler: s}
	tx.AfterCommit(func(ctx context.Context) {
		s.deliveries.add(w.delivered, s.now())
		s.resends.add(w.resent, s.now())
		s.answerBookings(ctx, w.bookings)
	})
	return w
}

// change runs do as one change: everything is committed, or nothing. do may run again, see Store.Update.
func (s *Scheduler) change(ctx context.Context, c calendar.Caller, do func(*Work) error) error {
	return s.writer.Change(ctx, c, func(tx *change.Tx) error { return do(NewWork(s, tx)) })
}
