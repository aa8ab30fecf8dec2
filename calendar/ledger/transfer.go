package ledger

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/change"
)

// Transfer is a copy or move of an object to another name or calendar.
type Transfer struct {
	From calendar.Calendar
	Name calendar.ObjectName
	To   calendar.Calendar
	As   calendar.ObjectName
	// When is the precondition for the object, Then for the target.
	When, Then calendar.Precondition
}

// Copy copies an object. The rules of PUT apply to the target; in particular, a UID is unique in a calendar (RFC 4791
// §5.3.2.1).
func (s *Ledger) Copy(ctx context.Context, c calendar.Caller, t Transfer) (calendar.Saved, error) {
	return s.transfer(ctx, c, t, false)
}

// Move moves an object in one transaction: readers see it exactly once.
func (s *Ledger) Move(ctx context.Context, c calendar.Caller, t Transfer) (calendar.Saved, error) {
	if err := c.May(calendar.DeleteObjects, t.From); err != nil {
		return calendar.Saved{}, err
	}
	return s.transfer(ctx, c, t, true)
}

// MoveToCalendar moves a whole object to another calendar, under the same name unless that is taken.
func (s *Ledger) MoveToCalendar(
	ctx context.Context, c calendar.Caller, from calendar.Calendar, uid calendar.UID, to calendar.Calendar,
	when calendar.Precondition,
) (calendar.Saved, error) {
	t, err := s.toCalendar(ctx, c, from, uid, to, when)
	if err != nil {
		return calendar.Saved{}, err
	}
	return s.Move(ctx, c, t)
}

// CopyToCalendar copies a whole object to another calendar.
func (s *Ledger) CopyToCalendar(
	ctx context.Context, c calendar.Caller, from calendar.Calendar, uid calendar.UID, to calendar.Calendar,
	when calendar.Precondition,
) (calendar.Saved, error) {
	t, err := s.toCalendar(ctx, c, from, uid, to, when)
	if err != nil {
		return calendar.Saved{}, err
	}
	return s.Copy(ctx, c, t)
}

// toCalendar plans a transfer of the object with a UID.
func (s *Ledger) toCalendar(
	ctx context.Context, c calendar.Caller, from calendar.Calendar, uid calendar.UID, to calendar.Calendar,
	when calendar.Precondition,
) (Transfer, error) {
	if err := c.May(calendar.ReadObjects, from); err != nil {
		return Transfer{}, err
	}
	o, err := s.store.ObjectByUID(ctx, from.ID, uid)
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		err = calendar.ErrNoUID(uid)
	}
	if err != nil {
		return Transfer{}, err
	}
	t := Transfer{
		From: from, Name: o.Name, To: to, As: o.Name, When: when, Then: calendar.Precondition{NoneMatchAny: true},
	}
	switch _, err := s.store.Object(ctx, to.ID, o.Name); {
	case err == nil && from.ID != to.ID:
		t.As = nameFor(s.newID())
	case err != nil && calendar.ReasonOf(err) != calendar.NotFound:
		return Transfer{}, err
	}
	return t, nil
}

func (s *Ledger) transfer(
	ctx context.Context, c calendar.Caller, t Transfer, remove bool,
) (saved calendar.Saved, err error) {
	if err := t.allowed(c); err != nil {
		return calendar.Saved{}, err
	}
	err = s.change(ctx, c, func(w *work) error {
		saved, err = w.transfer(ctx, t, remove)
		return err
	})
	return saved, err
}

// allowed checks the caller's permissions at both ends. Free/busy access is not enough to copy.
func (t Transfer) allowed(c calendar.Caller) error {
	if err := c.May(calendar.ReadObjects, t.From); err != nil {
		return err
	}
	if err := c.May(calendar.WriteObjects, t.To); err != nil {
		return err
	}
	if t.From.ID == t.To.ID && t.Name == t.As {
		// RFC 4918 §9.8.5, §9.9.4
		return calendar.Errorf(calendar.Forbidden, "", "the object is at this place already")
	}
	return t.As.Validate()
}

