package store

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// PruneLines deletes journal lines from before a time whose text is already gone, see [Store.Prune]. It runs
// while the store is in use.
func (s objectStore) PruneLines(ctx context.Context, older time.Time) error {
	dropped := int64(0)
	defer func() { s.db.Options.Logger.InfoContext(ctx, "pruned the journal", "older", older, "lines", dropped) }()
	return s.eachCalendar(ctx, func(id calendar.CalendarID) error {
		for {
			n, err := s.dropLines(ctx, id, older)
			if err != nil || n == 0 {
				return err
			}
			dropped += n
		}
	})
}

// dropLines deletes the oldest journal lines of a calendar, some at a time, and the rows that belong to them.
// The same transaction records that in the calendar: a client that asks for the changes since an older line
// must not take the remaining ones for all.
func (s objectStore) dropLines(ctx context.Context, id calendar.CalendarID, older time.Time) (dropped int64, err error) {
	// Versions have the order of times, so the first line that stays ends the search.
	until, at := int64(0), int64(0)
	err = db.Each(ctx, s.db.Reads, func(row db.Scanner) (bool, error) {
		var version, made, old int64
		err := row.Scan(&version, &made, &old)
		if old == 1 && err == nil {
			until, at = version, max(at, made)
		}
		return old == 1, err
	}, `SELECT version, at, CASE WHEN at < $2 AND before IS NULL THEN 1 ELSE 0 END FROM journal WHERE calendar_id = $1 ORDER BY version LIMIT $3`,
		id, older.Unix(), pruneRows)
	if err != nil || until == 0 {
		return 0, err
	}
	err = s.transact(ctx, func(t *transaction) error {
		// First, to keep the lock order of all other changes.
		err := t.Run(ctx, `UPDATE calendars SET lines_pruned = $2, lines_pruned_at = CASE WHEN lines_pruned_at > $3 THEN lines_pruned_at ELSE $3 END
			WHERE id = $1 AND lines_pruned < $2`, id, until, at)
		if err != nil {
			return err
		}
		for _, text := range [...]string{
			`DELETE FROM journal_units WHERE calendar_id = $1 AND version <= $2`,
			`DELETE FROM journal_undone WHERE calendar_id = $1 AND version <= $2`,
		} {
			if err := t.Run(ctx, text, id, until); err != nil {
				return err
			}
		}
		dropped, err = t.Exec(ctx, `DELETE FROM journal WHERE calendar_id = $1 AND version <= $2`, id, until)
		return err
	})
	return dropped, err
}

// LinesGone implements [calendar.JournalReader].
func (s objectStore) LinesGone(ctx context.Context, id calendar.CalendarID) (calendar.LinesGone, error) {
	return db.RowOf(ctx, s.db.Reads, func(row db.Scanner) (calendar.LinesGone, error) {
		var version, at int64
		err := row.Scan(&version, &at)
		if version == 0 {
			return calendar.LinesGone{}, err
		}
		return calendar.LinesGone{Version: calendar.Version(version), At: moment(at)}, err
	}, `SELECT COALESCE(MAX(lines_pruned), 0), COALESCE(MAX(lines_pruned_at), 0) FROM calendars WHERE id = $1`, id)
}

// Shrink returns free pages of a SQLite file to the disk, some at a time. A file created by an early version of
// the program keeps its size until it is vacuumed by hand.
func (s *Store) Shrink(ctx context.Context) error {
	if s.db.Engine.Shrink == "" {
		return nil
	}
	for {
		free, err := db.RowOf(ctx, s.db.Reads, db.ScanNumber, s.db.Engine.Free)
		if err != nil || free < leastFree {
			return err
		}
		if err := s.run(ctx, s.db.Engine.Shrink); err != nil {
			return err
		}
		if left, err := db.RowOf(ctx, s.db.Reads, db.ScanNumber, s.db.Engine.Free); err != nil || left >= free {
			return err
		}
	}
}

// leastFree is how many free pages stay in the file for the next writes: 4 MB.
const leastFree = 1000
