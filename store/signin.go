package store

import (
	"context"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// Factors implements [auth.Store].
func (s credentialStore) Factors(ctx context.Context, user calendar.UserID) (auth.Factors, error) {
	return db.RowOf(ctx, s.db.Reads, func(row db.Scanner) (auth.Factors, error) {
		var f auth.Factors
		var passwords, codes int
		err := row.Scan(&passwords, &codes, &f.Passkeys, &f.Identities, &f.RecoveryCodes)
		f.Password, f.Codes = passwords > 0, codes > 0
		return f, err
	}, `SELECT (SELECT COUNT(*) FROM credentials WHERE user_id = $1 AND hash <> ''), (SELECT COUNT(*) FROM totps
		WHERE user_id = $1),
		(SELECT COUNT(*) FROM passkeys WHERE user_id = $1), (SELECT COUNT(*) FROM identities WHERE user_id = $1),
		(SELECT COUNT(*) FROM recovery_codes WHERE user_id = $1)`, user)
}

// Spend implements [auth.Store].
func (s credentialStore) Spend(ctx context.Context, name string, until time.Time) error {
	return s.run(ctx, `INSERT INTO spent (name, until) VALUES ($1, $2)`, name, until.Unix())
}

// Tidy implements [auth.Store].
func (s credentialStore) Tidy(ctx context.Context, now, idle time.Time) error {
	for _, old := range [...]struct {
		text  string
		until time.Time
	}{
		{`DELETE FROM sessions WHERE seen <= $1`, idle},
		{`DELETE FROM vouchers WHERE expires <= $1`, now},
		{`DELETE FROM spent WHERE until <= $1`, now},
		{`DELETE FROM app_logins WHERE until <= $1`, now},
	} {
		if err := s.run(ctx, old.text, old.until.Unix()); err != nil {
			return err
		}
	}
	return nil
}

// CodeSecret implements [auth.Store].
func (s credentialStore) CodeSecret(ctx context.Context, user calendar.UserID) ([]byte, error) {
	return db.RowOf(ctx, s.db.Reads, db.ScanBytes, `SELECT secret FROM totps WHERE user_id = $1`, user)
}

// SetCodeSecret implements [auth.Store].
func (s credentialStore) SetCodeSecret(
	ctx context.Context, user calendar.UserID, secret []byte, at time.Time, step int64,
) error {
	return s.changeCredential(ctx, user, `INSERT INTO totps (user_id, secret, created, step) VALUES ($1, $2, $3, $4)
		ON CONFLICT (user_id) DO UPDATE SET secret = excluded.secret, created = excluded.created, step = excluded.step`,
		user, secret, at.Unix(), step)
}

// changeCredential runs a statement that must change a row, and advances the user's generation.
func (s credentialStore) changeCredential(ctx context.Context, user calendar.UserID, text string, args ...any) error {
	return s.transact(ctx, func(t *transaction) error {
		if err := db.ExpectRow(t.Exec(ctx, text, args...)); err != nil {
			return err
		}
		return t.credentialsChanged(ctx, user)
	})
}

// SpendCode implements [auth.Store].
func (s credentialStore) SpendCode(ctx context.Context, user calendar.UserID, step int64) error {
	return db.ExpectRow(s.write(ctx, `UPDATE totps SET step = $2 WHERE user_id = $1 AND step < $2`, user, step))
}

// DropCodeSecret implements [auth.Store].
func (s credentialStore) DropCodeSecret(ctx context.Context, user calendar.UserID) error {
	return s.dropFactors(ctx, user, `DELETE FROM totps WHERE user_id = $1`)
}

// dropFactors runs statements for a user, and deletes the recovery codes with the last second factor.
func (s credentialStore) dropFactors(ctx context.Context, user calendar.UserID, texts ...string) error {
	return s.transact(ctx, func(t *transaction) error {
		for _, text := range texts {
			if err := t.Run(ctx, text, user); err != nil {
				return err
			}
		}
		return t.factorsDropped(ctx, user)
	})
}

func (t *transaction) factorsDropped(ctx context.Context, user calendar.UserID) error {
	err := t.Run(ctx, `DELETE FROM recovery_codes WHERE user_id = $1
		AND NOT EXISTS (SELECT 1 FROM totps f WHERE f.user_id = $1)
		AND NOT EXISTS (SELECT 1 FROM passkeys f WHERE f.user_id = $1)`, user)
	if err != nil {
		return err
	}
	return t.credentialsChanged(ctx, user)
}

// DropFactors implements [auth.Store].
func (s credentialStore) DropFactors(ctx context.Context, user calendar.UserID) error {
	return s.dropFactors(ctx, user, `DELETE FROM totps WHERE user_id = $1`, `DELETE FROM passkeys WHERE user_id = $1`)
}

// SetRecoveryCodes implements [auth.Store].
func (s credentialStore) SetRecoveryCodes(ctx context.Context, user calendar.UserID, codes []auth.SecretHash) error {
	return s.transact(ctx, func(t *transaction) error {
		if err := t.Run(ctx, `DELETE FROM recovery_codes WHERE user_id = $1`, user); err != nil {
			return err
		}
		for _, code := range codes {
			if err := t.Run(ctx, `INSERT INTO recovery_codes (user_id, hash) VALUES ($1, $2)`, user, code); err != nil {
				return err
			}
		}
		return nil
	})
}

// SpendRecoveryCode implements [auth.Store].
func (s credentialStore) SpendRecoveryCode(ctx context.Context, user calendar.UserID, code auth.SecretHash) error {
	return db.ExpectRow(s.write(ctx, `DELETE FROM recovery_codes WHERE user_id = $1 AND hash = $2`, user, code))
}

// Passkeys implements [auth.Store].
func (s credentialStore) Passkeys(ctx context.Context, user calendar.UserID) ([]auth.Passkey, error) {
	return db.RowsOf(ctx, s.db.Reads, db.ScanInto(func(p *auth.Passkey) []any {
		return []any{&p.ID, &p.Name, db.Seconds(&p.Created), db.Seconds(&p.Used), &p.Data}
	}), `SELECT id, name, created, used, data FROM passkeys WHERE user_id = $1 ORDER BY created, id`, user)
}

// InsertPasskey implements [auth.Store].
func (s credentialStore) InsertPasskey(ctx context.Context, user calendar.UserID, p auth.Passkey) error {
	return s.changeCredential(ctx, user, `INSERT INTO passkeys (id, user_id, name, created, data)
		VALUES ($1, $2, $3, $4, $5)`,
		p.ID, user, p.Name, p.Created.Unix(), p.Data)
}

// UsePasskey implements [auth.Store].
func (s credentialStore) UsePasskey(
	ctx context.Context, user calendar.UserID, id auth.PasskeyID, data []byte, at time.Time,
) error {
	return db.ExpectRow(s.write(ctx, `UPDATE passkeys SET data = $3, used = $4 WHERE user_id = $1 AND id = $2`, user,
		id, data, at.Unix()))
}

// DropPasskey implements [auth.Store].
func (s credentialStore) DropPasskey(ctx context.Context, user calendar.UserID, id auth.PasskeyID) error {
	return s.transact(ctx, func(t *transaction) error {
		if err := db.ExpectRow(t.Exec(ctx, `DELETE FROM passkeys WHERE user_id = $1 AND id = $2`, user,
			id)); err != nil {
			return err
		}
		return t.factorsDropped(ctx, user)
	})
}

// PasswordByName implements [auth.Store].
func (s credentialStore) PasswordByName(ctx context.Context, name string) (auth.Credential, error) {
	return db.RowOf(ctx, s.db.Reads, scanPassword, `SELECT COALESCE(c.hash, ''),
		(SELECT COUNT(*) FROM totps f WHERE f.user_id = u.id) + (SELECT COUNT(*) FROM passkeys f WHERE f.user_id = u.id)
		+ (SELECT COUNT(*) FROM identities f WHERE f.user_id = u.id), `+userColumns.list()+`
		FROM users u LEFT JOIN credentials c ON c.user_id = u.id WHERE u.name = $1 AND NOT u.is_group`, name)
}

func scanPassword(row db.Scanner) (auth.Credential, error) {
	var c auth.Credential
	var guards int64
	err := row.Scan(append([]any{&c.Hash, &guards}, userColumns.fields(&c.User)...)...)
	c.Guarded = guards > 0
	return c, err
}

// SetPassword implements [auth.Store].
func (s credentialStore) SetPassword(ctx context.Context, id calendar.UserID, h auth.Hash) error {
	return s.transact(ctx, func(t *transaction) error { return t.setPassword(ctx, id, h) })
}

// setPassword stores a hash; an empty one removes the password. It deletes links for choosing a password: an
// intruder may hold one.
func (t *transaction) setPassword(ctx context.Context, id calendar.UserID, h auth.Hash) error {
	err := t.Run(ctx, `INSERT INTO credentials (user_id, hash, changed) VALUES ($1, $2, $3)
		ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash, changed = excluded.changed`,
		id, h, t.store.now())
	if err != nil {
		return err
	}
	if err := t.dropVouchers(ctx, id); err != nil {
		return err
	}
	// Clients that used the old password must subscribe to push again with the new one.
	if err := t.Run(ctx, `DELETE FROM push_subscriptions WHERE user_id = $1 AND token_id = ''`, id); err != nil {
		return err
	}
	return t.credentialsChanged(ctx, id)
}

// Rehash implements [auth.Store].
func (s credentialStore) Rehash(ctx context.Context, id calendar.UserID, old, next auth.Hash) error {
	return s.run(ctx, `UPDATE credentials SET hash = $3 WHERE user_id = $1 AND hash = $2`, id, old, next)
}

// dropCodes deletes a user's authorization codes that were not exchanged. Exchanged ones stay for a while,
// since a second use revokes the grant.
const dropCodes = `DELETE FROM oauth_offers WHERE user_id = $1 AND token_id = ''`

// UserByIdentity implements [auth.Store].
func (s credentialStore) UserByIdentity(ctx context.Context, issuer, subject string) (calendar.User, error) {
	return db.RowOf(ctx, s.db.Reads, userColumns.scan, `SELECT `+userColumns.list()+`
		FROM identities i JOIN users u ON u.id = i.user_id WHERE i.issuer = $1 AND i.subject = $2`, issuer, subject)
}

// Identities implements [auth.Store].
func (s credentialStore) Identities(ctx context.Context, user calendar.UserID) ([]auth.Identity, error) {
	return db.RowsOf(ctx, s.db.Reads, db.ScanInto(func(i *auth.Identity) []any {
		return []any{&i.Issuer, &i.Subject, &i.Name, db.Seconds(&i.Created)}
	}), `SELECT issuer, subject, name, created FROM identities WHERE user_id = $1
		ORDER BY created, issuer, subject`, user)
}

// InsertIdentity implements [auth.Store].
func (s credentialStore) InsertIdentity(ctx context.Context, user calendar.UserID, i auth.Identity) error {
	return s.changeCredential(ctx, user, `INSERT INTO identities (issuer, subject, user_id, name, created)
		VALUES ($1, $2, $3, $4, $5)`,
		i.Issuer, i.Subject, user, i.Name, i.Created.Unix())
}

// DropIdentity implements [auth.Store].
func (s credentialStore) DropIdentity(ctx context.Context, user calendar.UserID, issuer, subject string) error {
	return s.changeCredential(ctx, user, `DELETE FROM identities WHERE user_id = $1 AND issuer = $2 AND subject = $3`,
		user, issuer, subject)
}