func (w *work) transfer(ctx context.Context, t Transfer, remove bool) (calendar.Saved, error) {
	if err := w.openEnds(ctx, t, remove); err != nil {
		return calendar.Saved{}, err
	}
	next, err := w.FindObject(ctx, t.From, t.Name, t.When)
	if err != nil {
		return calendar.Saved{}, err
	}
	// A stored object was valid when it was first stored, so it is accepted; but not every calendar accepts its kind.
	if to := w.Locked[t.To.ID].Calendar; !to.Kinds.Has(next.Kind) {
		return calendar.Saved{}, change.ErrKind(to, next.Kind)
	}
	if err := w.scheduling.MayTransfer(ctx, t.From, w.Locked[t.To.ID].Calendar, &next, remove); err != nil {
		return calendar.Saved{}, err
	}
	if err := w.CopyDeadProperties(ctx, holderOf(t.From, t.Name), holderOf(t.To, t.As)); err != nil {
		return calendar.Saved{}, err
	}
	if remove {
		// First, because a calendar may have each UID once.
		if err := w.Bury(ctx, next); err != nil {
			return calendar.Saved{}, err
		}
	}
	if next, err = w.carried(ctx, t, next); err != nil {
		return calendar.Saved{}, err
	}
	next.Calendar, next.Name = t.To.ID, t.As
	old, twin, err := w.LiveObject(ctx, next.Calendar, next.Name, next.UID)
	if err != nil {
		return calendar.Saved{}, err
	}
	if to := w.Locked[t.To.ID]; t.From.ID != t.To.ID && !w.Owns(to.Calendar) {
		saved := calendar.Saved{Object: next}
		err := w.saveShared(ctx, to, &saved, calendar.Draft{When: t.Then, Telling: calendar.Unscheduled}, old, twin)
		if errors.Is(err, change.ErrSame) {
			err = nil
		}
		return saved, w.along(ctx, to.ID, err)
	}
	// The same bytes at the target are still a change: of the source, and of properties.
	if err := admit(old, twin, next, t.Then); err != nil && !errors.Is(err, change.ErrSame) {
		return calendar.Saved{}, err
	}
	next.Modified = w.Now().Truncate(time.Second)
	if next, err = w.Write(ctx, next, old); err != nil {
		return calendar.Saved{}, err
	}
	next, err = w.AsSeen(ctx, w.Locked[t.To.ID].Calendar, next)
	return calendar.Saved{Object: next, Created: old == nil}, err
}

// carried returns the object to store in another calendar: as the caller sees it, without the owner's private data.
func (w *work) carried(ctx context.Context, t Transfer, o calendar.Object) (calendar.Object, error) {
	if t.From.ID == t.To.ID || w.Owns(t.From) {
		return o, nil
	}
	seen, err := w.AsSeen(ctx, t.From, o)
	if err != nil || bytes.Equal(seen.Data, o.Data) {
		return o, err
	}
	seen.ETag = calendar.ETagOf(seen.Data)
	seen.Derived, err = w.validator.Derive(seen.Data)
	return seen, err
}

// openEnds opens the calendars, in the order of their ids.
func (w *work) openEnds(ctx context.Context, t Transfer, remove bool) error {
	ends := []end{{t.From.ID, calendar.DeleteObjects}, {t.To.ID, calendar.WriteObjects}}
	if !remove {
		ends = ends[1:]
	}
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(a.id, b.id) })
	for _, e := range ends {
		if _, err := w.LockFor(ctx, e.what, e.id); err != nil {
			return err
		}
	}
	return nil
}

// end is a calendar at one end of a transfer, and the action there.
type end struct {
	id   calendar.CalendarID
	what calendar.Action
}

func holderOf(cal calendar.Calendar, name calendar.ObjectName) calendar.Holder {
	return calendar.Holder{Place: calendar.AtObject, Calendar: cal, Object: name}
}
