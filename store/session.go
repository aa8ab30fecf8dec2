package store

import (
	"context"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// credentialStore holds the secrets with which users sign in: passwords, tokens, sessions, second factors, links for
// choosing a password, and identities at other providers. A change advances its user's credential generation.
type credentialStore struct{ *database }

var sessionColumns = `s.id, s.way, s.agent, s.created, s.seen, s.proven, ` + userColumns.list()

var scanSession = db.ScanInto(func(s *auth.Session) []any {
	return append([]any{&s.ID, &s.Way, &s.Agent, db.Seconds(&s.Created), db.Seconds(&s.Seen), db.Seconds(&s.Proven)},
		userColumns.fields(&s.User)...)
})

// SessionByID implements [auth.Store].
func (s credentialStore) SessionByID(ctx context.Context, id auth.SessionID) (auth.Session, auth.SecretHash, error) {
	var hash auth.SecretHash
	found, err := db.RowOf(ctx, s.db.Reads, db.Beside(scanSession, &hash), `SELECT `+sessionColumns+`, s.hash
		FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.id = $1`, id)
	return found, hash, err
}

// Sessions implements [auth.Store].
func (s credentialStore) Sessions(ctx context.Context, user calendar.UserID) ([]auth.Session, error) {
	return db.RowsOf(ctx, s.db.Reads, scanSession, `SELECT `+sessionColumns+`
		FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.user_id = $1
		ORDER BY s.seen DESC, s.created DESC, s.id`, user)
}

// LastSeen implements [auth.Store].
func (s credentialStore) LastSeen(ctx context.Context) (map[calendar.UserID]time.Time, error) {
	type one struct {
		user calendar.UserID
		seen time.Time
	}
	rows, err := db.RowsOf(ctx, s.db.Reads, db.ScanInto(func(o *one) []any {
		return []any{&o.user, db.Seconds(&o.seen)}
	}), `SELECT user_id, MAX(seen) FROM (SELECT user_id, seen FROM sessions
		UNION ALL SELECT user_id, used FROM tokens WHERE used IS NOT NULL) AS uses GROUP BY user_id`)
	all := make(map[calendar.UserID]time.Time, len(rows))
	for _, row := range rows {
		all[row.user] = row.seen
	}
	return all, err
}

// InsertSession implements [auth.Store].
func (s credentialStore) InsertSession(ctx context.Context, n auth.Session, h auth.SecretHash) error {
	return db.ExpectRow(s.write(ctx, `INSERT INTO sessions (id, user_id, hash, created, seen, proven, way, agent)
		SELECT $1, id, $3, $4, $5, $6, $7, $8 FROM users WHERE id = $2`,
		n.ID, n.User.ID, h, n.Created.Unix(), n.Seen.Unix(), n.Proven.Unix(), n.Way, n.Agent))
}

// ProveSession implements [auth.Store].
func (s credentialStore) ProveSession(ctx context.Context, id auth.SessionID, at time.Time) error {
	return db.ExpectRow(s.write(ctx, `UPDATE sessions SET proven = $2 WHERE id = $1`, id, at.Unix()))
}

// TouchSession implements [auth.Store].
func (s credentialStore) TouchSession(ctx context.Context, id auth.SessionID, at time.Time) error {
	return s.run(ctx, `UPDATE sessions SET seen = $2 WHERE id = $1 AND seen < $2`, id, at.Unix())
}

// EndSession implements [auth.Store].
func (s credentialStore) EndSession(ctx context.Context, user calendar.UserID, id auth.SessionID) error {
	return db.ExpectRow(s.write(ctx, `DELETE FROM sessions WHERE user_id = $1 AND id = $2`, user, id))
}

// EndSessions implements [auth.Store].
func (s credentialStore) EndSessions(ctx context.Context, user calendar.UserID, but auth.SessionID) error {
	return s.run(ctx, `DELETE FROM sessions WHERE user_id = $1 AND id <> $2`, user, but)
}

var passwordLinkColumns = `v.id, v.kind, v.created, v.expires, ` + userColumns.list()

var scanPasswordLink = db.ScanInto(func(v *auth.PasswordLink) []any {
	return append([]any{&v.ID, &v.Kind, db.Seconds(&v.Created), db.Seconds(&v.Expires)}, userColumns.fields(&v.User)...)
})

// PasswordLinkByID implements [auth.Store].
func (s credentialStore) PasswordLinkByID(
	ctx context.Context, id auth.PasswordLinkID,
) (auth.PasswordLink, auth.SecretHash, error) {
	var hash auth.SecretHash
	found, err := db.RowOf(ctx, s.db.Reads, db.Beside(scanPasswordLink, &hash), `SELECT `+passwordLinkColumns+`, v.hash
		FROM vouchers v JOIN users u ON u.id = v.user_id WHERE v.id = $1`, id)
	return found, hash, err
}

// WaitingLinks implements [auth.Store].
func (s credentialStore) WaitingLinks(ctx context.Context) ([]auth.PasswordLink, error) {
	return db.RowsOf(ctx, s.db.Reads, db.ScanInto(func(v *auth.PasswordLink) []any {
		return []any{&v.User.ID, &v.Kind, db.Seconds(&v.Expires)}
	}), `SELECT user_id, kind, expires FROM vouchers`)
}

// SetPasswordLink implements [auth.Store].
func (s credentialStore) SetPasswordLink(ctx context.Context, v auth.PasswordLink, h auth.SecretHash) error {
	return s.transact(ctx, func(t *transaction) error {
		if err := t.dropVouchers(ctx, v.User.ID); err != nil {
			return err
		}
		return db.ExpectRow(t.Exec(ctx, `INSERT INTO vouchers (id, user_id, hash, kind, created, expires)
			SELECT $1, id, $3, $4, $5, $6 FROM users WHERE id = $2`,
			v.ID, v.User.ID, h, v.Kind, v.Created.Unix(), v.Expires.Unix()))
	})
}

// DropPasswordLinks implements [auth.Store].
func (s credentialStore) DropPasswordLinks(ctx context.Context, user calendar.UserID) error {
	return s.transact(ctx, func(t *transaction) error { return t.dropVouchers(ctx, user) })
}

func (t *transaction) dropVouchers(ctx context.Context, user calendar.UserID) error {
	return t.Run(ctx, `DELETE FROM vouchers WHERE user_id = $1`, user)
}

// Redeem implements [auth.Store].
func (s credentialStore) Redeem(ctx context.Context, id auth.PasswordLinkID, h auth.Hash) error {
	return s.transact(ctx, func(t *transaction) error {
		user, err := db.RowOf(ctx, t, db.ScanOnly[calendar.UserID], `DELETE FROM vouchers WHERE id = $1
			RETURNING user_id`, id)
		if err != nil {
			return err
		}
		if err := t.Run(ctx, `DELETE FROM sessions WHERE user_id = $1`, user); err != nil {
			return err
		}
		return t.setPassword(ctx, user, h)
	})
}

// AnswerAppLogin implements [auth.Store].
func (s credentialStore) AnswerAppLogin(
	ctx context.Context, id string, user calendar.UserID, a auth.AppLoginAnswer, until time.Time,
) error {
	return s.run(ctx, `INSERT INTO app_logins (id, user_id, allowed, for_others, until)
		VALUES ($1, $2, $3, $4, $5)`, id, user, a.Allowed, a.ForOthers, until.Unix())
}

// TakeAppLogin implements [auth.Store].
func (s credentialStore) TakeAppLogin(ctx context.Context, id string, now time.Time) (auth.AllowedApp, error) {
	// Apps ask every few seconds, so a request without an answer must not wait for the writer.
	if _, err := db.RowOf(ctx, s.db.Reads, db.ScanText, `SELECT id FROM app_logins
		WHERE id = $1 AND allowed AND until > $2`, id, now.Unix()); err != nil {
		return auth.AllowedApp{}, err
	}
	var allowed auth.AllowedApp
	err := s.transact(ctx, func(t *transaction) error {
		var user calendar.UserID
		_, err := db.RowOf(ctx, t, func(row db.Scanner) (bool, error) {
			return true, row.Scan(&user, &allowed.ForOthers)
		}, `UPDATE app_logins SET allowed = FALSE WHERE id = $1 AND allowed RETURNING user_id, for_others`, id)
		if err != nil {
			return err
		}
		allowed.User, err = userTx{t}.UserByID(ctx, user)
		return err
	})
	return allowed, err
}
