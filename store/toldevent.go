package store

import (
	"context"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

var scanToldEvent = db.ScanInto(func(data *[]byte) []any { return []any{data} })

// ToldEvent implements [calendar.Tx].
func (t schedulingTx) ToldEvent(ctx context.Context, user calendar.UserID, uid calendar.UID) ([]byte, error) {
	return db.RowOrNone(ctx, t, scanToldEvent, `SELECT data FROM told_events WHERE user_id = $1 AND uid = $2`, user, uid)
}

// PutToldEvent implements [calendar.Tx].
func (t schedulingTx) PutToldEvent(ctx context.Context, user calendar.UserID, uid calendar.UID, data []byte) error {
	return t.Run(ctx, `INSERT INTO told_events (user_id, uid, data) VALUES ($1, $2, $3)
		ON CONFLICT (user_id, uid) DO UPDATE SET data = excluded.data`, user, uid, bytesOf(data))
}

// pruneToldEvents deletes events without an object and without a tombstone of the user.
func (s schedulingStore) pruneToldEvents(ctx context.Context) error {
	const orphaned = `NOT EXISTS (SELECT 1 FROM objects o JOIN calendars c ON c.id = o.calendar_id
		WHERE c.owner_id = told_events.user_id AND o.uid = told_events.uid)`
	users, err := db.RowsOf(ctx, s.db.Reads, db.ScanText, `SELECT DISTINCT user_id FROM told_events WHERE `+orphaned)
	if err != nil {
		return err
	}
	for _, user := range users {
		if err := s.run(ctx, `DELETE FROM told_events WHERE user_id = $1 AND `+orphaned, user); err != nil {
			return err
		}
	}
	return nil
}
