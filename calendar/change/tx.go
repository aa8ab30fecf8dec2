// Package change runs changes of calendars: in one transaction, under the calendars' locks, with versions, journal
// entries and quotas, and with the notifications and messages that the change sends. It knows neither the operations of
// users nor scheduling: the packages above it do.
package change

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/lookup"
)

// Writer makes changes. It checks no access: its callers do.
type Writer struct {
	*Validator
	reader  *lookup.Reader
	store   calendar.Store
	now     func() time.Time
	sources Sources
	limits  calendar.OutboxLimits
	written func(cal calendar.Calendar, first calendar.Version, objects []calendar.Object)
	changed func(context.Context, calendar.ChangeID)
	// histories counts the bytes that this process has added to users' histories.
	histories histories
}

// WriterConfig holds the dependencies and settings of a Writer.
type WriterConfig struct {
	Reader    *lookup.Reader
	Store     calendar.Store
	Validator *Validator
	Now       func() time.Time
	// Outbox limits a user's unsent mail.
	Outbox calendar.OutboxLimits
	// Sources accesses the sources of linked calendars; nil refuses changes of linked calendars.
	Sources Sources
	// Written is called after a calendar was changed. It gets the calendar's new row, the first version of the change,
	// and the written objects without data.
	Written func(cal calendar.Calendar, first calendar.Version, objects []calendar.Object)
	// Changed is called after a change with its id in the journal; nil for no call.
	Changed func(context.Context, calendar.ChangeID)
}

// NewWriter returns a Writer.
func NewWriter(c WriterConfig) *Writer {
	if c.Changed == nil {
		c.Changed = func(context.Context, calendar.ChangeID) {}
	}
	return &Writer{
		Validator: c.Validator, reader: c.Reader, store: c.Store, now: c.Now, sources: c.Sources, limits: c.Outbox,
		written: c.Written, changed: c.Changed, histories: histories{grown: map[calendar.UserID]int64{}},
	}
}

// Tx is a running change: one transaction of a caller, for any number of calendars. Only here are changes numbered,
// written to the journal, sent to other users and applied to the calendar cache. See docs/decisions/0028-changes.md.
type Tx struct {
	calendar.Tx
	writer *Writer
	Caller calendar.Caller
	// Locked holds the locked calendars.
	Locked map[calendar.CalendarID]*LockedCalendar
	// Undoes lists the changes that the journal entries from now on undo.
	Undoes []calendar.Version
	// head is the first journal entry of this change, Logged the latest.
	head   calendar.ChangeID
	Logged calendar.Change
	// Told lists the people notified so far.
	Told []calendar.Told
	// NoQuota is set if the change also undoes its growth, so that quotas do not apply.
	NoQuota bool
	// Foreseen is the growth of each user by earlier steps of a preview.
	Foreseen map[calendar.UserID]calendar.Usage
	// FromSource is set if the change comes from the source of a linked calendar.
	FromSource bool
	outbox     outbox
	// outgoing are the writes to linked calendars, writes their results at the sources.
	outgoing []calendar.Outgoing
	writes   *sourceWrites
	// notifying marks the objects of linked calendars whose sources must notify the attendees.
	notifying map[ObjectKey]bool
	// followed are the subscriptions whose dead properties have changed.
	followed []calendar.Calendar
	// committed are called after the commit.
	committed []func(context.Context)
}

// LockedCalendar is a locked calendar at the version of its latest change.
type LockedCalendar struct {
	calendar.Calendar
	// first is the version that came with the lock. It is fresh until a change uses it.
	first calendar.Version
	fresh bool
	// written holds the written objects in their new state, without data.
	written []calendar.Object
	// counted is the growth that was already counted when it was opened.
	counted calendar.Usage
	// Grown is the growth so far, Wanted the part of it that the caller requested.
	Grown, Wanted calendar.Usage
	// replaced is the size of the states that this change replaced, which the history keeps.
	replaced int64
}

// Unchanged reports whether the change has not written to the calendar.
func (cal *LockedCalendar) Unchanged() bool { return cal.fresh }

// Change runs do as one change: everything is committed, or nothing. do may run again, see Store.Update.
func (s *Writer) Change(ctx context.Context, c calendar.Caller, do func(*Tx) error) error {
	return s.ChangePart(ctx, c, new(calendar.ChangeID), do)
}

