package ledger

import (
	"context"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/change"
)

// work is a running change with the ledger that makes it.
type work struct {
	*change.Tx
	*Ledger
	// bookings are the invitations that rooms must answer after the commit.
	bookings []calendar.Booking
	// resent lists the external attendees who asked for a copy of the event and get one.
	resent []resending
	// replaced is the object that was overwritten last. A series may be split from it.
	replaced *calendar.Object
	// former is the version that attendees know of an event that is stored under another name.
	former *calendar.Object
	// brings counts the deliveries to other users.
	brings map[delivering]burden
	// before holds the effects of earlier steps of a preview.
	before *imagined
}

// change runs do as one change: everything is committed, or nothing. do may run again, see Store.Update.
func (s *Ledger) change(ctx context.Context, c calendar.Caller, do func(*work) error) error {
	return s.changePart(ctx, c, new(calendar.ChangeID), do)
}

// changePart is change for a part of a change that is too large for one transaction. All parts are one unit of the
// journal, identified by its first entry.
func (s *Ledger) changePart(ctx context.Context, c calendar.Caller, unit *calendar.ChangeID, do func(*work) error) error {
	return s.writer.ChangePart(ctx, c, unit, func(tx *change.Tx) error {
		w := &work{Tx: tx, Ledger: s}
		tx.AfterCommit(w.afterCommit)
		return do(w)
	})
}

// afterCommit counts the deliveries and makes rooms answer their invitations.
func (w *work) afterCommit(ctx context.Context) {
	w.brought.add(w.brings, w.Now())
	w.resends.add(w.resent, w.Now())
	w.answerBookings(ctx, w.bookings)
}

// trash moves a calendar to the trash.
func (w *work) trash(ctx context.Context, id calendar.CalendarID) error {
	return w.ChangeSettings(ctx, id, calendar.Deleted, func(cal calendar.Calendar) error {
		if err := w.announce(ctx, cal, false); err != nil {
			return err
		}
		return w.TrashCalendar(ctx, id)
	})
}

// untrash takes a calendar out of the trash, to an address.
func (w *work) untrash(ctx context.Context, id calendar.CalendarID, at calendar.Segment) (calendar.Calendar, error) {
	if err := w.UntrashCalendar(ctx, id, at); err != nil {
		return calendar.Calendar{}, err
	}
	cal, err := w.NextVersion(ctx, id)
	if err != nil {
		return calendar.Calendar{}, err
	}
	if err := w.announce(ctx, cal.Calendar, true); err != nil {
		return calendar.Calendar{}, err
	}
	return cal.Calendar, w.WriteEntry(ctx, cal, calendar.Change{Did: calendar.Created})
}
