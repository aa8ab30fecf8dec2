package storetest

import (
	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

func identityTests() []test {
	return []test{{"is of one user", identityOfOne}}
}

func identityOfOne(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	want := auth.Identity{Issuer: "https://id.example.com", Subject: "1", Name: "ann", Created: b.now()}
	b.must(b.InsertIdentity(b.Context(), ann.ID, want))
	b.refused(b.InsertIdentity(b.Context(), bob.ID, want), calendar.Exists, "")
	elsewhere := want
	elsewhere.Issuer = "https://other.example.com"
	b.must(b.InsertIdentity(b.Context(), bob.ID, elsewhere))
	got, err := b.UserByIdentity(b.Context(), want.Issuer, want.Subject)
	b.must(err)
	same(b, "user", got, ann)
	all, err := b.Identities(b.Context(), ann.ID)
	b.must(err)
	same(b, "identities", all, []auth.Identity{want})
	b.refused(b.DropIdentity(b.Context(), bob.ID, want.Issuer, want.Subject), calendar.NotFound, "")
	b.must(b.DropIdentity(b.Context(), ann.ID, want.Issuer, want.Subject))
	_, err = b.UserByIdentity(b.Context(), want.Issuer, want.Subject)
	b.refused(err, calendar.NotFound, "")
	b.must(b.DeleteUser(b.Context(), bob.ID))
	b.must(b.InsertIdentity(b.Context(), ann.ID, elsewhere))
}
