package storetest

import (
	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

func identityTests() []test {
	return []test{{"belongs to one user", identityOfOne}}
}

func identityOfOne(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	want := auth.Identity{Issuer: "https://id.example.com", Subject: "1", Name: "ann", Created: b.now()}
	b.must(b.InsertIdentity(b.Context(), ann.ID, want))
	b.refused(b.InsertIdentity(b.Context(), bob.ID, want), calendar.Exists, "")
	elsewhere := want
	elsewhere.Issuer = "https://other.example.com"
	b.must(b.InsertIdentity(b.Context(), bob.ID, elsewhere))
	gives(b, "user", ann)(b.UserByIdentity(b.Context(), want.Issuer, want.Subject))
	gives(b, "identities", []auth.Identity{want})(b.Identities(b.Context(), ann.ID))
	b.refused(b.DropIdentity(b.Context(), bob.ID, want.Issuer, want.Subject), calendar.NotFound, "")
	b.must(b.DropIdentity(b.Context(), ann.ID, want.Issuer, want.Subject))
	b.refuses(calendar.NotFound, "")(b.UserByIdentity(b.Context(), want.Issuer, want.Subject))
	b.must(b.DeleteUser(b.Context(), bob.ID))
	b.must(b.InsertIdentity(b.Context(), ann.ID, elsewhere))
}
