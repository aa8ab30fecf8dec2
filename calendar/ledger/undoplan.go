package ledger

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/describe"
	"caldav-mcp-server/calendar/lookup"
)

// undoing is a running undo. The changes are chosen first. The rest is decided and done under the calendars' locks.
type undoing struct {
	*Ledger
	caller calendar.Caller
	// chosen selects the changes to undo.
	chosen func(calendar.Change) bool
	places []*undoPlace
	// stay lists what cannot be undone regardless of later changes: chosen answers, and changes that the journal no
	// longer has.
	stay []calendar.UndoConflict
	// count is the number of chosen changes, size the bytes that they replaced, and held the bytes read in this
	// transaction.
	count      int
	size, held int64
	// preview only plans; whole does nothing if there is a conflict.
	preview, whole bool
	// unit is the unit of the undo itself in the journal.
	unit calendar.ChangeID
	done calendar.Undone
}

// undoPlace is a calendar with chosen changes.
type undoPlace struct {
	lookup.Journal
	// first maps each UID with chosen changes to the version of the earliest; whom does the same for each user with
	// chosen changes of their share.
	first map[calendar.UID]calendar.Version
	whom  map[calendar.UserID]calendar.Version
	// size maps each UID to the bytes that its chosen changes replaced.
	size map[calendar.UID]int64
	// meetings lists the objects with a schedule tag, if the undo reverts the creation of the calendar.
	meetings []calendar.ObjectName
	// later is set on all parts but the first of a calendar that the first part takes out of the trash. They cannot be
	// previewed before that.
	later bool
}

func newUndoPlace(j lookup.Journal) *undoPlace {
	return &undoPlace{
		Journal: j, first: map[calendar.UID]calendar.Version{}, whom: map[calendar.UserID]calendar.Version{},
		size: map[calendar.UID]int64{},
	}
}

// needs returns the permission that the undo needs in the calendar. A linked calendar that is read-only at its source
// can still be renamed or unlinked.
func (p *undoPlace) needs() calendar.Action {
	for uid := range p.first {
		if uid != "" || !p.Origin.Mirrors() || p.Origin.Writable {
			return calendar.WriteObjects
		}
	}
	if len(p.first) == 0 {
		return calendar.WriteObjects
	}
	return calendar.ArrangeCalendar
}

// choose adds a change.
func (u *undoing) choose(ctx context.Context, e calendar.Change) error {
	u.count++
	u.size += e.Size
	i := slices.IndexFunc(u.places, func(p *undoPlace) bool { return p.ID == e.Calendar })
	if i < 0 {
		j, err := u.JournalOf(ctx, u.caller, e.Calendar)
		if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
			return calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges,
				"this change belongs together with one in a calendar that you may not write to")
		}
		if err != nil {
			return err
		}
		i = len(u.places)
		u.places = append(u.places, newUndoPlace(j))
	}
	p := u.places[i]
	switch {
	case e.Did.Answers():
		u.stay = append(u.stay, p.conflict(e, calendar.UndoConflict{Answer: true}))
	case e.Subject() == calendar.AboutShare:
		earliest(p.whom, e.Whom, e.Version)
	default:
		earliest(p.first, e.UID, e.Version)
		p.size[e.UID] += e.Size
	}
	if e.Subject() != calendar.AboutCalendar || e.Did != calendar.Created || p.InTrash || p.Origin.Mirrors() {
		return nil
	}
	tags, err := u.store.ScheduleTags(ctx, p.ID)
	p.meetings = slices.Sorted(maps.Keys(tags))
	return err
}

func earliest[K comparable](of map[K]calendar.Version, key K, v calendar.Version) {
	if known, ok := of[key]; !ok || v < known {
		of[key] = v
	}
}

