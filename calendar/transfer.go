package calendar

import (
	"context"
	"errors"
	"time"
)

// Transfer is an object on its way to another name or calendar.
type Transfer struct {
	From Calendar
	Name ObjectName
	To   Calendar
	As   ObjectName
	// When is demanded of the object, Then of what lies at its new place.
	When, Then Precondition
}

// Copy puts a copy of an object at another place. The rules of a PUT hold there, in
// particular that a UID is in a calendar once (RFC 4791 §5.3.2.1).
func (s *Service) Copy(ctx context.Context, c Caller, t Transfer) (Saved, error) {
	return s.transfer(ctx, c, t, false)
}

// Move takes an object to another place, in one step: nobody ever sees it twice, or not at all.
func (s *Service) Move(ctx context.Context, c Caller, t Transfer) (Saved, error) {
	if err := c.May(DeleteObjects, t.From); err != nil {
		return Saved{}, err
	}
	return s.transfer(ctx, c, t, true)
}

// MoveToCalendar takes an object, all of it, to another calendar: under its name there, unless
// that is taken.
func (s *Service) MoveToCalendar(ctx context.Context, c Caller, from Calendar, uid UID, to Calendar, when Precondition) (Saved, error) {
	o, err := s.ObjectByUID(ctx, c, from, uid)
	if err != nil {
		return Saved{}, err
	}
	t := Transfer{From: from, Name: o.Name, To: to, As: o.Name, When: when, Then: Precondition{NoneMatchAny: true}}
	switch _, err := s.Object(ctx, c, to, o.Name); {
	case err == nil && from.ID != to.ID:
		t.As = nameFor(s.newID())
	case err != nil && ReasonOf(err) != NotFound:
		return Saved{}, err
	}
	return s.Move(ctx, c, t)
}

func (s *Service) transfer(ctx context.Context, c Caller, t Transfer, remove bool) (Saved, error) {
	if err := t.allowed(c); err != nil {
		return Saved{}, err
	}
	var saved Saved
	err := s.store.Update(ctx, func(tx Tx) error {
		r := &relocation{Service: s, Transfer: t, caller: c, tx: tx}
		err := r.run(ctx, remove)
		saved = r.saved
		return err
	})
	return saved, err
}

// allowed tells whether the caller may do this at both ends. Reading is not enough to copy
// what is only shared as busy.
func (t Transfer) allowed(c Caller) error {
	if err := c.May(ReadObjects, t.From); err != nil {
		return err
	}
	if err := c.May(WriteObjects, t.To); err != nil {
		return err
	}
	if t.From.ID == t.To.ID && t.Name == t.As {
		// RFC 4918 §9.8.5, §9.9.4
		return Errorf(Forbidden, "", "the object is at this place already")
	}
	return t.As.validate()
}

// relocation is a transfer under way in a transaction.
type relocation struct {
	*Service
	Transfer
	caller Caller
	tx     Tx
	source Object
	saved  Saved
}

func (r *relocation) run(ctx context.Context, remove bool) error {
	leaving, arriving, err := r.lock(ctx, remove)
	if err != nil {
		return err
	}
	if err := r.load(ctx, arriving); err != nil {
		return err
	}
	if err := r.tx.CopyKept(ctx, r.holder(r.From, r.Name), r.holder(r.To, r.As)); err != nil {
		return err
	}
	if remove {
		// First, since the object's UID may be in the calendar once.
		if err := r.bury(ctx, r.caller, r.tx, r.source, leaving.Version); err != nil {
			return err
		}
	}
	return r.arrive(ctx, arriving)
}

func (r *relocation) holder(cal Calendar, name ObjectName) Holder {
	return Holder{Place: AtObject, Calendar: cal, Object: name}
}

// lock takes the calendars' locks, in the order of their ids, and a version of each change.
func (r *relocation) lock(ctx context.Context, remove bool) (leaving, arriving Calendar, err error) {
	steps := []struct {
		id   CalendarID
		to   *Calendar
		what Action
	}{{r.From.ID, &leaving, DeleteObjects}, {r.To.ID, &arriving, WriteObjects}}
	if !remove {
		steps = steps[1:]
	} else if r.To.ID < r.From.ID {
		steps[0], steps[1] = steps[1], steps[0]
	}
	for _, step := range steps {
		if *step.to, err = r.Service.lock(ctx, r.caller, r.tx, step.id, step.what); err != nil {
			return leaving, arriving, err
		}
	}
	return leaving, arriving, nil
}

// load reads the object and sees that it may go into the calendar.
func (r *relocation) load(ctx context.Context, arriving Calendar) error {
	source, _, err := r.tx.Occupants(ctx, r.From.ID, r.Name, "")
	if err != nil {
		return err
	}
	if source == nil || source.Deleted {
		return errNoObject(r.Name)
	}
	if err := r.When.Check(source.ETag); err != nil {
		return err
	}
	// What is stored was valid when it came, and stays so; but not every calendar takes it.
	if !arriving.Kinds.Has(source.Kind) {
		return errKind(arriving, source.Kind)
	}
	r.source = *source
	return nil
}

// arrive writes the object at its new place.
func (r *relocation) arrive(ctx context.Context, cal Calendar) error {
	next := r.source
	next.Calendar, next.Name, next.Version = r.To.ID, r.As, cal.Version
	old, twin, err := r.tx.Occupants(ctx, next.Calendar, next.Name, next.UID)
	if err != nil {
		return err
	}
	if old != nil && old.Deleted {
		old = nil
	}
	// The same bytes at the new place are still a change: the old place, and properties.
	if err := admit(old, twin, next, r.Then); err != nil && !errors.Is(err, errSame) {
		return err
	}
	next.Modified = r.now().Truncate(time.Second)
	r.saved = Saved{Object: next, Created: old == nil}
	if err := r.tx.PutObject(ctx, next); err != nil {
		return err
	}
	return r.tx.Log(ctx, r.objectEntry(r.caller, next, old))
}

// bury makes a tombstone of an object and writes the journal.
func (s *Service) bury(ctx context.Context, c Caller, tx Tx, o Object, v Version) error {
	e := s.objectEntry(c, o, &o)
	e.Version, e.Change = v, Deleted
	if err := tx.BuryObject(ctx, o.Calendar, o.Name, v); err != nil {
		return err
	}
	return tx.Log(ctx, e)
}
