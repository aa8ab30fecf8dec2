// Package ledger makes every change: in one transaction, under the calendars' locks, with versions and journal entries,
// and with notifications to the people concerned. It also contains undo and the trash.
package ledger

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"caldav-mcp-server/calendar"
)

// work is a running change: one transaction in which a caller changes any number of calendars. Only here are changes
// numbered, written to the journal, sent to other users and applied to the calendar cache. See
// docs/decisions/0028-changes.md.
type work struct {
	calendar.Tx
	*Ledger
	caller calendar.Caller
	opened map[calendar.CalendarID]*opened
	// undoes lists the changes that the journal entries from now on undo.
	undoes []calendar.Version
	// head is the first journal entry of this change, logged the latest.
	head   calendar.ChangeID
	logged calendar.Change
	// outbox holds the notifications for other users, sent at the end, see deliver.
	outbox []message
	// inboxes and letters hold the scheduling messages, for users and for external people.
	inboxes []calendar.InboxEntry
	letters map[calendar.UserID][]calendar.Letter
	// bookings are the invitations that rooms must answer after the commit.
	bookings []calendar.Booking
	// resent lists the external attendees who asked for a copy of the event and get one.
	resent []resending
	// replaced is the object that was overwritten last. A series may be split from it.
	replaced *calendar.Object
	// former is the version that attendees know of an event that is stored under another name.
	former *calendar.Object
	// brings counts the deliveries to other users.
	brings map[delivering]burden
	// netted is set if the change also undoes its growth, so that quotas do not apply.
	netted bool
	// told lists the people notified so far.
	told []calendar.Told
	// outgoing are the writes to linked calendars, courier their results at the sources. arriving is set if the change
	// comes from a source.
	outgoing []calendar.Outgoing
	courier  *courier
	arriving bool
	// renoted are the subscriptions whose dead properties have changed.
	renoted []calendar.Calendar
	// loud marks the objects of linked calendars whose sources must notify the attendees.
	loud map[holding]bool
	// guestsAbroad lists the people without an account here whom these sources invite.
	guestsAbroad []calendar.Recipient
	// unwritten lists the people without an account here who get no mail because the event is over.
	unwritten []calendar.Recipient
	// before holds the effects of earlier steps of a preview.
	before *imagined
}

// opened is a locked calendar at the version of its latest change.
type opened struct {
	calendar.Calendar
	// first is the version that came with the lock. It is fresh until a change uses it.
	first calendar.Version
	fresh bool
	// written holds the written objects in their new state, without data.
	written []calendar.Object
	// counted is the growth that was already counted when it was opened.
	counted calendar.Usage
	// grown is the growth so far, wanted the part of it that the caller requested.
	grown, wanted calendar.Usage
}

// message is a notification to a user or, without data, its withdrawal.
type message struct {
	to calendar.UserID
	calendar.Notice
}

// change runs do as one change: everything is committed, or nothing. do may run again, see Store.Update.
func (s *Ledger) change(ctx context.Context, c calendar.Caller, do func(*work) error) error {
	return s.changeIn(ctx, c, new(calendar.ChangeID), do)
}

// changeIn is change for a part of a change that is too large for one transaction. All parts are one unit of the
// journal, identified by its first entry.
func (s *Ledger) changeIn(ctx context.Context, c calendar.Caller, unit *calendar.ChangeID, do func(*work) error) error {
	var w *work
	var also []calendar.CalendarID
	carried := new(courier)
	defer carried.end()
	attempt := func() error {
		return s.store.Update(ctx, func(tx calendar.Tx) error {
			if *unit != (calendar.ChangeID{}) {
				tx.Join(*unit)
			}
			w = &work{Tx: tx, Ledger: s, caller: c, opened: map[calendar.CalendarID]*opened{}, courier: carried}
			if err := w.openAll(ctx, also); err != nil {
				return err
			}
			if err := do(w); err != nil {
				return err
			}
			if err := w.count(ctx); err != nil {
				return err
			}
			if *unit == (calendar.ChangeID{}) && carried.sent == nil {
				if err := checkRecipients(ctx, w.recipients()); err != nil {
					return err
				}
			}
			if err := w.settleAbroad(ctx); err != nil {
				return err
			}
			return w.deliver(ctx)
		})
	}
	err := attempt()
	for range reachAttempts {
		if more, ok := errors.AsType[*reachError](err); ok {
			also = slices.Compact(slices.Sorted(slices.Values(append(also, more.calendars...))))
		} else if first, ok := errors.AsType[*elsewhereError](err); !ok {
			break
		} else if err = carried.carry(ctx, s, c, first.outgoing); err != nil {
			break
		}
		err = attempt()
	}
	if err != nil {
		return c.Told(err)
	}
	if *unit == (calendar.ChangeID{}) {
		*unit = w.head
	}
	s.brought.add(w.brings, s.now())
	s.resends.add(w.resent, s.now())
	defer s.answerBookings(ctx, w.bookings)
	for _, cal := range w.renoted {
		s.elsewhere.Renoted(context.WithoutCancel(ctx), cal)
	}
	for _, cal := range w.opened {
		if len(cal.written) <= shownMost {
			s.written(cal.Calendar, cal.first, cal.written)
		}
	}
	return nil
}

