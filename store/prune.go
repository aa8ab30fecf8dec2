package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// pruned counts the deleted calendars and tombstones, and the bodies: journal texts that were deleted, while
// their lines stay.
type pruned struct{ calendars, tombstones, bodies int64 }

// Prune deletes data from before a time: texts in the journal (its lines stay), tombstones, calendars in the
// trash, records of calendars that left homes, and old notices, mails and messages. It also deletes polls that have
// ended. Sync tokens older than a deleted tombstone are then refused. It runs while the store is in use.
func (s *Store) Prune(ctx context.Context, older time.Time) error {
	var done pruned
	defer func() {
		s.pruned.tombstones.Add(done.tombstones)
		s.pruned.bodies.Add(done.bodies)
		s.db.Options.Logger.InfoContext(ctx, "pruned", "older", older, "calendars", done.calendars,
			"tombstones", done.tombstones, "bodies", done.bodies)
	}()
	if err := s.emptyTrash(ctx, older, &done); err != nil {
		return err
	}
	for _, forget := range [...]func(context.Context, time.Time) error{
		s.pruneHomes, s.pruneSubscriptions, s.pruneDeliveries, s.pruneGrants, s.pruneNotices, s.pruneTold,
		s.pruneInboxes, s.pruneUnverified, s.prunePolls,
	} {
		if err := forget(ctx, older); err != nil {
			return err
		}
	}
	err := s.eachCalendar(ctx, func(id calendar.CalendarID) error { return s.prune(ctx, id, older, &done) })
	if err != nil {
		return err
	}
	return s.pruneToldEvents(ctx)
}

// pruneSubscriptions deletes expired subscriptions; each has its own expiry.
func (s subscriberStore) pruneSubscriptions(ctx context.Context, _ time.Time) error {
	if err := s.run(ctx, `DELETE FROM subscriptions WHERE until <= $1`, s.now()); err != nil {
		return err
	}
	return s.run(ctx, `DELETE FROM push_subscriptions WHERE expires <= $1`, s.now())
}

// prune prunes one calendar.
func (s objectStore) prune(ctx context.Context, id calendar.CalendarID, older time.Time, done *pruned) error {
	kept, err := db.RowOf(ctx, s.db.Reads, db.ScanNumber, `SELECT COALESCE(
		(SELECT version FROM journal WHERE calendar_id = $1 AND at >= $2 ORDER BY version LIMIT 1),
		(SELECT version + 1 FROM calendars WHERE id = $1), 0)`, id, older.Unix())
	if err != nil {
		return err
	}
	// Each step selects its rows first, because not every engine has DELETE … LIMIT.
	err = s.inSteps(ctx, &done.bodies, `UPDATE journal SET before = NULL WHERE calendar_id = $1 AND version IN (
		SELECT version FROM journal WHERE calendar_id = $1 AND version < $2 AND before IS NOT NULL
		LIMIT $3)`, id, kept, pruneRows)
	if err != nil {
		return err
	}
	return s.buryTombstones(ctx, id, kept, done)
}

// buryTombstones deletes the tombstones before a version. The same transaction records that in the calendar, so
// that a client with an older token does not miss a deletion.
func (s objectStore) buryTombstones(ctx context.Context, id calendar.CalendarID, kept int64, done *pruned) error {
	for {
		var dropped int64
		err := s.transact(ctx, func(t *transaction) error {
			var err error
			dropped, err = t.dropTombstones(ctx, id, kept)
			return err
		})
		done.tombstones += dropped
		if err != nil || dropped == 0 {
			return err
		}
	}
}

