package calendar

import (
	"context"
	"errors"
	"iter"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// TrashedCalendars returns the caller's own calendars that are in the trash, the latest first.
func (s *Service) TrashedCalendars(ctx context.Context, c Caller) ([]TrashedCalendar, error) {
	if err := c.hasScope(ReadObjects); err != nil {
		return nil, err
	}
	all, err := s.store.TrashedCalendars(ctx, c.User.ID)
	seen := all[:0]
	for _, t := range all {
		if c.Sees(t.Calendar) {
			seen = append(seen, t)
		}
	}
	return seen, err
}

// TrashedObjects yields the deleted objects of a calendar, the latest first.
func (s *Service) TrashedObjects(ctx context.Context, c Caller, cal Calendar) iter.Seq2[TrashedObject, error] {
	return func(yield func(TrashedObject, error) bool) {
		if err := c.May(ReadObjects, cal); err != nil {
			yield(TrashedObject{}, err)
			return
		}
		for e, err := range s.store.Deletions(ctx, cal.ID) {
			o := TrashedObject{Entry: e}
			// What an older program took, and this one cannot read, is in the trash all the same.
			if text, unreadable := content.Read(e.Before, ical.Limits{}); unreadable == nil {
				o.Kind, o.Summary = Kind(text.Kind), text.Summary()
			}
			if !yield(o, err) || err != nil {
				return
			}
		}
	}
}

// RestoreCalendar takes a calendar of the caller's own out of the trash, with its objects and
// its shares, to its former address or to another one.
func (s *Service) RestoreCalendar(ctx context.Context, c Caller, id CalendarID, as Segment) (Calendar, error) {
	t, err := s.trashedCalendar(ctx, c, ChangeCalendar, id)
	if err != nil {
		return Calendar{}, err
	}
	cal := t.Calendar
	if as != "" {
		cal.Segment = as
	}
	if err := cal.Segment.validate(); err != nil {
		return Calendar{}, err
	}
	err = s.change(ctx, c, func(w *work) error {
		now, err := w.untrash(ctx, id, cal.Segment)
		cal.Version, cal.Modified, cal.Edition = now.Version, now.Modified, now.Edition
		return err
	})
	if ReasonOf(err) == Exists {
		e := Errorf(Exists, RuleResourceMustBeNil, "another calendar has the address %q by now", string(cal.Segment))
		e.Hint = "restore it to another address"
		return Calendar{}, e
	}
	return cal, err
}

// trashedCalendar finds a calendar in the trash with which the caller may do something.
func (s *Service) trashedCalendar(ctx context.Context, c Caller, a Action, id CalendarID) (TrashedCalendar, error) {
	all, err := s.TrashedCalendars(ctx, c)
	if err != nil {
		return TrashedCalendar{}, err
	}
	for _, t := range all {
		if t.ID == id {
			return t, c.May(a, t.Calendar)
		}
	}
	return TrashedCalendar{}, Errorf(NotFound, "", "no calendar %q in the trash", string(id))
}

// RestoreObject stores the latest deleted object with a UID again, under its former name or
// another one. It is a write like any other: today's rules hold, and it is in the journal.
func (s *Service) RestoreObject(ctx context.Context, c Caller, cal Calendar, uid UID, as ObjectName) (Saved, error) {
	if err := c.May(WriteObjects, cal); err != nil {
		return Saved{}, err
	}
	e, err := s.store.Deletion(ctx, cal.ID, uid)
	if err != nil && ReasonOf(err) == NotFound {
		return Saved{}, Errorf(NotFound, "", "no object with the UID %q in the trash of this calendar", string(uid))
	}
	if err != nil {
		return Saved{}, err
	}
	if as == "" {
		as = e.Object
	}
	saved, err := s.save(ctx, c, cal, Draft{Name: as, Data: e.Before, When: Precondition{NoneMatchAny: true}})
	if ReasonOf(err) == Stale {
		taken := Errorf(Exists, "", "another object has the name %q by now", string(as))
		taken.Hint, taken.Conflict = "restore it under another name", as
		return Saved{}, taken
	}
	return saved, err
}

// ForgetCalendar removes a calendar of the caller's own from the trash, for good.
func (s *Service) ForgetCalendar(ctx context.Context, c Caller, id CalendarID) error {
	if _, err := s.trashedCalendar(ctx, c, DeleteCalendar, id); err != nil {
		return err
	}
	return s.store.ForgetCalendar(ctx, id)
}

// ForgetObjects drops the deleted objects of a calendar of the caller's own, for good.
func (s *Service) ForgetObjects(ctx context.Context, c Caller, cal Calendar) error {
	if err := c.May(DeleteCalendar, cal); err != nil {
		return err
	}
	return s.store.ForgetDeletions(ctx, cal.ID)
}

// RestoreDeleted is RestoreObject for who does not mind the name: where another object has it by
// now, the restored one gets a new one.
func (s *Service) RestoreDeleted(ctx context.Context, c Caller, cal Calendar, uid UID) (Saved, error) {
	saved, err := s.RestoreObject(ctx, c, cal, uid, "")
	var taken *Error
	if errors.As(err, &taken) && taken.Reason == Exists && taken.Rule == "" {
		return s.RestoreObject(ctx, c, cal, uid, ObjectName(s.newID()+".ics"))
	}
	return saved, err
}
