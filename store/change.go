package store

import (
	"context"
	"iter"

	"caldav-mcp-server/calendar"
)

const (
	selectChanges = `SELECT ` + headColumns + ` FROM objects
		WHERE calendar_id = $1 AND version > $2 AND version <= $3 ORDER BY version LIMIT $4`

	// selectChangesSince puts a row of its own before them, with the name "" and what the calendar
	// has pruned as its size: only the same snapshot can tell whether all tombstones are there still.
	selectChangesSince = `SELECT '', -1, FALSE, '', pruned, 0, 0, '', '' FROM calendars WHERE id = $1
		UNION ALL SELECT * FROM (` + selectChanges + `) AS page ORDER BY 2`
)

// Changes implements [calendar.Store].
func (s *Store) Changes(ctx context.Context, cal calendar.CalendarID, in calendar.Stretch) iter.Seq2[calendar.Object, error] {
	return func(yield func(calendar.Object, error) bool) {
		after := in.After
		drain(func() ([]calendar.Object, bool, error) {
			objects, err := s.changes(ctx, cal, in, after)
			if n := len(objects); n > 0 {
				after = objects[n-1].Version
			}
			return objects, len(objects) == pageRows, err
		}, yield)
	}
}

// changes reads the page of the stretch that comes after a version.
func (s *Store) changes(ctx context.Context, cal calendar.CalendarID, in calendar.Stretch, after calendar.Version) ([]calendar.Object, error) {
	scan := scanHeads(cal)
	if in.After == 0 {
		return rowsOf(ctx, s.reads, scan, selectChanges, cal, after, in.Until, pageRows)
	}
	objects, err := rowsOf(ctx, s.reads, scan, selectChangesSince, cal, after, in.Until, pageRows)
	if err != nil || len(objects) == 0 {
		return nil, err
	}
	if pruned := calendar.Version(objects[0].Size); pruned > in.Unbroken {
		return nil, &calendar.Error{
			Reason: calendar.Forbidden, Rule: calendar.RuleSyncToken,
			Message: "the changes since then are not all known any more", Hint: "synchronize from the start",
		}
	}
	return objects[1:], nil
}
