package ledger

import (
	"context"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/change"
	"caldav-mcp-server/calendar/delivery"
)

// work is a running change with the ledger that makes it.
type work struct {
	*change.Tx
	*Ledger
	scheduling *delivery.Work
	// replaced is the object that was overwritten last. A series may be split from it.
	replaced *calendar.Object
	// former is the version that attendees know of an event that is stored under another name.
	former *calendar.Object
	// before holds the effects of earlier steps of a preview.
	before *imagined
}

// change runs do as one change: everything is committed, or nothing. do may run again, see Store.Update.
func (s *Ledger) change(ctx context.Context, c calendar.Caller, do func(*work) error) error {
	return s.changePart(ctx, c, new(calendar.ChangeID), do)
}

// changePart is change for a part of a change that is too large for one transaction. All parts are one unit of the
// journal, identified by its first entry.
func (s *Ledger) changePart(
	ctx context.Context, c calendar.Caller, unit *calendar.ChangeID, do func(*work) error,
) error {
	return s.writer.ChangePart(ctx, c, unit, func(tx *change.Tx) error {
		return do(&work{Tx: tx, Ledger: s, scheduling: delivery.NewWork(s.Scheduler, tx)})
	})
}

// schedule applies the consequences of a change of an event for its organizer and attendees.
func (w *work) schedule(
	ctx context.Context, cal calendar.Calendar, old, next *calendar.Object, d calendar.Draft,
) error {
	var from *calendar.Object
	if d.From != "" && w.replaced != nil && w.replaced.UID == d.From {
		from = w.replaced
	}
	return w.scheduling.Schedule(ctx, cal, old, next, d, from)
}

// trash moves a calendar to the trash.
func (w *work) trash(ctx context.Context, id calendar.CalendarID) error {
	return w.ChangeSettings(ctx, id, calendar.Deleted, func(cal calendar.Calendar) error {
		if err := announce(ctx, w.Tx, cal, false); err != nil {
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
	if err := announce(ctx, w.Tx, cal.Calendar, true); err != nil {
		return calendar.Calendar{}, err
	}
	return cal.Calendar, w.WriteEntry(ctx, cal, calendar.Change{Did: calendar.Created})
}
