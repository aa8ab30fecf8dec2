package store

import (
	"context"
	"slices"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// inForce is the condition of a delegation d that gives access: the owner o is not disabled, and the delegate has not
// blocked them.
const inForce = ` NOT o.disabled AND NOT EXISTS (
	SELECT 1 FROM share_blocks b WHERE b.user_id = d.delegate_id AND b.blocked_id = d.owner_id)`

var (
	// selectDelegates selects the delegates of $1 as u.
	selectDelegates = `SELECT d.access, d.created, ` + userColumns.list() + `
		FROM delegates d JOIN users u ON u.id = d.delegate_id WHERE d.owner_id = $1 ORDER BY u.name`
	// selectDelegatedTo selects the owners who appointed $1 as u.
	selectDelegatedTo = `SELECT d.access, d.created, ` + userColumns.list() + `
		FROM delegates d JOIN users u ON u.id = d.owner_id JOIN users o ON o.id = d.owner_id
		WHERE d.delegate_id = $1 AND` + inForce + ` ORDER BY u.name`
)

// delegationScan scans a row with one of the two users.
func delegationScan(user func(*calendar.Delegation) *calendar.User) func(db.Scanner) (calendar.Delegation, error) {
	return db.ScanInto(func(d *calendar.Delegation) []any {
		return slices.Concat([]any{level{&d.Access}, db.Seconds(&d.Created)}, userColumns.fields(user(d)))
	})
}

var (
	scanDelegate  = delegationScan(func(d *calendar.Delegation) *calendar.User { return &d.Delegate })
	scanDelegator = delegationScan(func(d *calendar.Delegation) *calendar.User { return &d.Owner })
)

// Delegates implements [calendar.Store].
func (s shareStore) Delegates(ctx context.Context, owner calendar.UserID) ([]calendar.Delegation, error) {
	return db.RowsOf(ctx, s.db.Reads, scanDelegate, selectDelegates, owner)
}

// DelegatedTo implements [calendar.Store].
func (s shareStore) DelegatedTo(ctx context.Context, delegate calendar.UserID) ([]calendar.Delegation, error) {
	return db.RowsOf(ctx, s.db.Reads, scanDelegator, selectDelegatedTo, delegate)
}

// Delegates implements [calendar.Tx].
func (t shareTx) Delegates(ctx context.Context, owner calendar.UserID) ([]calendar.Delegation, error) {
	if err := t.HoldSharer(ctx, owner); err != nil {
		return nil, err
	}
	return db.RowsOf(ctx, t, scanDelegate, selectDelegates, owner)
}

// HoldDelegation implements [calendar.Tx].
func (t shareTx) HoldDelegation(ctx context.Context, owner, delegate calendar.UserID) (calendar.Access, error) {
	found, err := db.RowsOf(ctx, t, db.ScanText, `SELECT d.access FROM (
			SELECT owner_id, delegate_id, access FROM delegates WHERE owner_id = $1 AND delegate_id = $2`+
		t.Of().LockRows+`) d JOIN users o ON o.id = d.owner_id WHERE`+inForce, owner, delegate)
	if err != nil || len(found) == 0 {
		return calendar.NoAccess, err
	}
	return calendar.ParseAccess(found[0]), nil
}

// CountDelegators implements [calendar.Tx].
func (t shareTx) CountDelegators(ctx context.Context, delegate calendar.UserID) (int64, error) {
	return db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM delegates WHERE delegate_id = $1`, delegate)
}

// PutDelegation implements [calendar.Tx].
func (t shareTx) PutDelegation(ctx context.Context, d calendar.Delegation) error {
	if d.Access != calendar.ReadAccess && d.Access != calendar.WriteAccess {
		return calendar.Errorf(calendar.Invalid, "", "a delegate has the access read or read-write")
	}
	return t.Run(ctx, `INSERT INTO delegates (owner_id, delegate_id, access, created) VALUES ($1, $2, $3, $4)
		ON CONFLICT (owner_id, delegate_id) DO UPDATE SET access = excluded.access`,
		d.Owner.ID, d.Delegate.ID, d.Access.Word(), d.Created.Unix())
}

// DropDelegation implements [calendar.Tx].
func (t shareTx) DropDelegation(ctx context.Context, owner, delegate calendar.UserID) error {
	return db.ExpectRow(t.Exec(ctx, `DELETE FROM delegates WHERE owner_id = $1 AND delegate_id = $2`, owner, delegate))
}
