package ledger

import (
	"context"
	"errors"
	"slices"

	"caldav-mcp-server/calendar"
)

// RestoreCalendar takes a calendar of the caller out of the trash, with its objects and its shares, to its former
// address or to another one. The meetings that were deleted with it are stored again, as an undo would store them:
// attendees are invited again with their former answers.
func (s *Ledger) RestoreCalendar(
	ctx context.Context, c calendar.Caller, id calendar.CalendarID, as calendar.Segment,
) (calendar.RestoredCalendar, error) {
	t, err := s.trashedCalendar(ctx, c, calendar.ChangeCalendar, id)
	if err != nil {
		return calendar.RestoredCalendar{}, err
	}
	r := &calendarReturn{Ledger: s, caller: c}
	r.Calendar = t.Calendar
	if as != "" {
		r.Segment = as
	}
	if err := r.Segment.Validate(); err != nil {
		return calendar.RestoredCalendar{}, err
	}
	if err := r.list(ctx); err != nil {
		return calendar.RestoredCalendar{}, err
	}
	for i, versions := range r.parts {
		if err := r.part(ctx, versions, i == 0); err != nil {
			return r.RestoredCalendar, partly(i, len(r.parts), "back", err)
		}
	}
	return r.RestoredCalendar, nil
}

// calendarReturn is the running restore of a calendar.
type calendarReturn struct {
	*Ledger
	caller calendar.Caller
	calendar.RestoredCalendar
	// parts lists the changes that deleted meetings with the calendar, the latest first.
	parts [][]calendar.Version
	unit  calendar.ChangeID
}

// list finds the meetings that were deleted with the calendar; there is always at least one part.
func (r *calendarReturn) list(ctx context.Context) error {
	versions, err := r.DeletedWith(ctx, r.Calendar)
	if err != nil {
		return err
	}
	var found parts[calendar.Version]
	if len(versions) > 0 {
		q := calendar.JournalQuery{From: slices.Min(versions), Until: slices.Max(versions), WithBefore: true}
		for e, err := range r.store.Journal(ctx, r.ID, q) {
			if err != nil {
				return err
			}
			if slices.Contains(versions, e.Version) && e.Subject() == calendar.AboutObject &&
				e.Did == calendar.Deleted {
				found.add(e.Version, e.Before)
			}
		}
	}
	if r.parts = found.all; len(r.parts) == 0 {
		r.parts = [][]calendar.Version{nil}
	}
	return nil
}

// part stores some meetings again; the first part brings the calendar back.
func (r *calendarReturn) part(ctx context.Context, versions []calendar.Version, first bool) error {
	var now calendar.Calendar
	var told []calendar.Told
	var left int
	err := r.changePart(ctx, r.caller, &r.unit, func(w *work) error {
		var err error
		if left = 0; first {
			now, err = w.untrash(ctx, r.ID, r.Segment)
		}
		if err != nil {
			return errAddressTaken(err, r.Segment)
		}
		in, err := w.LockFor(ctx, calendar.WriteObjects, r.ID)
		if err != nil {
			return err
		}
		if len(versions) > 0 {
			left, err = r.revive(ctx, w, in.ID, versions)
		}
		now, told = in.Calendar, w.Told
		return err
	})
	if err == nil {
		r.Version, r.Modified, r.Edition = now.Version, now.Modified, now.Edition
		r.Told, r.Left = append(r.Told, told...), r.Left+left
	}
	return err
}

// revive stores the meetings that some changes deleted. It counts the meetings that cannot come back, for example
// because the owner has them in another calendar by now, or because the journal no longer has the text.
func (r *calendarReturn) revive(
	ctx context.Context, w *work, in calendar.CalendarID, versions []calendar.Version,
) (left int, err error) {
	for e, err := range w.Journal(ctx, in, calendar.JournalQuery{
		From: versions[len(versions)-1], Until: versions[0], WithBefore: true,
	}) {
		if err != nil {
			return left, err
		}
		if !slices.Contains(versions, e.Version) {
			continue
		}
		next, err := w.revived(in, state{e.Object, e.Before})
		if err == nil {
			next.Object.Name, err = w.freeName(ctx, in, e.Object)
		}
		if err == nil {
			err = w.save(ctx, &next, calendar.Draft{Telling: calendar.TellAgain, Stored: true})
		}
		switch {
		case stays(err):
			left++
		case err != nil:
			return left, err
		}
	}
	return left, nil
}

// oneMeetings lists the rules that keep one meeting in the trash, rather than the whole calendar.
var oneMeetings = []calendar.Rule{
	calendar.RuleUniqueScheduling, calendar.RuleUIDConflict, calendar.RuleSameOrganizer, calendar.RuleOrganizerChange,
	calendar.RuleAttendeeChange,
}

// stays reports whether an error keeps one meeting in the trash.
func stays(err error) bool {
	return err != nil && (errors.Is(err, errForgotten) || slices.Contains(oneMeetings, calendar.RuleOf(err)))
}

// errForgotten means that the former version of an object is no longer readable.
var errForgotten = errors.New("the former version cannot be read any more")

// revived returns an object in its former state. It was valid when it was first stored, so it is accepted.
func (w *work) revived(in calendar.CalendarID, was state) (calendar.Saved, error) {
	d, err := w.validator.Derive(was.data)
	if err != nil {
		e := calendar.Errorf(calendar.Unsupported, "", "%v: %v", errForgotten, err)
		e.Cause = errForgotten
		return calendar.Saved{}, e
	}
	return calendar.Saved{Object: calendar.Object{
		Calendar: in, Name: was.name, ETag: calendar.ETagOf(was.data), Size: int64(len(was.data)), Data: was.data,
		Derived: d,
	}}, nil
}

// freeName returns the name for a restored object: its former one, unless another object has it by now.
func (w *work) freeName(
	ctx context.Context, in calendar.CalendarID, wanted calendar.ObjectName,
) (calendar.ObjectName, error) {
	at, _, err := w.LiveObject(ctx, in, wanted, "")
	if at != nil {
		return calendar.ObjectName(w.newID() + ".ics"), err
	}
	return wanted, err
}

// errAddressTaken explains how to restore a calendar if another one has its address by now.
func errAddressTaken(err error, at calendar.Segment) error {
	if calendar.ReasonOf(err) != calendar.Exists {
		return err
	}
	return calendar.Errorf(calendar.Exists, calendar.RuleResourceMustBeNil,
		"another calendar has the address %q by now", string(at)).
		Advising("restore it to another address")
}
