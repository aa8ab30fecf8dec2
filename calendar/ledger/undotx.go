package ledger

import (
	"context"
	"slices"

	"caldav-mcp-server/calendar"
)

// undoIn is an undo in one calendar.
type undoIn struct {
	*work
	undoing *undoing
	place   *undoPlace
	// cal is the calendar as it is, once it is locked.
	cal calendar.Calendar
}

func (t *undoIn) caller() calendar.Caller { return t.work.caller }

func (t *undoIn) done(summary string) {
	e := t.logged
	e.Before = nil
	t.undoing.done.Steps = append(t.undoing.done.Steps, calendar.UndoStep{Entry: e, In: t.cal, Summary: summary})
}

// ofUID and ofShare ask for the changes of what the undo is about, from the earliest on that was chosen.
func (p *undoPlace) ofUID(uid calendar.UID) calendar.EntryQuery {
	return calendar.EntryQuery{From: p.first[uid], Of: &uid}
}

func (p *undoPlace) ofShare(user calendar.UserID) calendar.EntryQuery {
	return calendar.EntryQuery{From: p.whom[user], Whom: user}
}

// undoMost bounds what an undo of one object reads of former states, in bytes: the writers of all others wait for it.
const undoMost = 64 << 20

// past are the changes that can be taken back.
func (t *undoIn) past(ctx context.Context, q calendar.EntryQuery) ([]calendar.Entry, error) {
	var past []calendar.Entry
	held := 0
	for e, err := range t.Entries(ctx, t.place.ID, q) {
		if err != nil {
			return nil, err
		}
		if held += len(e.Before); held > undoMost {
			e := calendar.Errorf(calendar.TooLarge, "", "what was there before these changes has more than %d MiB", undoMost>>20)
			e.Hint = "take back later changes first, or put the event in order by hand"
			return nil, e
		}
		if !e.Change.Answers() {
			past = append(past, e)
		}
	}
	return past, nil
}

// itself takes back what was done to the calendar itself. It tells whether the calendar is
// there then, so that something can be done in it.
func (t *undoIn) itself(ctx context.Context) (open bool, err error) {
	t.cal = t.place.Calendar
	if !t.place.InTrash {
		at, err := t.openTo(ctx, calendar.WriteObjects, t.place.ID)
		if err != nil {
			return false, err
		}
		t.cal = at.Calendar
	}
	kept, err := t.Tx.Kept(ctx, calendar.Holder{Place: calendar.AtCalendar, Calendar: t.cal})
	if err != nil {
		return false, err
	}
	now := state{}
	if !t.place.InTrash {
		now.data = calendar.SettingsOf(t.cal, kept).Encode()
	}
	g := goal{now: now, then: now}
	if _, chosen := t.place.first[""]; chosen {
		past, err := t.past(ctx, t.place.ofUID(""))
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
		return true, t.reset(ctx, g.then, kept)
	}
	return true, nil
}

// closed says of the changes in a calendar that stays in the trash that they stay too, or, where
// its making was to be taken back, that they are.
func (t *undoIn) closed(ctx context.Context, unmade bool) error {
	var all []calendar.EntryQuery
	for _, user := range t.place.sortedUsers() {
		all = append(all, t.place.ofShare(user))
	}
	for _, uid := range t.place.sortedUIDs() {
		all = append(all, t.place.ofUID(uid))
	}
	for _, q := range all {
		past, err := t.past(ctx, q)
		if err != nil {
			return err
		}
		for _, e := range past {
			switch {
			case !t.undoing.chosen(e):
			case unmade:
				t.undoing.done.Already = append(t.undoing.done.Already, e.ID())
			default:
				t.undoing.left(calendar.UndoConflict{Entry: e, In: t.cal})
			}
		}
	}
	return nil
}

// remove puts a calendar into the trash whose making is taken back. What others have put into it
// must not go with it.
func (t *undoIn) remove(ctx context.Context) (open bool, err error) {
	created := slices.Min(t.undoes)
	e, foreign, err := t.foreign(ctx, created)
	if err != nil {
		return false, err
	}
	if foreign {
		made := calendar.Entry{Calendar: t.cal.ID, Version: created, Change: calendar.Created, At: t.cal.Created}
		t.undoing.left(conflictOf(t.place, made, e, state{}, state{}))
		return true, nil
	}
	if err := t.caller().May(calendar.DeleteCalendar, t.cal); err != nil {
		return false, err
	}
	if err := t.trash(ctx, t.cal.ID); err != nil {
		return false, err
	}
	t.done(t.cal.Name)
	return false, nil
}

