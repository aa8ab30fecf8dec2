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
	// cal is the calendar's row once it is locked.
	cal calendar.Calendar
}

func (t *undoIn) caller() calendar.Caller { return t.work.Caller }

func (t *undoIn) done(summary string) {
	e := t.Logged
	e.Before, e.In, e.Summary = nil, t.cal, summary
	t.undoing.done.Steps = append(t.undoing.done.Steps, e)
}

// itself undoes changes of the calendar itself. It reports whether the calendar then exists, so that its contents can
// be changed.
func (t *undoIn) itself(ctx context.Context) (open bool, err error) {
	t.cal = t.place.Calendar
	if !t.place.InTrash {
		at, err := t.LockFor(ctx, t.place.needs(), t.place.ID)
		if err != nil {
			return false, err
		}
		t.cal = at.Calendar
	}
	kept, err := t.Tx.DeadProperties(ctx, calendar.Holder{Place: calendar.AtCalendar, Calendar: t.cal})
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
	t.Undoes = g.undoes
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

// closed handles the changes in a calendar that stays in the trash: they conflict. If the undo was to revert the
// creation of the calendar, they count as undone.
func (t *undoIn) closed(ctx context.Context, unmade bool) error {
	var all []calendar.JournalQuery
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
				t.undoing.left(t.place.conflict(e, calendar.UndoConflict{}))
			}
		}
	}
	return nil
}

// remove moves a calendar to the trash to undo its creation. It refuses if others have added objects.
func (t *undoIn) remove(ctx context.Context) (open bool, err error) {
	created := slices.Min(t.Undoes)
	e, foreign, err := t.foreign(ctx, created)
	if err != nil {
		return false, err
	}
	if foreign {
		made := calendar.Change{Calendar: t.cal.ID, Version: created, Did: calendar.Created, At: t.cal.Created}
		t.undoing.left(conflictOf(t.place, made, e, state{}, state{}))
		return true, nil
	}
	if err := t.caller().May(calendar.DeleteCalendar, t.cal); err != nil {
		return false, err
	}
	if err := t.endMeetings(ctx); err != nil {
		return false, err
	}
	if err := t.trash(ctx, t.cal.ID); err != nil {
		return false, err
	}
	t.done(t.cal.Name)
	return false, nil
}

