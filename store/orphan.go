package store

import (
	"context"

	"caldav-mcp-server/calendar"
)

// belongings are the large tables of what belongs to a calendar. It goes before its calendar, in statements of its own: on Postgres no
// foreign key takes the objects along.
var belongings = [...]string{"objects", "journal"}

// orphans finds calendars that are gone, of which a table has rows. It goes from calendar to calendar by the index, not from row to row.
func orphans(table string) string {
	return `WITH RECURSIVE seen (id) AS (SELECT MIN(calendar_id) FROM ` + table + `
			UNION ALL SELECT (SELECT MIN(calendar_id) FROM ` + table + ` WHERE calendar_id > seen.id) FROM seen WHERE seen.id IS NOT NULL)
		SELECT id FROM seen WHERE id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM calendars c WHERE c.id = seen.id) LIMIT $1`
}

// takeBelongings takes away what belongs to a calendar whose lock the transaction has.
func (t *Tx) takeBelongings(ctx context.Context, id calendar.CalendarID) error {
	for _, table := range belongings {
		if err := t.run(ctx, `DELETE FROM `+table+` WHERE calendar_id = $1`, id); err != nil {
			return err
		}
	}
	return nil
}

// pruneBelongings takes away what belongs to a calendar that nobody can write to any more, in steps.
func (s *Store) pruneBelongings(ctx context.Context, id calendar.CalendarID) error {
	var ignored int64
	for _, step := range [...]string{
		`DELETE FROM objects WHERE calendar_id = $1 AND name IN (SELECT name FROM objects WHERE calendar_id = $1 LIMIT $2)`,
		`DELETE FROM journal WHERE calendar_id = $1 AND version IN (SELECT version FROM journal WHERE calendar_id = $1 LIMIT $2)`,
	} {
		if err := s.inSteps(ctx, &ignored, step, id, pruneRows); err != nil {
			return err
		}
	}
	return nil
}

// pruneOrphans takes away what a program of before leaves behind when it deletes a user: there the foreign keys did that. Of more than a
// page of calendars the next pruning takes the rest.
func (s *Store) pruneOrphans(ctx context.Context) error {
	for _, table := range belongings {
		ids, err := rowsOf(ctx, s.reads, scanOnly[calendar.CalendarID], orphans(table), pageRows)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := s.pruneBelongings(ctx, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// refuseOrphans refuses rows of calendars that are not there, as foreign keys do.
func (t *Tx) refuseOrphans(ctx context.Context) error {
	for _, table := range belongings {
		ids, err := rowsOf(ctx, t, scanText, orphans(table), 1)
		if err != nil {
			return err
		}
		if len(ids) > 0 {
			return calendar.Errorf(calendar.NotFound, "", "the table %s: it has rows of the calendar %q, which is not there", table, ids[0])
		}
	}
	return nil
}
