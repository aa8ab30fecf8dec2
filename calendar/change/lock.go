package change

import (
	"context"
	"maps"
	"slices"

	"caldav-mcp-server/calendar"
)

// restarts bounds the restarts of a change that turns out to need more calendars.
const restarts = 4

// locksError ends a transaction that needs further calendars. Calendars are locked in the order of their ids, so the
// transaction restarts and opens all of them at the beginning.
type locksError struct{ calendars []calendar.CalendarID }

// Error is only shown if the restarts are used up.
func (e *locksError) Error() string {
	return "the attendees keep changing this event; try again in a moment"
}

// LockAll opens calendars in the order of their ids. It skips missing ones.
func (w *Tx) LockAll(ctx context.Context, ids []calendar.CalendarID) error {
	if len(ids) == 0 {
		return nil
	}
	all, err := w.AdvanceAll(ctx, ids)
	for _, cal := range all {
		w.noteLocked(cal)
	}
	return err
}

// RequireLocks makes sure that calendars are open, or restarts the change with them.
func (w *Tx) RequireLocks(ids []calendar.CalendarID) error {
	if missing := w.unlocked(ids); len(missing) > 0 {
		return w.RestartWith(missing)
	}
	return nil
}

// TryLock opens calendars out of order, if their locks are free: only a waiting transaction must keep the order. It
// reports whether it has opened any; data that was read from them before may be outdated. It also counts the expected
// growth, which count corrects later.
func (w *Tx) TryLock(ctx context.Context, ids []calendar.CalendarID, grown calendar.Usage) (bool, error) {
	missing := w.unlocked(ids)
	if len(missing) == 0 {
		return false, nil
	}
	all, err := w.AdvanceFree(ctx, missing, grown)
	if err != nil {
		return false, err
	}
	for _, cal := range all {
		w.noteLocked(cal).counted = grown
	}
	return true, w.RequireLocks(missing)
}

// unlocked returns the calendars among ids that are not open.
func (w *Tx) unlocked(ids []calendar.CalendarID) []calendar.CalendarID {
	var missing []calendar.CalendarID
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		if w.Locked[id] == nil {
			missing = append(missing, id)
		}
	}
	return missing
}

// RestartWith returns the error that restarts the change with the locks of additional calendars.
func (w *Tx) RestartWith(ids []calendar.CalendarID) error {
	return &locksError{slices.AppendSeq(w.unlocked(ids), maps.Keys(w.Locked))}
}
