package storetest

import (
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

func factorTests() []test {
	return []test{
		{"are counted, and guard the password", factorsCounted},
		{"hold codes that work once", factorCodes},
		{"hold recovery codes that are deleted with the last factor", factorRecovery},
		{"hold passkeys", factorPasskeys},
		{"are used once, and pruned later", factorSpent},
	}
}

func (b *bundle) passkey(u calendar.User, id string) auth.Passkey {
	b.Helper()
	p := auth.Passkey{ID: auth.PasskeyID(id), Name: "Laptop", Created: b.now(), Data: []byte("key of " + id)}
	b.must(b.InsertPasskey(b.Context(), u.ID, p))
	return p
}

func (b *bundle) factors(u calendar.User) auth.Factors {
	b.Helper()
	f, err := b.Factors(b.Context(), u.ID)
	b.must(err)
	return f
}

func (b *bundle) guarded(u calendar.User) bool {
	b.Helper()
	c, err := b.PasswordByName(b.Context(), u.Name)
	b.must(err)
	return c.Guarded
}

// factorsCounted: each step changes the power of a password alone, so each must advance the generation.
func factorsCounted(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	one := auth.Identity{Issuer: "https://id.example.com", Subject: "1", Name: "ann", Created: b.now()}
	for _, step := range []struct {
		name string
		do   func() error
		want auth.Factors
	}{
		{
			"codes", func() error { return b.SetCodeSecret(b.Context(), ann.ID, []byte("secret"), b.now(), 1) },
			auth.Factors{Password: true, Codes: true},
		},
		{"no codes", func() error { return b.DropCodeSecret(b.Context(), ann.ID) }, auth.Factors{Password: true}},
		{"passkey", func() error { b.passkey(ann, "a"); return nil }, auth.Factors{Password: true, Passkeys: 1}},
		{"no passkey", func() error { return b.DropPasskey(b.Context(), ann.ID, "a") }, auth.Factors{Password: true}},
		{
			"identity", func() error { return b.InsertIdentity(b.Context(), ann.ID, one) },
			auth.Factors{Password: true, Identities: 1},
		},
		{
			"no identity", func() error { return b.DropIdentity(b.Context(), ann.ID, one.Issuer, one.Subject) },
			auth.Factors{Password: true},
		},
	} {
		before := b.generation("ann")
		b.must(step.do())
		if b.generation("ann") <= before {
			b.Errorf("%s: the generation stayed", step.name)
		}
		same(b, step.name, b.factors(ann), step.want)
		same(b, step.name+" guards", b.guarded(ann), step.want.Second() || step.want.Identities > 0)
	}
	same(b, "his", b.factors(bob), auth.Factors{Password: true})
	same(b, "nobody's", b.factors(calendar.User{ID: "nobody"}), auth.Factors{})
}

func factorCodes(b *bundle) {
	ann := b.user("ann")
	b.refuses(calendar.NotFound, "")(b.CodeSecret(b.Context(), ann.ID))
	b.must(b.SetCodeSecret(b.Context(), ann.ID, []byte("secret"), b.now(), 10))
	got, err := b.CodeSecret(b.Context(), ann.ID)
	b.must(err)
	same(b, "secret", string(got), "secret")
	b.refused(b.SpendCode(b.Context(), ann.ID, 10), calendar.NotFound, "")
	b.must(b.SpendCode(b.Context(), ann.ID, 12))
	b.refused(b.SpendCode(b.Context(), ann.ID, 12), calendar.NotFound, "")
	b.refused(b.SpendCode(b.Context(), ann.ID, 11), calendar.NotFound, "")
	b.must(b.SetCodeSecret(b.Context(), ann.ID, []byte("another"), b.now(), 5))
	b.must(b.SpendCode(b.Context(), ann.ID, 6))
	b.must(b.DropCodeSecret(b.Context(), ann.ID))
	b.must(b.DropCodeSecret(b.Context(), ann.ID))
	b.refused(b.SpendCode(b.Context(), ann.ID, 20), calendar.NotFound, "")
}

func factorRecovery(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	b.passkey(ann, "a")
	b.must(b.SetCodeSecret(b.Context(), ann.ID, []byte("secret"), b.now(), 10))
	b.must(b.SetRecoveryCodes(b.Context(), ann.ID, []auth.SecretHash{"one", "two", "three"}))
	b.must(b.SetRecoveryCodes(b.Context(), bob.ID, []auth.SecretHash{"one"}))
	b.must(b.SpendRecoveryCode(b.Context(), ann.ID, "two"))
	b.refused(b.SpendRecoveryCode(b.Context(), ann.ID, "two"), calendar.NotFound, "")
	b.refused(b.SpendRecoveryCode(b.Context(), bob.ID, "three"), calendar.NotFound, "")
	same(b, "left", b.factors(ann).RecoveryCodes, 2)
	b.must(b.DropCodeSecret(b.Context(), ann.ID))
	same(b, "with the passkey", b.factors(ann).RecoveryCodes, 2)
	b.must(b.DropPasskey(b.Context(), ann.ID, "a"))
	same(b, "with nothing", b.factors(ann), auth.Factors{Password: true})
	same(b, "his", b.factors(bob).RecoveryCodes, 1)
	b.passkey(ann, "b")
	b.must(b.SetCodeSecret(b.Context(), ann.ID, []byte("secret"), b.now(), 10))
	b.must(b.SetRecoveryCodes(b.Context(), ann.ID, []auth.SecretHash{"four"}))
	b.must(b.DropFactors(b.Context(), ann.ID))
	same(b, "after all were dropped", b.factors(ann), auth.Factors{Password: true})
}

func factorPasskeys(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	first := b.passkey(ann, "a")
	b.pass(time.Minute)
	second := b.passkey(ann, "b")
	b.refused(b.InsertPasskey(b.Context(), bob.ID, first), calendar.Exists, "")
	b.refused(b.UsePasskey(b.Context(), bob.ID, "a", nil, b.now()), calendar.NotFound, "")
	b.refused(b.DropPasskey(b.Context(), bob.ID, "a"), calendar.NotFound, "")
	b.must(b.UsePasskey(b.Context(), ann.ID, "a", []byte("used"), b.now()))
	first.Data, first.Used = []byte("used"), b.now()
	gives(b, "passkeys", []auth.Passkey{first, second})(b.Passkeys(b.Context(), ann.ID))
	b.must(b.DeleteUser(b.Context(), ann.ID))
	b.must(b.InsertPasskey(b.Context(), bob.ID, second))
}

func factorSpent(b *bundle) {
	ann := b.user("ann")
	b.must(b.Spend(b.Context(), "a", b.now().Add(time.Minute)))
	b.refused(b.another().Spend(b.Context(), "a", b.now().Add(time.Hour)), calendar.Exists, "")
	old := b.session(ann)
	b.pass(time.Hour)
	young := b.session(ann)
	b.must(b.Tidy(b.Context(), b.now(), old.Seen))
	same(b, "sessions", b.sessions(ann), []auth.SessionID{young.ID})
	b.must(b.Spend(b.Context(), "a", b.now().Add(time.Minute)))
}
