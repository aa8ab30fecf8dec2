package store

import (
	"context"
	"maps"
	"slices"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

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
