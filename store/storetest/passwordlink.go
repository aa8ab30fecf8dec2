package storetest

import (
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

func passwordLinkTests() []test {
	return []test{
		{"replaces the user's others", passwordLinkReplaces},
		{"sets a password once", passwordLinkRedeemed},
		{"expires when the password changes", passwordLinkOutlived},
	}
}

func (b *bundle) passwordLink(u calendar.User) auth.PasswordLink {
	b.Helper()
	v := auth.PasswordLink{
		ID: auth.PasswordLinkID(b.id("link")), User: u, Kind: auth.Reset, Created: b.now(),
		Expires: b.now().Add(time.Hour),
	}
	b.must(b.SetPasswordLink(b.Context(), v, "hash of "+auth.SecretHash(v.ID)))
	return v
}

func passwordLinkReplaces(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	old, his, want := b.passwordLink(ann), b.passwordLink(bob), b.passwordLink(ann)
	got, hash, err := b.PasswordLinkByID(b.Context(), want.ID)
	b.must(err)
	same(b, "link", got, want)
	same(b, "hash", hash, "hash of "+auth.SecretHash(want.ID))
	_, _, err = b.PasswordLinkByID(b.Context(), old.ID)
	b.refused(err, calendar.NotFound, "")
	waiting, err := b.WaitingLinks(b.Context())
	b.must(err)
	byUser := map[calendar.UserID]auth.PasswordLink{}
	for _, v := range waiting {
		byUser[v.User.ID] = v
	}
	same(b, "waiting", byUser, map[calendar.UserID]auth.PasswordLink{
		ann.ID: {User: calendar.User{ID: ann.ID}, Kind: want.Kind, Expires: want.Expires},
		bob.ID: {User: calendar.User{ID: bob.ID}, Kind: his.Kind, Expires: his.Expires},
	})
	b.must(b.DropPasswordLinks(b.Context(), ann.ID))
	b.pass(time.Hour)
	b.must(b.Tidy(b.Context(), b.now(), b.now()))
	b.givesNone("waiting")(b.WaitingLinks(b.Context()))
	b.refused(b.SetPasswordLink(b.Context(), auth.PasswordLink{ID: "x", User: calendar.User{ID: "nobody"}}, "hash"),
		calendar.NotFound, "")
}

func passwordLinkRedeemed(b *bundle) {
	ann := b.user("ann")
	v, session := b.passwordLink(ann), b.session(ann)
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

func passwordLinkOutlived(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	old, his := b.passwordLink(ann), b.passwordLink(bob)
	b.must(b.SetPassword(b.Context(), ann.ID, "another"))
	_, _, err := b.PasswordLinkByID(b.Context(), old.ID)
	b.refused(err, calendar.NotFound, "")
	b.refused(b.Redeem(b.Context(), old.ID, "chosen"), calendar.NotFound, "")
	_, _, err = b.PasswordLinkByID(b.Context(), his.ID)
	b.must(err)
}
