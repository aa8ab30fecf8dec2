package store

import (
	"context"
	"iter"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

const (
	// pageRows and pageBytes bound the rows and bytes of a page. A page with more bytes ends early.
	pageRows  = 512
	pageBytes = 1 << 20
	// firstDataRows is the size of the first page with data. Postgres sends a page to its end even if the
	// reader stops early, so pages grow only while objects prove to be small.
	firstDataRows = 64
	// firstSpanRows is the same for a listing by span, where each page searches the whole span again.
	firstSpanRows = 256
	// spanRows is the size of a page of heads with spans: their caller holds all of them in memory anyway, or
	// gives up.
	spanRows = 2048
)

// drain yields the rows of page after page. No connection is held while a page is consumed, so a slow client
// does not keep one from others.
func drain[T any](next func() (page []T, more bool, err error), yield func(T, error) bool) {
	for more := true; more; {
		var page []T
		var err error
		if page, more, err = next(); err != nil {
			var none T
			yield(none, err)
			return
		}
		for _, row := range page {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// snapshotReader runs a read as a whole, on one snapshot. It may run it again on another node; then only the second run
// counts.
type snapshotReader func(ctx context.Context, read func(db.Querier) error) error

// readFrom reads from one querier.
func readFrom(at db.Querier) snapshotReader {
	return func(_ context.Context, read func(db.Querier) error) error { return read(at) }
}

// objectReader implements [calendar.ObjectReader].
type objectReader struct {
	search *searching
	ask    snapshotReader
}

// searching holds an engine's statements for full-text search.
type searching struct {
	// text selects the matches of $1 in the calendars $2 (a JSON list), of kind $6. $3 is the current time, $4
	// whether past objects count, $5 the limit. $7 repeats the words: the common ones, which the index is not
	// rowsOfList for, and the rare ones, which $1 asks for.
	text string
	// expression renders $1.
	expression func(calendar.SearchQuery) string
	// near reads the nearest objects, some the objects of $1 (a JSON list of calendars and names).
	near, some string
	// words selects the search texts of kind $2 in the calendars $1, of at most $3 objects.
	words string
	// waiting returns the last turn to index next, or 0 if no objects wait. It covers at most $1 objects, with
	// at most $2 characters before the last. index indexes the objects up to turn $1, and indexed removes them
	// from the queue. All are empty if the engine has no queue.
	waiting, index, indexed string
}

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
func (r objectReader) Changes(
	ctx context.Context, cal calendar.CalendarID, in calendar.VersionRange,
) iter.Seq2[calendar.Object, error] {
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
func (r objectReader) changes(
	ctx context.Context, cal calendar.CalendarID, in calendar.VersionRange, after calendar.Version,
) (objects []packedRow, err error) {
	var pruned int64
	err = r.ask(ctx, func(at db.Querier) (err error) {
		if in.After == 0 && in.Unbroken == 0 {
			objects, err = db.RowsOf(ctx, at, scanPacked(false), selectChanges, cal, after, in.Until, pageRows)
			return err
		}
		objects, err = db.RowsOf(ctx, at, scanPacked(false, &pruned), selectChangesSince, cal, after,
			in.Until, pageRows)
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
