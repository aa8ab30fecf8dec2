package calendar

import (
	"context"
	"slices"
)

// undoTx is an undo in one calendar: a transaction that knows which changes the one that it
// writes takes back.
type undoTx struct {
	Tx
	undoing *undoing
	place   *undoPlace
	// cal is the calendar as it is, once it is locked.
	cal Calendar
	// spare is the version that the lock took, until a change uses it.
	spare  *Calendar
	undoes []Version
	// logged is the latest entry that was written.
	logged Entry
}

// Advance implements [Tx]. The version that came with the lock is used first, lest there be a gap.
func (t *undoTx) Advance(ctx context.Context, id CalendarID) (Calendar, error) {
	if t.spare != nil {
		cal := *t.spare
		t.spare = nil
		return cal, nil
	}
	return t.Tx.Advance(ctx, id)
}

// Log implements [Tx].
func (t *undoTx) Log(ctx context.Context, e Entry) error {
	e.Undoes = t.undoes
	t.logged = e
	return t.Tx.Log(ctx, e)
}

// lock takes the calendar's lock. What the caller may do in it is looked at again, as it may have
// been taken away since the changes were chosen.
func (t *undoTx) lock(ctx context.Context) error {
	locked, err := t.undoing.lock(ctx, t.undoing.caller, t.Tx, t.place.ID, WriteObjects)
	if t.place.Access == OwnerAccess {
		locked.Access = OwnerAccess
	}
	t.cal, t.spare = locked, &locked
	return err
}

func (t *undoTx) done(summary string) {
	e := t.logged
	e.Before = nil
	t.undoing.done.Steps = append(t.undoing.done.Steps, UndoStep{Entry: e, In: t.cal, Summary: summary})
}

func (t *undoTx) past(ctx context.Context, uid UID) ([]Entry, error) {
	var past []Entry
	for e, err := range t.Entries(ctx, t.place.ID, EntryQuery{From: t.place.first[uid], Of: &uid}) {
		if err != nil {
			return nil, err
		}
		past = append(past, e)
	}
	return past, nil
}

// settings takes back what was done to the calendar itself. It tells whether the calendar is
// there then, so that something can be done in it.
func (t *undoTx) settings(ctx context.Context) (open bool, err error) {
	t.cal = t.place.Calendar
	if !t.place.inTrash {
		if err := t.lock(ctx); err != nil {
			return false, err
		}
	}
	kept, err := t.Kept(ctx, Holder{Place: AtCalendar, Calendar: t.cal})
	if err != nil {
		return false, err
	}
	now := state{}
	if !t.place.inTrash {
		now.data = settingsOf(t.cal, kept).encode()
	}
	g := goal{now: now, then: now}
	if _, chosen := t.place.first[""]; chosen {
		past, err := t.past(ctx, "")
		if err != nil {
			return false, err
		}
		g = t.undoing.back(t.place, past, now)
	}
	t.undoes = g.undoes
	switch {
	case g.then.data == nil && g.now.data == nil:
		return false, t.closed(ctx, len(g.undoes) > 0)
	case g.then.data == nil:
		return t.remove(ctx)
	case g.now.data == nil:
		return true, t.bringBack(ctx, g.then, kept)
	case !g.idle():
		return true, t.change(ctx, g.then, kept)
	}
	return true, nil
}

// closed says of the changes in a calendar that stays in the trash that they stay too, or, where
// its making was to be taken back, that they are.
func (t *undoTx) closed(ctx context.Context, unmade bool) error {
	stays := func(past []Entry, err error) error {
		for _, e := range past {
			switch {
			case !t.undoing.chosen(e):
			case unmade:
				t.undoing.done.Already = append(t.undoing.done.Already, e.ID())
			default:
				t.undoing.left(UndoConflict{Entry: e, In: t.cal})
			}
		}
		return err
	}
	for _, user := range t.place.sortedUsers() {
		if err := stays(t.shareHistory(ctx, user)); err != nil {
			return err
		}
	}
	for _, uid := range t.place.sortedUIDs() {
		if err := stays(t.past(ctx, uid)); err != nil {
			return err
		}
	}
	return nil
}