// recall updates the sync state of mirrors, which no calendar shows.
func (s *Ledger) recall(ctx context.Context, do func(calendar.MirrorKeeper) error) error {
	return s.store.Update(ctx, func(tx calendar.Tx) error { return do(tx) })
}

// open takes a calendar's lock, unless the change already has it. Lock several calendars in the order of their ids, see
// Tx.Advance.
func (w *work) open(ctx context.Context, id calendar.CalendarID) (*opened, error) {
	if cal := w.opened[id]; cal != nil {
		return cal, nil
	}
	cal, err := w.Advance(ctx, id)
	if err != nil {
		return nil, err
	}
	return w.note(cal), nil
}

// note records an opened calendar.
func (w *work) note(cal calendar.Calendar) *opened {
	if cal.Owner == w.caller.User.ID {
		cal.Access = calendar.OwnerAccess
	}
	w.opened[cal.ID] = &opened{Calendar: cal, first: cal.Version, fresh: true}
	return w.opened[cal.ID]
}

// openTo opens a calendar if the caller may perform an action on it. It checks another user's share again, because it
// may have been withdrawn since the request began: a body may take minutes to arrive.
func (w *work) openTo(ctx context.Context, a calendar.Action, id calendar.CalendarID) (*opened, error) {
	cal, err := w.open(ctx, id)
	if err != nil {
		return nil, err
	}
	if cal.Access == calendar.NoAccess {
		if cal.Access, err = w.SharedAccess(ctx, id, w.caller.User.ID); err != nil {
			return nil, err
		}
	}
	return cal, w.caller.May(a, cal.Calendar)
}

// openAt combines openTo and live in one query.
func (w *work) openAt(
	ctx context.Context, a calendar.Action, id calendar.CalendarID, name calendar.ObjectName, uid calendar.UID,
) (cal *opened, atName, withUID *calendar.Object, err error) {
	if w.opened[id] != nil {
		if cal, err = w.openTo(ctx, a, id); err == nil {
			atName, withUID, err = w.live(ctx, id, name, uid)
		}
		return cal, atName, withUID, err
	}
	locked, atName, withUID, err := w.AdvanceTo(ctx, id, name, uid)
	if err != nil {
		return nil, nil, nil, err
	}
	w.note(locked)
	cal, err = w.openTo(ctx, a, id)
	return cal, unlessDeleted(atName), withUID, err
}

