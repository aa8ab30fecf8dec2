package store

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// uploadStore holds files that users uploaded to import them.
type uploadStore struct{ *database }

const uploadColumns = `id, user_id, name, size, target, replaces, state, report, created, changed, holder`

var scanUpload = db.ScanInto(func(u *calendar.Upload) []any {
	return []any{
		&u.ID, &u.User, &u.Name, &u.Size, &u.Target, &u.Replace, &u.State, &u.Report, db.Seconds(&u.Created),
		db.Seconds(&u.Changed), &u.Holder,
	}
})

// InsertUpload implements [calendar.Uploads].
func (s uploadStore) InsertUpload(ctx context.Context, u calendar.Upload) error {
	return s.transact(ctx, func(t *transaction) error {
		if err := t.Run(ctx, `DELETE FROM uploads WHERE user_id = $1 AND (state IN ('checked', 'done', 'failed')
			OR state = 'receiving' AND changed < $2)`, u.User, u.Created.Add(-receiveFor).Unix()); err != nil {
			return err
		}
		n, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM uploads WHERE user_id = $1`, u.User)
		if err != nil {
			return err
		}
		if n > 0 {
			return calendar.Errorf(calendar.TooLarge, "", "another file is being imported: wait until that is done")
		}
		return db.ExpectRow(t.Exec(ctx, `INSERT INTO uploads (`+uploadColumns+`, held)
			SELECT $1, id, $3, $4, $5, $6, $7, $8, $9, $10, '', 0 FROM users WHERE id = $2`,
			u.ID, u.User, u.Name, u.Size, u.Target, u.Replace, u.State, u.Report, u.Created.Unix(), u.Changed.Unix()))
	})
}

// receiveFor is longer than any request may take: after it, an upload that is still being received was interrupted.
const receiveFor = 10 * time.Minute

// AddUploadPart implements [calendar.Uploads].
func (s uploadStore) AddUploadPart(ctx context.Context, id calendar.UploadID, number int64, data []byte) error {
	return db.ExpectRow(s.write(ctx, `INSERT INTO upload_parts (upload_id, number, data)
		SELECT id, $2, $3 FROM uploads WHERE id = $1`, id, number, data))
}

// UploadPart implements [calendar.Uploads].
func (s uploadStore) UploadPart(ctx context.Context, id calendar.UploadID, number int64) ([]byte, error) {
	return db.RowOf(ctx, s.db.Reads, db.ScanInto(func(data *[]byte) []any { return []any{data} }),
		`SELECT data FROM upload_parts WHERE upload_id = $1 AND number = $2`, id, number)
}

// Upload implements [calendar.Uploads].
func (s uploadStore) Upload(
	ctx context.Context, user calendar.UserID, id calendar.UploadID,
) (calendar.Upload, error) {
	return db.RowOf(ctx, s.db.Reads, scanUpload, `SELECT `+uploadColumns+` FROM uploads
		WHERE user_id = $1 AND id = $2`, user, id)
}

// UploadsOf implements [calendar.Uploads].
func (s uploadStore) UploadsOf(ctx context.Context, user calendar.UserID) ([]calendar.Upload, error) {
	return db.RowsOf(ctx, s.db.Reads, scanUpload, `SELECT `+uploadColumns+` FROM uploads WHERE user_id = $1
		ORDER BY created DESC, id`, user)
}

// ChangeUpload implements [calendar.Uploads].
func (s uploadStore) ChangeUpload(
	ctx context.Context, u calendar.Upload, from calendar.UploadState, held time.Time,
) error {
	until, holder := int64(0), ""
	if !held.IsZero() {
		until, holder = held.Unix(), u.Holder
	}
	return s.transact(ctx, func(t *transaction) error {
		err := db.ExpectRow(t.Exec(ctx, `UPDATE uploads SET state = $4, report = $5, size = $6, changed = $7, held = $8,
			holder = $9 WHERE id = $1 AND state = $2 AND holder = $3`,
			u.ID, from, u.Holder, u.State, u.Report, u.Size, u.Changed.Unix(), until, holder))
		if err != nil || u.State != calendar.UploadDone && u.State != calendar.UploadFailed {
			return err
		}
		return t.Run(ctx, `DELETE FROM upload_parts WHERE upload_id = $1`, u.ID)
	})
}

// TakeUpload implements [calendar.Uploads].
func (s uploadStore) TakeUpload(
	ctx context.Context, holder string, now, until time.Time,
) (taken calendar.Upload, err error) {
	err = s.transact(ctx, func(t *transaction) error {
		taken, err = db.RowOf(ctx, t, scanUpload, `SELECT `+uploadColumns+` FROM uploads
			WHERE state IN ('checking', 'importing') AND held <= $1 ORDER BY created, id LIMIT 1`+t.Of().LockFree,
			now.Unix())
		if err != nil {
			return err
		}
		taken.Holder = holder
		return t.Run(ctx, `UPDATE uploads SET holder = $2, held = $3 WHERE id = $1`, taken.ID, holder, until.Unix())
	})
	return taken, err
}

// DeleteUpload implements [calendar.Uploads].
func (s uploadStore) DeleteUpload(ctx context.Context, user calendar.UserID, id calendar.UploadID) error {
	return db.ExpectRow(s.write(ctx, `DELETE FROM uploads WHERE user_id = $1 AND id = $2 AND state <> 'importing'`,
		user, id))
}

// PruneUploads implements [calendar.Uploads].
func (s uploadStore) PruneUploads(ctx context.Context, before time.Time) error {
	return s.run(ctx, `DELETE FROM uploads WHERE changed < $1`, before.Unix())
}
