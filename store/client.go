package store

import (
	"context"
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
	return []any{&c.ID, &c.Kind, &c.Name, db.Words(&c.Redirects), &c.Digest, &c.Method, db.Seconds(&c.Created), db.Seconds(&c.Used), db.Seconds(&c.Fresh), &c.Site}
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
		c.ID, c.Kind, c.Name, strings.Join(c.Redirects, " "), c.Digest, c.Method, c.Created.Unix(), unlessZero(c.Used), unlessZero(c.Fresh), c.Site)
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
	WHERE ` + idle + ` AND COALESCE(used, created) < $3 ORDER BY COALESCE(used, created), id LIMIT 1) AND COALESCE(used, created) < $3`

// dropCrowded deletes a client of the site with the most unused clients, unless site $3 would then have more. A
// flood of registrations thus evicts its own clients.
const dropCrowded = `DELETE FROM oauth_clients WHERE used IS NULL AND id IN (SELECT id FROM oauth_clients WHERE ` + idle + ` AND used IS NULL
	AND site = (SELECT site FROM oauth_clients WHERE ` + idle + ` AND used IS NULL GROUP BY site
		HAVING COUNT(*) > 1 + (SELECT COUNT(*) FROM oauth_clients WHERE ` + idle + ` AND used IS NULL AND site = $3)
		ORDER BY COUNT(*) DESC, site LIMIT 1)
	ORDER BY created, id LIMIT 1)`

// crowdTries is how often Crowd looks for an oldest client.
const crowdTries = 3

// DropClient implements [oauth.Store].
func (s oauthStore) DropClient(ctx context.Context, id auth.ClientID, at time.Time) error {
	return s.transact(ctx, func(t *transaction) error {
		err := t.Run(ctx, `UPDATE tokens SET revoked = $2 WHERE client = $1 AND client <> '' AND revoked IS NULL`, id, at.Unix())
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