// next opens a calendar at the version of the next change.
func (w *work) next(ctx context.Context, id calendar.CalendarID) (*opened, error) {
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

// log writes a journal entry with the calendar's current version.
func (w *work) log(ctx context.Context, in *opened, e calendar.Change) error {
	e.Calendar, e.Version, e.At, e.Undoes = in.ID, in.Version, w.now(), w.undoes
	e.User, e.Token, e.Agent = w.caller.User.ID, w.caller.Token, w.caller.Agent
	if e.Scheduled {
		e.Undoes = nil
		return w.Log(ctx, e)
	}
	w.logged = e
	if w.head == (calendar.ChangeID{}) {
		w.head = e.ID()
	}
	return w.Log(ctx, e)
}

// live is Tx.Duplicates without tombstones.
func (w *work) live(ctx context.Context, id calendar.CalendarID, name calendar.ObjectName, uid calendar.UID) (atName, withUID *calendar.Object, err error) {
	atName, withUID, err = w.Duplicates(ctx, id, name, uid)
	return unlessDeleted(atName), withUID, err
}

func unlessDeleted(o *calendar.Object) *calendar.Object {
	if o != nil && o.Deleted {
		return nil
	}
	return o
}

// find returns the stored object with a name. It must exist, and the caller's view of it must meet the precondition.
func (w *work) find(ctx context.Context, cal calendar.Calendar, name calendar.ObjectName, when calendar.Precondition) (calendar.Object, error) {
	o, _, err := w.live(ctx, cal.ID, name, "")
	if err != nil {
		return calendar.Object{}, err
	}
	if o == nil {
		return calendar.Object{}, calendar.ErrNoObject(name)
	}
	seen := *o
	seen.Data = nil
	if seen, err = w.asSeen(ctx, cal, seen); err != nil {
		return calendar.Object{}, err
	}
	return *o, when.CheckObject(&seen)
}

// put writes an object in place of old, which may be nil, and returns it with its version.
func (w *work) put(ctx context.Context, o calendar.Object, old *calendar.Object) (calendar.Object, error) {
	return w.write(ctx, o, old, false)
}

// write is put, also for objects that change because of another user's message.
func (w *work) write(ctx context.Context, o calendar.Object, old *calendar.Object, scheduled bool) (calendar.Object, error) {
	cal, err := w.next(ctx, o.Calendar)
	if err != nil {
		return o, err
	}
	o.Version = cal.Version
	if err := w.abroad(ctx, cal.Calendar, &o); err != nil {
		return o, err
	}
	if err := w.PutObject(ctx, o); err != nil {
		return o, err
	}
	cal.note(o)
	objects, size := sizeOf(old)
	cal.grow(1-objects, o.Size-size, scheduled)
	e := calendar.Change{Object: o.Name, UID: o.UID, Did: calendar.Created, Scheduled: scheduled}
	if old != nil {
		e.Did, e.Before = calendar.Modified, old.Data
	}
	return o, w.log(ctx, cal, e)
}

// bury replaces an object with a tombstone.
func (w *work) bury(ctx context.Context, o calendar.Object) error {
	cal, err := w.next(ctx, o.Calendar)
	if err != nil {
		return err
	}
	if cal.Origin.Mirrors() && !w.arriving {
		w.post(cal.ID, o, nil)
	}
	if err := w.BuryObject(ctx, o.Calendar, o.Name, cal.Version); err != nil {
		return err
	}
	cal.grow(-1, -o.Size, false)
	e := calendar.Change{Object: o.Name, UID: o.UID, Did: calendar.Deleted, Before: o.Data}
	o.Deleted, o.Version = true, cal.Version
	cal.note(o)
	return w.log(ctx, cal, e)
}

// shownMost bounds the objects of a calendar that are passed to Config.Written.
const shownMost = 256

// note records a written object, up to the limit.
func (cal *opened) note(o calendar.Object) {
	if len(cal.written) <= shownMost {
		o.Data = nil
		cal.written = append(cal.written, o)
	}
}

// settings changes a calendar itself and logs its former settings.
func (w *work) settings(ctx context.Context, id calendar.CalendarID, change calendar.ChangeKind, do func(calendar.Calendar) error) error {
	cal, err := w.next(ctx, id)
	if err != nil {
		return err
	}
	kept, err := w.Tx.DeadProperties(ctx, calendar.Holder{Place: calendar.AtCalendar, Calendar: cal.Calendar})
	if err != nil {
		return err
	}
	if err := do(cal.Calendar); err != nil {
		return err
	}
	return w.log(ctx, cal, calendar.Change{Did: change, Before: calendar.SettingsOf(cal.Calendar, kept).Encode()})
}

// trash moves a calendar to the trash.
func (w *work) trash(ctx context.Context, id calendar.CalendarID) error {
	return w.settings(ctx, id, calendar.Deleted, func(cal calendar.Calendar) error {
		if err := w.announce(ctx, cal, false); err != nil {
			return err
		}
		return w.TrashCalendar(ctx, id)
	})
}

// untrash takes a calendar out of the trash, to an address.
func (w *work) untrash(ctx context.Context, id calendar.CalendarID, at calendar.Segment) (calendar.Calendar, error) {
	if err := w.UntrashCalendar(ctx, id, at); err != nil {
		return calendar.Calendar{}, err
	}
	cal, err := w.next(ctx, id)
	if err != nil {
		return calendar.Calendar{}, err
	}
	if err := w.announce(ctx, cal.Calendar, true); err != nil {
		return calendar.Calendar{}, err
	}
	return cal.Calendar, w.log(ctx, cal, calendar.Change{Did: calendar.Created})
}

// tell queues a notification, recall the withdrawal of one.
func (w *work) tell(to calendar.UserID, n calendar.Notification) {
	w.outbox = append(w.outbox, message{to, n.Encode(w.now())})
}

func (w *work) recall(to calendar.UserID, name calendar.NoticeName) {
	w.outbox = append(w.outbox, message{to, calendar.Notice{Name: name}})
}

// deliver stores the notifications in the lock order of the inboxes, see NoticeKeeper. It comes last, when all
// calendars are locked.
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
	return w.send(ctx)
}