// endMeetings deletes the meetings that this server scheduled, before their calendar goes to the trash. An import
// schedules nothing.
func (t *undoIn) endMeetings(ctx context.Context) error {
	if len(t.place.meetings) > undoPart {
		return calendar.Errorf(calendar.TooLarge, "", "the calendar %q has more than %d meetings with other people",
			t.cal.Name, undoPart).
			Advising("delete the calendar instead")
	}
	undoes := t.Undoes
	defer func() { t.Undoes = undoes }()
	t.Undoes = nil
	for _, name := range t.place.meetings {
		old, _, err := t.LiveObject(ctx, t.cal.ID, name, "")
		if err == nil && old != nil && old.ScheduleTag != "" && !t.moves(old.UID) {
			err = t.work.remove(ctx, t.cal, *old, calendar.Draft{Telling: calendar.TellAll})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// foreign finds a change since a version that is not being undone and whose object still exists.
func (t *undoIn) foreign(ctx context.Context, since calendar.Version) (calendar.Change, bool, error) {
	for e, err := range t.Journal(ctx, t.cal.ID, calendar.JournalQuery{From: since}) {
		if err != nil {
			return e, false, err
		}
		if e.Subject() != calendar.AboutObject || t.undoing.chosen(e) {
			continue
		}
		_, o, err := t.Duplicates(ctx, t.cal.ID, "", e.UID)
		if err != nil || o != nil {
			return e, o != nil, err
		}
	}
	return calendar.Change{}, false, nil
}

// bringBack takes a calendar out of the trash.
func (t *undoIn) bringBack(ctx context.Context, then state, kept []calendar.DeadProperty) error {
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

// freeAddress returns the address for a restored calendar: its old one, unless that is taken. It checks first, because
// a conflict would abort the transaction on some databases.
func (t *undoIn) freeAddress(ctx context.Context, wanted calendar.Segment) (calendar.Segment, error) {
	taken, err := t.AddressTaken(ctx, t.place.Owner, wanted)
	if taken {
		return calendar.Segment(t.cal.ID), nil
	}
	return wanted, err
}

// reset restores the calendar's former settings.
func (t *undoIn) reset(ctx context.Context, then state, kept []calendar.DeadProperty) error {
	if err := t.caller().May(calendar.ChangeCalendar, t.cal); err != nil {
		return err
	}
	wanted, err := calendar.DecodeSettings(then.data)
	if err != nil {
		return err
	}
	err = t.ChangeSettings(ctx, t.cal.ID, calendar.Modified, func(cal calendar.Calendar) error {
		if err := t.UpdateCalendar(ctx, cal.ID, wanted.Properties()); err != nil {
			return err
		}
		if edits := wanted.DeadPropertyEdits(kept); len(edits) > 0 {
			h := calendar.Holder{Place: calendar.AtCalendar, Calendar: cal}
			t.renote(h)
			if _, _, err := t.Tx.SetDeadProperties(ctx, h, edits); err != nil {
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

// objects undoes changes of the objects of the calendar. Deletions come first, so that names and UIDs are free for the
// objects that come back.
func (t *undoIn) objects(ctx context.Context) error {
	var returning []goal
	for uids := range slices.Chunk(t.place.sortedUIDs(), calendar.MaxAmong) {
		pasts, err := t.pasts(ctx, uids)
		if err != nil {
			return err
		}
		for _, uid := range uids {
			g, back, err := t.object(ctx, uid, pasts[uid])
			if err != nil {
				return err
			}
			if back {
				returning = append(returning, g)
			}
		}
	}
	for _, g := range returning {
		if err := t.restore(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// object deletes an object if that is the wanted state, and reports whether a version must be restored afterwards.
func (t *undoIn) object(ctx context.Context, uid calendar.UID, past []calendar.Change) (g goal, back bool, err error) {
	g, o, err := t.goal(ctx, uid, past)
	if err != nil || g.idle() {
		return g, false, err
	}
	if o != nil && (g.then.data == nil || g.then.name != g.now.name) {
		if err := t.caller().May(calendar.DeleteObjects, t.cal); err != nil {
			return g, false, err
		}
		t.Undoes = g.undoes
		if err := t.away(ctx, g, *o); err != nil {
			return g, false, err
		}
		t.done(o.Summary)
	}
	g.renamed = g.now.data != nil && g.now.same(g.then)
	if o != nil && !g.renamed && g.then.data != nil && g.then.name != g.now.name {
		g.former = o // the version that attendees know
	}
	g.now.data = nil // restored only after all deletions
	return g, g.then.data != nil, nil
}

// away deletes an object. If it comes back under another name, it is still the same event, so no messages are sent.
func (t *undoIn) away(ctx context.Context, g goal, o calendar.Object) error {
	if g.then.data == nil && !t.moves(o.UID) {
		return t.work.remove(ctx, t.cal, o, calendar.Draft{Telling: calendar.TellAll})
	}
	return t.Bury(ctx, o)
}

// moves reports whether the undo reverts a move between calendars of one owner, which sends no messages.
func (t *undoIn) moves(uid calendar.UID) bool {
	return slices.ContainsFunc(t.undoing.places, func(p *undoPlace) bool {
		_, also := p.first[uid]
		return also && p.ID != t.cal.ID && p.Owner == t.cal.Owner
	})
}

// goal returns the wanted state of an object.
func (t *undoIn) goal(ctx context.Context, uid calendar.UID, past []calendar.Change) (goal, *calendar.Object, error) {
	if err := t.fill(ctx, t.place.ofUID(uid), past); err != nil {
		return goal{}, nil, err
	}
	_, o, err := t.Duplicates(ctx, t.cal.ID, "", uid)
	if err != nil {
		return goal{}, nil, err
	}
	now := state{}
	if o != nil {
		now = state{o.Name, o.Data}
	}
	return t.undoing.back(t.place, past, now), o, nil
}

// restore stores a former version. It was valid when it was first stored, so it is accepted.
func (t *undoIn) restore(ctx context.Context, g goal) error {
	next, err := t.revived(t.cal.ID, g.then)
	if err == nil && g.now.name != g.then.name {
		next.Object.Name, err = t.freeName(ctx, t.cal.ID, g.then.name)
	}
	if err != nil {
		return err
	}
	t.Undoes = g.undoes
	tell := calendar.TellAgain
	if t.moves(next.Object.UID) || g.renamed {
		tell = calendar.Unscheduled
	}
	t.former = g.former
	err = t.save(ctx, &next, calendar.Draft{Telling: tell, Stored: true})
	t.former = nil
	if err != nil {
		return err
	}
	t.done(next.Object.Summary)
	return nil
}
