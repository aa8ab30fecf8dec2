package calendar

import (
	"cmp"
	"context"
	"slices"
)

// work is a change under way: one transaction in which a caller changes any number of calendars.
// Whatever is done is numbered, written to the journal, told to other users and brought into the
// images here, and nowhere else. See docs/decisions/0028-changes.md.
type work struct {
	Tx
	*Service
	caller Caller
	opened map[CalendarID]*opened
	// undoes are the changes that the lines which are logged from now on take back.
	undoes []Version
	// logged is the latest line that was logged.
	logged Entry
	// outbox is what other users are told when all is done, see deliver.
	outbox []message
}

// opened is a calendar that is locked, at the version of its latest change.
type opened struct {
	Calendar
	// first is the version that came with the lock. It is fresh until a change takes it.
	first Version
	fresh bool
	// written are the objects that were written, as they are then and without data.
	written []Object
}

// message tells a user something or, without data, takes it back.
type message struct {
	to UserID
	Notice
}

// change runs do as one change: all of it is kept, or nothing. do may run again, see Store.Update.
func (s *Service) change(ctx context.Context, c Caller, do func(*work) error) error {
	var w *work
	err := s.store.Update(ctx, func(tx Tx) error {
		w = &work{Tx: tx, Service: s, caller: c, opened: map[CalendarID]*opened{}}
		if err := do(w); err != nil {
			return err
		}
		return w.deliver(ctx)
	})
	if err != nil {
		return c.told(err)
	}
	for _, cal := range w.opened {
		s.images.note(cal)
	}
	return nil
}

// open takes a calendar's lock, unless the work has it. Several are opened in the order of their
// ids, see Tx.Advance.
func (w *work) open(ctx context.Context, id CalendarID) (*opened, error) {
	if cal := w.opened[id]; cal != nil {
		return cal, nil
	}
	cal, err := w.Advance(ctx, id)
	if err != nil {
		return nil, err
	}
	if cal.Owner == w.caller.User.ID {
		cal.Access = OwnerAccess
	}
	w.opened[id] = &opened{Calendar: cal, first: cal.Version, fresh: true}
	return w.opened[id], nil
}

// openTo opens a calendar in which the caller may do something. Whether somebody else's is still
// shared with them is looked at again: since they were let in it may have been taken away, and a
// body may take minutes to arrive.
func (w *work) openTo(ctx context.Context, a Action, id CalendarID) (*opened, error) {
	cal, err := w.open(ctx, id)
	if err != nil {
		return nil, err
	}
	if cal.Access == NoAccess {
		shares, err := w.Tx.Shares(ctx, id)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(shares, func(s Share) bool { return s.User.ID == w.caller.User.ID }); i >= 0 {
			cal.Access = shares[i].InForce()
		}
	}
	return cal, w.caller.May(a, cal.Calendar)
}

// next opens a calendar at the version of the next change.
func (w *work) next(ctx context.Context, id CalendarID) (*opened, error) {
	cal, err := w.open(ctx, id)
	if err != nil {
		return nil, err
	}
	if !cal.fresh {
		now, err := w.Advance(ctx, id)
		if err != nil {
			return nil, err
		}
		now.Access = cal.Access
		cal.Calendar = now
	}
	cal.fresh = false
	return cal, nil
}

// log writes a line of the journal, at the version that a calendar has.
func (w *work) log(ctx context.Context, in *opened, e Entry) error {
	e.Calendar, e.Version, e.At, e.Undoes = in.ID, in.Version, w.now(), w.undoes
	e.User, e.Token, e.Agent = w.caller.User.ID, w.caller.Token, w.caller.Agent
	w.logged = e
	return w.Log(ctx, e)
}

// live is Tx.Occupants without tombstones.
func (w *work) live(ctx context.Context, id CalendarID, name ObjectName, uid UID) (atName, withUID *Object, err error) {
	atName, withUID, err = w.Occupants(ctx, id, name, uid)
	if atName != nil && atName.Deleted {
		atName = nil
	}
	return atName, withUID, err
}

