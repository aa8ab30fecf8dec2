package store

import (
	"context"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

const (
	ownPart        = `SELECT uid, version, etag, data FROM own_parts WHERE calendar_id = $1 AND user_id = $2 AND uid = $3`
	ownParts       = ` FROM own_parts WHERE calendar_id = $1 AND user_id = $2 AND version > $3 AND ($3 > 0 OR etag <> '') ORDER BY version`
	ownPartsWhole  = `SELECT uid, version, etag, data` + ownParts
	ownPartsHeads  = `SELECT uid, version, etag, NULL` + ownParts
	ownPartsOfGone = `DELETE FROM own_parts WHERE calendar_id = $1
		AND uid IN (SELECT uid FROM objects WHERE calendar_id = $1 AND deleted AND version <= $2)
		AND uid NOT IN (SELECT uid FROM objects WHERE calendar_id = $1 AND NOT deleted AND uid IN (SELECT o.uid FROM own_parts o WHERE o.calendar_id = $1))`
)

var scanOwnPart = db.ScanInto(func(p *calendar.OwnPart) []any { return []any{&p.UID, &p.Version, &p.ETag, &p.Data} })

func ownPartOf(ctx context.Context, q db.Querier, cal calendar.CalendarID, user calendar.UserID, uid calendar.UID) (calendar.OwnPart, error) {
	return db.RowOrNone(ctx, q, scanOwnPart, ownPart, cal, user, uid)
}

// OwnPart implements [calendar.Store].
func (s objectStore) OwnPart(ctx context.Context, cal calendar.CalendarID, user calendar.UserID, uid calendar.UID) (calendar.OwnPart, error) {
	return ownPartOf(ctx, s.db.Brief, cal, user, uid)
}

// OwnParts implements [calendar.Store].
func (s objectStore) OwnParts(ctx context.Context, cal calendar.CalendarID, user calendar.UserID, after calendar.Version, withData bool) ([]calendar.OwnPart, error) {
	text := ownPartsHeads
	if withData {
		text = ownPartsWhole
	}
	return db.RowsOf(ctx, s.db.Lists, scanOwnPart, text, cal, user, after)
}

// OwnPart implements [calendar.Tx].
func (t objectTx) OwnPart(ctx context.Context, cal calendar.CalendarID, user calendar.UserID, uid calendar.UID) (calendar.OwnPart, error) {
	return ownPartOf(ctx, t, cal, user, uid)
}

// PutOwnPart implements [calendar.Tx].
func (t objectTx) PutOwnPart(ctx context.Context, cal calendar.CalendarID, user calendar.UserID, p calendar.OwnPart) (int64, error) {
	t.hint.Calendars = append(t.hint.Calendars, cal)
	version, err := db.RowOf(ctx, t, db.ScanNumber, `UPDATE shares SET own_version = own_version + 1
		WHERE calendar_id = $1 AND user_id = $2 RETURNING own_version`, cal, user)
	if err != nil {
		return 0, err
	}
	err = t.Run(ctx, `INSERT INTO own_parts (calendar_id, user_id, uid, version, etag, data) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (calendar_id, user_id, uid) DO UPDATE SET version = excluded.version, etag = excluded.etag, data = excluded.data`,
		cal, user, p.UID, version, p.ETag, bytesOf(p.Data))
	if err != nil {
		return 0, err
	}
	return db.RowOf(ctx, t, db.ScanNumber, `SELECT COALESCE(SUM(octet_length(data)), 0) FROM own_parts WHERE calendar_id = $1 AND user_id = $2`, cal, user)
}

// CopyOwnParts implements [calendar.Tx].
func (t objectTx) CopyOwnParts(ctx context.Context, cal calendar.CalendarID, from, to calendar.UID, but calendar.UserID) error {
	const who = `SELECT user_id FROM own_parts WHERE calendar_id = $1 AND uid = $2 AND etag <> '' AND user_id <> $3`
	moved, err := t.Exec(ctx, `UPDATE shares SET own_version = own_version + 1 WHERE calendar_id = $1 AND user_id IN (`+who+`)`, cal, from, but)
	if err != nil || moved == 0 {
		return err
	}
	return t.Run(ctx, `INSERT INTO own_parts (calendar_id, user_id, uid, version, etag, data)
		SELECT p.calendar_id, p.user_id, $4, s.own_version, p.etag, p.data
		FROM own_parts p JOIN shares s ON s.calendar_id = p.calendar_id AND s.user_id = p.user_id
		WHERE p.calendar_id = $1 AND p.uid = $2 AND p.etag <> '' AND p.user_id <> $3
		ON CONFLICT (calendar_id, user_id, uid) DO UPDATE SET version = excluded.version, etag = excluded.etag, data = excluded.data`,
		cal, from, but, to)
}