func (t *transaction) dropTombstones(ctx context.Context, id calendar.CalendarID, kept int64) (int64, error) {
	const some = `SELECT version FROM objects WHERE calendar_id = $1 AND deleted AND version < $2
		ORDER BY version LIMIT $3`
	latest, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COALESCE(MAX(version), 0)
		FROM (`+some+`) AS s`, id, kept, pruneRows)
	if err != nil || latest == 0 {
		return 0, err
	}
	// Before the objects, to keep the lock order of all other changes.
	err = t.Run(ctx, `UPDATE calendars SET pruned = $2 WHERE id = $1 AND pruned < $2`, id, latest)
	if err != nil {
		return 0, err
	}
	if err := t.Run(ctx, ownPartsOfGone, id, latest); err != nil {
		return 0, err
	}
	return t.Exec(ctx, `DELETE FROM objects WHERE calendar_id = $1 AND deleted AND version <= $2`, id, latest)
}

// emptyTrash deletes old calendars for good.
func (s calendarStore) emptyTrash(ctx context.Context, older time.Time, done *pruned) error {
	for {
		ids, err := db.RowsOf(ctx, s.db.Reads, db.ScanText, `SELECT id FROM calendars WHERE trashed < $1
			LIMIT $2`, older.Unix(), pageRows)
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, id := range ids {
			err := s.remove(ctx, id, older.Unix())
			if err == nil {
				done.calendars++
			} else if calendar.ReasonOf(err) != calendar.NotFound { // it was restored meanwhile
				return err
			}
		}
	}
}

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
func (s objectStore) dropLines(
	ctx context.Context, id calendar.CalendarID, older time.Time,
) (dropped int64, err error) {
	// Versions have the order of times, so the first line that stays ends the search.
	until, at := int64(0), int64(0)
	err = db.Each(ctx, s.db.Reads, func(row db.Scanner) (bool, error) {
		var version, made, old int64
		err := row.Scan(&version, &made, &old)
		if old == 1 && err == nil {
			until, at = version, max(at, made)
		}
		return old == 1, err
	}, `SELECT version, at, CASE WHEN at < $2 AND before IS NULL THEN 1 ELSE 0 END FROM journal WHERE calendar_id = $1
		ORDER BY version LIMIT $3`,
		id, older.Unix(), pruneRows)
	if err != nil || until == 0 {
		return 0, err
	}
	err = s.transact(ctx, func(t *transaction) error {
		// First, to keep the lock order of all other changes.
		err := t.Run(ctx, `UPDATE calendars SET lines_pruned = $2, lines_pruned_at = CASE WHEN lines_pruned_at > $3
			THEN lines_pruned_at ELSE $3 END
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

const (
	// historyOf lists the texts in the history of a user's calendars: before changes, and of deleted objects.
	historyOf = ` FROM calendars c JOIN journal j ON j.calendar_id = c.id
		LEFT JOIN objects o ON o.calendar_id = j.calendar_id AND o.version = j.version AND o.deleted
		WHERE c.owner_id = $1 AND j.before IS NOT NULL`
	historyLength = `LENGTH(j.before) + COALESCE(o.size, 0)`
	sumHistory    = `SELECT CAST(COALESCE(SUM(` + historyLength + `), 0) AS BIGINT)` + historyOf
	oldestHistory = `SELECT j.calendar_id, j.version, ` + historyLength + historyOf +
		` ORDER BY j.at, j.calendar_id, j.version`
	dropTexts = `UPDATE journal SET before = NULL WHERE calendar_id = $1 AND version IN (
		SELECT version FROM journal WHERE calendar_id = $1 AND version <= $2 AND before IS NOT NULL LIMIT $3)`
	dropBuried = `UPDATE objects SET data = $4, search = '', summary = '', size = 0
		WHERE calendar_id = $1 AND deleted AND name IN (
			SELECT name FROM objects WHERE calendar_id = $1 AND deleted AND size > 0 AND version <= $2 LIMIT $3)`
)

// TrimHistory implements [calendar.HistoryTrimmer]. Versions have the order of times, so of each calendar's journal the
// beginning loses its texts, as by [Store.Prune].
func (s objectStore) TrimHistory(ctx context.Context, owner calendar.UserID, most int64) error {
	total, err := db.RowOf(ctx, s.db.Reads, db.ScanNumber, sumHistory, owner)
	if err != nil || total <= most {
		return err
	}
	until := map[calendar.CalendarID]int64{}
	err = db.Each(ctx, s.db.Reads, func(row db.Scanner) (bool, error) {
		var id calendar.CalendarID
		var version, length int64
		err := row.Scan(&id, &version, &length)
		until[id], total = version, total-length
		return total > most && err == nil, err
	}, oldestHistory, owner)
	if err != nil {
		return err
	}
	var texts, ignored int64
	for _, id := range slices.Sorted(maps.Keys(until)) {
		if err := s.inSteps(ctx, &texts, dropTexts, id, until[id], pruneRows); err != nil {
			return err
		}
		if err := s.inSteps(ctx, &ignored, dropBuried, id, until[id], pruneRows, []byte{}); err != nil {
			return err
		}
	}
	s.db.Options.Logger.InfoContext(ctx, "trimmed the history of a user with a quota", "user", owner, "bodies", texts)
	return nil
}
