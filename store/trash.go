package store

import (
	"context"
	"iter"
	"math"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// leaving is the value of the column trashed while a calendar is being removed. Zero is earlier than all times,
// so the next pruning resumes an interrupted removal.
const leaving = "0"

// TrashedCalendars implements [calendar.Store].
func (s calendarStore) TrashedCalendars(
	ctx context.Context, owner calendar.UserID,
) ([]calendar.TrashedCalendar, error) {
	return db.RowsOf(ctx, s.db.Reads, scanTrashed, `SELECT `+packedCalendar.selected+`, trashed,
			(SELECT COUNT(*) FROM objects o WHERE o.calendar_id = calendars.id AND NOT o.deleted)
		FROM calendars WHERE owner_id = $1 AND trashed > `+leaving+` ORDER BY trashed DESC, id`, owner)
}

func scanTrashed(row db.Scanner) (calendar.TrashedCalendar, error) {
	var packed string
	var t calendar.TrashedCalendar
	err := row.Scan(&packed, db.Seconds(&t.Trashed), &t.Objects)
	if err != nil {
		return t, err
	}
	t.Calendar, err = unpackCalendar(packed)
	t.Access = calendar.OwnerAccess
	return t, err
}

// UntrashCalendar implements [calendar.Tx].
func (t calendarTx) UntrashCalendar(ctx context.Context, id calendar.CalendarID, segment calendar.Segment) error {
	t.hint.Everything = true
	err := db.ExpectRow(t.Exec(ctx, `UPDATE calendars SET trashed = NULL, segment = $2, edition = edition + 1
		WHERE id = $1 AND trashed > `+leaving, id, segment))
	return taken(err, calendar.RuleResourceMustBeNil, "a calendar has this address already")
}

var (
	// selectDeletions finds deletions, only the last one of each object. It omits objects that were moved: a
	// unit adds their UID to another calendar. A move onto an existing object is journaled as a change of that
	// object. If the calendar's owner cannot see the other calendar, the object counts as deleted; otherwise a
	// sharee could take it away for good.
	selectDeletions = selectWithBefore + `WHERE j.calendar_id = $1 AND j.change = 'deleted' AND j.before IS NOT NULL
		AND j.object <> ''
		AND NOT EXISTS (SELECT 1 FROM journal k WHERE k.calendar_id = j.calendar_id AND k.uid = j.uid
			AND k.change = 'deleted' AND k.before IS NOT NULL AND k.version > j.version)
		AND NOT EXISTS (SELECT 1 FROM (` + restOfUnit + `) AS u
			JOIN journal m ON m.calendar_id = u.calendar_id AND m.version = u.version
			JOIN calendars t ON t.id = m.calendar_id
			JOIN calendars f ON f.id = j.calendar_id
			WHERE m.uid = j.uid AND m.change <> 'deleted' AND (t.owner_id = f.owner_id
				OR EXISTS (SELECT 1 FROM shares s WHERE s.calendar_id = t.id AND s.user_id = f.owner_id))) `

	// restOfUnit selects the changes of j's unit in other calendars: its followers if j is the head, or its
	// head and the other followers.
	restOfUnit = `SELECT a.calendar_id, a.version FROM journal_units a
			WHERE a.head_calendar = j.calendar_id AND a.head_version = j.version AND a.calendar_id <> j.calendar_id
		UNION ALL SELECT b.head_calendar, b.head_version FROM journal_units b
			WHERE b.calendar_id = j.calendar_id AND b.version = j.version AND b.head_calendar <> j.calendar_id
		UNION ALL SELECT d.calendar_id, d.version FROM journal_units c
			JOIN journal_units d ON d.head_calendar = c.head_calendar AND d.head_version = c.head_version
			WHERE c.calendar_id = j.calendar_id AND c.version = j.version AND d.calendar_id <> j.calendar_id`

	// listDeletions omits objects that were restored.
	listDeletions = selectDeletions + `AND j.version <= $2
		AND NOT EXISTS (SELECT 1 FROM objects o WHERE o.calendar_id = j.calendar_id AND o.uid = j.uid AND NOT o.deleted)
		ORDER BY j.version DESC LIMIT $3`
)

// Deletions implements [calendar.Store].
func (s calendarStore) Deletions(ctx context.Context, cal calendar.CalendarID) iter.Seq2[calendar.Change, error] {
	return latestFirst(0, firstJournalRows, func(until calendar.Version, most int) ([]calendar.Change, bool, error) {
		return journalPage(ctx, s.db.Reads, most, listDeletions, cal, until, most)
	})
}

// Deletion implements [calendar.Store].
func (s calendarStore) Deletion(
	ctx context.Context, cal calendar.CalendarID, uid calendar.UID,
) (calendar.Change, error) {
	return db.RowOf(ctx, s.db.Reads, scanWithBefore(ctx, s.db.Reads), selectDeletions+`AND j.uid = $2`, cal, uid)
}

// ForgetCalendar implements [calendar.Store].
func (s calendarStore) ForgetCalendar(ctx context.Context, id calendar.CalendarID) error {
	return s.remove(ctx, string(id), math.MaxInt64)
}

// ForgetDeletions implements [calendar.Store]. Tombstones stay for sync, without texts and search words. The
// condition on deleted is there twice: on Postgres an object may be restored meanwhile, and after the wait for
// the row only the outer condition is checked again.
func (s calendarStore) ForgetDeletions(ctx context.Context, cal calendar.CalendarID) error {
	var ignored int64
	err := s.inSteps(ctx, &ignored, `UPDATE journal SET before = NULL WHERE calendar_id = $1 AND version IN (
		SELECT version FROM journal j WHERE calendar_id = $1 AND before IS NOT NULL AND object <> '' AND NOT EXISTS (
			SELECT 1 FROM objects o WHERE o.calendar_id = j.calendar_id AND o.uid = j.uid AND NOT o.deleted)
			LIMIT $2)`, cal, pruneRows)
	if err != nil {
		return err
	}
	return s.inSteps(ctx, &ignored, `UPDATE objects SET data = $3, search = '', summary = '', size = 0
		WHERE calendar_id = $1 AND deleted AND name IN (
			SELECT name FROM objects WHERE calendar_id = $1 AND deleted AND size > 0
			LIMIT $2)`, cal, pruneRows, []byte{})
}

// remove deletes a calendar that went to the trash before a time, with everything in it: first its objects, in
// steps. It marks the calendar first, so that no user can restore it when a part is already gone. The next
// pruning resumes an interrupted removal.
func (s calendarStore) remove(ctx context.Context, id string, before int64) error {
	if err := db.ExpectRow(s.write(ctx, `UPDATE calendars SET trashed = `+leaving+` WHERE id = $1 AND trashed < $2`,
		id, before)); err != nil {
		return err
	}
	var ignored int64
	for _, step := range [...]string{
		`DELETE FROM objects WHERE calendar_id = $1
			AND name IN (SELECT name FROM objects WHERE calendar_id = $1 LIMIT $2)`,
		`DELETE FROM journal WHERE calendar_id = $1
			AND version IN (SELECT version FROM journal WHERE calendar_id = $1 LIMIT $2)`,
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
