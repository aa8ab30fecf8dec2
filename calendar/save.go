package calendar

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"
)

// Draft is an object that a caller wants stored.
type Draft struct {
	Name ObjectName
	Data []byte
	When Precondition
}

// Saved is what came of a Draft.
type Saved struct {
	Object Object
	// Created tells a new object from a changed one.
	Created bool
	// in is the calendar at the object's version.
	in Calendar
}

// errSame ends a transaction that would store what is stored already.
var errSame = errors.New("nothing to change")

// Put stores an object that a client wrote, byte for byte.
func (s *Service) Put(ctx context.Context, c Caller, cal Calendar, d Draft) (Saved, error) {
	return s.save(ctx, c, cal, d)
}

// Add stores a new object under a name of the server's making (RFC 5995).
func (s *Service) Add(ctx context.Context, c Caller, cal Calendar, data []byte) (Saved, error) {
	return s.save(ctx, c, cal, Draft{
		Name: ObjectName(s.newID() + ".ics"), Data: data, When: Precondition{NoneMatchAny: true},
	})
}

// save is the one door for writes: whatever stores an object ends here. It validates,
// checks access and precondition, numbers the change, and writes object and journal in
// one transaction.
func (s *Service) save(ctx context.Context, c Caller, cal Calendar, d Draft) (Saved, error) {
	saved, err := s.saveAll(ctx, c, cal, []Draft{d})
	if err != nil {
		return Saved{}, err
	}
	return saved[0], nil
}

// saveAll is save for objects that belong together: all of them are stored, or none.
func (s *Service) saveAll(ctx context.Context, c Caller, cal Calendar, drafts []Draft) ([]Saved, error) {
	if err := c.May(WriteObjects, cal); err != nil {
		return nil, err
	}
	next := make([]Saved, len(drafts))
	for i, d := range drafts {
		derived, err := s.validate(ctx, cal, d)
		if err != nil {
			return nil, err
		}
		next[i].Object = Object{
			Calendar: cal.ID, Name: d.Name, ETag: ETagOf(d.Data), Size: int64(len(d.Data)), Data: d.Data, Derived: derived,
		}
	}
	var saved []Saved
	err := s.store.Update(ctx, func(tx Tx) error {
		saved = slices.Clone(next)
		for i := range saved {
			if err := s.write(ctx, c, tx, &saved[i], drafts[i].When); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, errSame) && len(drafts) == 1 {
		return saved, nil
	}
	if err == nil {
		for _, one := range saved {
			s.images.note(one.in, one.Object)
		}
	}
	return saved, err
}

// write is the part of save that runs under the calendar's lock.
func (s *Service) write(ctx context.Context, c Caller, tx Tx, saved *Saved, when Precondition) error {
	next := &saved.Object
	cal, err := s.lock(ctx, c, tx, next.Calendar, WriteObjects)
	if err != nil {
		return err
	}
	old, twin, err := tx.Occupants(ctx, next.Calendar, next.Name, next.UID)
	if err != nil {
		return err
	}
	if old != nil && old.Deleted {
		old = nil
	}
	if err := admit(old, twin, *next, when); err != nil {
		if errors.Is(err, errSame) {
			*next = *old
		}
		return err
	}
	saved.Created, saved.in = old == nil, cal
	next.Version, next.Modified = cal.Version, s.now().Truncate(time.Second)
	next.Created = next.Modified
	if old != nil {
		next.Created = old.Created
	}
	if err := tx.PutObject(ctx, *next); err != nil {
		return err
	}
	return tx.Log(ctx, s.objectEntry(c, *next, old))
}

// lock takes the lock of a calendar that the caller may do something in. Whether somebody else's is
// still shared with them is looked at again: since they were let in it may have been taken away, and
// a body may take minutes to arrive.
func (s *Service) lock(ctx context.Context, c Caller, tx Tx, id CalendarID, a Action) (Calendar, error) {
	cal, err := tx.Advance(ctx, id)
	if err != nil || cal.Owner == c.User.ID {
		return cal, err
	}
	shares, err := tx.Shares(ctx, id)
	for _, share := range shares {
		if share.User.ID == c.User.ID {
			cal.Access = share.InForce()
		}
	}
	if err == nil {
		err = c.May(a, cal)
	}
	return cal, err
}

// admit decides whether next may take the place of old, while twin has its UID.
func admit(old, twin *Object, next Object, when Precondition) error {
	now := ETag("")
	if old != nil {
		now = old.ETag
	}
	same := old != nil && bytes.Equal(old.Data, next.Data)
	if err := when.Check(now); err != nil {
		// RFC 9110 §13.1.1: a change that has been made already may be answered as made. The
		// client's first answer was lost; refusing would make it believe in a conflict.
		if same && !when.NoneMatchAny && len(when.NoneMatch) == 0 {
			return errSame
		}
		return err
	}
	if same {
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

func uidConflict(at ObjectName, format string, uid UID) error {
	e := Errorf(Exists, RuleUIDConflict, format, string(uid))
	e.Conflict = at
	return e
}

func (s *Service) objectEntry(c Caller, now Object, old *Object) Entry {
	e := s.entry(c, Calendar{ID: now.Calendar, Version: now.Version}, Created)
	e.Object, e.UID = now.Name, now.UID
	if old != nil {
		e.Change, e.Before = Modified, old.Data
	}
	return e
}

// Delete removes an object; a tombstone and the journal keep it for a while.
func (s *Service) Delete(ctx context.Context, c Caller, cal Calendar, name ObjectName, when Precondition) error {
	if err := c.May(DeleteObjects, cal); err != nil {
		return err
	}
	var in Calendar
	var gone Object
	err := s.store.Update(ctx, func(tx Tx) error {
		locked, err := s.lock(ctx, c, tx, cal.ID, DeleteObjects)
		if err != nil {
			return err
		}
		old, _, err := tx.Occupants(ctx, cal.ID, name, "")
		if err != nil {
			return err
		}
		if old == nil || old.Deleted {
			return errNoObject(name)
		}
		if err := when.Check(old.ETag); err != nil {
			return err
		}
		in, gone = locked, *old
		return s.bury(ctx, c, tx, *old, locked.Version)
	})
	if err == nil {
		gone.Deleted, gone.Version = true, in.Version
		s.images.note(in, gone)
	}
	return err
}
