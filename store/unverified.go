package store

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/store/db"
)

// icalTime is a column of iCalendar times without a zone; an empty text is the zero time.
type icalTime struct{ *ical.Time }

// Scan implements [database/sql.Scanner].
func (t icalTime) Scan(value any) error {
	text, _ := value.(string)
	if text == "" {
		*t.Time = ical.Time{}
		return nil
	}
	var err error
	*t.Time, err = ical.ParseTime(text, "")
	return err
}

var unverifiedColumns = columns[calendar.Unverified]{
	{"name", func(u *calendar.Unverified) any { return &u.Name }},
	{"created", func(u *calendar.Unverified) any { return db.Seconds(&u.Created) }},
	{"method", func(u *calendar.Unverified) any { return &u.Method }},
	{"sender", func(u *calendar.Unverified) any { return &u.From }},
	{"proven", func(u *calendar.Unverified) any { return &u.Proven }},
	{"organizer", func(u *calendar.Unverified) any { return &u.Organizer }},
	{"title", func(u *calendar.Unverified) any { return &u.Title }},
	{"start", func(u *calendar.Unverified) any { return icalTime{&u.Start} }},
	{"why", func(u *calendar.Unverified) any { return &u.Why }},
	{"known", func(u *calendar.Unverified) any { return &u.Known }},
}

// Unverified implements [calendar.Store].
func (s schedulingStore) Unverified(ctx context.Context, user calendar.UserID) ([]calendar.Unverified, error) {
	return db.RowsOf(ctx, s.db.Reads, unverifiedColumns.scan, `SELECT `+unverifiedColumns.list()+` FROM unverified
		WHERE user_id = $1 AND created > $2 ORDER BY created DESC, name LIMIT $3`, user, s.unverifiedSince(), calendar.UnverifiedMost)
}

func (s schedulingStore) unverifiedSince() int64 {
	return s.now() - int64(calendar.UnverifiedFor/time.Second)
}

// PutUnverified implements [calendar.Tx]. Two processes that write at once may exceed the daily bound, but not the bound on rows.
func (t schedulingTx) PutUnverified(ctx context.Context, user calendar.UserID, u calendar.Unverified) error {
	start := ""
	if !u.Start.IsZero() {
		start = u.Start.String()
	}
	today, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM unverified WHERE user_id = $1 AND name <> $2 AND created > $3`,
		user, u.Name, u.Created.Add(-24*time.Hour).Unix())
	if err != nil || today >= calendar.UnverifiedMost {
		return err
	}
	err = t.Run(ctx, `INSERT INTO unverified (user_id, name, created, method, sender, proven, organizer, title, start, why, known)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT (user_id, name) DO UPDATE SET created = excluded.created, method = excluded.method, sender = excluded.sender,
			proven = excluded.proven, organizer = excluded.organizer, title = excluded.title, start = excluded.start,
			why = excluded.why, known = excluded.known`,
		user, u.Name, u.Created.Unix(), u.Method, u.From, u.Proven, u.Organizer, u.Title, start, u.Why, u.Known)
	if err != nil {
		return err
	}
	return t.Run(ctx, `DELETE FROM unverified WHERE user_id = $1 AND name IN (
		SELECT name FROM unverified WHERE user_id = $1 ORDER BY created DESC, name LIMIT 1000 OFFSET $2)`, user, calendar.UnverifiedMost)
}

// DropUnverified implements [calendar.Tx].
func (t schedulingTx) DropUnverified(ctx context.Context, user calendar.UserID, name calendar.ObjectName) error {
	return t.Run(ctx, `DELETE FROM unverified WHERE user_id = $1 AND name = $2`, user, name)
}

// pruneUnverified deletes rows that are no longer shown.
func (s schedulingStore) pruneUnverified(ctx context.Context, _ time.Time) error {
	return s.run(ctx, `DELETE FROM unverified WHERE created <= $1`, s.unverifiedSince())
}
