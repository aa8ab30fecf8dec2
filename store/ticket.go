package store

import (
	"context"
	"slices"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oauth"
	"caldav-mcp-server/store/db"
)

const ticketColumns = `k.id, k.digest, k.token_id, k.use, k.scopes, k.created, k.expires, k.used, k.parent, u.disabled OR u.place <> '',
	EXISTS (SELECT 1 FROM oauth_tickets r WHERE k.parent <> '' AND r.token_id = k.token_id AND r.use = k.use
		AND r.parent = k.parent AND r.id <> k.id AND r.used IS NOT NULL), `

var scanTicket = db.ScanInto(func(k *oauth.Ticket) []any {
	return []any{&k.ID, &k.Digest, &k.Grant, &k.Use, &k.Scopes, db.Seconds(&k.Created), db.Seconds(&k.Expires), db.Seconds(&k.Used), &k.Parent, &k.Disabled, &k.Rival}
})

// Ticket implements [oauth.Store].
func (s oauthStore) Ticket(ctx context.Context, id auth.SecretID) (oauth.Ticket, auth.Token, error) {
	var grant auth.Token
	found, err := db.RowOf(ctx, s.db.Reads, db.Beside(scanTicket, tokenColumns.fields(&grant)...), `SELECT `+ticketColumns+tokenColumns.list()+`
		FROM oauth_tickets k JOIN tokens t ON t.id = k.token_id JOIN users u ON u.id = t.user_id WHERE k.id = $1`, id)
	return found, grant, err
}

var scanAccess = db.ScanInto(func(a *auth.Access) []any {
	return slices.Concat([]any{&a.Digest, &a.Scopes, db.Seconds(&a.Expires), &a.Generation}, userColumns.fields(&a.User), tokenColumns.fields(&a.Token))
})

// AccessByID implements [auth.Store].
func (s oauthStore) AccessByID(ctx context.Context, id auth.SecretID) (auth.Access, error) {
	return db.RowOf(ctx, s.db.Brief, scanAccess, `SELECT k.digest, k.scopes, k.expires, u.credentials, `+userColumns.list()+`, `+tokenColumns.list()+`
		FROM oauth_tickets k JOIN tokens t ON t.id = k.token_id JOIN users u ON u.id = t.user_id
		WHERE k.id = $1 AND k.use = 'access'`, id)
}

// Renew implements [oauth.Store].
func (s oauthStore) Renew(ctx context.Context, k oauth.Ticket, at time.Time, next oauth.Pair) error {
	return s.transact(ctx, func(t *transaction) error {
		noted, err := t.Exec(ctx, `UPDATE oauth_tickets SET used = COALESCE(used, $2) WHERE id = $1 AND COALESCE(used, 0) = $3`,
			k.ID, at.Unix(), unixOrZero(k.Used))
		if err != nil {
			return err
		}
		if noted == 0 {
			return t.why(ctx, `SELECT COUNT(*) FROM oauth_tickets WHERE id = $1`, k.ID)
		}
		if err := t.insertPair(ctx, next); err != nil {
			return err
		}
		return t.Run(ctx, `UPDATE oauth_clients SET used = $2 WHERE id = (SELECT client FROM tokens WHERE id = $1)`, k.Grant, at.Unix())
	})
}

func unixOrZero(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// insertPair stores two tokens, and deletes the grant's expired and excess ones.
func (t *transaction) insertPair(ctx context.Context, p oauth.Pair) error {
	for _, k := range [...]oauth.Ticket{p.Access, p.Refresh} {
		err := t.Run(ctx, `INSERT INTO oauth_tickets (id, digest, token_id, use, scopes, created, expires, used, parent)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			k.ID, k.Digest, k.Grant, k.Use, k.Scopes, k.Created.Unix(), k.Expires.Unix(), unlessZero(k.Used), k.Parent)
		if err != nil {
			return err
		}
		err = t.Run(ctx, `DELETE FROM oauth_tickets WHERE token_id = $1 AND use = $2 AND id <> $5 AND (expires <= $3 OR id NOT IN (
			SELECT id FROM oauth_tickets WHERE token_id = $1 AND use = $2 ORDER BY created DESC, id LIMIT $4))`,
			k.Grant, k.Use, k.Created.Unix(), oauth.Tickets, k.ID)
		if err != nil {
			return err
		}
	}
	return nil
}

// DropTicket implements [oauth.Store].
func (s oauthStore) DropTicket(ctx context.Context, id auth.SecretID) error {
	return s.run(ctx, `DELETE FROM oauth_tickets WHERE id = $1`, id)
}

// pruneGrants revokes grants that their clients can no longer use, and deletes expired codes and tokens. An
// exchanged refresh token is kept until it would have expired: using it again reveals a theft.
func (s oauthStore) pruneGrants(ctx context.Context, _ time.Time) error {
	return s.transact(ctx, func(t *transaction) error {
		now := s.now()
		for _, text := range [...]string{
			`DELETE FROM oauth_offers WHERE expires <= $1`,
			`DELETE FROM oauth_tickets WHERE expires <= $1`,
		} {
			if err := t.Run(ctx, text, now); err != nil {
				return err
			}
		}
		ended, err := t.Exec(ctx, `UPDATE tokens SET revoked = $1 WHERE client <> '' AND revoked IS NULL AND NOT EXISTS (
			SELECT 1 FROM oauth_tickets k WHERE k.token_id = tokens.id AND k.used IS NULL)`, now)
		if err != nil || ended == 0 {
			return err
		}
		return t.moveGeneration(ctx, moveGeneration+` WHERE id IN (SELECT user_id FROM tokens WHERE client <> '' AND revoked = $2)`, now)
	})
}
