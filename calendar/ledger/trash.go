package ledger

import (
	"context"
	"errors"

	"caldav-mcp-server/calendar"
)

// trashedCalendar returns a calendar in the trash, if the caller may perform an action on it.
func (s *Ledger) trashedCalendar(
	ctx context.Context, c calendar.Caller, a calendar.Action, id calendar.CalendarID,
) (calendar.TrashedCalendar, error) {
	all, err := s.TrashedCalendars(ctx, c)
	if err != nil {
		return calendar.TrashedCalendar{}, err
	}
	for _, t := range all {
		if t.ID == id {
			return t, c.May(a, t.Calendar)
		}
	}
	return calendar.TrashedCalendar{}, calendar.Errorf(calendar.NotFound, "", "no calendar %q in the trash", string(id))
}

// RestoreObject stores the latest deleted object with a UID again, under its former name or another one. It is an
// ordinary write: the current rules apply, and the journal gets an entry.
func (s *Ledger) RestoreObject(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, uid calendar.UID, as calendar.ObjectName,
) (calendar.Saved, error) {
	if err := c.May(calendar.WriteObjects, cal); err != nil {
		return calendar.Saved{}, err
	}
	e, err := s.store.Deletion(ctx, cal.ID, uid)
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		return calendar.Saved{}, calendar.Errorf(calendar.NotFound, "",
			"no object with the UID %q in the trash of this calendar", string(uid))
	}
	if err != nil {
		return calendar.Saved{}, err
	}
	if e.Unreadable {
		return calendar.Saved{}, calendar.Errorf(calendar.Unsupported, "",
			"the deleted object with the UID %q cannot be read: the database was damaged", string(uid)).
			Advising("the server's administrator may have it in a backup")
	}
	if as == "" {
		as = e.Object
	}
	saved, err := s.save(ctx, c, cal, calendar.Draft{
		Name: as, Data: e.Before, When: calendar.Precondition{NoneMatchAny: true}, Telling: calendar.Unscheduled,
		Stored: true,
	})
	if calendar.ReasonOf(err) == calendar.Stale {
		taken := calendar.Errorf(calendar.Exists, "", "another object has the name %q by now", string(as))
		taken.Hint, taken.Conflict = "restore it under another name", as
		return calendar.Saved{}, taken
	}
	return saved, err
}

// ForgetCalendar permanently deletes a calendar of the caller from the trash.
func (s *Ledger) ForgetCalendar(ctx context.Context, c calendar.Caller, id calendar.CalendarID) error {
	if _, err := s.trashedCalendar(ctx, c, calendar.DeleteCalendar, id); err != nil {
		return err
	}
	return s.store.ForgetCalendar(ctx, id)
}

// ForgetObjects permanently deletes the trashed objects of a calendar of the caller.
func (s *Ledger) ForgetObjects(ctx context.Context, c calendar.Caller, cal calendar.Calendar) error {
	if err := c.May(calendar.DeleteCalendar, cal); err != nil {
		return err
	}
	return s.store.ForgetDeletions(ctx, cal.ID)
}

// RestoreDeleted is RestoreObject without a fixed name: if another object has the former name by now, the restored one
// gets a new one.
func (s *Ledger) RestoreDeleted(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, uid calendar.UID,
) (calendar.Saved, error) {
	saved, err := s.RestoreObject(ctx, c, cal, uid, "")
	var taken *calendar.Error
	if errors.As(err, &taken) && taken.Reason == calendar.Exists && taken.Rule == "" {
		return s.RestoreObject(ctx, c, cal, uid, calendar.ObjectName(s.newID()+".ics"))
	}
	return saved, err
}
