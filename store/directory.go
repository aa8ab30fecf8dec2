package store

import (
	"context"

	"caldav-mcp-server/calendar"
)

// selectAcquaintances has a half for each direction, so that an index answers either.
const selectAcquaintances = `SELECT c.id, ` + userColumns + `
	FROM calendars c JOIN shares s ON s.calendar_id = c.id JOIN users u ON u.id = s.user_id
	WHERE c.owner_id = $1 AND c.trashed IS NULL
	UNION ALL SELECT c.id, ` + userColumns + `
	FROM shares s JOIN calendars c ON c.id = s.calendar_id JOIN users u ON u.id = c.owner_id
	WHERE s.user_id = $1 AND c.trashed IS NULL
	ORDER BY 3, 1`

// Acquaintances implements [calendar.Store].
func (s *Store) Acquaintances(ctx context.Context, user calendar.UserID) ([]calendar.Acquaintance, error) {
	return rowsOf(ctx, s.reads, scanAcquaintance, selectAcquaintances, user)
}

func scanAcquaintance(row scanner) (calendar.Acquaintance, error) {
	var a calendar.Acquaintance
	var created int64
	err := row.Scan(append([]any{&a.Calendar}, userFields(&a.User, &created)...)...)
	a.User.Created = moment(created)
	return a, err
}