// chooseSince chooses the changes by a token, or by any user. It reads the latest first and stops at the first that is
// too old.
func (u *undoing) chooseSince(ctx context.Context, since calendar.UndoSince) error {
	all, err := u.Journals(ctx, u.caller)
	if err != nil {
		return err
	}
	for _, j := range all {
		if since.Calendar != "" && j.ID != since.Calendar || u.caller.May(calendar.ReadJournal, j.Calendar) != nil {
			continue
		}
		for e, err := range u.store.Journal(ctx, j.ID, calendar.JournalQuery{Token: since.Token}) {
			if err != nil {
				return err
			}
			if !u.chosen(e) {
				break
			}
			if since.Anybody && e.Subject() == calendar.AboutCalendar && e.Did == calendar.Created {
				return calendar.Errorf(calendar.Invalid, "", "there was no such calendar then: it was made on %s",
					calendar.ShortTime(e.At))
			}
			if since.Anybody && (e.Did.Answers() || e.Subject() == calendar.AboutShare) {
				continue
			}
			if e.Scheduled && !since.Anybody {
				continue // it goes with the change that caused it
			}
			if !u.caller.SeesChange(j.Calendar, e) {
				continue
			}
			if err := u.choose(ctx, e); err != nil {
				return err
			}
			if u.count > maxUndo {
				return calendar.Errorf(calendar.TooLarge, "",
					"these are more than %d changes; take back the later ones first", maxUndo)
			}
		}
		if err := u.noteGone(ctx, j, since.At); err != nil {
			return err
		}
	}
	return nil
}

// noteGone records a conflict if journal entries since that time were purged, because their authors are unknown. Call
// it after reading, because entries can be purged meanwhile.
func (u *undoing) noteGone(ctx context.Context, j lookup.Journal, since time.Time) error {
	gone, err := u.store.LinesGone(ctx, j.ID)
	if err == nil && gone.Since(since) {
		line := calendar.Change{Calendar: j.ID, Version: gone.Version, At: gone.At}
		u.stay = append(u.stay, newUndoPlace(j).conflict(line, calendar.UndoConflict{Forgotten: true, LinesGone: true}))
	}
	return err
}

// keepPlaces drops the calendars without anything to undo.
func (u *undoing) keepPlaces(steps []calendar.Change) {
	u.places = slices.DeleteFunc(u.places, func(p *undoPlace) bool {
		return !slices.ContainsFunc(steps, func(s calendar.Change) bool { return s.Calendar == p.ID })
	})
}

// errPreview ends a transaction that was only a preview.
var errPreview = errors.New("this is only a preview")

// run undoes the chosen changes, in one transaction.
func (u *undoing) run(ctx context.Context) (calendar.Undone, error) {
	// The order of the locks, see Tx.Advance.
	slices.SortFunc(u.places, func(a, b *undoPlace) int { return cmp.Compare(a.ID, b.ID) })
	err := u.changePart(ctx, u.caller, &u.unit, func(w *work) error {
		u.done, u.held = calendar.Undone{Left: slices.Clone(u.stay)}, 0
		for _, p := range u.places {
			if err := u.caller.May(p.needs(), p.Calendar); err != nil {
				return err
			}
			if err := u.place(ctx, w, p); err != nil {
				return err
			}
		}
		u.done.Told = w.Told
		if u.preview || len(u.done.Steps) == 0 || u.whole && len(u.done.Left) > 0 {
			return errPreview
		}
		return nil
	})
	if errors.Is(err, errPreview) {
		err = nil
	}
	return u.done, err
}

// place undoes the chosen changes of one calendar: first its properties and shares, then its objects.
func (u *undoing) place(ctx context.Context, w *work, p *undoPlace) error {
	t := &undoIn{work: w, undoing: u, place: p}
	open, err := t.itself(ctx)
	if err != nil || !open {
		return err
	}
	if err := t.shares(ctx); err != nil {
		return err
	}
	return t.objects(ctx)
}

// state is the state of a UID at a time: an object's name and bytes, or a calendar's settings.
type state struct {
	name calendar.ObjectName
	// data is nil if there was nothing.
	data []byte
}

func (s state) same(other state) bool {
	return (s.data == nil) == (other.data == nil) && bytes.Equal(s.data, other.data)
}

