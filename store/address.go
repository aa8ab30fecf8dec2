package store

import (
	"context"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// Addresses implements [auth.Store].
func (s userStore) Addresses(ctx context.Context, user calendar.UserID) ([]auth.Address, error) {
	return db.RowsOf(ctx, s.db.Reads, db.ScanInto(func(a *auth.Address) []any {
		return []any{&a.Text, db.Seconds(&a.Created), db.Seconds(&a.Verified)}
	}), `SELECT address, created, verified FROM addresses WHERE user_id = $1 ORDER BY address`, user)
}

// InsertAddress implements [auth.Store].
func (s userStore) InsertAddress(ctx context.Context, user calendar.UserID, a auth.Address) error {
	return s.run(ctx, `INSERT INTO addresses (user_id, address, created, verified) VALUES ($1, $2, $3, $4)`,
		user, a.Text, a.Created.Unix(), unlessZero(a.Verified))
}

// VerifyAddress implements [auth.Store]. The table's unique index lets only one user verify an address.
func (s userStore) VerifyAddress(ctx context.Context, user calendar.UserID, address string, at time.Time) error {
	return s.transact(ctx, func(t *transaction) error {
		others, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM users WHERE lower(email) = $1 AND id <> $2`, address, user)
		if err != nil {
			return err
		}
		if others > 0 {
			return calendar.Errorf(calendar.Exists, "", "the address is another user's")
		}
		return db.ExpectRow(t.Exec(ctx, `UPDATE addresses SET verified = COALESCE(verified, $3) WHERE user_id = $1 AND address = $2`,
			user, address, at.Unix()))
	})
}

// DropAddress implements [auth.Store].
func (s userStore) DropAddress(ctx context.Context, user calendar.UserID, address string) error {
	return db.ExpectRow(s.write(ctx, `DELETE FROM addresses WHERE user_id = $1 AND address = $2`, user, address))
}

// SwapAddress implements [auth.Store]. Remembered credentials hold the main address, so they are dropped.
func (s userStore) SwapAddress(ctx context.Context, user calendar.UserID, address string, at time.Time) error {
	return s.transact(ctx, func(t *transaction) error {
		err := db.ExpectRow(t.Exec(ctx, `DELETE FROM addresses WHERE user_id = $1 AND address = $2 AND verified IS NOT NULL`, user, address))
		if err != nil {
			return err
		}
		err = t.Run(ctx, `INSERT INTO addresses (user_id, address, created, verified)
			SELECT id, lower(email), $2, $2 FROM users WHERE id = $1 AND email <> ''
			ON CONFLICT (user_id, address) DO UPDATE SET verified = excluded.verified`, user, at.Unix())
		if err != nil {
			return err
		}
		if err := t.Run(ctx, `UPDATE users SET email = $2 WHERE id = $1`, user, address); err != nil {
			return err
		}
		return t.credentialsChanged(ctx, user)
	})
}