// find returns the object of a name, which must be there and as it is expected to be.
func (w *work) find(ctx context.Context, id CalendarID, name ObjectName, when Precondition) (Object, error) {
	o, _, err := w.live(ctx, id, name, "")
	if err != nil {
		return Object{}, err
	}
	if o == nil {
		return Object{}, errNoObject(name)
	}
	return *o, when.Check(o.ETag)
}

// put writes an object in the place of old, nil for none, and returns it with its version.
func (w *work) put(ctx context.Context, o Object, old *Object) (Object, error) {
	cal, err := w.next(ctx, o.Calendar)
	if err != nil {
		return o, err
	}
	o.Version = cal.Version
	if err := w.PutObject(ctx, o); err != nil {
		return o, err
	}
	cal.note(o)
	e := Entry{Object: o.Name, UID: o.UID, Change: Created}
	if old != nil {
		e.Change, e.Before = Modified, old.Data
	}
	return o, w.log(ctx, cal, e)
}

// bury makes a tombstone of an object.
func (w *work) bury(ctx context.Context, o Object) error {
	cal, err := w.next(ctx, o.Calendar)
	if err != nil {
		return err
	}
	if err := w.BuryObject(ctx, o.Calendar, o.Name, cal.Version); err != nil {
		return err
	}
	e := Entry{Object: o.Name, UID: o.UID, Change: Deleted, Before: o.Data}
	o.Deleted, o.Version = true, cal.Version
	cal.note(o)
	return w.log(ctx, cal, e)
}

// note remembers what was written for the image, as long as the image would take it.
func (cal *opened) note(o Object) {
	if len(cal.written) <= catchUpMost {
		o.Data = nil
		cal.written = append(cal.written, o)
	}
}

// settings does something to a calendar itself, and writes down how it was before.
func (w *work) settings(ctx context.Context, id CalendarID, change ChangeKind, do func(Calendar) error) error {
	cal, err := w.next(ctx, id)
	if err != nil {
		return err
	}
	kept, err := w.Tx.Kept(ctx, Holder{Place: AtCalendar, Calendar: cal.Calendar})
	if err != nil {
		return err
	}
	if err := do(cal.Calendar); err != nil {
		return err
	}
	return w.log(ctx, cal, Entry{Change: change, Before: settingsOf(cal.Calendar, kept).encode()})
}

// trash moves a calendar to the trash.
func (w *work) trash(ctx context.Context, id CalendarID) error {
	return w.settings(ctx, id, Deleted, func(cal Calendar) error {
		if err := w.announce(ctx, cal, false); err != nil {
			return err
		}
		return w.TrashCalendar(ctx, id)
	})
}

// untrash takes a calendar out of the trash, to an address.
func (w *work) untrash(ctx context.Context, id CalendarID, at Segment) (Calendar, error) {
	if err := w.UntrashCalendar(ctx, id, at); err != nil {
		return Calendar{}, err
	}
	cal, err := w.next(ctx, id)
	if err != nil {
		return Calendar{}, err
	}
	if err := w.announce(ctx, cal.Calendar, true); err != nil {
		return Calendar{}, err
	}
	return cal.Calendar, w.log(ctx, cal, Entry{Change: Created})
}

// tell puts a notification into the outbox, recall one that takes back what the user was told.
func (w *work) tell(to UserID, n Notification) {
	w.outbox = append(w.outbox, message{to, n.encode(w.now())})
}

func (w *work) recall(to UserID, name NoticeName) {
	w.outbox = append(w.outbox, message{to, Notice{Name: name}})
}

// deliver empties the outbox in the order in which boxes are locked, see NoticeKeeper. It comes
// last: all calendars are locked by then.
func (w *work) deliver(ctx context.Context) error {
	slices.SortStableFunc(w.outbox, func(a, b message) int { return cmp.Compare(a.to, b.to) })
	for _, m := range w.outbox {
		var err error
		if m.Data == nil {
			err = w.DropNotice(ctx, m.to, m.Name)
		} else {
			err = w.PutNotice(ctx, m.to, m.Notice)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
