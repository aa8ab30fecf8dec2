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

var scanOffer = db.ScanInto(func(o *oauth.Offer) []any {
	return []any{
		&o.ID, &o.Digest, &o.Client, &o.User, &o.Redirect, &o.Challenge, &o.Resource, &o.Name, &o.Scopes,
		db.Words(&o.Calendars),
		db.Seconds(&o.GrantExpires),
		db.Seconds(&o.Expires),
		&o.Grant,
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
		if _, err := db.RowOf(ctx, t, db.ScanText, `SELECT id FROM users WHERE id = $1 AND NOT disabled`+t.Of().LockRows, o.User); err != nil {
			return err
		}
		return t.Run(ctx, `INSERT INTO oauth_offers (id, digest, client_id, user_id, redirect, challenge, resource, name, scopes,
				bound, calendars, grant_expires, expires, token_id)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, '')`,
			o.ID, o.Digest, o.Client, o.User, o.Redirect, o.Challenge, o.Resource, o.Name, o.Scopes,
			o.Calendars != nil, strings.Join(ids, " "), unlessZero(o.GrantExpires), o.Expires.Unix())
	})
}

// dropCodes deletes a user's authorization codes that were not exchanged. Exchanged ones stay for a while,
// since a second use revokes the grant.
const dropCodes = `DELETE FROM oauth_offers WHERE user_id = $1 AND token_id = ''`

// Offer implements [oauth.Store].
func (s oauthStore) Offer(ctx context.Context, id auth.SecretID) (oauth.Offer, error) {
	return db.RowOf(ctx, s.db.Reads, scanOffer, `SELECT id, digest, client_id, user_id, redirect, challenge, resource, name, scopes,
		CASE WHEN bound THEN calendars END, grant_expires, expires, token_id FROM oauth_offers WHERE id = $1`, id)
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
