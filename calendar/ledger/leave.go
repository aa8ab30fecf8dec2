package ledger

import (
	"context"
	"errors"
	"slices"

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
		err := w.eachLive(ctx, cal.ID, names, func(in calendar.Calendar, old calendar.Object) error {
			if organizes, err := w.scheduling.Organizes(ctx, in, &old); err != nil || !organizes {
				return err
			}
			now.Meetings++
			return w.remove(ctx, in, old, calendar.Draft{Telling: tell})
		})
		now.Told = w.Told
		return err
	})
	if err == nil {
		done.Meetings += now.Meetings
		done.Told = append(done.Told, now.Told...)
	}
	return err
}

// eachLive locks a calendar of the caller and calls do for its objects that still exist.
func (w *work) eachLive(
	ctx context.Context, cal calendar.CalendarID, names []calendar.ObjectName,
	do func(in calendar.Calendar, old calendar.Object) error,
) error {
	in, err := w.LockFor(ctx, calendar.WriteObjects, cal)
	if err != nil {
		return err
	}
	for _, name := range names {
		old, _, err := w.LiveObject(ctx, cal, name, "")
		if err == nil && old != nil {
			err = do(in.Calendar, *old)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// GiveCalendars makes another user the owner of the caller's calendars, before the caller is deleted, and returns their
// number. Objects, history, shares and public links stay. Subscriptions and linked calendars depend on the caller's
// accounts and are left out. The new owner's quota does not apply: an administrator decided. An error leaves some
// calendars given; another call continues.
func (s *Ledger) GiveCalendars(ctx context.Context, c calendar.Caller, to calendar.User) (int, error) {
	theirs, err := s.store.Calendars(ctx, to.ID)
	if err != nil {
		return 0, err
	}
	all, err := s.store.Calendars(ctx, c.User.ID)
	given := 0
	for _, cal := range all {
		if err != nil {
			return given, err
		}
		if cal.Access != calendar.OwnerAccess || cal.Subscribed() || cal.Origin.Mirrors() {
			continue
		}
		if slices.ContainsFunc(theirs, func(o calendar.Calendar) bool {
			return o.Access == calendar.OwnerAccess && o.Name == cal.Name
		}) {
			cal.Name += " (" + c.User.Title() + ")"
		}
		if err = s.dropCopies(ctx, c, cal, to.ID); err == nil {
			err = s.give(ctx, c, cal, to.ID)
		}
		if err == nil {
			given++
		}
	}
	return given, err
}

// give makes a user the owner of a calendar, which gets the given name.
func (s *Ledger) give(ctx context.Context, c calendar.Caller, as calendar.Calendar, to calendar.UserID) error {
	return s.change(ctx, c, func(w *work) error {
		if _, err := w.LockFor(ctx, calendar.ChangeCalendar, as.ID); err != nil {
			return err
		}
		return w.ChangeSettings(ctx, as.ID, calendar.Modified, func(cal calendar.Calendar) error {
			cal.Name = as.Name
			if err := w.UpdateCalendar(ctx, cal.ID, cal.Properties); err != nil {
				return err
			}
			return w.GiveCalendar(ctx, cal.ID, to)
		})
	})
}

// dropCopies moves those coming meetings of a calendar to its trash that its next owner has as well: a user must not
// have two copies of a meeting (RFC 6638 §3.2.4.1).
func (s *Ledger) dropCopies(ctx context.Context, c calendar.Caller, cal calendar.Calendar, next calendar.UserID) error {
	coming, err := s.coming(ctx, cal)
	for _, names := range coming {
		if err != nil {
			return err
		}
		err = s.change(ctx, c, func(w *work) error {
			return w.eachLive(ctx, cal.ID, names, func(_ calendar.Calendar, old calendar.Object) error {
				theirs, err := w.Appointments(ctx, []calendar.UserID{next}, old.UID)
				if err != nil || len(theirs) == 0 {
					return err
				}
				return w.Bury(ctx, old)
			})
		})
	}
	return err
}
