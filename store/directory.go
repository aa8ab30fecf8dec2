package store

import (
	"context"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// selectAcquaintances has a SELECT for each direction, so that an index answers each.
var selectAcquaintances = `SELECT c.id, ` + userColumns.list() + `
	FROM calendars c JOIN invitations i ON i.calendar_id = c.id JOIN users u ON u.id = i.user_id
	WHERE c.owner_id = $1 AND c.trashed IS NULL AND i.status IN ('pending', 'accepted')
	UNION ALL SELECT c.id, ` + userColumns.list() + `
	FROM invitations i JOIN calendars c ON c.id = i.calendar_id JOIN users u ON u.id = c.owner_id
	WHERE i.user_id = $1 AND c.trashed IS NULL AND i.status IN ('pending', 'accepted')
	UNION ALL SELECT c.id, ` + userColumns.list() + `
	FROM shares s JOIN calendars c ON c.id = s.calendar_id JOIN users u ON u.id = c.owner_id
	WHERE s.user_id = $1 AND c.trashed IS NULL AND s.direct = ''
	ORDER BY 3, 1`

// Acquaintances implements [calendar.Store].
func (s userStore) Acquaintances(ctx context.Context, user calendar.UserID) ([]calendar.Acquaintance, error) {
	return db.RowsOf(ctx, s.db.Reads, db.ScanInto(func(a *calendar.Acquaintance) []any {
		return append([]any{&a.Calendar}, userColumns.fields(&a.User)...)
	}), selectAcquaintances, user)
}
