package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oauth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// oauthStore holds OAuth clients and the tickets that they exchange for tokens.
type oauthStore struct{ *database }

const selectClients = `SELECT id, kind, name, redirects, digest, method, created, used, fresh, site FROM oauth_clients `

var scanClient = db.ScanInto(func(c *oauth.Client) []any {
	return []any{
		&c.ID, &c.Kind, &c.Name, db.Words(&c.Redirects), &c.Digest, &c.Method, db.Seconds(&c.Created),
		db.Seconds(&c.Used), db.Seconds(&c.Fresh), &c.Site,
	}
})

// Client implements [oauth.Store].
func (s oauthStore) Client(ctx context.Context, id auth.ClientID) (oauth.Client, error) {
	return db.RowOf(ctx, s.db.Reads, scanClient, selectClients+`WHERE id = $1`, id)
}

// Clients implements [oauth.Store].
func (s oauthStore) Clients(ctx context.Context) ([]oauth.Client, error) {
	return db.RowsOf(ctx, s.db.Reads, scanClient, selectClients+`ORDER BY kind, name, id`)
}

// PutClient implements [oauth.Store].
func (s oauthStore) PutClient(ctx context.Context, c oauth.Client) error {
	return s.run(ctx, `INSERT INTO oauth_clients (id, kind, name, redirects, digest, method, created, used, fresh, site)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, name = excluded.name, redirects = excluded.redirects,
			digest = excluded.digest, method = excluded.method, fresh = excluded.fresh`,
		c.ID, c.Kind, c.Name, strings.Join(c.Redirects, " "), c.Digest, c.Method, c.Created.Unix(), unlessZero(c.Used),
		unlessZero(c.Fresh), c.Site)
}

// idle is a condition on clients of kind $1: none of their grants is valid at time $2.
const idle = `kind = $1 AND NOT EXISTS (SELECT 1 FROM tokens t WHERE t.client = oauth_clients.id AND t.client <> ''
	AND t.revoked IS NULL AND (t.expires IS NULL OR t.expires > $2))`

