package store

import (
	"context"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

const (
	// selectUsage has a SELECT for each index of calendars. A calendar that is being removed counts for no
	// user.
	selectUsage = `SELECT COUNT(*) AS calendars, COALESCE(SUM(objects), 0) AS objects, COALESCE(SUM(bytes), 0) AS bytes
		FROM (
		SELECT objects, bytes FROM calendars WHERE owner_id = $1 AND trashed IS NULL
		UNION ALL SELECT objects, bytes FROM calendars WHERE owner_id = $1 AND trashed > ` + leaving + `) AS c`

	selectUsages = `SELECT owner_id, COUNT(*), SUM(objects), SUM(bytes) FROM calendars
		WHERE trashed IS NULL OR trashed > ` + leaving + ` GROUP BY owner_id`

	liveObjects = `(SELECT COUNT(*) FROM objects o WHERE o.calendar_id = calendars.id AND NOT o.deleted)`
	liveBytes   = `((SELECT COALESCE(SUM(o.size), 0) FROM objects o
			WHERE o.calendar_id = calendars.id AND NOT o.deleted)
			+ (SELECT ` + deadBytes + ` FROM calendar_kept k WHERE k.owner = calendars.id AND k.item <> ''))`

	// recount computes the counts from the objects.
	recount = `UPDATE calendars SET objects = ` + liveObjects + `, bytes = ` + liveBytes + ` WHERE id = $1`

	// miscounted finds a calendar whose counts are wrong.
	miscounted = `SELECT id FROM calendars
		WHERE id = $1 AND (objects <> ` + liveObjects + ` OR bytes <> ` + liveBytes + `)`
)

func usageFields(u *calendar.Usage) []any { return []any{&u.Calendars, &u.Objects, &u.Bytes} }

var scanUsage = db.ScanInto(usageFields)

// Usage implements [calendar.UsageReader].
func (s calendarStore) Usage(ctx context.Context, user calendar.UserID) (calendar.Usage, error) {
	if h := prefetchedHomeOf(ctx, user); h != nil {
		return h.usage, nil
	}
	return db.RowOf(ctx, s.db.Brief, scanUsage, selectUsage, user)
}

// Usages implements [calendar.UsageReader].
func (s calendarStore) Usages(ctx context.Context) (map[calendar.UserID]calendar.Usage, error) {
	type owned struct {
		owner calendar.UserID
		usage calendar.Usage
	}
	all, err := db.RowsOf(ctx, s.db.Reads, db.ScanInto(func(o *owned) []any {
		return append([]any{&o.owner}, usageFields(&o.usage)...)
	}), selectUsages)
	by := make(map[calendar.UserID]calendar.Usage, len(all))
	for _, o := range all {
		by[o.owner] = o.usage
	}
	return by, err
}

// Count implements [calendar.UsageKeeper].
func (t calendarTx) Count(ctx context.Context, ids []calendar.CalendarID, grown calendar.Usage) error {
	if len(ids) == 1 {
		return t.Later(ctx, db.Ignore, countOne, ids[0], grown.Objects, grown.Bytes)
	}
	for some := range inLists(t.Of(), ids) {
		if err := t.Later(ctx, db.Ignore, countMany.of(t.Of()),
			append([]any{grown.Objects, grown.Bytes}, some...)...); err != nil {
			return err
		}
	}
	return nil
}

const countOne = `UPDATE calendars SET objects = objects + $2, bytes = bytes + $3 WHERE id = $1`

var countMany = withList(3, `UPDATE calendars SET objects = objects + $1, bytes = bytes + $2 WHERE id§`)

// UsageAlone implements [calendar.UsageKeeper]. It locks the user's row.
func (t calendarTx) UsageAlone(ctx context.Context, user calendar.UserID) (calendar.Usage, error) {
	if err := t.Later(ctx, db.Ignore, `UPDATE users SET created = created WHERE id = $1`, user); err != nil {
		return calendar.Usage{}, err
	}
	return db.RowOf(ctx, t, scanUsage, selectUsage, user)
}

// Recount recomputes the counts of each calendar, one after another: a program older than the counts may have
// written to it. It locks only calendars with wrong counts.
func (s calendarStore) Recount(ctx context.Context) error {
	return s.eachCalendar(ctx, func(id calendar.CalendarID) error {
		wrong, err := db.RowsOf(ctx, s.db.Reads, db.ScanOnly[calendar.CalendarID], miscounted, id)
		if err != nil || len(wrong) == 0 {
			return err
		}
		return s.transact(ctx, func(t *transaction) error {
			// Take the row lock first: on Postgres, the statement that waits for the lock counts with a
			// snapshot from before the wait.
			if err := t.Run(ctx, holdCalendar, id); err != nil {
				return err
			}
			return t.Run(ctx, recount, id)
		})
	})
}