// foreign finds a change since a version that is not to be taken back and left something.
func (t *undoIn) foreign(ctx context.Context, since calendar.Version) (calendar.Entry, bool, error) {
	for e, err := range t.Entries(ctx, t.cal.ID, calendar.EntryQuery{From: since}) {
		if err != nil {
			return e, false, err
		}
		if e.Subject() != calendar.AboutObject || t.undoing.chosen(e) {
			continue
		}
		_, o, err := t.Occupants(ctx, t.cal.ID, "", e.UID)
		if err != nil || o != nil {
			return e, o != nil, err
		}
	}
	return calendar.Entry{}, false, nil
}

// bringBack takes a calendar out of the trash.
func (t *undoIn) bringBack(ctx context.Context, then state, kept []calendar.Kept) error {
	if err := t.caller().May(calendar.ChangeCalendar, t.cal); err != nil {
		return err
	}
	wanted, err := calendar.DecodeSettings(then.data)
	if err != nil {
		return err
	}
	at, err := t.freeAddress(ctx, wanted.Address)
	if err != nil {
		return err
	}
	if t.cal, err = t.untrash(ctx, t.cal.ID, at); err != nil {
		return err
	}
	t.done(t.cal.Name)
	wanted.Address = at
	g := goal{now: state{data: calendar.SettingsOf(t.cal, kept).Encode()}, then: state{data: wanted.Encode()}}
	if g.idle() {
		return nil
	}
	return t.reset(ctx, g.then, kept)
}

// freeAddress is the address for a calendar that comes back: its old one, unless that is taken.
// It is asked for outside the transaction, which an engine would give up if it were taken.
func (t *undoIn) freeAddress(ctx context.Context, wanted calendar.Segment) (calendar.Segment, error) {
	_, err := t.store.CalendarAt(ctx, t.place.Owner, wanted)
	if err == nil {
		return calendar.Segment(t.cal.ID), nil
	}
	if calendar.ReasonOf(err) == calendar.NotFound {
		return wanted, nil
	}
	return "", err
}

// reset gives the calendar the settings that it had.
func (t *undoIn) reset(ctx context.Context, then state, kept []calendar.Kept) error {
	if err := t.caller().May(calendar.ChangeCalendar, t.cal); err != nil {
		return err
	}
	wanted, err := calendar.DecodeSettings(then.data)
	if err != nil {
		return err
	}
	err = t.settings(ctx, t.cal.ID, calendar.Modified, func(cal calendar.Calendar) error {
		if err := t.UpdateCalendar(ctx, cal.ID, wanted.Properties()); err != nil {
			return err
		}
		if edits := wanted.KeptEdits(kept); len(edits) > 0 {
			if _, err := t.Tx.Keep(ctx, calendar.Holder{Place: calendar.AtCalendar, Calendar: cal}, edits); err != nil {
				return err
			}
		}
		if wanted.Address == cal.Segment {
			return nil
		}
		return t.Tx.MoveCalendar(ctx, cal.ID, wanted.Address)
	})
	if err != nil {
		return err
	}
	t.cal.Segment, t.cal.Properties = wanted.Address, wanted.Properties()
	t.done(wanted.Name)
	return nil
}

// objects takes back what was done to the objects of the calendar. What is to go goes first, so
// that names and UIDs are free for what comes back.
func (t *undoIn) objects(ctx context.Context) error {
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
			if err := t.caller().May(calendar.DeleteObjects, t.cal); err != nil {
				return err
			}
			t.undoes = g.undoes
			if err := t.bury(ctx, *o); err != nil {
				return err
			}
			t.done(o.Summary)
		}
		if g.then.data != nil {
			returning = append(returning, g)
		}
	}
	for _, g := range returning {
		if err := t.restore(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// goal finds out what is to become of an object.
func (t *undoIn) goal(ctx context.Context, uid calendar.UID) (goal, *calendar.Object, error) {
	past, err := t.past(ctx, t.place.ofUID(uid))
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

// restore stores what was there before. It was valid when it came, and stays so.
func (t *undoIn) restore(ctx context.Context, g goal) error {
	d, err := t.derive(g.then.data)
	if err != nil {
		return calendar.Errorf(calendar.Unsupported, "", "what was there before cannot be read any more: %v", err)
	}
	next := calendar.Saved{Object: calendar.Object{
		Calendar: t.cal.ID, Name: g.then.name, ETag: calendar.ETagOf(g.then.data), Size: int64(len(g.then.data)), Data: g.then.data, Derived: d,
	}}
	if g.now.name != g.then.name {
		at, _, err := t.live(ctx, t.cal.ID, g.then.name, "")
		if err != nil {
			return err
		}
		if at != nil {
			next.Object.Name = calendar.ObjectName(t.newID() + ".ics")
		}
	}
	t.undoes = g.undoes
	if err := t.save(ctx, &next, calendar.Precondition{}); err != nil {
		return err
	}
	t.done(next.Object.Summary)
	return nil
}