// ChangePart is Change for a part of a change that is too large for one transaction. All parts are one unit of the
// journal, identified by its first entry.
func (s *Writer) ChangePart(ctx context.Context, c calendar.Caller, unit *calendar.ChangeID, do func(*Tx) error) error {
	if c.Proposes {
		return errors.New("a caller that only proposes changes began one")
	}
	var w *Tx
	var also []calendar.CalendarID
	writes := new(sourceWrites)
	defer writes.release()
	attempt := func() error {
		return s.store.Update(ctx, func(tx calendar.Tx) error {
			if *unit != (calendar.ChangeID{}) {
				tx.Join(*unit)
			}
			w = &Tx{Tx: tx, writer: s, Caller: c, Locked: map[calendar.CalendarID]*LockedCalendar{}, writes: writes}
			if err := w.LockAll(ctx, also); err != nil {
				return err
			}
			if err := do(w); err != nil {
				return err
			}
			if err := w.checkDelegation(ctx); err != nil {
				return err
			}
			if err := w.CheckQuotas(ctx); err != nil {
				return err
			}
			if *unit == (calendar.ChangeID{}) && writes.sent == nil {
				if err := checkRecipients(ctx, w.outbox.allRecipients()); err != nil {
					return err
				}
			}
			if err := w.finishAtSources(ctx); err != nil {
				return err
			}
			return w.deliver(ctx)
		})
	}
	err := attempt()
	for range restarts {
		if more, ok := errors.AsType[*locksError](err); ok {
			also = slices.Compact(slices.Sorted(slices.Values(append(also, more.calendars...))))
		} else if first, ok := errors.AsType[*unsentError](err); !ok {
			break
		} else {
			err = writes.send(ctx, s.sources, c, first.outgoing)
			if err != nil && !errors.Is(err, calendar.ErrMovedOn) {
				break
			}
		}
		err = attempt()
	}
	if err != nil {
		return c.Told(err)
	}
	if *unit == (calendar.ChangeID{}) {
		*unit = w.head
	}
	w.publish(ctx)
	return nil
}

// checkDelegation refuses the change of a delegate whose delegation has ended or was reduced since the request began.
// It holds the delegation until the commit.
func (w *Tx) checkDelegation(ctx context.Context) error {
	if !w.Caller.ActsFor() {
		return nil
	}
	access, err := w.HoldDelegation(ctx, w.Caller.User.ID, w.Caller.Delegate.ID)
	if err == nil && access < w.Caller.Most {
		err = calendar.ErrNotDelegate(w.Caller.User.Name)
	}
	return err
}

// publish reports a committed change to the other parts of this process.
func (w *Tx) publish(ctx context.Context) {
	for _, cal := range w.followed {
		w.writer.sources.Renoted(context.WithoutCancel(ctx), cal)
	}
	for _, cal := range w.Locked {
		if len(cal.written) <= shownMost {
			w.writer.written(cal.Calendar, cal.first, cal.written)
		}
	}
	if w.head != (calendar.ChangeID{}) {
		w.writer.changed(ctx, w.head)
	}
	for _, do := range w.committed {
		do(ctx)
	}
	w.trimHistory(ctx)
}

// UpdateMirror updates the sync state of mirrors, which no calendar shows.
func (s *Writer) UpdateMirror(ctx context.Context, do func(calendar.MirrorKeeper) error) error {
	return s.store.Update(ctx, func(tx calendar.Tx) error { return do(tx) })
}

// AfterCommit calls do after the change is committed. If the transaction restarts, earlier calls do not count.
func (w *Tx) AfterCommit(do func(context.Context)) { w.committed = append(w.committed, do) }

// Now returns the current time.
func (w *Tx) Now() time.Time { return w.writer.now() }

// Lock takes a calendar's lock, unless the change already has it. Lock several calendars in the order of their ids, see
// Tx.Advance.
func (w *Tx) Lock(ctx context.Context, id calendar.CalendarID) (*LockedCalendar, error) {
	if cal := w.Locked[id]; cal != nil {
		return cal, nil
	}
	cal, err := w.Advance(ctx, id)
	if err != nil {
		return nil, err
	}
	return w.noteLocked(cal), nil
}

// noteLocked records a locked calendar.
func (w *Tx) noteLocked(cal calendar.Calendar) *LockedCalendar {
	if cal.Owner == w.Caller.User.ID {
		cal.Access = calendar.OwnerAccess
	}
	w.Locked[cal.ID] = &LockedCalendar{Calendar: cal, first: cal.Version, fresh: true}
	return w.Locked[cal.ID]
}

// LockFor locks a calendar if the caller may perform an action on it. It checks another user's share again, because it
// may have been withdrawn since the request began: a body may take minutes to arrive.
func (w *Tx) LockFor(ctx context.Context, a calendar.Action, id calendar.CalendarID) (*LockedCalendar, error) {
	cal, err := w.Lock(ctx, id)
	if err != nil {
		return nil, err
	}
	if cal.Access == calendar.NoAccess {
		if cal.Access, err = w.SharedAccess(ctx, id, w.Caller.User.ID); err != nil {
			return nil, err
		}
	}
	if err := w.checkDelegation(ctx); err != nil {
		return nil, err
	}
	return cal, w.Caller.May(a, cal.Calendar)
}

// LockObject combines LockFor and LiveObject in one query.
func (w *Tx) LockObject(
	ctx context.Context, a calendar.Action, id calendar.CalendarID, name calendar.ObjectName, uid calendar.UID,
) (cal *LockedCalendar, atName, withUID *calendar.Object, err error) {
	if w.Locked[id] != nil {
		if cal, err = w.LockFor(ctx, a, id); err == nil {
			atName, withUID, err = w.LiveObject(ctx, id, name, uid)
		}
		return cal, atName, withUID, err
	}
	locked, atName, withUID, err := w.AdvanceTo(ctx, id, name, uid)
	if err != nil {
		return nil, nil, nil, err
	}
	w.noteLocked(locked)
	cal, err = w.LockFor(ctx, a, id)
	return cal, unlessDeleted(atName), withUID, err
}

