package ledger

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/ical"
)

// errSame ends a transaction that would store what is stored already.
var errSame = errors.New("nothing to change")

// Put stores an object that a client wrote, byte for byte but for control characters.
func (s *Ledger) Put(ctx context.Context, c calendar.Caller, cal calendar.Calendar, d calendar.Draft) (calendar.Saved, error) {
	return s.save(ctx, c, cal, d)
}

// Add stores a new object under a name of the server's making (RFC 5995).
func (s *Ledger) Add(ctx context.Context, c calendar.Caller, cal calendar.Calendar, data []byte) (calendar.Saved, error) {
	return s.save(ctx, c, cal, calendar.Draft{
		Name: calendar.ObjectName(s.newID() + ".ics"), Data: data, When: calendar.Precondition{NoneMatchAny: true},
	})
}

// save is the one door for writes: whatever stores an object ends here. It validates,
// checks access and precondition, numbers the change, and writes object and journal in
// one transaction.
func (s *Ledger) save(ctx context.Context, c calendar.Caller, cal calendar.Calendar, d calendar.Draft) (calendar.Saved, error) {
	saved, err := s.saveAll(ctx, c, cal, []calendar.Draft{d})
	if err != nil {
		return calendar.Saved{}, err
	}
	return saved[0], nil
}

// saveAll is save for objects that belong together: all of them are stored, or none.
func (s *Ledger) saveAll(ctx context.Context, c calendar.Caller, cal calendar.Calendar, drafts []calendar.Draft) ([]calendar.Saved, error) {
	if err := c.May(calendar.WriteObjects, cal); err != nil {
		return nil, err
	}
	next := make([]calendar.Saved, len(drafts))
	for i, d := range drafts {
		given := len(d.Data)
		d.Data = ical.WithoutControls(d.Data)
		derived, err := s.validate(ctx, cal, d)
		if err != nil {
			return nil, c.Told(err)
		}
		next[i].Cleaned = len(d.Data) < given
		next[i].Object = calendar.Object{
			Calendar: cal.ID, Name: d.Name, ETag: calendar.ETagOf(d.Data), Size: int64(len(d.Data)), Data: d.Data, Derived: derived,
		}
	}
	var saved []calendar.Saved
	err := s.change(ctx, c, func(w *work) error {
		saved = slices.Clone(next)
		for i := range saved {
			if err := w.save(ctx, &saved[i], drafts[i].When); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, errSame) && len(drafts) == 1 {
		return saved, nil
	}
	return saved, err
}

// save is the part that runs under the calendar's lock.
func (w *work) save(ctx context.Context, saved *calendar.Saved, when calendar.Precondition) error {
	next := &saved.Object
	if _, err := w.openTo(ctx, calendar.WriteObjects, next.Calendar); err != nil {
		return err
	}
	old, twin, err := w.live(ctx, next.Calendar, next.Name, next.UID)
	if err != nil {
		return err
	}
	if err := admit(old, twin, *next, when); err != nil {
		if errors.Is(err, errSame) {
			*next = *old
		}
		return err
	}
	next.Modified = w.now().Truncate(time.Second)
	next.Created = next.Modified
	if old != nil {
		next.Created = old.Created
	}
	saved.Created = old == nil
	*next, err = w.put(ctx, *next, old)
	return err
}

// admit decides whether next may take the place of old, while twin has its UID.
func admit(old, twin *calendar.Object, next calendar.Object, when calendar.Precondition) error {
	now := calendar.ETag("")
	if old != nil {
		now = old.ETag
	}
	// RFC 9110 §13.1.1 would let a stale tag pass where the same bytes are stored. But clients, and every
	// other server, take 412 for the answer to it, and with Expect it is given before the bytes are there.
	if err := when.Check(now); err != nil {
		return err
	}
	if old != nil && bytes.Equal(old.Data, next.Data) {
		return errSame
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

// Delete removes an object; a tombstone and the journal keep it for a while.
func (s *Ledger) Delete(ctx context.Context, c calendar.Caller, cal calendar.Calendar, name calendar.ObjectName, when calendar.Precondition) error {
	if err := c.May(calendar.DeleteObjects, cal); err != nil {
		return err
	}
	return s.change(ctx, c, func(w *work) error {
		if _, err := w.openTo(ctx, calendar.DeleteObjects, cal.ID); err != nil {
			return err
		}
		old, err := w.find(ctx, cal.ID, name, when)
		if err != nil {
			return err
		}
		return w.bury(ctx, old)
	})
}