// Crowd implements [oauth.Store].
func (s oauthStore) Crowd(ctx context.Context, kind oauth.Kind, b oauth.Bounds) error {
	return s.transact(ctx, func(t *transaction) error {
		now := b.Now.Unix()
		err := t.Run(ctx, `DELETE FROM oauth_clients WHERE `+idle+` AND COALESCE(used < $3, created < $4)`,
			kind, now, b.Now.Add(-b.Idle).Unix(), b.Now.Add(-b.Unused).Unix())
		if err != nil {
			return err
		}
		many, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM oauth_clients WHERE `+idle, kind, now)
		if err != nil || many < int64(b.Most) {
			return err
		}
		for range crowdTries {
			gone, err := t.Exec(ctx, dropOldest, kind, now, b.Now.Add(-b.Soon).Unix())
			if err == nil && gone == 0 {
				gone, err = t.Exec(ctx, dropCrowded, kind, now, b.Site)
			}
			if err != nil || gone == 1 {
				return err
			}
		}
		return calendar.Errorf(calendar.Unavailable, "", "there are too many clients")
	})
}

// dropOldest repeats the check of the age on the row itself. On Postgres, the DELETE may have waited for a
// client that just used a grant, which the inner SELECT cannot see. It then deletes nothing, and the next try
// picks another client.
const dropOldest = `DELETE FROM oauth_clients WHERE id IN (SELECT id FROM oauth_clients
	WHERE ` + idle + ` AND COALESCE(used, created) < $3 ORDER BY COALESCE(used, created), id
	LIMIT 1) AND COALESCE(used, created) < $3`

// dropCrowded deletes a client of the site with the most unused clients, unless site $3 would then have more. A
// flood of registrations thus evicts its own clients.
const dropCrowded = `DELETE FROM oauth_clients
	WHERE used IS NULL AND id IN (SELECT id FROM oauth_clients WHERE ` + idle + ` AND used IS NULL
	AND site = (SELECT site FROM oauth_clients WHERE ` + idle + ` AND used IS NULL GROUP BY site
		HAVING COUNT(*) > 1 + (SELECT COUNT(*) FROM oauth_clients WHERE ` + idle + ` AND used IS NULL AND site = $3)
		ORDER BY COUNT(*) DESC, site LIMIT 1)
	ORDER BY created, id LIMIT 1)`

// crowdTries is how often Crowd looks for an oldest client.
const crowdTries = 3

// DropClient implements [oauth.Store].
func (s oauthStore) DropClient(ctx context.Context, id auth.ClientID, at time.Time) error {
	return s.transact(ctx, func(t *transaction) error {
		err := t.Run(ctx, `UPDATE tokens SET revoked = $2
			WHERE client = $1 AND client <> '' AND revoked IS NULL`, id, at.Unix())
		if err != nil {
			return err
		}
		if err := db.ExpectRow(t.Exec(ctx, `DELETE FROM oauth_clients WHERE id = $1`, id)); err != nil {
			return err
		}
		return t.moveGeneration(ctx, moveGeneration+` WHERE id IN (SELECT user_id FROM tokens WHERE client = $2)`, id)
	})
}

// noteClient stores when a client was last used.
func (t *transaction) noteClient(ctx context.Context, id auth.ClientID, at time.Time) error {
	return t.Run(ctx, `UPDATE oauth_clients SET used = $2 WHERE id = $1 AND (used IS NULL OR used < $2)`, id, at.Unix())
}

var scanOffer = db.ScanInto(func(o *oauth.Offer) []any {
	return []any{
		&o.ID, &o.Digest, &o.Client, &o.User, &o.Redirect, &o.Challenge, &o.Resource, &o.Name, &o.Scopes,
		db.Words(&o.Calendars),
		db.Seconds(&o.GrantExpires),
		db.Seconds(&o.Expires),
		&o.ForOthers,
		&o.Grant,
		rightsColumn{&o.Rights},
	}
})

// InsertOffer implements [oauth.Store].
func (s oauthStore) InsertOffer(ctx context.Context, o oauth.Offer, forget time.Time) error {
	ids := make([]string, len(o.Calendars))
	for i, id := range o.Calendars {
		ids[i] = string(id)
	}
	return s.transact(ctx, func(t *transaction) error {
		if err := t.Run(ctx, `DELETE FROM oauth_offers WHERE expires < $1`, forget.Unix()); err != nil {
			return err
		}
		// The lock serializes this with disabling the user: either the code is not created, or disabling
		// deletes it.
		if _, err := db.RowOf(ctx, t, db.ScanText, `SELECT id FROM users
			WHERE id = $1 AND NOT disabled`+t.Of().LockRows, o.User); err != nil {
			return err
		}
		return t.Run(ctx,
			`INSERT INTO oauth_offers (id, digest, client_id, user_id, redirect, challenge, resource, name, scopes,
				bound, calendars, grant_expires, expires, for_others, rights, token_id)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, '')`,
			o.ID, o.Digest, o.Client, o.User, o.Redirect, o.Challenge, o.Resource, o.Name, o.Scopes,
			o.Calendars != nil, strings.Join(ids, " "), unlessZero(o.GrantExpires), o.Expires.Unix(),
			o.ForOthers, o.Rights.String())
	})
}

// Offer implements [oauth.Store].
func (s oauthStore) Offer(ctx context.Context, id auth.SecretID) (oauth.Offer, error) {
	return db.RowOf(ctx, s.db.Reads, scanOffer,
		`SELECT id, digest, client_id, user_id, redirect, challenge, resource, name, scopes,
		CASE WHEN bound THEN calendars END, grant_expires, expires, for_others, token_id, rights
		FROM oauth_offers WHERE id = $1`, id)
}

// TakeUp implements [oauth.Store].
func (s oauthStore) TakeUp(ctx context.Context, id auth.SecretID, grant auth.Token, first oauth.Pair) error {
	return s.transact(ctx, func(t *transaction) error {
		taken, err := t.Exec(ctx, `UPDATE oauth_offers SET token_id = $2 WHERE id = $1 AND token_id = ''`, id, grant.ID)
		if err != nil {
			return err
		}
		if taken == 0 {
			return t.why(ctx, `SELECT COUNT(*) FROM oauth_offers WHERE id = $1`, id)
		}
		if err := t.insertToken(ctx, grant, "", ""); err != nil {
			return err
		}
		if err := t.insertPair(ctx, first); err != nil {
			return err
		}
		return t.noteClient(ctx, grant.Client, grant.Created)
	})
}

// why returns the reason why no row changed: it is gone, or was used before.
func (t *transaction) why(ctx context.Context, count string, id auth.SecretID) error {
	there, err := db.RowOf(ctx, t, db.ScanNumber, count, id)
	if err != nil {
		return err
	}
	if there == 0 {
		return db.ExpectRow(0, nil)
	}
	return calendar.Errorf(calendar.Stale, "", "it was used already")
}

const ticketColumns = `k.id, k.digest, k.token_id, k.use, k.scopes, k.created, k.expires, k.used, k.parent, u.disabled
	OR u.place <> '',
	EXISTS (SELECT 1 FROM oauth_tickets r WHERE k.parent <> '' AND r.token_id = k.token_id AND r.use = k.use
		AND r.parent = k.parent AND r.id <> k.id AND r.used IS NOT NULL), `

var scanTicket = db.ScanInto(func(k *oauth.Ticket) []any {
	return []any{
		&k.ID, &k.Digest, &k.Grant, &k.Use, &k.Scopes, db.Seconds(&k.Created), db.Seconds(&k.Expires),
		db.Seconds(&k.Used), &k.Parent, &k.Disabled, &k.Rival,
	}
})

// Ticket implements [oauth.Store].
func (s oauthStore) Ticket(ctx context.Context, id auth.SecretID) (oauth.Ticket, auth.Token, error) {
	var grant auth.Token
	found, err := db.RowOf(ctx, s.db.Reads, db.Beside(scanTicket, tokenColumns.fields(&grant)...),
		`SELECT `+ticketColumns+tokenColumns.list()+`
		FROM oauth_tickets k JOIN tokens t ON t.id = k.token_id JOIN users u ON u.id = t.user_id WHERE k.id = $1`, id)
	return found, grant, err
}

var scanAccess = db.ScanInto(func(a *auth.Access) []any {
	return slices.Concat([]any{&a.Digest, &a.Scopes, db.Seconds(&a.Expires), &a.Generation},
		userColumns.fields(&a.User), tokenColumns.fields(&a.Token))
})

// AccessByID implements [auth.Store].
func (s oauthStore) AccessByID(ctx context.Context, id auth.SecretID) (auth.Access, error) {
	return db.RowOf(ctx, s.db.Brief, scanAccess,
		`SELECT k.digest, k.scopes, k.expires, u.credentials, `+userColumns.list()+`, `+tokenColumns.list()+`
		FROM oauth_tickets k JOIN tokens t ON t.id = k.token_id JOIN users u ON u.id = t.user_id
		WHERE k.id = $1 AND k.use = 'access'`, id)
}

// Renew implements [oauth.Store].
func (s oauthStore) Renew(ctx context.Context, k oauth.Ticket, at time.Time, next oauth.Pair) error {
	return s.transact(ctx, func(t *transaction) error {
		noted, err := t.Exec(ctx, `UPDATE oauth_tickets SET used = COALESCE(used, $2)
			WHERE id = $1 AND COALESCE(used, 0) = $3`,
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
		return t.Run(ctx, `UPDATE oauth_clients SET used = $2 WHERE id = (SELECT client FROM tokens WHERE id = $1)`,
			k.Grant, at.Unix())
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
		err = t.Run(ctx, `DELETE FROM oauth_tickets
			WHERE token_id = $1 AND use = $2 AND id <> $5 AND (expires <= $3 OR id NOT IN (
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
		ended, err := t.Exec(ctx, `UPDATE tokens SET revoked = $1
			WHERE client <> '' AND revoked IS NULL AND NOT EXISTS (
			SELECT 1 FROM oauth_tickets k WHERE k.token_id = tokens.id AND k.used IS NULL)`, now)
		if err != nil || ended == 0 {
			return err
		}
		return t.moveGeneration(ctx, moveGeneration+`
			WHERE id IN (SELECT user_id FROM tokens WHERE client <> '' AND revoked = $2)`, now)
	})
}
