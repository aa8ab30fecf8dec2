package store

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// Begin implements [calendar.Attempts].
func (s serverStore) Begin(ctx context.Context, a calendar.Attempt, abandoned, forgotten time.Time) (is calendar.Attempt, mine bool, err error) {
	err = s.transact(ctx, func(t *transaction) error {
		is, mine = a, true
		if err := t.Run(ctx, `DELETE FROM attempts WHERE user_id = $1 AND at < $2`, a.User, forgotten.Unix()); err != nil {
			return err
		}
		made, err := t.Exec(ctx, `INSERT INTO attempts (user_id, token_id, name, digest, uid, at) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (user_id, token_id, name) DO NOTHING`, a.User, a.Token, a.Name, a.Digest, a.UID, a.At.Unix())
		if err != nil || made == 1 {
			return err
		}
		taken, err := t.Exec(ctx, `UPDATE attempts SET at = $5
			WHERE user_id = $1 AND token_id = $2 AND name = $3 AND digest = $4 AND answer IS NULL AND at < $6`,
			a.User, a.Token, a.Name, a.Digest, a.At.Unix(), abandoned.Unix())
		if err != nil {
			return err
		}
		mine = taken == 1
		is, err = db.RowOf(ctx, t, scanAttempt, attemptQuery, a.User, a.Token, a.Name)
		return err
	})
	return is, mine, err
}

const attemptQuery = `SELECT user_id, token_id, name, digest, uid, answer, at FROM attempts WHERE user_id = $1 AND token_id = $2 AND name = $3`

// Attempt implements [calendar.Attempts].
func (s serverStore) Attempt(ctx context.Context, user calendar.UserID, token calendar.TokenID, name string) (calendar.Attempt, error) {
	return db.RowOf(ctx, s.db.Reads, scanAttempt, attemptQuery, user, token, name)
}

var scanAttempt = db.ScanInto(func(a *calendar.Attempt) []any {
	return []any{&a.User, &a.Token, &a.Name, &a.Digest, &a.UID, &a.Answer, db.Seconds(&a.At)}
})

// Settle implements [calendar.Attempts].
func (s serverStore) Settle(ctx context.Context, a calendar.Attempt) error {
	return s.transact(ctx, func(t *transaction) error {
		text, args := `UPDATE attempts SET answer = $4 WHERE user_id = $1 AND token_id = $2 AND name = $3`, []any{a.User, a.Token, a.Name, a.Answer}
		if a.Answer == nil {
			text, args = `DELETE FROM attempts WHERE user_id = $1 AND token_id = $2 AND name = $3`, args[:3]
		}
		return t.Run(ctx, text, args...)
	})
}
