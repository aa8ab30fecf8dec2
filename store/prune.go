package store

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// pruneRows is the most rows that one transaction of Prune removes, so that requests do not wait for it.
const pruneRows = 500

// pruned counts the deleted calendars and tombstones, and the bodies: journal texts that were deleted, while
// their lines stay.
type pruned struct{ calendars, tombstones, bodies int64 }

// Prune deletes data from before a time: texts in the journal (its lines stay), tombstones, calendars in the
// trash, records of calendars that left homes, and old notices, mails and messages. Sync tokens older than a
// deleted tombstone are then refused. It runs while the store is in use.
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
		s.pruneHomes, s.pruneSubscriptions, s.pruneDeliveries, s.pruneGrants, s.pruneNotices, s.pruneTold, s.pruneInboxes, s.pruneUnverified,
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

// eachCalendar calls do for one calendar after another, including the trash.
func (s *database) eachCalendar(ctx context.Context, do func(calendar.CalendarID) error) error {
	for last := calendar.CalendarID(""); ; {
		ids, err := db.RowsOf(ctx, s.db.Reads, db.ScanOnly[calendar.CalendarID], `SELECT id FROM calendars WHERE id > $1 ORDER BY id LIMIT $2`, last, pageRows)
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, last = range ids {
			if err := do(last); err != nil {
				return err
			}
		}
	}
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
		SELECT version FROM journal WHERE calendar_id = $1 AND version < $2 AND before IS NOT NULL LIMIT $3)`, id, kept, pruneRows)
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
	const some = `SELECT version FROM objects WHERE calendar_id = $1 AND deleted AND version < $2 ORDER BY version LIMIT $3`
	latest, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COALESCE(MAX(version), 0) FROM (`+some+`) AS s`, id, kept, pruneRows)
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
		ids, err := db.RowsOf(ctx, s.db.Reads, db.ScanText, `SELECT id FROM calendars WHERE trashed < $1 LIMIT $2`, older.Unix(), pageRows)
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

// remove deletes a calendar that went to the trash before a time, with everything in it: first its objects, in
// steps. It marks the calendar first, so that no user can restore it when a part is already gone. The next
// pruning resumes an interrupted removal.
func (s calendarStore) remove(ctx context.Context, id string, before int64) error {
	if err := db.ExpectRow(s.write(ctx, `UPDATE calendars SET trashed = `+leaving+` WHERE id = $1 AND trashed < $2`, id, before)); err != nil {
		return err
	}
	var ignored int64
	for _, step := range [...]string{
		`DELETE FROM objects WHERE calendar_id = $1 AND name IN (SELECT name FROM objects WHERE calendar_id = $1 LIMIT $2)`,
		`DELETE FROM journal WHERE calendar_id = $1 AND version IN (SELECT version FROM journal WHERE calendar_id = $1 LIMIT $2)`,
	} {
		if err := s.inSteps(ctx, &ignored, step, id, pruneRows); err != nil {
			return err
		}
	}
	return s.transact(ctx, func(t *transaction) error {
		if err := t.moveGeneration(ctx, moveGeneration+boundTo+`c.id = $2)`, id); err != nil {
			return err
		}
		return t.Run(ctx, `DELETE FROM calendars WHERE id = $1`, id)
	})
}

// inSteps repeats a statement until it changes no more rows.
func (s *database) inSteps(ctx context.Context, count *int64, text string, args ...any) error {
	for {
		changed, err := s.write(ctx, text, args...)
		*count += changed
		if err != nil || changed == 0 {
			return err
		}
	}
}
