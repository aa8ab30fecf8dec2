package store

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// mirrorStore holds external accounts and the mirrors of their calendars.
type mirrorStore struct{ *database }

const accountColumns = `id, user_id, provider, name, address, subject, scopes, secret, key_id, every, status, error,
	failures, failing,
	created, checked, listed, due, maker_token, maker, links_new`

const selectAccounts = `SELECT ` + accountColumns + ` FROM linked_accounts `

func scanAccount(row db.Scanner) (calendar.Account, error) {
	var a calendar.Account
	var every int64
	err := row.Scan(&a.ID, &a.Owner, &a.Provider, &a.Name, &a.Address, &a.Subject, &a.Scopes, &a.Secret, &a.Key,
		&every, &a.Status, &a.Error,
		&a.Failures, db.Seconds(&a.Failing), db.Seconds(&a.Created), db.Seconds(&a.Checked), db.Seconds(&a.Listed),
		db.Seconds(&a.Due), &a.Maker.Token, &a.Maker.Agent, &a.LinksNew)
	a.Every = time.Duration(every) * time.Second
	return a, err
}

// InsertAccount implements [calendar.Accounts]. Locking the owner's row makes concurrent calls count one after
// another.
func (s mirrorStore) InsertAccount(ctx context.Context, a calendar.Account, most int) error {
	return s.transact(ctx, func(t *transaction) error {
		if err := db.ExpectRow(t.Exec(ctx, `UPDATE users SET name = name WHERE id = $1`, a.Owner)); err != nil {
			return err
		}
		has, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM linked_accounts WHERE user_id = $1`, a.Owner)
		if err != nil {
			return err
		}
		if has >= int64(most) {
			return calendar.Errorf(calendar.TooLarge, "",
				"you have already linked %d accounts and feeds, the most that are allowed", has)
		}
		return t.Run(ctx, `INSERT INTO linked_accounts (`+accountColumns+`)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)`,
			a.ID, a.Owner, a.Provider, a.Name, a.Address, a.Subject, a.Scopes, a.Secret, a.Key,
			int64(a.Every/time.Second), a.Status, a.Error, a.Failures,
			unlessZero(a.Failing), a.Created.Unix(), unlessZero(a.Checked), unlessZero(a.Listed), a.Due.Unix(),
			a.Maker.Token, a.Maker.Agent, a.LinksNew)
	})
}

// Account implements [calendar.Accounts].
func (s mirrorStore) Account(ctx context.Context, id calendar.AccountID) (calendar.Account, error) {
	return db.RowOf(ctx, s.db.Reads, scanAccount, selectAccounts+`WHERE id = $1`, id)
}

// Accounts implements [calendar.Accounts].
func (s mirrorStore) Accounts(ctx context.Context, owner calendar.UserID) ([]calendar.Account, error) {
	return db.RowsOf(ctx, s.db.Reads, scanAccount, selectAccounts+`WHERE user_id = $1 OR $1 = ''
		ORDER BY created, id`, owner)
}

// dueAccounts takes the first due account of every user before anyone's second. Accounts of disabled users are
// skipped.
var dueAccounts = `WITH turns AS (
		SELECT l.id AS due_id, ROW_NUMBER() OVER (PARTITION BY l.user_id ORDER BY l.due, l.id) AS turn
			FROM linked_accounts l JOIN users u ON u.id = l.user_id AND NOT u.disabled
			WHERE l.due <= $1 AND l.status NOT IN ($3, $4)
	)
	` + selectAccounts + `JOIN turns ON due_id = id ORDER BY turn, due, id LIMIT $2`

// DueAccounts implements [calendar.Accounts].
func (s mirrorStore) DueAccounts(ctx context.Context, now time.Time, most int) ([]calendar.Account, error) {
	return db.RowsOf(ctx, s.db.Reads, scanAccount, dueAccounts,
		now.Unix(), most, calendar.AccountSignIn, calendar.AccountPaused)
}

// SetAccount implements [calendar.Accounts].
func (s mirrorStore) SetAccount(
	ctx context.Context, id calendar.AccountID, e calendar.AccountEdit, due time.Time,
) error {
	return db.ExpectRow(s.write(ctx, `UPDATE linked_accounts
			SET name = COALESCE(NULLIF($2, ''), name), scopes = COALESCE(NULLIF($3, ''), scopes),
			every = COALESCE(NULLIF($4, 0), every), status = $5, error = '', failures = 0, failing = NULL,
			listed = NULL, due = $6, links_new = COALESCE($7, links_new) WHERE id = $1`,
		id, e.Name, e.Scopes, int64(e.Every/time.Second), calendar.AccountGood, due.Unix(), e.LinksNew))
}

// DueAccount implements [calendar.Accounts].
func (s mirrorStore) DueAccount(
	ctx context.Context, id calendar.AccountID, due time.Time,
) (a calendar.Account, err error) {
	err = s.transact(ctx, func(t *transaction) error {
		a, err = db.RowOf(ctx, t, scanAccount, `UPDATE linked_accounts SET due = $2 WHERE id = $1
			RETURNING `+accountColumns, id, due.Unix())
		return err
	})
	return a, err
}

// SetAccountState implements [calendar.Accounts]. It stores the outcome of a run that began with the account as
// began. After an edit by the owner meanwhile, the account stays unlisted, and only a success is stored. After
// a request to run sooner, the earlier due time is kept.
func (s mirrorStore) SetAccountState(ctx context.Context, a, began calendar.Account) (kept bool, err error) {
	changed, err := s.write(ctx, `UPDATE linked_accounts
			SET status = $2, error = $3, failures = $4, failing = $5, checked = $6,
			listed = CASE WHEN due = $9 OR listed = $10 THEN $7 ELSE listed END,
			due = CASE WHEN due = $9 OR due > $8 THEN $8 ELSE due END
		WHERE id = $1 AND (due = $9 OR listed = $10 OR $11)`,
		a.ID, a.Status, a.Error, a.Failures, unlessZero(a.Failing), unlessZero(a.Checked), unlessZero(a.Listed),
		a.Due.Unix(), began.Due.Unix(),
		unlessZero(began.Listed), a.Failures == 0)
	return changed == 1, err
}

// SealAccount implements [calendar.Accounts].
func (s mirrorStore) SealAccount(ctx context.Context, a calendar.Account, before []byte) error {
	return s.transact(ctx, func(t *transaction) error {
		changed, err := t.Exec(ctx, `UPDATE linked_accounts SET secret = $2, key_id = $3, address = $4
			WHERE id = $1 AND secret = $5`,
			a.ID, a.Secret, a.Key, a.Address, before)
		if err != nil || changed == 1 {
			return err
		}
		now, err := db.RowOf(ctx, t, scanAccount, selectAccounts+`WHERE id = $1`, a.ID)
		if err != nil || bytes.Equal(now.Secret, a.Secret) {
			return err
		}
		return calendar.Errorf(calendar.Stale, "", "the account's secret was renewed meanwhile")
	})
}

// DeleteAccount implements [calendar.Accounts].
func (s mirrorStore) DeleteAccount(ctx context.Context, id calendar.AccountID) error {
	return s.transact(ctx, func(t *transaction) error {
		t.hint.Everything = true
		err := t.Run(ctx, `UPDATE calendars SET origin = '', origin_writable = FALSE,
			origin_address = '', origin_own = FALSE, origin_notifier = ''
			WHERE id IN (SELECT calendar_id FROM mirrors WHERE account_id = $1)`, id)
		if err != nil {
			return err
		}
		return db.ExpectRow(t.Exec(ctx, `DELETE FROM linked_accounts WHERE id = $1`, id))
	})
}

// mirrorTx reads and changes mirrors in a transaction.
type mirrorTx struct{ *transaction }

const (
	selectAnyMirrors = `SELECT m.calendar_id, m.account_id, m.remote, m.cursor_text, m.round, m.whole, m.faults,
	m.error, m.checked, m.remote_name, m.doubted
	FROM mirrors m JOIN calendars c ON c.id = m.calendar_id WHERE `
	selectMirrors = selectAnyMirrors + `c.trashed IS NULL AND `
)

var scanMirror = db.ScanInto(func(m *calendar.Mirror) []any {
	return []any{
		&m.Calendar, &m.Account, &m.Remote, &m.Cursor, &m.Round, &m.Whole, &m.Faults, &m.Error,
		db.Seconds(&m.Checked), &m.RemoteName, db.Seconds(&m.Doubted),
	}
})

// Mirrors implements [calendar.Accounts].
func (s mirrorStore) Mirrors(ctx context.Context, id calendar.AccountID) ([]calendar.Mirror, error) {
	return db.RowsOf(ctx, s.db.Reads, scanMirror, selectMirrors+`m.account_id = $1 ORDER BY m.calendar_id`, id)
}

// TrashedMirrors implements [calendar.Accounts].
func (s mirrorStore) TrashedMirrors(ctx context.Context, id calendar.AccountID) ([]calendar.Mirror, error) {
	return db.RowsOf(ctx, s.db.Reads, scanMirror,
		selectAnyMirrors+`c.trashed IS NOT NULL AND m.account_id = $1 ORDER BY m.calendar_id`, id)
}

// ListedCalendars implements [calendar.Accounts].
func (s mirrorStore) ListedCalendars(
	ctx context.Context, id calendar.AccountID,
) ([]calendar.ListedCalendar, error) {
	return db.RowsOf(ctx, s.db.Reads, db.ScanInto(func(l *calendar.ListedCalendar) []any {
		return []any{&l.Remote, &l.Name, &l.Writable, &l.Missing}
	}), `SELECT remote, name, writable, missing FROM listed_calendars WHERE account_id = $1 ORDER BY name, remote`, id)
}

// SetListedCalendars implements [calendar.Accounts].
func (s mirrorStore) SetListedCalendars(
	ctx context.Context, id calendar.AccountID, all []calendar.ListedCalendar, most int,
) error {
	return s.transact(ctx, func(t *transaction) error {
		err := db.ExpectRow(t.Exec(ctx, `UPDATE linked_accounts SET name = name WHERE id = $1`, id))
		if err == nil {
			err = t.Run(ctx, `UPDATE listed_calendars SET missing = TRUE WHERE account_id = $1`, id)
		}
		for _, l := range all {
			if err == nil {
				err = t.Run(ctx, `INSERT INTO listed_calendars (account_id, remote, name, writable, missing)
					VALUES ($1, $2, $3, $4, FALSE) ON CONFLICT (account_id, remote) DO UPDATE
					SET name = excluded.name, writable = excluded.writable, missing = FALSE`,
					id, l.Remote, l.Name, l.Writable)
			}
		}
		if err != nil {
			return err
		}
		return t.Run(ctx, `DELETE FROM listed_calendars WHERE account_id = $1 AND missing
			AND (SELECT COUNT(*) FROM listed_calendars WHERE account_id = $1) > $2`, id, most)
	})
}

// Mirror implements [calendar.Accounts].
func (s mirrorStore) Mirror(ctx context.Context, id calendar.CalendarID) (calendar.Mirror, error) {
	return db.RowOf(ctx, s.db.Reads, scanMirror, selectMirrors+`m.calendar_id = $1`, id)
}

// SetMirrorError implements [calendar.Accounts].
func (s mirrorStore) SetMirrorError(ctx context.Context, id calendar.CalendarID, why string) error {
	return s.run(ctx, `UPDATE mirrors SET error = $2 WHERE calendar_id = $1 AND error <> $2`, id, why)
}

const selectMirrored = `SELECT ref, version, uid, round, fault, unseen FROM mirror_objects WHERE calendar_id = $1 `

var mirroredRefs = withList(2, selectMirrored+`AND ref§`)

var scanMirrored = db.ScanInto(func(m *calendar.Mirrored) []any {
	return []any{&m.Ref, &m.Version, &m.UID, &m.Round, &m.Fault, &m.Unseen}
})

// Mirrored implements [calendar.Accounts].
func (s mirrorStore) Mirrored(
	ctx context.Context, id calendar.CalendarID, refs []string,
) (map[string]calendar.Mirrored, error) {
	var all []calendar.Mirrored
	var err error
	if refs == nil {
		all, err = db.RowsOf(ctx, s.db.Reads, scanMirrored, selectMirrored, id)
	} else {
		all, err = rowsOfList(ctx, s.db.Reads, refs, scanMirrored, mirroredRefs, id)
	}
	found := make(map[string]calendar.Mirrored, len(all))
	for _, m := range all {
		found[m.Ref] = m
	}
	return found, err
}

var mirroredUIDs = withList(2, `SELECT uid FROM mirror_objects WHERE calendar_id = $1 AND uid§`)

// MirroredUIDs implements [calendar.Accounts].
func (s mirrorStore) MirroredUIDs(
	ctx context.Context, id calendar.CalendarID, uids []calendar.UID,
) (map[calendar.UID]bool, error) {
	all, err := rowsOfList(ctx, s.db.Reads, uids, db.ScanText, mirroredUIDs, id)
	found := make(map[calendar.UID]bool, len(all))
	for _, uid := range all {
		found[calendar.UID(uid)] = true
	}
	return found, err
}

// MirrorFaulty implements [calendar.Accounts].
func (s mirrorStore) MirrorFaulty(ctx context.Context, id calendar.CalendarID, most int) ([]calendar.Mirrored, error) {
	return db.RowsOf(ctx, s.db.Reads, scanMirrored, selectMirrored+`AND fault <> '' ORDER BY ref LIMIT $2`, id, most)
}

// MirroredByUID implements [calendar.Accounts].
func (s mirrorStore) MirroredByUID(
	ctx context.Context, id calendar.CalendarID, uid calendar.UID,
) (calendar.Mirrored, error) {
	return db.RowOf(ctx, s.db.Reads, scanMirrored, selectMirrored+`AND uid = $2 ORDER BY ref LIMIT 1`, id, uid)
}

// InsertMirror implements [calendar.Tx].
func (t mirrorTx) InsertMirror(ctx context.Context, m calendar.Mirror, o calendar.Origin) error {
	t.hint.Everything = true
	err := t.Run(ctx,
		`INSERT INTO mirrors (calendar_id, account_id, remote, cursor_text, round, whole, faults, error, remote_name)
		VALUES ($1, $2, $3, $4, $5, $6, 0, '', $7)`, m.Calendar, m.Account, m.Remote, m.Cursor, m.Round,
		m.Whole, m.RemoteName)
	if err != nil {
		return taken(err, "", "this is linked already")
	}
	return t.SetOrigin(ctx, m.Calendar, o)
}

// SetOrigin implements [calendar.Tx].
func (t mirrorTx) SetOrigin(ctx context.Context, id calendar.CalendarID, o calendar.Origin) error {
	t.hint.Everything = true
	return db.ExpectRow(t.Exec(ctx, `UPDATE calendars SET origin = $2, origin_writable = $3,
		origin_address = $4, origin_own = $5, origin_notifier = $6 WHERE id = $1`,
		id, o.From, o.Writable, o.Address, o.Own, o.Notifier))
}

// PutMirror implements [calendar.Tx].
func (t mirrorTx) PutMirror(ctx context.Context, m calendar.Mirror) error {
	return db.ExpectRow(t.Exec(ctx, `UPDATE mirrors
		SET cursor_text = $2, round = $3, whole = $4, faults = $5, error = $6, checked = $7, doubted = $8
		WHERE calendar_id = $1`,
		m.Calendar, m.Cursor, m.Round, m.Whole, m.Faults, m.Error, unlessZero(m.Checked), unlessZero(m.Doubted)))
}

// SetRemoteName implements [calendar.Tx].
func (t mirrorTx) SetRemoteName(ctx context.Context, id calendar.CalendarID, name string) error {
	return db.ExpectRow(t.Exec(ctx, `UPDATE mirrors SET remote_name = $2 WHERE calendar_id = $1`, id, name))
}

// PutMirrored implements [calendar.Tx].
func (t mirrorTx) PutMirrored(ctx context.Context, id calendar.CalendarID, m calendar.Mirrored) error {
	err := t.Later(ctx, db.Ignore, `UPDATE mirror_objects SET uid = $4, fault = $5
		WHERE calendar_id = $1 AND uid = $2 AND ref <> $3`, id, m.UID, m.Ref, m.UID.Twin(),
		fmt.Sprintf("it has the same UID as %s, which is shown instead", m.Ref))
	if err != nil {
		return err
	}
	return t.Later(ctx, db.Ignore, `INSERT INTO mirror_objects (calendar_id, ref, uid, version, round, fault, unseen)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (calendar_id, ref) DO UPDATE
		SET uid = excluded.uid, version = excluded.version, round = excluded.round, fault = excluded.fault,
			unseen = excluded.unseen`,
		id, m.Ref, m.UID, m.Version, m.Round, m.Fault, m.Unseen)
}

// DropMirrored implements [calendar.Tx].
func (t mirrorTx) DropMirrored(ctx context.Context, id calendar.CalendarID, ref string) error {
	return t.Later(ctx, db.Ignore, `DELETE FROM mirror_objects WHERE calendar_id = $1 AND ref = $2`, id, ref)
}

// MirroredBefore implements [calendar.Tx].
func (t mirrorTx) MirroredBefore(
	ctx context.Context, id calendar.CalendarID, round int64, most int,
) ([]calendar.Mirrored, error) {
	return db.RowsOf(ctx, t, scanMirrored, selectMirrored+`AND round < $2 ORDER BY ref LIMIT $3`, id, round, most)
}

// MirrorRound implements [calendar.MirrorKeeper].
func (t mirrorTx) MirrorRound(
	ctx context.Context, id calendar.CalendarID, round int64,
) (listed, missing int64, err error) {
	counts, err := db.RowOf(ctx, t, db.ScanInto(func(n *[2]int64) []any { return []any{&n[0], &n[1]} }),
		`SELECT COUNT(*), COALESCE(SUM(CASE WHEN round < $2 THEN 1 ELSE 0 END), 0)
			FROM mirror_objects WHERE calendar_id = $1`, id, round)
	return counts[0] - counts[1], counts[1], err
}

// MirrorFaults implements [calendar.Tx].
func (t mirrorTx) MirrorFaults(ctx context.Context, id calendar.CalendarID) (int64, error) {
	return db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM mirror_objects
		WHERE calendar_id = $1 AND fault <> ''`, id)
}

// MirrorUnseen implements [calendar.MirrorKeeper].
func (t mirrorTx) MirrorUnseen(ctx context.Context, id calendar.CalendarID) (bool, error) {
	n, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM mirror_objects WHERE calendar_id = $1 AND unseen`,
		id)
	return n > 0, err
}

// Fence implements [calendar.MirrorKeeper]. The UPDATE locks the lease's row, so another process cannot take
// the lease before this transaction ends.
func (t mirrorTx) Fence(ctx context.Context, f calendar.Fence) (bool, error) {
	kept, err := t.Exec(ctx, `UPDATE leases SET holder = holder WHERE name = $1 AND holder = $2`, f.Lease, f.Holder)
	return kept == 1, err
}
