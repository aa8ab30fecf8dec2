package ledger

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"caldav-mcp-server/calendar"
)

// undoPart bounds the objects undone in one transaction, because other writers wait for it. An import may have created
// far more.
const undoPart = 500

// chooseUnit chooses all changes of a unit. It scans the journal, because reading them one by one would take a query
// each. in is the calendar of the change that the caller named.
func (u *undoing) chooseUnit(
	ctx context.Context, in calendar.Calendar, named calendar.ChangeID, unit []calendar.ChangeID,
) error {
	slices.SortFunc(unit, func(a, b calendar.ChangeID) int {
		return cmp.Or(cmp.Compare(a.Calendar, b.Calendar), cmp.Compare(a.Version, b.Version))
	})
	for len(unit) > 0 {
		first, n := unit[0], 1
		for n < len(unit) && unit[n].Calendar == first.Calendar {
			n++
		}
		found := 0
		for line, err := range u.store.Journal(ctx, first.Calendar, calendar.JournalQuery{
			From: first.Version, Until: unit[n-1].Version,
		}) {
			switch {
			case err != nil:
				return err
			case !u.chosen(line):
				continue
			case !u.caller.SeesChange(in, line):
				return calendar.ErrNoChange(named.String())
			}
			found++
			if err := u.choose(ctx, line); err != nil {
				return err
			}
		}
		if found < n {
			return calendar.ErrNoChange(named.String())
		}
		unit = unit[n:]
	}
	return nil
}

// runParts is run for any number of changes. It first checks that all of them can be undone.
func (u *undoing) runParts(ctx context.Context) (calendar.Undone, error) {
	parts := u.parts()
	if len(parts) == 1 {
		return u.run(ctx)
	}
	u.preview = true
	plan, err := u.runEach(ctx, parts)
	if err != nil || len(plan.Left) > 0 {
		return plan, err
	}
	u.preview = false
	done, err := u.runEach(ctx, parts)
	if err == nil && len(done.Left) > 0 { // other users were faster
		err = conflict(done.Left)
	}
	if n := len(done.Steps); err != nil && n > 0 {
		return calendar.Undone{}, fmt.Errorf("%d of %d changes were taken back, then: %w (the same undo again goes on)",
			n, len(plan.Steps), err)
	}
	return done, err
}

// runEach runs the parts in order. It stops at the first one with a conflict.
func (u *undoing) runEach(ctx context.Context, parts [][]*undoPlace) (calendar.Undone, error) {
	var all calendar.Undone
	gone := map[calendar.CalendarID]bool{}
	for _, part := range parts {
		if gone[part[0].ID] || u.preview && part[0].later {
			continue
		}
		u.places = part
		done, err := u.run(ctx)
		if err != nil {
			return all, err
		}
		all.Left, all.Already = append(all.Left, done.Left...), append(all.Already, done.Already...)
		if len(done.Left) > 0 {
			return all, nil
		}
		all.Steps, all.Told = append(all.Steps, done.Steps...), append(all.Told, done.Told...)
		for _, s := range done.Steps {
			if s.Subject() == calendar.AboutCalendar && s.Did == calendar.Deleted {
				gone[s.Calendar] = true // and all of its contents
			}
		}
	}
	return all, nil
}

// parts divides the chosen changes: first the changes of a calendar itself, then the changes of its contents.
func (u *undoing) parts() [][]*undoPlace {
	// A part also reads the bytes that later changes replaced.
	most := u.limits.UndoBytes / 4
	if u.count <= undoPart && u.size <= most {
		return [][]*undoPlace{u.places}
	}
	slices.SortFunc(u.places, func(a, b *undoPlace) int { return cmp.Compare(a.ID, b.ID) })
	var parts [][]*undoPlace
	for _, p := range u.places {
		part := newUndoPlace(p.Journal)
		part.whom, part.meetings = p.whom, p.meetings
		if v, ok := p.first[""]; ok {
			part.first[""] = v
		}
		size := int64(0)
		for _, uid := range p.sortedUIDs() {
			if size += p.size[uid]; len(part.first) >= undoPart || size > most {
				parts, part, size = append(parts, []*undoPlace{part}), newUndoPlace(p.Journal), p.size[uid]
				part.later, part.InTrash = p.InTrash, false
			}
			part.first[uid] = p.first[uid]
		}
		parts = append(parts, []*undoPlace{part})
	}
	return parts
}
