package store

import (
	"context"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// serverStore holds what the server's processes share: settings, certificates, keys, leases and attempts at a call.
type serverStore struct{ *database }

// Setting is a server setting that all processes share. The store does not interpret it.
type Setting struct {
	Name, Value string
	Changed     time.Time
}

// Settings returns the settings that were changed, by name.
func (s serverStore) Settings(ctx context.Context) ([]Setting, error) {
	return db.RowsOf(ctx, s.db.Reads, db.ScanInto(func(o *Setting) []any {
		return []any{&o.Name, &o.Value, db.Seconds(&o.Changed)}
	}), `SELECT name, value, changed FROM server_settings ORDER BY name`)
}

// ChangeSettings sets some settings and resets others, in one transaction. A setting that keeps its value keeps
// the time of its change.
func (s serverStore) ChangeSettings(ctx context.Context, set map[string]string, forget []string) error {
	return s.transact(ctx, func(t *transaction) error {
		for _, name := range slices.Sorted(maps.Keys(set)) {
			err := t.Run(ctx, `INSERT INTO server_settings (name, value, changed) VALUES ($1, $2, $3)
				ON CONFLICT (name) DO UPDATE SET value = excluded.value, changed = excluded.changed
				WHERE server_settings.value <> excluded.value`, name, set[name], s.now())
			if err != nil {
				return err
			}
		}
		for _, name := range slices.Sorted(slices.Values(forget)) { // always in the same order, to avoid a deadlock
			if err := t.Run(ctx, `DELETE FROM server_settings WHERE name = $1`, name); err != nil {
				return err
			}
		}
		return nil
	})
}

// Certificate returns the data that the ACME client stored under a name, and its time; nil if there is none.
func (s serverStore) Certificate(ctx context.Context, name string) (data []byte, changed time.Time, err error) {
	data, err = db.RowOrNone(ctx, s.db.Reads, db.Beside(db.ScanBytes, db.Seconds(&changed)), `SELECT data, changed
		FROM certificates WHERE name = $1`, name)
	return data, changed, err
}

// KeepCertificate stores data under a name.
func (s serverStore) KeepCertificate(ctx context.Context, name string, data []byte) error {
	return s.run(ctx, `INSERT INTO certificates (name, changed, data) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET changed = excluded.changed, data = excluded.data`, name, s.now(), data)
}

// DropCertificate deletes the data under a name.
func (s serverStore) DropCertificate(ctx context.Context, name string) error {
	return s.run(ctx, `DELETE FROM certificates WHERE name = $1`, name)
}

const (
	// secretBytes is the size of the store's secret and of the keys derived from it.
	secretBytes = 32

	selectSecret = `SELECT secret FROM meta WHERE id = 1`
)

// Secret returns a key for one purpose, the same in all processes of the store. The key of one purpose reveals
// nothing about the others. It survives a restore from a backup.
func (s serverStore) Secret(ctx context.Context, purpose string) ([]byte, error) {
	secret, err := db.RowOf(ctx, s.db.Reads, db.ScanBytes, selectSecret)
	if err != nil {
		return nil, fmt.Errorf("reading the store's secret: %w", err)
	}
	if len(secret) == 0 {
		return nil, calendar.Errorf(calendar.Unsupported, "", "the store has no secret yet: migrate it")
	}
	key, err := hkdf.Key(sha256.New, secret, nil, purpose, secretBytes)
	if err != nil {
		return nil, fmt.Errorf("deriving the key for %s: %w", purpose, err)
	}
	return key, nil
}

// makeSecret creates the store's secret if it has none. It reads first, so that most starts of the program
// write nothing.
func (t *transaction) makeSecret(ctx context.Context) error {
	secret, err := db.RowOf(ctx, t, db.ScanBytes, selectSecret)
	if err != nil || len(secret) > 0 {
		return err
	}
	secret = make([]byte, secretBytes)
	_, _ = rand.Read(secret) // never fails, as documented
	return t.Run(ctx, `UPDATE meta SET secret = $1 WHERE id = 1 AND secret IS NULL`, secret)
}

// Lease implements [calendar.Leases].
func (s serverStore) Lease(ctx context.Context, name, holder string, now, until time.Time) (bool, error) {
	given, err := s.write(ctx, `INSERT INTO leases (name, holder, until) VALUES ($1, $2, $4)
		ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
		WHERE leases.holder = excluded.holder OR leases.until <= $3`, name, holder, now.Unix(), until.Unix())
	return given == 1, err
}

// Prolong implements [calendar.Leases].
func (s serverStore) Prolong(ctx context.Context, name, holder string, until time.Time) (bool, error) {
	kept, err := s.write(ctx, `UPDATE leases SET until = $3
		WHERE name = $1 AND holder = $2`, name, holder, until.Unix())
	return kept == 1, err
}

// Release implements [calendar.Leases].
func (s serverStore) Release(ctx context.Context, name, holder string) error {
	return s.run(ctx, `DELETE FROM leases WHERE name = $1 AND holder = $2`, name, holder)
}

// Begin implements [calendar.Attempts].
func (s serverStore) Begin(
	ctx context.Context, a calendar.Attempt, abandoned, forgotten time.Time,
) (is calendar.Attempt, mine bool, err error) {
	err = s.transact(ctx, func(t *transaction) error {
		is, mine = a, true
		if err := t.Run(ctx, `DELETE FROM attempts WHERE user_id = $1 AND at < $2`, a.User,
			forgotten.Unix()); err != nil {
			return err
		}
		made, err := t.Exec(ctx, `INSERT INTO attempts (user_id, token_id, name, digest, uid, at)
			VALUES ($1, $2, $3, $4, $5, $6)
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

const attemptQuery = `SELECT user_id, token_id, name, digest, uid, answer, at FROM attempts
	WHERE user_id = $1 AND token_id = $2 AND name = $3`

// Attempt implements [calendar.Attempts].
func (s serverStore) Attempt(
	ctx context.Context, user calendar.UserID, token calendar.TokenID, name string,
) (calendar.Attempt, error) {
	return db.RowOf(ctx, s.db.Reads, scanAttempt, attemptQuery, user, token, name)
}

var scanAttempt = db.ScanInto(func(a *calendar.Attempt) []any {
	return []any{&a.User, &a.Token, &a.Name, &a.Digest, &a.UID, &a.Answer, db.Seconds(&a.At)}
})

// Settle implements [calendar.Attempts].
func (s serverStore) Settle(ctx context.Context, a calendar.Attempt) error {
	return s.transact(ctx, func(t *transaction) error {
		text, args := `UPDATE attempts SET answer = $4
			WHERE user_id = $1 AND token_id = $2 AND name = $3`, []any{a.User, a.Token, a.Name, a.Answer}
		if a.Answer == nil {
			text, args = `DELETE FROM attempts WHERE user_id = $1 AND token_id = $2 AND name = $3`, args[:3]
		}
		return t.Run(ctx, text, args...)
	})
}
