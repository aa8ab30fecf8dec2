package storetest

import (
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

func generationTests() []test {
	return []test{
		{"advances with every change of a credential", generationMoves},
		{"advances with the calendars that tokens are bound to", generationFollowsBonds},
		{"stays when a change is refused", generationStays},
		{"advances even if the clock goes back", generationGrows},
		{"starts over with a new epoch", epochBegins},
	}
}

func (b *bundle) generation(user string) int64 {
	b.Helper()
	n, err := b.CredentialGeneration(b.Context(), auth.Subject{Name: user})
	b.must(err)
	return n
}

// generationMoves: a change advances the generation of one user only, found by name or by any token.
func generationMoves(b *bundle) {
	other := b.another()
	bob := b.user("bob")
	bobs := b.token(bob, nil).ID
	his := b.generation("bob")
	u, token := b.user("ann"), b.token(b.user("eve"), nil).ID
	b.must(b.DeleteUser(b.Context(), u.ID))
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"InsertUser", func() { u = b.user("ann") }},
		{"ChangeUser", func() { b.must(b.ChangeUser(b.Context(), u.ID, auth.UserEdit{Timezone: new("Asia/Tokyo")})) }},
		{"SetPassword", func() { b.must(b.SetPassword(b.Context(), u.ID, "hash")) }},
		{"InsertToken", func() { token = b.token(u, nil).ID }},
		{"NarrowToken", func() {
			b.must(b.NarrowToken(b.Context(), token, calendar.ScopeRead, nil, calendar.Rights{}))
		}},
		{"RevokeToken", func() { b.must(b.RevokeToken(b.Context(), token, b.now())) }},
	} {
		before := b.generation("ann")
		step.do()
		after, err := other.CredentialGeneration(b.Context(), auth.Subject{Name: "ann"})
		b.must(err)
		if after <= before {
			b.Errorf("%s: generation %d after %d", step.name, after, before)
		}
	}
	gives(b, "generation by the token", b.generation("ann"))(b.CredentialGeneration(b.Context(),
		auth.Subject{Token: token}))
	b.must(b.DeleteUser(b.Context(), u.ID))
	for _, of := range []auth.Subject{{Name: "ann"}, {Token: token}, {Name: "nobody"}, {Token: "none"}} {
		gone, err := b.CredentialGeneration(b.Context(), of)
		b.must(err)
		same(b, "generation of nobody", gone, 0)
	}
	same(b, "bob's generation", b.generation("bob"), his)
	b.must(b.RevokeAll(b.Context(), b.now()))
	if now, err := b.CredentialGeneration(b.Context(), auth.Subject{Token: bobs}); err != nil || now <= his {
		b.Errorf("after RevokeAll bob's generation is %d, %v; it was %d", now, err, his)
	}
}

// generationFollowsBonds: deleting a calendar narrows another user's token that is bound to it.
func generationFollowsBonds(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	b.token(bob, []calendar.CalendarID{b.calendar(ann, "work").ID})
	before := b.generation("bob")
	b.must(b.DeleteUser(b.Context(), ann.ID))
	if after := b.generation("bob"); after <= before {
		b.Errorf("generation %d after %d", after, before)
	}
}

func generationStays(b *bundle) {
	ann := b.user("ann")
	before := b.generation("ann")
	b.refused(b.InsertUser(b.Context(), ann, "hash"), calendar.Exists, "")
	b.refused(b.SetPassword(b.Context(), "nobody", "hash"), calendar.NotFound, "")
	same(b, "generation", b.generation("ann"), before)
}

func generationGrows(b *bundle) {
	ann := b.user("ann")
	before := b.generation("ann")
	b.pass(-24 * time.Hour)
	b.must(b.SetPassword(b.Context(), ann.ID, "another"))
	if after := b.generation("ann"); after <= before {
		b.Errorf("generation %d after %d", after, before)
	}
	b.must(b.DeleteUser(b.Context(), ann.ID))
	b.pass(48 * time.Hour)
	b.user("ann")
	if after := b.generation("ann"); after <= before {
		b.Errorf("another user of the name has the generation %d, the first had %d", after, before)
	}
}

// epochBegins: after a restore, clients sync from the start and all caches are invalid.
func epochBegins(b *bundle) {
	other := b.another()
	first, err := b.Epoch(b.Context())
	b.must(err)
	again, err := other.Epoch(b.Context())
	b.must(err)
	if first == "" || first != again {
		b.Fatalf("epochs %q and %q of one store", first, again)
	}
	b.user("ann")
	generation := b.generation("ann")
	b.must(b.NewEpoch(b.Context()))
	second, err := other.Epoch(b.Context())
	b.must(err)
	if second == first {
		b.Errorf("the epoch is still %q", second)
	}
	if after := b.generation("ann"); after <= generation {
		b.Errorf("generation %d after %d", after, generation)
	}
}