// remove puts a calendar into the trash whose making is taken back. What others have put into it
// must not go with it.
func (t *undoTx) remove(ctx context.Context) (open bool, err error) {
	created := slices.Min(t.undoes)
	e, foreign, err := t.foreign(ctx, created)
	if err != nil {
		return false, err
	}
	if foreign {
		made := Entry{Calendar: t.cal.ID, Version: created, Change: Created, At: t.cal.Created}
		t.undoing.left(conflictOf(t.place, made, e, state{}, state{}))
		return true, nil
	}
	if err := t.undoing.caller.May(DeleteCalendar, t.cal); err != nil {
		return false, err
	}
	cal, err := t.Advance(ctx, t.cal.ID)
	if err != nil {
		return false, err
	}
	entry, err := t.undoing.settingsEntry(ctx, t.undoing.caller, t, cal, Deleted)
	if err != nil {
		return false, err
	}
	if err := t.Log(ctx, entry); err != nil {
		return false, err
	}
	t.done(t.cal.Name)
	if err := t.undoing.tell(ctx, t.undoing.caller, t, t.cal, false); err != nil {
		return false, err
	}
	return false, t.TrashCalendar(ctx, t.cal.ID)
}

// foreign finds a change since a version that is not to be taken back and left something.
func (t *undoTx) foreign(ctx context.Context, since Version) (Entry, bool, error) {
	for e, err := range t.Entries(ctx, t.cal.ID, EntryQuery{From: since}) {
		if err != nil {
			return e, false, err
		}
		if e.UID == "" || t.undoing.chosen(e) {
			continue
		}
		_, o, err := t.Occupants(ctx, t.cal.ID, "", e.UID)
		if err != nil || o != nil {
			return e, o != nil, err
		}
	}
	return Entry{}, false, nil
}

// bringBack takes a calendar out of the trash.
func (t *undoTx) bringBack(ctx context.Context, then state, kept []Kept) error {
	if err := t.undoing.caller.May(ChangeCalendar, t.cal); err != nil {
		return err
	}
	wanted, err := decodeSettings(then.data)
	if err != nil {
		return err
	}
	at, err := t.freeAddress(ctx, wanted.Address)
	if err != nil {
		return err
	}
	if err := t.UntrashCalendar(ctx, t.cal.ID, at); err != nil {
		return err
	}
	if err := t.lock(ctx); err != nil {
		return err
	}
	cal, err := t.Advance(ctx, t.cal.ID)
	if err != nil {
		return err
	}
	if err := t.Log(ctx, t.undoing.entry(t.undoing.caller, cal, Created)); err != nil {
		return err
	}
	t.done(t.cal.Name)
	if err := t.undoing.tell(ctx, t.undoing.caller, t, t.cal, true); err != nil {
		return err
	}
	wanted.Address = at
	g := goal{now: state{data: settingsOf(t.cal, kept).encode()}, then: state{data: wanted.encode()}}
	if g.idle() {
		return nil
	}
	return t.change(ctx, g.then, kept)
}

// freeAddress is the address for a calendar that comes back: its old one, unless that is taken.
// It is asked for outside the transaction, which an engine would give up if it were taken.
func (t *undoTx) freeAddress(ctx context.Context, wanted Segment) (Segment, error) {
	_, err := t.undoing.store.CalendarAt(ctx, t.place.Owner, wanted)
	if err == nil {
		return Segment(t.cal.ID), nil
	}
	if ReasonOf(err) == NotFound {
		return wanted, nil
	}
	return "", err
}

