package store

import (
	"context"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// CredentialGeneration implements [auth.Store].
func (s *Store) CredentialGeneration(ctx context.Context, of auth.Subject) (int64, error) {
	text, key := `SELECT COALESCE((SELECT credentials FROM users WHERE name = $1), 0)`, of.Name
	if of.Token != "" {
		text, key = `SELECT COALESCE((SELECT u.credentials FROM tokens t JOIN users u ON u.id = t.user_id WHERE t.id = $1), 0)`, string(of.Token)
	}
	return rowOf(s.brief(ctx), s.reads, scanNumber, text, key)
}

// moveGeneration follows the clock, in microseconds, so that after a backup was restored the next change
// does not meet a number that was used before; should the clock go back, the number still grows.
const moveGeneration = `UPDATE users SET credentials = CASE WHEN credentials < $1 THEN $1 ELSE credentials + 1 END`

// boundTo is for the users some of whose tokens are bound to a calendar, and reach one less when it goes.
const boundTo = ` WHERE id IN (SELECT t.user_id FROM tokens t JOIN token_calendars b ON b.token_id = t.id
	JOIN calendars c ON c.id = b.calendar_id WHERE `

// credentialsChanged moves the generation of one user on.
func (t *Tx) credentialsChanged(ctx context.Context, of calendar.UserID) error {
	return t.moveGeneration(ctx, moveGeneration+` WHERE id = $2`, of)
}

// allCredentialsChanged moves everybody's generation on.
func (t *Tx) allCredentialsChanged(ctx context.Context) error {
	return t.moveGeneration(ctx, moveGeneration)
}

func (t *Tx) moveGeneration(ctx context.Context, text string, args ...any) error {
	t.hint.Everything = true
	return t.run(ctx, text, append([]any{t.store.options.Now().UnixMicro()}, args...)...)
}
