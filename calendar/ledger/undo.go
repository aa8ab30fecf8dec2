package ledger

import (
	"context"
	"fmt"
	"strings"

	"caldav-mcp-server/calendar"
)

// maxUndo bounds the changes undone at once: it is one transaction, and other writers wait for it.
const maxUndo = 10_000

// Undo reverts one change and the others of its unit, if nothing has changed their results since.
func (s *Ledger) Undo(ctx context.Context, c calendar.Caller, id calendar.ChangeID) (calendar.Undone, error) {
	j, err := s.JournalOf(ctx, c, id.Calendar)
	if err != nil {
		if calendar.ReasonOf(err) == calendar.NotFound {
			err = calendar.ErrNoChange(id.String())
		}
		return calendar.Undone{}, err
	}
	unit, err := s.store.Unit(ctx, id)
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		return calendar.Undone{}, calendar.ErrNoChange(id.String())
	}
	if err != nil {
		return calendar.Undone{}, err
	}
	members := make(map[calendar.ChangeID]bool, len(unit))
	for _, member := range unit {
		members[member] = true
	}
	u := undoing{Ledger: s, caller: c, whole: true, chosen: func(e calendar.Change) bool { return members[e.ID()] }}
	if err := u.chooseUnit(ctx, j.Calendar, id, unit); err != nil {
		return calendar.Undone{}, err
	}
	done, err := u.runParts(ctx)
	if err == nil && (len(done.Left) > 0 || len(done.Steps) == 0) {
		err = u.notUndone(ctx, id, done.Left)
	}
	if err != nil {
		return calendar.Undone{}, err
	}
	return done, nil
}

// notUndone explains why a change was not undone.
func (u *undoing) notUndone(ctx context.Context, id calendar.ChangeID, left []calendar.UndoConflict) error {
	by, err := u.undoneBy(ctx, id)
	switch {
	case err != nil:
		return err
	case by != 0:
		return calendar.Errorf(calendar.Stale, "", "the change %s was taken back already, by the change %s", id,
			calendar.ChangeID{Calendar: id.Calendar, Version: by})
	case len(left) > 0:
		return conflict(left)
	}
	return calendar.Errorf(calendar.Stale, "",
		"the change %s makes no difference any more: everything is as it was before", id)
}

// undoneBy returns the change that undid another one, unless it was undone itself; 0 if there is none.
func (u *undoing) undoneBy(ctx context.Context, id calendar.ChangeID) (calendar.Version, error) {
	line, err := u.Line(ctx, id)
	if err != nil || line.UndoneBy == 0 {
		return 0, err
	}
	undo, err := u.Line(ctx, calendar.ChangeID{Calendar: id.Calendar, Version: line.UndoneBy})
	if undo.UndoneBy > 0 {
		return 0, err
	}
	return undo.Version, err
}

// UndoSince reverts all changes by a token, or by any user in a calendar, since a time. It is one unit: if later
// changes by others conflict, it reverts nothing and its error lists them.
func (s *Ledger) UndoSince(ctx context.Context, c calendar.Caller, since calendar.UndoSince) (calendar.Undone, error) {
	u := undoing{Ledger: s, caller: c, chosen: func(e calendar.Change) bool {
		return (since.Anybody || e.Token == since.Token) && !e.At.Before(since.At)
	}}
	if since.Anybody && since.Calendar == "" {
		return calendar.Undone{}, calendar.Errorf(calendar.Invalid, "", "say in which calendar")
	}
	if since.Token == "" && !since.Anybody {
		return calendar.Undone{}, calendar.Errorf(calendar.Invalid, "",
			"say whose changes to take back: there is no token with an empty id")
	}
	if err := u.chooseSince(ctx, since); err != nil {
		return calendar.Undone{}, err
	}
	if len(u.places)+len(u.stay) == 0 && since.Anybody {
		return calendar.Undone{}, nil
	}
	if len(u.places)+len(u.stay) == 0 {
		return calendar.Undone{}, calendar.Errorf(calendar.NotFound, "",
			"the token %q has changed nothing since %s that you may take back", since.Token,
			calendar.ShortTime(since.At))
	}
	// The first run only previews, because taking the lock of a calendar gives it a new version. A calendar without
	// anything to undo must not get one.
	u.preview = true
	plan, err := u.run(ctx)
	switch {
	case err != nil:
		return calendar.Undone{}, err
	case since.Preview:
		return plan, nil
	case len(plan.Left) > 0 && !since.LeaveChanged:
		return calendar.Undone{},
			conflict(plan.Left).Advising("leave out the events that have changed since, or take the later changes " +
				"back first")
	case len(plan.Steps) == 0:
		return plan, nil
	}
	u.keepPlaces(plan.Steps)
	u.preview, u.whole = false, !since.LeaveChanged
	done, err := u.run(ctx)
	if err == nil && u.whole && len(done.Left) > 0 { // other users were faster
		err = conflict(done.Left)
	}
	if err != nil {
		return calendar.Undone{}, err
	}
	done.Left, done.Already = plan.Left, plan.Already
	return done, nil
}

// conflict returns the error that lists the conflicts.
func conflict(left []calendar.UndoConflict) *calendar.Error {
	const named = 5
	texts := make([]string, 0, named)
	for _, l := range left[:min(named, len(left))] {
		texts = append(texts, l.Why())
	}
	if more := len(left) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	e := calendar.Errorf(calendar.Stale, "", "%s", strings.Join(texts, "; "))
	e.Left, e.Hint = left, "take the later change back first, or change it by hand"
	if left[0].Forgotten {
		e.Reason, e.Hint = calendar.Unsupported, "change it by hand"
	}
	if left[0].LinesGone {
		e.Hint = "name a later time, or leave out what cannot be taken back"
	}
	if left[0].Answer {
		e.Reason, e.Hint = calendar.Unsupported, "share the calendar with them again"
	}
	return e
}
