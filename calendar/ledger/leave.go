package ledger

import (
	"context"
	"errors"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/delivery"
)

// CancelMeetings deletes the meetings that a user organizes and that are not over, before the user is deleted: rooms
// must not stay booked for a user who is gone. With [calendar.TellRooms] only rooms are told, with [calendar.TellAll]
// also people. A linked calendar keeps its meetings, because the account elsewhere organizes them. An error leaves some
// meetings cancelled; another call continues.
func (s *Ledger) CancelMeetings(
	ctx context.Context, c calendar.Caller, tell calendar.Telling,
) (calendar.Cancelled, error) {
	var done calendar.Cancelled
	all, err := s.store.Calendars(ctx, c.User.ID)
	if err != nil {
		return done, err
	}
	for _, cal := range all {
		if cal.Access != calendar.OwnerAccess || cal.Subscribed() || cal.Origin.Mirrors() {
			continue
		}
		coming, err := s.coming(ctx, cal)
		if err != nil {
			return done, err
		}
		for _, names := range coming {
			if err := s.cancel(ctx, c, cal, names, tell, &done); err != nil {
				return done, err
			}
		}
	}
	done.Mails, err = s.store.WaitingOf(ctx, c.User.ID)
	return done, err
}

// coming returns the names of the objects in a calendar that have an organizer and are not over, in parts.
func (s *Ledger) coming(ctx context.Context, cal calendar.Calendar) ([][]calendar.ObjectName, error) {
	var found parts[calendar.ObjectName]
	for o, err := range s.store.Objects(ctx, cal.ID, calendar.ObjectQuery{
		WithData: true, From: new(s.now().Unix()),
	}) {
		switch {
		case errors.Is(err, calendar.ErrNoText):
		case err != nil:
			return nil, err
		case delivery.Organized(o.Data):
			found.add(o.Name, o.Data)
		}
	}
	return found.all, nil
}

// cancel deletes those meetings among the objects that the calendar's owner organizes.
func (s *Ledger) cancel(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, names []calendar.ObjectName, tell calendar.Telling,
	done *calendar.Cancelled,
) error {
	var now calendar.Cancelled
	err := s.change(ctx, c, func(w *work) error {
		now = calendar.Cancelled{}
		in, err := w.LockFor(ctx, calendar.WriteObjects, cal.ID)
		if err != nil {
			return err
		}
		for _, name := range names {
			old, _, err := w.LiveObject(ctx, cal.ID, name, "")
			if err != nil {
				return err
			}
			if old == nil {
				continue
			}
			if organizes, err := w.scheduling.Organizes(ctx, in.Calendar, old); err != nil || !organizes {
				if err != nil {
					return err
				}
				continue
			}
			if err := w.remove(ctx, in.Calendar, *old, calendar.Draft{Telling: tell}); err != nil {
				return err
			}
			now.Meetings++
		}
		now.Told = w.Told
		return nil
	})
	if err == nil {
		done.Meetings += now.Meetings
		done.Told = append(done.Told, now.Told...)
	}
	return err
}
