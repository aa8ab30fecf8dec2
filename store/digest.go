package store

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

var digestColumns = columns[calendar.Digest]{
	{"user_id", func(d *calendar.Digest) any { return &d.User }},
	{"hour", func(d *calendar.Digest) any { return &d.Hour }},
	{"agenda", func(d *calendar.Digest) any { return &d.Agenda }},
	{"changes", func(d *calendar.Digest) any { return &d.Changes }},
	{"posted", func(d *calendar.Digest) any { return &d.Posted }},
	{"due", func(d *calendar.Digest) any { return db.Seconds(&d.Due) }},
}

// Digest implements [calendar.Digests].
func (s schedulingStore) Digest(ctx context.Context, user calendar.UserID) (calendar.Digest, error) {
	d, err := db.RowOrNone(ctx, s.db.Reads, digestColumns.scan, `SELECT `+digestColumns.list()+` FROM digests
		WHERE user_id = $1`, user)
	d.User = user
	return d, err
}

// SetDigest implements [calendar.Digests].
func (s schedulingStore) SetDigest(ctx context.Context, d calendar.Digest) error {
	if !d.Wanted() {
		return s.run(ctx, `DELETE FROM digests WHERE user_id = $1`, d.User)
	}
	return s.run(ctx, `INSERT INTO digests (user_id, hour, agenda, changes, posted, due) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (user_id) DO UPDATE SET hour = excluded.hour, agenda = excluded.agenda, changes = excluded.changes,
		due = excluded.due`,
		d.User, d.Hour, d.Agenda, d.Changes, d.Posted, d.Due.Unix())
}

// DueDigests implements [calendar.Digests].
func (s schedulingStore) DueDigests(ctx context.Context, now time.Time, most int) ([]calendar.Digest, error) {
	return db.RowsOf(ctx, s.db.Reads, digestColumns.scan, `SELECT `+digestColumns.list()+` FROM digests WHERE due <= $1
		ORDER BY due, user_id LIMIT $2`, now.Unix(), most)
}

// PostDigest implements [calendar.Digests].
func (s schedulingStore) PostDigest(
	ctx context.Context, d calendar.Digest, l *calendar.Letter, most calendar.OutboxLimits,
) error {
	return s.transact(ctx, func(t *transaction) error {
		// A digest for a day is sent once, even if the user changes the hour meanwhile.
		moved, err := t.Exec(ctx, `UPDATE digests SET posted = CASE WHEN $2 = '' THEN posted ELSE $2 END, due = $3
			WHERE user_id = $1 AND ($2 = '' OR posted < $2)`, d.User, d.Posted, d.Due.Unix())
		if err != nil || moved == 0 || l == nil {
			return err
		}
		return schedulingTx{t}.Post(ctx, d.User, []calendar.Letter{*l}, most)
	})
}
