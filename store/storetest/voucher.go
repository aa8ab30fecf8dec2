package storetest

import (
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

func voucherTests() []test {
	return []test{
		{"replaces the user's others", voucherReplaces},
		{"sets a password once", voucherRedeemed},
		{"expires when the password changes", voucherOutlived},
	}
}

func (b *bundle) voucher(u calendar.User) auth.Voucher {
	b.Helper()
	v := auth.Voucher{
		ID: auth.VoucherID(b.id("voucher")), User: u, Kind: auth.Reset, Created: b.now(),
		Expires: b.now().Add(time.Hour),
	}
	b.must(b.SetVoucher(b.Context(), v, "hash of "+auth.SecretHash(v.ID)))
	return v
}

func voucherReplaces(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	old, his, want := b.voucher(ann), b.voucher(bob), b.voucher(ann)
	got, hash, err := b.VoucherByID(b.Context(), want.ID)
	b.must(err)
	same(b, "voucher", got, want)
	same(b, "hash", hash, "hash of "+auth.SecretHash(want.ID))
	_, _, err = b.VoucherByID(b.Context(), old.ID)
	b.refused(err, calendar.NotFound, "")
	gives(b, "all", []auth.Voucher{want, his})(b.Vouchers(b.Context()))
	b.must(b.DropVouchers(b.Context(), ann.ID))
	b.pass(time.Hour)
	b.must(b.Tidy(b.Context(), b.now(), b.now()))
	b.givesNone("all")(b.Vouchers(b.Context()))
	b.refused(b.SetVoucher(b.Context(), auth.Voucher{ID: "x", User: calendar.User{ID: "nobody"}}, "hash"),
		calendar.NotFound, "")
}

func voucherRedeemed(b *bundle) {
	ann := b.user("ann")
	v, session := b.voucher(ann), b.session(ann)
	before := b.generation("ann")
	b.must(b.Redeem(b.Context(), v.ID, "chosen"))
	b.refused(b.Redeem(b.Context(), v.ID, "again"), calendar.NotFound, "")
	gives(b, "credential", auth.Credential{User: ann, Hash: "chosen"})(b.PasswordByName(b.Context(), "ann"))
	_, _, err := b.SessionByID(b.Context(), session.ID)
	b.refused(err, calendar.NotFound, "")
	if b.generation("ann") <= before {
		b.Error("the generation stayed")
	}
}

func voucherOutlived(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	old, his := b.voucher(ann), b.voucher(bob)
	b.must(b.SetPassword(b.Context(), ann.ID, "another"))
	_, _, err := b.VoucherByID(b.Context(), old.ID)
	b.refused(err, calendar.NotFound, "")
	b.refused(b.Redeem(b.Context(), old.ID, "chosen"), calendar.NotFound, "")
	_, _, err = b.VoucherByID(b.Context(), his.ID)
	b.must(err)
}
