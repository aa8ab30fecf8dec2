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
	selectChangesSince = `SELECT id, '', -1, FALSE, '', pruned, 0, 0, '', '', 0, 0, FALSE, FALSE, '', '' FROM calendars WHERE id = $1
		UNION ALL SELECT * FROM (` + selectChanges + `) AS page ORDER BY 3`
)

// Changes implements [calendar.Store]. Should a tombstone after since be pruned while this goes on,
// it ends with an error of [calendar.RuleSyncToken]: a deletion would be missing.
func (s *Store) Changes(ctx context.Context, cal calendar.CalendarID, since, until calendar.Version) iter.Seq2[calendar.Object, error] {
	return func(yield func(calendar.Object, error) bool) {
		after := since
		drain(func() ([]calendar.Object, bool, error) {
			objects, err := s.changes(ctx, cal, since, after, until)
			if n := len(objects); n > 0 {
				after = objects[n-1].Version
			}
			return objects, len(objects) == pageRows, err
		}, yield)
	}
}

// changes reads a page of the changes since a version, those after another one. From the very start
// nobody needs tombstones, so none can be missing.
func (s *Store) changes(ctx context.Context, cal calendar.CalendarID, since, after, until calendar.Version) ([]calendar.Object, error) {
	if since == 0 {
		return rowsOf(ctx, s.reads, scanHead, selectChanges, cal, after, until, pageRows)
	}
	objects, err := rowsOf(ctx, s.reads, scanHead, selectChangesSince, cal, after, until, pageRows)
	if err != nil || len(objects) == 0 {
		return nil, err
	}
	if pruned := calendar.Version(objects[0].Size); pruned > since {
		return nil, &calendar.Error{
			Reason: calendar.Forbidden, Rule: calendar.RuleSyncToken,
			Message: "the changes since then are not all known any more", Hint: "synchronize from the start",
		}
	}
	return objects[1:], nil
}
