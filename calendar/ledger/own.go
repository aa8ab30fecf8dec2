package ledger

import (
	"bytes"
	"context"
	"errors"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/change"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/personal"
	"caldav-mcp-server/ical"
)

// shared is an object that is being stored in a calendar shared with the caller. The caller's private data is stored
// separately, and the owner's private data stays in the object.
type shared struct {
	*work
	cal *change.LockedCalendar
	// old is the stored object, or nil; was is the caller's stored private data.
	old *calendar.Object
	was calendar.OwnPart
	// sent is the object as the caller sent it, saved the result.
	sent  calendar.Object
	saved *calendar.Saved
}

// saveShared is save for another user's calendar.
func (w *work) saveShared(
	ctx context.Context, cal *change.LockedCalendar, saved *calendar.Saved, d calendar.Draft, old,
	twin *calendar.Object,
) error {
	s := shared{work: w, cal: cal, old: old, sent: saved.Object, saved: saved}
	var err error
	if s.was, err = w.OwnPart(ctx, cal.ID, w.Caller.User.ID, s.sent.UID); err != nil {
		return err
	}
	seen := old
	if old != nil {
		now, err := lookup.Exchanged(nil, *old, s.was)
		if err != nil {
			return err
		}
		seen = &now
	}
	if err := admit(seen, twin, s.sent, d.When); err != nil {
		if errors.Is(err, change.ErrSame) {
			saved.Object = *seen
		}
		return err
	}
	if err := s.inherit(ctx, d); err != nil {
		return err
	}
	return s.keep(ctx, d)
}

// inherit copies the private data of all sharees from the object that the new one was split from.
func (s *shared) inherit(ctx context.Context, d calendar.Draft) error {
	if d.From == "" {
		return nil
	}
	return s.CopyOwnParts(ctx, s.cal.ID, d.From, s.sent.UID, s.Caller.User.ID)
}

// keep writes the caller's private data, and the shared part if it has changed.
func (s *shared) keep(ctx context.Context, d calendar.Draft) error {
	owners, err := s.owners(ctx, d)
	if err != nil {
		return err
	}
	text, mine, err := s.split(owners)
	if err != nil {
		return err
	}
	part := calendar.OwnPart{UID: s.sent.UID, Data: mine}
	if len(mine) > 0 {
		part.ETag = calendar.ETagOf(mine)
	}
	other := !bytes.Equal(mine, s.was.Data)
	if s.old != nil && (bytes.Equal(text, s.old.Data) || other && personal.SameShared(text, s.old.Data)) {
		if err := s.show(*s.old, part); err != nil || !other {
			return err
		}
		return &ownAloneError{s.was, part}
	}
	if other {
		if err := s.put(ctx, part); err != nil {
			return err
		}
	}
	next, err := s.write(ctx, d, text)
	if err != nil {
		return err
	}
	return s.show(next, part)
}

// show returns an object as the caller sees it.
func (s *shared) show(o calendar.Object, p calendar.OwnPart) (err error) {
	s.saved.Created = s.old == nil
	s.saved.Object, err = lookup.Exchanged(nil, o, p)
	s.saved.Cleaned = s.saved.Cleaned || !bytes.Equal(s.saved.Object.Data, s.sent.Data)
	return err
}

// ownAloneError ends a transaction that would change only the caller's private data. The calendar then keeps its
// version.
type ownAloneError struct{ was, is calendar.OwnPart }

func (*ownAloneError) Error() string { return "only the caller's private data would change" }

// along does the same within a larger change.
func (w *work) along(ctx context.Context, id calendar.CalendarID, err error) error {
	if alone, ok := errors.AsType[*ownAloneError](err); ok {
		return w.putOwn(ctx, id, alone.is)
	}
	return err
}

// keepOwn writes the caller's private data for an object, unless it has changed in the meantime.
func (s *Ledger) keepOwn(ctx context.Context, c calendar.Caller, cal calendar.Calendar, o *ownAloneError) error {
	return s.change(ctx, c, func(w *work) error {
		now, err := w.OwnPart(ctx, cal.ID, c.User.ID, o.is.UID)
		if err != nil {
			return err
		}
		if now.Version != o.was.Version {
			return calendar.Precondition{Match: []calendar.ETag{""}}.Check(now.ETag)
		}
		return w.putOwn(ctx, cal.ID, o.is)
	})
}

// owners returns the owner's private data in the stored object, or in the object that it was split from.
func (s *shared) owners(ctx context.Context, d calendar.Draft) ([]byte, error) {
	from := s.old
	if from == nil && d.From != "" {
		var err error
		if _, from, err = s.LiveObject(ctx, s.cal.ID, "", d.From); err != nil {
			return nil, err
		}
	}
	if from == nil {
		return nil, nil
	}
	_, part, err := personal.Exchange(from.Data, nil)
	if err != nil {
		return nil, nil //nolint:nilerr // an older version stored it: its private data cannot be separated
	}
	return part, nil
}

// split replaces the caller's private data in a sent object with the owner's.
func (s *shared) split(owners []byte) (text, mine []byte, err error) {
	text, mine, err = personal.Exchange(s.sent.Data, owners)
	if err == nil {
		err = s.validator.CheckSize(text)
	}
	if err == nil && len(mine) > calendar.MaxOwnPart {
		err = calendar.Errorf(calendar.TooLarge, calendar.RuleMaxSize,
			"the reminders have %d bytes; for an event in a shared calendar, at most %d are stored", len(mine),
			calendar.MaxOwnPart)
	}
	return text, mine, err
}

// put writes the caller's private data.
func (s *shared) put(ctx context.Context, p calendar.OwnPart) error {
	return s.putOwn(ctx, s.cal.ID, p)
}

// putOwn writes the caller's private data for an object, within the user's limit.
func (w *work) putOwn(ctx context.Context, cal calendar.CalendarID, p calendar.OwnPart) error {
	held, err := w.PutOwnPart(ctx, cal, w.Caller.User.ID, p)
	if err == nil && held > calendar.MaxOwnParts {
		err = calendar.Errorf(calendar.TooLarge, calendar.RuleDiskSpace,
			"your reminders in this calendar would have more than %d bytes", calendar.MaxOwnParts)
	}
	return err
}

// write stores the shared part, with the owner's private data.
func (s *shared) write(ctx context.Context, d calendar.Draft, text []byte) (calendar.Object, error) {
	o, err := content.Read(text, ical.Limits{})
	if err != nil {
		return calendar.Object{}, err
	}
	next := s.sent
	next.Data, next.ETag, next.Size, next.Derived = text, calendar.ETagOf(text), int64(len(text)),
		s.validator.DerivedOf(o)
	next.Modified = s.now().Truncate(time.Second)
	next.Created = next.Modified
	if s.old != nil {
		next.Created = s.old.Created
	}
	sent := next.ETag
	before := len(s.Told)
	if err := s.schedule(ctx, s.cal.Calendar, s.old, &next, d); err != nil {
		return calendar.Object{}, err
	}
	if s.old != nil {
		s.replaced = s.old
	}
	s.saved.Scheduled, s.saved.Told = next.ETag != sent, s.Told[before:]
	return s.work.Write(ctx, next, s.old)
}
