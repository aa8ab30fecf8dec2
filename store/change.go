package store

import (
	"context"
	"iter"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

const (
	changed = ` FROM objects WHERE calendar_id = $1 AND version > $2 AND version <= $3 ORDER BY version LIMIT $4 + 0`

	selectPruned = `SELECT pruned FROM calendars WHERE id = $1`
)

var (
	selectChanges = `SELECT ` + packedChange.selected + changed

	// selectChangesSince returns the calendar's pruned version with each row: only the same snapshot can prove
	// that no tombstone is missing.
	selectChangesSince = `SELECT ` + packedChange.selected + `, (` + selectPruned + `)` + changed
)

// Changes implements [calendar.Store].
func (r objectReader) Changes(ctx context.Context, cal calendar.CalendarID, in calendar.VersionRange) iter.Seq2[calendar.Object, error] {
	return func(yield func(calendar.Object, error) bool) {
		after, unpack := in.After, unpackChange(cal)
		drain(func() ([]packedRow, bool, error) {
			objects, err := r.changes(ctx, cal, in, after)
			if n := len(objects); n > 0 && err == nil {
				var last calendar.Object
				last, err = unpack(objects[n-1])
				after = last.Version
			}
			return objects, len(objects) == pageRows, err
		}, unpacked(unpack, yield))
	}
}

// changes reads the next page of the range, from a version on.
func (r objectReader) changes(ctx context.Context, cal calendar.CalendarID, in calendar.VersionRange, after calendar.Version) (objects []packedRow, err error) {
	var pruned int64
	err = r.ask(ctx, func(at db.Querier) (err error) {
		if in.After == 0 && in.Unbroken == 0 {
			objects, err = db.RowsOf(ctx, at, scanPacked(false), selectChanges, cal, after, in.Until, pageRows)
			return err
		}
		objects, err = db.RowsOf(ctx, at, scanPacked(false, &pruned), selectChangesSince, cal, after, in.Until, pageRows)
		if err == nil && len(objects) == 0 {
			// Read after the page, so at worst it reports too much as pruned.
			pruned, err = db.RowOrNone(ctx, at, db.ScanNumber, selectPruned, cal)
		}
		return err
	})
	if err == nil && calendar.Version(pruned) > in.Unbroken {
		return nil, &calendar.Error{
			Reason: calendar.Forbidden, Rule: calendar.RuleSyncToken,
			Message: "some changes since then are no longer known", Hint: "synchronize from the start",
		}
	}
	return objects, err
}
