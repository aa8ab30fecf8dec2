package store

import (
	"context"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

const ofLinks = ` FROM links l JOIN calendars c ON c.id = l.calendar_id JOIN users u ON u.id = c.owner_id `

var showLinks = `SELECT l.id, l.name, l.calendar_id, c.name, c.trashed IS NOT NULL, l.access, l.embed,
	l.created, l.expires, l.used, l.revoked, ` + userColumns.list()

var scanLink = db.ScanInto(func(l *auth.Link) []any {
	return append([]any{
		&l.ID, &l.Name, &l.Calendar, &l.CalendarName, &l.Trashed,
		level{&l.Access},
		&l.Embed,
		db.Seconds(&l.Created),
		db.Seconds(&l.Expires),
		db.Seconds(&l.LastUsed),
		db.Seconds(&l.Revoked),
	}, userColumns.fields(&l.Owner)...)
})

// LinkByID implements [auth.LinkStore].
func (s shareStore) LinkByID(ctx context.Context, id auth.LinkID) (auth.Link, auth.SecretHash, error) {
	var hash auth.SecretHash
	found, err := db.RowOf(ctx, s.db.Brief, db.Beside(scanLink, &hash), showLinks+`,
		l.hash`+ofLinks+`WHERE l.id = $1`, id)
	return found, hash, err
}

// Links implements [auth.LinkStore].
func (s shareStore) Links(ctx context.Context, owner calendar.UserID) ([]auth.Link, error) {
	return db.RowsOf(ctx, s.db.Reads, scanLink, showLinks+ofLinks+`WHERE u.id = $1 OR $1 = ''
		ORDER BY u.name, c.name, l.created, l.id`, owner)
}

// InsertLink implements [auth.LinkStore].
func (s shareStore) InsertLink(ctx context.Context, l auth.Link, h auth.SecretHash) error {
	return db.ExpectRow(s.write(ctx,
		`INSERT INTO links (id, calendar_id, name, access, hash, created, expires, used, revoked, embed)
		SELECT $1, id, $3, $4, $5, $6, $7, $8, $9, $11 FROM calendars
		WHERE id = $2 AND owner_id = $10 AND trashed IS NULL`,
		l.ID, l.Calendar, l.Name, l.Access.Word(), h, l.Created.Unix(),
		unlessZero(l.Expires), unlessZero(l.LastUsed), unlessZero(l.Revoked), l.Owner.ID, l.Embed))
}

// RevokeLink implements [auth.LinkStore].
func (s shareStore) RevokeLink(ctx context.Context, id auth.LinkID, at time.Time) error {
	return db.ExpectRow(s.write(ctx, `UPDATE links SET revoked = COALESCE(revoked, $2) WHERE id = $1`, id, at.Unix()))
}

// EmbedLink implements [auth.LinkStore].
func (s shareStore) EmbedLink(ctx context.Context, id auth.LinkID, embed bool) error {
	return db.ExpectRow(s.write(ctx, `UPDATE links SET embed = $2 WHERE id = $1`, id, embed))
}

// TouchLink implements [auth.LinkStore].
func (s shareStore) TouchLink(ctx context.Context, id auth.LinkID, at time.Time) error {
	return s.run(ctx, `UPDATE links SET used = $2 WHERE id = $1 AND (used IS NULL OR used < $2)`, id, at.Unix())
}
