package store

import (
	"context"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// UserByIdentity implements [auth.Store].
func (s credentialStore) UserByIdentity(ctx context.Context, issuer, subject string) (calendar.User, error) {
	return db.RowOf(ctx, s.db.Reads, userColumns.scan, `SELECT `+userColumns.list()+`
		FROM identities i JOIN users u ON u.id = i.user_id WHERE i.issuer = $1 AND i.subject = $2`, issuer, subject)
}

// Identities implements [auth.Store].
func (s credentialStore) Identities(ctx context.Context, user calendar.UserID) ([]auth.Identity, error) {
	return db.RowsOf(ctx, s.db.Reads, db.ScanInto(func(i *auth.Identity) []any {
		return []any{&i.Issuer, &i.Subject, &i.Name, db.Seconds(&i.Created)}
	}), `SELECT issuer, subject, name, created FROM identities WHERE user_id = $1 ORDER BY created, issuer, subject`, user)
}

// InsertIdentity implements [auth.Store].
func (s credentialStore) InsertIdentity(ctx context.Context, user calendar.UserID, i auth.Identity) error {
	return s.changeCredential(ctx, user, `INSERT INTO identities (issuer, subject, user_id, name, created) VALUES ($1, $2, $3, $4, $5)`,
		i.Issuer, i.Subject, user, i.Name, i.Created.Unix())
}

// DropIdentity implements [auth.Store].
func (s credentialStore) DropIdentity(ctx context.Context, user calendar.UserID, issuer, subject string) error {
	return s.changeCredential(ctx, user, `DELETE FROM identities WHERE user_id = $1 AND issuer = $2 AND subject = $3`, user, issuer, subject)
}
