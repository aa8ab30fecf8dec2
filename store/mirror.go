package store

import (
	"context"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// mirrorTx reads and changes mirrors in a transaction.
type mirrorTx struct{ *transaction }

const selectMirrors = `SELECT m.calendar_id, m.account_id, m.remote, m.cursor_text, m.round, m.whole, m.faults, m.error, m.checked, m.remote_name
	FROM mirrors m JOIN calendars c ON c.id = m.calendar_id WHERE c.trashed IS NULL AND `

var scanMirror = db.ScanInto(func(m *calendar.Mirror) []any {
	return []any{&m.Calendar, &m.Account, &m.Remote, &m.Cursor, &m.Round, &m.Whole, &m.Faults, &m.Error, db.Seconds(&m.Checked), &m.RemoteName}
})

// Mirrors implements [calendar.Accounts].
func (s mirrorStore) Mirrors(ctx context.Context, id calendar.AccountID) ([]calendar.Mirror, error) {
	return db.RowsOf(ctx, s.db.Reads, scanMirror, selectMirrors+`m.account_id = $1 ORDER BY m.calendar_id`, id)
}

// Mirror implements [calendar.Accounts].
func (s mirrorStore) Mirror(ctx context.Context, id calendar.CalendarID) (calendar.Mirror, error) {
	return db.RowOf(ctx, s.db.Reads, scanMirror, selectMirrors+`m.calendar_id = $1`, id)
}

// SetMirrorError implements [calendar.Accounts].
func (s mirrorStore) SetMirrorError(ctx context.Context, id calendar.CalendarID, why string) error {
	return s.run(ctx, `UPDATE mirrors SET error = $2 WHERE calendar_id = $1 AND error <> $2`, id, why)
}

const selectMirrored = `SELECT ref, version, uid, round, fault FROM mirror_objects WHERE calendar_id = $1 `

var mirroredRefs = withList(2, selectMirrored+`AND ref§`)

var scanMirrored = db.ScanInto(func(m *calendar.Mirrored) []any { return []any{&m.Ref, &m.Version, &m.UID, &m.Round, &m.Fault} })

// Mirrored implements [calendar.Accounts].
func (s mirrorStore) Mirrored(ctx context.Context, id calendar.CalendarID, refs []string) (map[string]calendar.Mirrored, error) {
	var all []calendar.Mirrored
	var err error
	if refs == nil {
		all, err = db.RowsOf(ctx, s.db.Reads, scanMirrored, selectMirrored, id)
	} else {
		all, err = asked(ctx, s.db.Reads, refs, scanMirrored, mirroredRefs, id)
	}
	found := make(map[string]calendar.Mirrored, len(all))
	for _, m := range all {
		found[m.Ref] = m
	}
	return found, err
}

// MirroredByUID implements [calendar.Accounts].
func (s mirrorStore) MirroredByUID(ctx context.Context, id calendar.CalendarID, uid calendar.UID) (calendar.Mirrored, error) {
	return db.RowOf(ctx, s.db.Reads, scanMirrored, selectMirrored+`AND uid = $2 ORDER BY ref LIMIT 1`, id, uid)
}

// InsertMirror implements [calendar.Tx].
func (t mirrorTx) InsertMirror(ctx context.Context, m calendar.Mirror, o calendar.Origin) error {
	t.hint.Everything = true
	err := t.Run(ctx, `INSERT INTO mirrors (calendar_id, account_id, remote, cursor_text, round, whole, faults, error, remote_name)
		VALUES ($1, $2, $3, $4, $5, $6, 0, '', $7)`, m.Calendar, m.Account, m.Remote, m.Cursor, m.Round, m.Whole, m.RemoteName)
	if err != nil {
		return taken(err, "", "this is linked already")
	}
	return t.SetOrigin(ctx, m.Calendar, o)
}

// SetOrigin implements [calendar.Tx].
func (t mirrorTx) SetOrigin(ctx context.Context, id calendar.CalendarID, o calendar.Origin) error {
	t.hint.Everything = true
	return db.ExpectRow(t.Exec(ctx, `UPDATE calendars SET origin = $2, origin_writable = $3 WHERE id = $1`, id, o.From, o.Writable))
}

// PutMirror implements [calendar.Tx].
func (t mirrorTx) PutMirror(ctx context.Context, m calendar.Mirror) error {
	return db.ExpectRow(t.Exec(ctx, `UPDATE mirrors SET cursor_text = $2, round = $3, whole = $4, faults = $5, error = $6, checked = $7 WHERE calendar_id = $1`,
		m.Calendar, m.Cursor, m.Round, m.Whole, m.Faults, m.Error, unlessZero(m.Checked)))
}

// SetRemoteName implements [calendar.Tx].
func (t mirrorTx) SetRemoteName(ctx context.Context, id calendar.CalendarID, name string) error {
	return db.ExpectRow(t.Exec(ctx, `UPDATE mirrors SET remote_name = $2 WHERE calendar_id = $1`, id, name))
}

// PutMirrored implements [calendar.Tx].
func (t mirrorTx) PutMirrored(ctx context.Context, id calendar.CalendarID, m calendar.Mirrored) error {
	err := t.Later(ctx, db.Ignore, `DELETE FROM mirror_objects WHERE calendar_id = $1 AND uid = $2 AND ref <> $3`, id, m.UID, m.Ref)
	if err != nil {
		return err
	}
	return t.Later(ctx, db.Ignore, `INSERT INTO mirror_objects (calendar_id, ref, uid, version, round, fault) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (calendar_id, ref) DO UPDATE SET uid = excluded.uid, version = excluded.version, round = excluded.round, fault = excluded.fault`,
		id, m.Ref, m.UID, m.Version, m.Round, m.Fault)
}

// DropMirrored implements [calendar.Tx].
func (t mirrorTx) DropMirrored(ctx context.Context, id calendar.CalendarID, ref string) error {
	return t.Later(ctx, db.Ignore, `DELETE FROM mirror_objects WHERE calendar_id = $1 AND ref = $2`, id, ref)
}

// MirroredBefore implements [calendar.Tx].
func (t mirrorTx) MirroredBefore(ctx context.Context, id calendar.CalendarID, round int64, most int) ([]calendar.Mirrored, error) {
	return db.RowsOf(ctx, t, scanMirrored, selectMirrored+`AND round < $2 ORDER BY ref LIMIT $3`, id, round, most)
}

// MirrorFaults implements [calendar.Tx].
func (t mirrorTx) MirrorFaults(ctx context.Context, id calendar.CalendarID) (int64, error) {
	return db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM mirror_objects WHERE calendar_id = $1 AND fault <> ''`, id)
}