// change gives the calendar the settings that it had.
func (t *undoTx) change(ctx context.Context, then state, kept []Kept) error {
	if err := t.undoing.caller.May(ChangeCalendar, t.cal); err != nil {
		return err
	}
	wanted, err := decodeSettings(then.data)
	if err != nil {
		return err
	}
	cal, err := t.Advance(ctx, t.cal.ID)
	if err != nil {
		return err
	}
	entry, err := t.undoing.settingsEntry(ctx, t.undoing.caller, t, cal, Modified)
	if err != nil {
		return err
	}
	if err := t.UpdateCalendar(ctx, cal.ID, wanted.properties()); err != nil {
		return err
	}
	if edits := wanted.keptEdits(kept); len(edits) > 0 {
		if _, err := t.Keep(ctx, Holder{Place: AtCalendar, Calendar: cal}, edits); err != nil {
			return err
		}
	}
	if wanted.Address != cal.Segment {
		if err := t.MoveCalendar(ctx, cal.ID, wanted.Address); err != nil {
			return err
		}
	}
	t.cal.Segment, t.cal.Properties = wanted.Address, wanted.properties()
	if err := t.Log(ctx, entry); err != nil {
		return err
	}
	t.done(wanted.Name)
	return nil
}

// objects takes back what was done to the objects of the calendar. What is to go goes first, so
// that names and UIDs are free for what comes back.
func (t *undoTx) objects(ctx context.Context) error {
	var returning []goal
	for _, uid := range t.place.sortedUIDs() {
		g, o, err := t.goal(ctx, uid)
		if err != nil {
			return err
		}
		if g.idle() {
			continue
		}
		if o != nil && (g.then.data == nil || g.then.name != g.now.name) {
			if err := t.bury(ctx, *o, g.undoes); err != nil {
				return err
			}
		}
		if g.then.data != nil {
			returning = append(returning, g)
		}
	}
	for _, g := range returning {
		if err := t.put(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// goal finds out what is to become of an object.
func (t *undoTx) goal(ctx context.Context, uid UID) (goal, *Object, error) {
	past, err := t.past(ctx, uid)
	if err != nil {
		return goal{}, nil, err
	}
	_, o, err := t.Occupants(ctx, t.cal.ID, "", uid)
	if err != nil {
		return goal{}, nil, err
	}
	now := state{}
	if o != nil {
		now = state{o.Name, o.Data}
	}
	return t.undoing.back(t.place, past, now), o, nil
}

func (t *undoTx) bury(ctx context.Context, o Object, undoes []Version) error {
	if err := t.undoing.caller.May(DeleteObjects, t.cal); err != nil {
		return err
	}
	cal, err := t.Advance(ctx, t.cal.ID)
	if err != nil {
		return err
	}
	t.undoes = undoes
	if err := t.undoing.bury(ctx, t.undoing.caller, t, o, cal.Version); err != nil {
		return err
	}
	t.done(o.Summary)
	return nil
}

// put stores what was there before. It was valid when it came, and stays so.
func (t *undoTx) put(ctx context.Context, g goal) error {
	d, err := t.undoing.derive(g.then.data)
	if err != nil {
		return Errorf(Unsupported, "", "what was there before cannot be read any more: %v", err)
	}
	next := Saved{Object: Object{
		Calendar: t.cal.ID, Name: g.then.name, ETag: ETagOf(g.then.data), Size: int64(len(g.then.data)), Data: g.then.data, Derived: d,
	}}
	if g.now.name != g.then.name {
		at, _, err := t.Occupants(ctx, t.cal.ID, g.then.name, "")
		if err != nil {
			return err
		}
		if at != nil && !at.Deleted {
			next.Object.Name = ObjectName(t.undoing.newID() + ".ics")
		}
	}
	t.undoes = g.undoes
	if err := t.undoing.write(ctx, t.undoing.caller, t, &next, Precondition{}); err != nil {
		return err
	}
	t.done(next.Object.Summary)
	return nil
}

var _ Tx = (*undoTx)(nil)
