package ledger

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/change"
	"caldav-mcp-server/ical"
)

// Put stores a client's object, byte for byte except for control characters.
func (s *Ledger) Put(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, d calendar.Draft,
) (calendar.Saved, error) {
	return s.save(ctx, c, cal, d)
}

// Add stores a new object under a name that the server chooses (RFC 5995).
func (s *Ledger) Add(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, data []byte,
) (calendar.Saved, error) {
	return s.save(ctx, c, cal, calendar.Draft{
		Name: calendar.ObjectName(s.newID() + ".ics"), Data: data, When: calendar.Precondition{NoneMatchAny: true},
	})
}

// save is the single entry point for writes. It validates, checks access and precondition, assigns a version, and
// writes object and journal in one transaction.
func (s *Ledger) save(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, d calendar.Draft,
) (calendar.Saved, error) {
	saved, err := s.saveAll(ctx, c, cal, []calendar.Draft{d}, nil)
	if err != nil {
		return calendar.Saved{}, err
	}
	return saved[0], nil
}

// readSteps is the cost of parsing and indexing one byte of an object.
const readSteps = 1

// saveAll is save for several objects that belong together, and for a further step along in the same transaction, which
// may be nil. If there is one, and nothing changes, the error is [change.ErrSame].
func (s *Ledger) saveAll(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, drafts []calendar.Draft,
	along func(context.Context, *work) error,
) ([]calendar.Saved, error) {
	if err := c.May(calendar.WriteObjects, cal); err != nil {
		return nil, err
	}
	next := make([]calendar.Saved, len(drafts))
	for i, d := range drafts {
		if err := d.Meter.Work(readSteps * int64(len(d.Data))); err != nil {
			return nil, err
		}
		given := len(d.Data)
		d.Data = ical.WithoutControls(d.Data)
		derived, err := s.validator.Validate(ctx, cal, d)
		if err != nil {
			return nil, c.Told(err)
		}
		next[i].Cleaned = len(d.Data) < given
		next[i].Object = calendar.Object{
			Calendar: cal.ID, Name: d.Name, ETag: calendar.ETagOf(d.Data), Size: int64(len(d.Data)), Data: d.Data,
			Derived: derived,
		}
	}
	for _, d := range drafts {
		d.Meter.Rest() // the wait for a lock must not occupy a processor turn
	}
	var saved []calendar.Saved
	err := s.change(ctx, c, func(w *work) error {
		saved = slices.Clone(next)
		for i := range saved {
			err := w.save(ctx, &saved[i], drafts[i])
			if len(drafts) > 1 {
				err = w.along(ctx, cal.ID, err)
			}
			if err != nil {
				return err
			}
		}
		if along == nil {
			return nil
		}
		return along(ctx, w)
	})
	if errors.Is(err, change.ErrSame) && len(drafts) == 1 {
		if along != nil {
			return saved, change.ErrSame
		}
		return saved, nil
	}
	if alone, ok := errors.AsType[*ownAloneError](err); ok {
		err = s.keepOwn(ctx, c, cal, alone)
	}
	return saved, err
}

// save is the part that runs under the calendar's lock.
func (w *work) save(ctx context.Context, saved *calendar.Saved, d calendar.Draft) error {
	next := &saved.Object
	cal, old, twin, err := w.LockObject(ctx, calendar.WriteObjects, next.Calendar, next.Name, next.UID)
	if err != nil {
		return err
	}
	if !w.Owns(cal.Calendar) && !d.Stored {
		return w.saveShared(ctx, cal, saved, d, old, twin)
	}
	if err := admit(old, twin, *next, d.When); err != nil {
		if errors.Is(err, change.ErrSame) {
			*next = *old
		}
		return err
	}
	next.Modified = w.Now().Truncate(time.Second)
	next.Created = next.Modified
	if old != nil {
		next.Created = old.Created
	}
	saved.Created = old == nil
	sent := next.ETag
	before := len(w.Told)
	known := old
	if known == nil {
		known = w.former
	}
	if err := w.schedule(ctx, cal.Calendar, known, next, d); err != nil {
		return err
	}
	if old != nil {
		w.replaced = old
	}
	saved.Scheduled, saved.Told = next.ETag != sent, w.Told[before:]
	sent = next.ETag
	if *next, err = w.Write(ctx, *next, old); err != nil {
		return err
	}
	saved.Cleaned = saved.Cleaned || next.ETag != sent // by its source
	if d.From != "" {
		if err := w.CopyOwnParts(ctx, cal.ID, d.From, next.UID, w.Caller.User.ID); err != nil {
			return err
		}
	}
	*next, err = w.AsSeen(ctx, cal.Calendar, *next)
	return err
}

// admit decides whether next may replace old, while twin has its UID.
func admit(old, twin *calendar.Object, next calendar.Object, when calendar.Precondition) error {
	// RFC 9110 §13.1.1 would let a stale ETag pass if the stored bytes are the same. But clients, and every other
	// server, expect 412. With Expect, the response is sent before the bytes arrive.
	if err := when.CheckObject(old); err != nil {
		return err
	}
	if old != nil && bytes.Equal(old.Data, next.Data) {
		return change.ErrSame
	}
	if twin != nil && twin.Name != next.Name {
		return uidConflict(twin.Name, "another object of this calendar has the UID %q", next.UID)
	}
	// RFC 4791 §5.3.2.1: the rule also keeps an object from turning into another one.
	if old != nil && old.UID != next.UID {
		return uidConflict(old.Name, "the object at this address has the UID %q, which cannot change", old.UID)
	}
	return nil
}

func uidConflict(at calendar.ObjectName, format string, uid calendar.UID) error {
	e := calendar.Errorf(calendar.Exists, calendar.RuleUIDConflict, format, string(uid))
	e.Conflict = at
	return e
}

// Delete deletes an object; a tombstone and the journal keep it for a while. For an organizer this cancels the event,
// for an attendee it declines the invitation.
func (s *Ledger) Delete(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, name calendar.ObjectName, when calendar.Precondition,
) error {
	return s.DeleteTelling(ctx, c, cal, name, when, calendar.TellAll)
}

// DeleteTelling is Delete with a choice whether to notify others.
func (s *Ledger) DeleteTelling(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, name calendar.ObjectName, when calendar.Precondition,
	tell calendar.Telling,
) error {
	_, err := s.delete(ctx, c, cal, calendar.Draft{Name: name, When: when, Telling: tell})
	return err
}

// delete deletes the object that a draft names, and returns the people who were notified.
func (s *Ledger) delete(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, d calendar.Draft,
) (told []calendar.Told, err error) {
	if err := c.May(calendar.DeleteObjects, cal); err != nil {
		return nil, err
	}
	err = s.change(ctx, c, func(w *work) error {
		in, err := w.LockFor(ctx, calendar.DeleteObjects, cal.ID)
		if err != nil {
			return err
		}
		old, err := w.FindObject(ctx, cal, d.Name, d.When)
		if err != nil {
			return err
		}
		err = w.remove(ctx, in.Calendar, old, d)
		told = w.Told
		return err
	})
	return told, err
}

// remove deletes an object and notifies the people concerned, as Telling and Comment of the draft say.
func (w *work) remove(ctx context.Context, cal calendar.Calendar, old calendar.Object, d calendar.Draft) error {
	d = calendar.Draft{Telling: d.Telling, Comment: d.Comment}
	if err := w.schedule(ctx, cal, &old, nil, d); err != nil {
		return err
	}
	return w.Bury(ctx, old)
}