// NextVersion locks a calendar at the version of the next change.
func (w *Tx) NextVersion(ctx context.Context, id calendar.CalendarID) (*LockedCalendar, error) {
	cal, err := w.Lock(ctx, id)
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

// WriteEntry writes a journal entry with the calendar's current version.
func (w *Tx) WriteEntry(ctx context.Context, in *LockedCalendar, e calendar.Change) error {
	e.Calendar, e.Version, e.At, e.Undoes = in.ID, in.Version, w.Now(), w.Undoes
	e.User, e.Token, e.Agent = w.Caller.Author().ID, w.Caller.Token, w.Caller.Agent
	e.For, e.Assistant = w.Caller.For(), w.Caller.Assistant
	in.replaced += int64(len(e.Before))
	if e.Did == calendar.Deleted {
		in.replaced += int64(len(e.Before)) // the tombstone has it as well
	}
	if e.Scheduled {
		e.Undoes = nil
		return w.Log(ctx, e)
	}
	w.Logged = e
	if w.head == (calendar.ChangeID{}) {
		w.head = e.ID()
	}
	return w.Log(ctx, e)
}

// Write writes an object in place of old, which may be nil, and returns it with its version.
func (w *Tx) Write(ctx context.Context, o calendar.Object, old *calendar.Object) (calendar.Object, error) {
	return w.writeObject(ctx, o, old, false)
}

// WriteScheduled is Write for objects that change because of another user's message.
func (w *Tx) WriteScheduled(ctx context.Context, o calendar.Object, old *calendar.Object) (calendar.Object, error) {
	return w.writeObject(ctx, o, old, true)
}

func (w *Tx) writeObject(
	ctx context.Context, o calendar.Object, old *calendar.Object, scheduled bool,
) (calendar.Object, error) {
	cal, err := w.NextVersion(ctx, o.Calendar)
	if err != nil {
		return o, err
	}
	o.Version = cal.Version
	if err := w.useSourceVersion(ctx, cal.Calendar, &o, old); err != nil {
		return o, err
	}
	if err := w.PutObject(ctx, o); err != nil {
		return o, err
	}
	cal.Note(o)
	objects, size := sizeOf(old)
	cal.Grow(1-objects, o.Size-size, scheduled)
	e := calendar.Change{Object: o.Name, UID: o.UID, Did: calendar.Created, Scheduled: scheduled}
	if old != nil {
		e.Did, e.Before = calendar.Modified, old.Data
	}
	return o, w.WriteEntry(ctx, cal, e)
}

// Bury replaces an object with a tombstone.
func (w *Tx) Bury(ctx context.Context, o calendar.Object) error {
	cal, err := w.NextVersion(ctx, o.Calendar)
	if err != nil {
		return err
	}
	if cal.Origin.Mirrors() && !w.FromSource {
		w.queueForSource(cal.ID, o, nil, o.ETag)
	}
	if err := w.BuryObject(ctx, o.Calendar, o.Name, cal.Version); err != nil {
		return err
	}
	cal.Grow(-1, -o.Size, false)
	e := calendar.Change{Object: o.Name, UID: o.UID, Did: calendar.Deleted, Before: o.Data}
	o.Deleted, o.Version = true, cal.Version
	cal.Note(o)
	return w.WriteEntry(ctx, cal, e)
}

// ChangeSettings changes a calendar itself and logs its former settings.
func (w *Tx) ChangeSettings(
	ctx context.Context, id calendar.CalendarID, change calendar.ChangeKind, do func(calendar.Calendar) error,
) error {
	cal, err := w.NextVersion(ctx, id)
	if err != nil {
		return err
	}
	kept, err := w.DeadProperties(ctx, calendar.Holder{Place: calendar.AtCalendar, Calendar: cal.Calendar})
	if err != nil {
		return err
	}
	if err := do(cal.Calendar); err != nil {
		return err
	}
	return w.WriteEntry(ctx, cal, calendar.Change{Did: change, Before: calendar.SettingsOf(cal.Calendar,
		kept).Encode()})
}

// deliver stores the notifications, the messages for inboxes and the mail, each in the order of their locks: see
// NoticeKeeper. It comes last, when all calendars are locked.
func (w *Tx) deliver(ctx context.Context) error {
	slices.SortStableFunc(w.outbox.notices, func(a, b notice) int { return cmp.Compare(a.to, b.to) })
	for _, m := range w.outbox.notices {
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
	if err := w.PutInboxItems(ctx, w.outbox.items); err != nil {
		return err
	}
	for _, user := range slices.Sorted(maps.Keys(w.outbox.letters)) {
		if err := w.Post(ctx, user, w.outbox.letters[user], w.writer.limits); err != nil {
			return err
		}
	}
	return nil
}
