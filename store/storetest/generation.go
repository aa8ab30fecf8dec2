package storetest

import (
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

func generationTests() []test {
	return []test{
		{"moves on with every change of a credential", generationMoves},
		{"stays when a change is refused", generationStays},
		{"grows when the clock goes back", generationGrows},
		{"begins anew with a new epoch", epochBegins},
	}
}

func (b *bundle) generation() int64 {
	b.Helper()
	n, err := b.CredentialGeneration(b.Context())
	b.must(err)
	return n
}

func generationMoves(b *bundle) {
	other := b.another()
	var u calendar.User
	var t calendar.TokenID
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"InsertUser", func() { u = b.user("ann") }},
		{"ChangeUser", func() { b.must(b.ChangeUser(b.Context(), u.ID, auth.UserEdit{Timezone: new("Asia/Tokyo")})) }},
		{"SetPassword", func() { b.must(b.SetPassword(b.Context(), u.ID, "hash")) }},
		{"InsertToken", func() { t = b.token(u, nil).ID }},
		{"RevokeToken", func() { b.must(b.RevokeToken(b.Context(), t, b.now())) }},
		{"DeleteUser", func() { b.must(b.DeleteUser(b.Context(), u.ID)) }},
	} {
		before := b.generation()
		step.do()
		after, err := other.CredentialGeneration(b.Context())
		b.must(err)
		if after <= before {
			b.Errorf("%s: generation %d after %d", step.name, after, before)
		}
	}
}

func generationStays(b *bundle) {
	ann := b.user("ann")
	before := b.generation()
	b.refused(b.InsertUser(b.Context(), ann, "hash"), calendar.Exists, "")
	b.refused(b.SetPassword(b.Context(), "nobody", "hash"), calendar.NotFound, "")
	same(b, "generation", b.generation(), before)
}

func generationGrows(b *bundle) {
	b.pass(-24 * time.Hour)
	before := b.generation()
	b.user("ann")
	if after := b.generation(); after <= before {
		b.Errorf("generation %d after %d", after, before)
	}
}

// epochBegins: after a restore, clients start over and nothing remembered is believed.
func epochBegins(b *bundle) {
	other := b.another()
	first, err := b.Epoch(b.Context())
	b.must(err)
	again, err := other.Epoch(b.Context())
	b.must(err)
	if first == "" || first != again {
		b.Fatalf("epochs %q and %q of one store", first, again)
	}
	generation := b.generation()
	b.must(b.NewEpoch(b.Context()))
	second, err := other.Epoch(b.Context())
	b.must(err)
	if second == first {
		b.Errorf("the epoch is still %q", second)
	}
	if after := b.generation(); after <= generation {
		b.Errorf("generation %d after %d", after, generation)
	}
}
