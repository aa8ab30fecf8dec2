package store

import (
	"context"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

var voucherColumns = `v.id, v.kind, v.created, v.expires, ` + userColumns.list()

var scanVoucher = db.ScanInto(func(v *auth.Voucher) []any {
	return append([]any{&v.ID, &v.Kind, db.Seconds(&v.Created), db.Seconds(&v.Expires)}, userColumns.fields(&v.User)...)
})

// VoucherByID implements [auth.Store].
func (s credentialStore) VoucherByID(ctx context.Context, id auth.VoucherID) (auth.Voucher, auth.SecretHash, error) {
	var hash auth.SecretHash
	found, err := db.RowOf(ctx, s.db.Reads, db.Beside(scanVoucher, &hash), `SELECT `+voucherColumns+`, v.hash
		FROM vouchers v JOIN users u ON u.id = v.user_id WHERE v.id = $1`, id)
	return found, hash, err
}

// Vouchers implements [auth.Store].
func (s credentialStore) Vouchers(ctx context.Context) ([]auth.Voucher, error) {
	return db.RowsOf(ctx, s.db.Reads, scanVoucher, `SELECT `+voucherColumns+` FROM vouchers v JOIN users u ON u.id = v.user_id ORDER BY u.name`)
}

// SetVoucher implements [auth.Store].
func (s credentialStore) SetVoucher(ctx context.Context, v auth.Voucher, h auth.SecretHash) error {
	return s.transact(ctx, func(t *transaction) error {
		if err := t.dropVouchers(ctx, v.User.ID); err != nil {
			return err
		}
		return db.ExpectRow(t.Exec(ctx, `INSERT INTO vouchers (id, user_id, hash, kind, created, expires)
			SELECT $1, id, $3, $4, $5, $6 FROM users WHERE id = $2`,
			v.ID, v.User.ID, h, v.Kind, v.Created.Unix(), v.Expires.Unix()))
	})
}

// DropVouchers implements [auth.Store].
func (s credentialStore) DropVouchers(ctx context.Context, user calendar.UserID) error {
	return s.transact(ctx, func(t *transaction) error { return t.dropVouchers(ctx, user) })
}

func (t *transaction) dropVouchers(ctx context.Context, user calendar.UserID) error {
	return t.Run(ctx, `DELETE FROM vouchers WHERE user_id = $1`, user)
}

// Redeem implements [auth.Store].
func (s credentialStore) Redeem(ctx context.Context, id auth.VoucherID, h auth.Hash) error {
	return s.transact(ctx, func(t *transaction) error {
		user, err := db.RowOf(ctx, t, db.ScanOnly[calendar.UserID], `DELETE FROM vouchers WHERE id = $1 RETURNING user_id`, id)
		if err != nil {
			return err
		}
		if err := t.Run(ctx, `DELETE FROM sessions WHERE user_id = $1`, user); err != nil {
			return err
		}
		return t.setPassword(ctx, user, h)
	})
}