// before returns the state before a change. It is unknown if the journal no longer has it.
func before(e calendar.Change) (s state, known bool) {
	if e.Did == calendar.Created {
		return state{}, true
	}
	return state{e.Object, e.Before}, e.Before != nil
}

// goal is the wanted state of a UID.
type goal struct {
	now, then state
	// renamed is set if only the object's name changes, so that no notification is needed.
	renamed bool
	// former is the present object if both its name and text change: attendees are notified of the difference.
	former *calendar.Object
	// undoes lists the changes that this undoes, the latest first.
	undoes []calendar.Version
}

// back walks the history of one UID, the latest change first, and computes the state without the chosen changes. A
// change can be undone if its result equals the state reached so far.
func (u *undoing) back(p *undoPlace, past []calendar.Change, now state) goal {
	g := goal{now: now, then: now}
	for i, e := range past {
		if !u.chosen(e) {
			continue
		}
		after, knownAfter := now, true
		if i > 0 {
			after, knownAfter = before(past[i-1])
		}
		then, known := before(e)
		switch {
		case !known:
			u.left(p.conflict(e, calendar.UndoConflict{Forgotten: true}))
		case knownAfter && g.then.same(after):
			g.step(e, then)
		case g.then.same(then):
			u.done.Already = append(u.done.Already, e.ID())
		case knownAfter && (g.then.data == nil) == (after.data == nil) && onlyScheduled(past[:i], g):
			g.step(e, then)
		default:
			u.left(conflictOf(p, e, u.inTheWay(past[:i]), after, g.then))
		}
	}
	return g
}

// onlyScheduled reports whether all changes between a change and the state reached so far were caused by other people's
// messages, such as answers, or were undone themselves. They do not block the undo, because attendees are asked again.
func onlyScheduled(later []calendar.Change, g goal) bool {
	void := map[calendar.Version]bool{}
	for _, e := range later {
		void[e.Version] = e.UndoneBy > 0 && !void[e.UndoneBy]
	}
	for _, e := range slices.Backward(later) {
		if slices.Contains(g.undoes, e.Version) {
			return true
		}
		if !e.Scheduled && !void[e.Version] && len(e.Undoes) == 0 {
			return false
		}
	}
	return true
}

func (u *undoing) left(c calendar.UndoConflict) { u.done.Left = append(u.done.Left, c) }

// step goes back to the state before a change.
func (g *goal) step(e calendar.Change, before state) {
	if e.Did == calendar.Modified {
		// Keep the present name: a change that did not set it does not revert it.
		before.name = g.then.name
	}
	g.then = before
	g.undoes = append(g.undoes, e.Version)
}

// idle reports whether nothing needs to be done.
func (g *goal) idle() bool {
	return g.now.same(g.then) && (g.now.data == nil || g.now.name == g.then.name)
}

// inTheWay returns the earliest of the later changes that is not being undone.
func (u *undoing) inTheWay(later []calendar.Change) calendar.Change {
	for _, e := range slices.Backward(later) {
		if !u.chosen(e) {
			return e
		}
	}
	return later[len(later)-1]
}

// conflict returns a conflict about a change in the calendar.
func (p *undoPlace) conflict(e calendar.Change, c calendar.UndoConflict) calendar.UndoConflict {
	e.In, e.InTrash, e.Before = p.Calendar, p.InTrash, nil
	c.Change = e
	return c
}

func conflictOf(p *undoPlace, e, by calendar.Change, after, now state) calendar.UndoConflict {
	by.Before = nil
	c := p.conflict(e, calendar.UndoConflict{By: &by})
	if after.data != nil && now.data != nil {
		for _, d := range describe.Compare(after.data, now.data) {
			if !slices.Contains(c.Differs, d.Name) {
				c.Differs = append(c.Differs, d.Name)
			}
		}
	}
	return c
}

// sortedUIDs returns the UIDs with chosen changes, without the calendar itself.
func (p *undoPlace) sortedUIDs() []calendar.UID {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(p.first)), func(uid calendar.UID) bool { return uid == "" })
}
