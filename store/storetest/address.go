package storetest

import (
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

func addressTests() []test {
	return []test{
		{"belongs to one user once verified", addressVerified},
		{"replaces the main one", addressSwapped},
		{"finds the user", addressFinds},
		{"has a holder", addressHeld},
	}
}

func (b *bundle) addresses(u calendar.User) []auth.Address {
	b.Helper()
	all, err := b.Addresses(b.Context(), u.ID)
	b.must(err)
	return all
}

func addressVerified(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	one := auth.Address{Text: "a@example.org", Created: b.now()}
	b.must(b.InsertAddress(b.Context(), ann.ID, one))
	b.refused(b.InsertAddress(b.Context(), ann.ID, one), calendar.Exists, "")
	b.must(b.InsertAddress(b.Context(), bob.ID, one))
	b.must(b.InsertAddress(b.Context(), bob.ID, auth.Address{Text: ann.Email, Created: b.now()}))
	b.refused(b.VerifyAddress(b.Context(), bob.ID, ann.Email, b.now()), calendar.Exists, "")
	b.must(b.VerifyAddress(b.Context(), ann.ID, one.Text, b.now()))
	at := b.now()
	b.pass(time.Hour)
	b.must(b.VerifyAddress(b.Context(), ann.ID, one.Text, b.now()))
	b.refused(b.VerifyAddress(b.Context(), bob.ID, one.Text, b.now()), calendar.Exists, "")
	b.refused(b.VerifyAddress(b.Context(), ann.ID, "other@example.org", b.now()), calendar.NotFound, "")
	verified := one
	verified.Verified = at
	same(b, "hers", b.addresses(ann), []auth.Address{verified})
	b.must(b.DropAddress(b.Context(), bob.ID, one.Text))
	b.refused(b.DropAddress(b.Context(), bob.ID, one.Text), calendar.NotFound, "")
	same(b, "hers", b.addresses(ann), []auth.Address{verified})
}

func addressSwapped(b *bundle) {
	ann := b.user("ann")
	b.must(b.InsertAddress(b.Context(), ann.ID, auth.Address{Text: "a@example.org", Created: b.now()}))
	b.refused(b.SwapAddress(b.Context(), ann.ID, "a@example.org", b.now()), calendar.NotFound, "")
	b.must(b.VerifyAddress(b.Context(), ann.ID, "a@example.org", b.now()))
	before := b.generation("ann")
	b.must(b.SwapAddress(b.Context(), ann.ID, "a@example.org", b.now()))
	now, err := b.UserByID(b.Context(), ann.ID)
	b.must(err)
	same(b, "main", now.Email, "a@example.org")
	same(b, "beside", b.addresses(ann), []auth.Address{{Text: "ann@example.com", Created: b.now(), Verified: b.now()}})
	if b.generation("ann") <= before {
		b.Error("the generation stayed")
	}
}

// addressFinds: an unverified address never receives invitations.
func addressFinds(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	for _, u := range []calendar.User{ann, bob} {
		b.must(b.InsertAddress(b.Context(), u.ID, auth.Address{Text: "a@example.org", Created: b.now()}))
	}
	b.givesNone("claimed")(b.UsersAt(b.Context(), []string{"a@example.org"}, nil))
	b.must(b.VerifyAddress(b.Context(), ann.ID, "a@example.org", b.now()))
	found, err := b.UsersAt(b.Context(), []string{"a@example.org", "ann@example.com"}, nil)
	b.must(err)
	same(b, "verified",
		found, []calendar.UserAt{{Text: "a@example.org", User: ann}, {Text: "ann@example.com", User: ann}})
}

// addressHeld: the holder of a main address, in any case, or of an additional one, even before it is verified.
func addressHeld(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	b.must(b.ChangeUser(b.Context(), ann.ID, auth.UserEdit{Email: new("Ann@Example.com")}))
	b.must(b.InsertAddress(b.Context(), bob.ID, auth.Address{Text: "b@example.org", Created: b.now()}))
	ann.Email = "Ann@Example.com"
	gives(b, "main", ann)(b.AddressHolder(b.Context(), "ann@example.com", bob.ID))
	gives(b, "unverified", bob)(b.AddressHolder(b.Context(), "b@example.org", ""))
	b.refuses(calendar.NotFound, "")(b.AddressHolder(b.Context(), "ann@example.com", ann.ID))
	b.refuses(calendar.NotFound, "")(b.AddressHolder(b.Context(), "b@example.org", bob.ID))
	b.refuses(calendar.NotFound, "")(b.AddressHolder(b.Context(), "c@example.org", ""))
}
