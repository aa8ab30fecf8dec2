package store

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
)

// PruneLines forgets the journal's lines that are older than a time and whose bytes are gone, see [Store.Prune]. It runs while the store is used.
func (s *Store) PruneLines(ctx context.Context, older time.Time) error {
	dropped := int64(0)
	defer func() { s.options.Logger.InfoContext(ctx, "pruned the journal", "older", older, "lines", dropped) }()
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

// dropLines forgets the oldest lines of a calendar, some at a time, and what stands beside them. The calendar says so in the same
// transaction: whoever asks for what came since an older one must not take what is left for all.
func (s *Store) dropLines(ctx context.Context, id calendar.CalendarID, older time.Time) (dropped int64, err error) {
	// By version, which is the order of their times: the first that stays ends it.
	until, at := int64(0), int64(0)
	err = each(ctx, s.reads, func(row scanner) (bool, error) {
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
	err = s.transact(ctx, func(t *Tx) error {
		// First, so that the lock order is that of every other change.
		err := t.run(ctx, `UPDATE calendars SET lines_pruned = $2, lines_pruned_at = CASE WHEN lines_pruned_at > $3 THEN lines_pruned_at ELSE $3 END
			WHERE id = $1 AND lines_pruned < $2`, id, until, at)
		if err != nil {
			return err
		}
		for _, text := range [...]string{
			`DELETE FROM journal_units WHERE calendar_id = $1 AND version <= $2`,
			`DELETE FROM journal_undone WHERE calendar_id = $1 AND version <= $2`,
		} {
			if err := t.run(ctx, text, id, until); err != nil {
				return err
			}
		}
		dropped, err = t.exec(ctx, `DELETE FROM journal WHERE calendar_id = $1 AND version <= $2`, id, until)
		return err
	})
	return dropped, err
}

// LinesGone implements [calendar.JournalReader].
func (s *Store) LinesGone(ctx context.Context, id calendar.CalendarID) (calendar.LinesGone, error) {
	return rowOf(ctx, s.reads, func(row scanner) (calendar.LinesGone, error) {
		var version, at int64
		err := row.Scan(&version, &at)
		if version == 0 {
			return calendar.LinesGone{}, err
		}
		return calendar.LinesGone{Version: calendar.Version(version), At: moment(at)}, err
	}, `SELECT COALESCE(MAX(lines_pruned), 0), COALESCE(MAX(lines_pruned_at), 0) FROM calendars WHERE id = $1`, id)
}

// Shrink gives back to the disk what is free in a SQLite file, some at a time. A file that was made by an earlier version keeps what it
// has until it is vacuumed by hand.
func (s *Store) Shrink(ctx context.Context) error {
	if s.engine.shrink == "" {
		return nil
	}
	for {
		free, err := rowOf(ctx, s.reads, scanNumber, s.engine.free)
		if err != nil || free < leastFree {
			return err
		}
		if err := s.run(ctx, s.engine.shrink); err != nil {
			return err
		}
		if left, err := rowOf(ctx, s.reads, scanNumber, s.engine.free); err != nil || left >= free {
			return err
		}
	}
}

// leastFree is how many free pages are left in the file, 4 MB, for what is written next.
const leastFree = 1000
