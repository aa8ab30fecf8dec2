package store

import (
	"context"

	"caldav-mcp-server/calendar"
)

// Log implements [calendar.Tx].
func (t *Tx) Log(ctx context.Context, e calendar.Entry) error {
	return t.later(ctx, ignore, `INSERT INTO journal (calendar_id, version, object, uid, change, at, user_id, token_id, agent, before)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		e.Calendar, e.Version, e.Object, e.UID, e.Change, e.At.Unix(), e.User, e.Token, e.Agent, e.Before)
}
