package store

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// boxMost is the most notices in a box that need no answer; the oldest is removed first.
const boxMost = 500

func scanNotice(row db.Scanner) (calendar.Notice, error) {
	var n calendar.Notice
	var data string
	err := row.Scan(&n.Name, &n.Version, db.Seconds(&n.Created), &n.Waits, &n.Gone, &data)
	if !n.Gone {
		n.Data = []byte(data)
	}
	return n, err
}

// Notices implements [calendar.Store]. If the box changes between the two reads, the notices are newer than the
// version, and the client gets them twice.
func (s shareStore) Notices(ctx context.Context, user calendar.UserID) (calendar.Box[calendar.Notice], error) {
	box, err := s.NoticeState(ctx, user)
	if err != nil || box.Version == 0 {
		return box, err
	}
	box.Items, err = db.RowsOf(ctx, s.db.Reads, scanNotice, `SELECT name, version, created, waits,
		gone IS NOT NULL, data
		FROM notices WHERE user_id = $1 ORDER BY name`, user)
	return box, err
}

// NoticeState implements [calendar.Store].
func (s shareStore) NoticeState(ctx context.Context, user calendar.UserID) (calendar.Box[calendar.Notice], error) {
	return db.RowOrNone(ctx, s.db.Brief, scanBox[calendar.Notice], `SELECT version, pruned FROM notice_boxes
		WHERE user_id = $1`, user)
}

// openBox locks a user's box, creating it if needed, and returns its next version.
func (t *transaction) openBox(ctx context.Context, user calendar.UserID) (int64, error) {
	return db.RowOf(ctx, t, db.ScanNumber, `INSERT INTO notice_boxes (user_id, version, pruned) VALUES ($1, 1, 0)
		ON CONFLICT (user_id) DO UPDATE SET version = notice_boxes.version + 1 RETURNING version`, user)
}

// PutNotice implements [calendar.Tx].
func (t shareTx) PutNotice(ctx context.Context, user calendar.UserID, n calendar.Notice) error {
	version, err := t.openBox(ctx, user)
	if err != nil {
		return err
	}
	err = t.Run(ctx, `INSERT INTO notices (user_id, name, version, created, waits, gone, data)
		VALUES ($1, $2, $3, $4, $5, NULL, $6)
		ON CONFLICT (user_id, name) DO UPDATE SET version = excluded.version, created = excluded.created,
			waits = excluded.waits, gone = NULL, data = excluded.data`,
		user, n.Name, version, n.Created.Unix(), n.Waits, string(n.Data))
	if err != nil {
		return err
	}
	// Notices that wait for an answer are exempt: the sharer's limits bound them.
	return t.Run(ctx, `UPDATE notices SET version = $2, gone = $3, data = ''
		WHERE user_id = $1 AND gone IS NULL AND name IN (
		SELECT name FROM notices WHERE user_id = $1 AND gone IS NULL AND NOT waits ORDER BY version DESC
		LIMIT 10000 OFFSET $4)`,
		user, version, t.store.now(), boxMost)
}

// DropNotice implements [calendar.Tx].
func (t shareTx) DropNotice(ctx context.Context, user calendar.UserID, name calendar.NoticeName) error {
	there, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM notices
		WHERE user_id = $1 AND name = $2 AND gone IS NULL`, user, name)
	if err != nil || there == 0 {
		return err
	}
	version, err := t.openBox(ctx, user)
	if err != nil {
		return err
	}
	return t.Run(ctx, `UPDATE notices SET version = $3, gone = $4, waits = FALSE, data = ''
		WHERE user_id = $1 AND name = $2 AND gone IS NULL`, user, name, version, t.store.now())
}

// pruneNotices deletes old tombstones and old notices, but keeps notices that wait for an answer. Older sync
// tokens are then refused.
func (s shareStore) pruneNotices(ctx context.Context, older time.Time) error {
	const old = `(gone < $1 OR gone IS NULL AND NOT waits AND created < $1)`
	return s.transact(ctx, func(t *transaction) error {
		err := t.Run(ctx, `UPDATE notice_boxes SET version = version + 1, pruned = version + 1
			WHERE user_id IN (SELECT user_id FROM notices WHERE `+old+`)`, older.Unix())
		if err != nil {
			return err
		}
		return t.Run(ctx, `DELETE FROM notices WHERE `+old, older.Unix())
	})
}

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
