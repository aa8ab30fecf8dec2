package auth_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"caldav-mcp-server/auth"
)

// signIn signs in from here. The error says why it failed.
func (h *house) signIn(ctx context.Context, typed, password string) error {
	_, err := h.SignIn(ctx, typed, password, here(), "Firefox")
	return err
}

// createUserAt creates a user with a main mail address.
func (h *house) createUserAt(name, address string) {
	h.t.Helper()
	_, err := h.CreateUser(h.t.Context(), auth.NewUser{Name: name, Email: address, Password: rightPassword})
	if err != nil {
		h.t.Fatal(err)
	}
}

// A sign-in that the throttle refuses reads nothing from the store: thousands of them cost nothing. A person whose
// password was right before is let in meanwhile.
func TestThrottledSignInReadsNothing(t *testing.T) {
	t.Parallel()
	for _, typed := range []string{"ann", "Ann@example.org", "nobody@example.org", "no+body@example.org"} {
		t.Run(typed, func(t *testing.T) {
			t.Parallel()
			each(t, func(h *house) {
				h.createUserAt("ann", "ann@example.org")
				h.createUserAt("bob", "bob@example.org")
				if err := h.signIn(t.Context(), "bob@example.org", rightPassword); err != nil {
					t.Fatal(err)
				}
				gone, leave := context.WithCancel(t.Context())
				leave()
				throttled := (*auth.ThrottledError)(nil)
				for i := range auth.DefaultLimits().PerAccount.Burst {
					password := wrongPassword + strings.Repeat("!", i)
					if err := h.signIn(t.Context(), typed, password); !errors.Is(err, auth.ErrUnauthorized) {
						t.Fatalf("attempt %d: %v", i, err)
					}
				}
				// No read succeeds in a context that has ended.
				if err := h.signIn(gone, typed, wrongPassword+"?"); !errors.As(err, &throttled) {
					t.Errorf("one more: %v", err)
				}
				for i := range auth.DefaultLimits().PerNetwork.Burst {
					_ = h.signIn(t.Context(), "cid"+strings.Repeat("d", i), wrongPassword)
				}
				if err := h.signIn(gone, "dora@example.org", wrongPassword); !errors.As(err, &throttled) {
					t.Errorf("another user from this network: %v", err)
				}
				if err := h.signIn(t.Context(), "bob@example.org", rightPassword); err != nil {
					t.Errorf("a right password: %v", err)
				}
			})
		})
	}
}

// Guesses are counted by the text that was typed, in any case. So a count that was used up for a name is not seen at
// the address of the same user, as it is not at an address of nobody.
func TestThrottleTellsNoAddress(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.createUserAt("ann", "ann@example.org")
		burst := auth.DefaultLimits().PerAccount.Burst
		for i, typed := range []string{"ann", "ann@example.org", "nobody@example.org"} {
			wrong := 0
			for n := range 2 * burst {
				name := []string{typed, strings.ToUpper(typed)}[n%2]
				before := h.hasher.checks.Load()
				err := h.signIn(t.Context(), name, wrongPassword+strings.Repeat("!", n))
				if errors.Is(err, auth.ErrUnauthorized) && h.hasher.checks.Load() == before+1 {
					wrong++
				}
			}
			if wrong != burst {
				t.Errorf("%d. %s: %d guesses cost a hash, want %d", i, typed, wrong, burst)
			}
		}
	})
}

// An address costs one hash whether a user has it or not, so the time of the answer says nothing.
func TestSignInByUnknownAddressCostsAHash(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.createUserAt("ann", "ann+calendar@example.org")
		h.createUserAt("bob", strings.Repeat("b", 60)+"@example.org")
		for _, typed := range []string{
			"ann+calendar@example.org", "eve+calendar@example.org", strings.Repeat("b", 60) + "@example.org",
			strings.Repeat("e", 60) + "@example.org", "éve@example.org", "eve@example.org",
		} {
			before := h.hasher.checks.Load()
			err := h.signIn(t.Context(), typed, wrongPassword)
			if checks := h.hasher.checks.Load() - before; !errors.Is(err, auth.ErrUnauthorized) || checks != 1 {
				t.Errorf("%s: %v, with %d hashes; want 1", typed, err, checks)
			}
		}
	})
}

// Sign-in and invitations find the same user by an address, in all spellings.
func TestAddressesFindOneUser(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ stored, typed, want string }{
		{"ann@example.org", "Ann@Example.ORG", "ann"},
		{"Ann@Example.ORG", "ann@example.org", "ann"},
		{"Müller@example.org", "müller@example.org", "ann"},
		{"MÜLLER@example.org", "Müller@example.org", "ann"},
		{"Émile@example.org", "Émile@example.org", "ann"},
		// The letters look the same, or are folded to ASCII by some rules: K is the Kelvin sign, ſ is a long s.
		{"kate@example.org", "\u212Aate@example.org", "ann"},
		{"\u212Aate@example.org", "kate@example.org", "ann"},
		{"sam@example.org", "\u017Fam@example.org", ""},
		{"anna@example.org", "\u0430nna@example.org", ""},         // a Cyrillic a
		{"\u00E9mile@example.org", "e\u0301mile@example.org", ""}, // é in two characters
		{"strasse@example.org", "straße@example.org", ""},
	} {
		t.Run(c.stored+" "+c.typed, func(t *testing.T) {
			t.Parallel()
			each(t, func(h *house) {
				h.createUserAt("ann", c.stored)
				invited := ""
				found, err := h.Store.UsersAt(t.Context(), []string{strings.ToLower(c.typed)}, nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, u := range found {
					invited += u.Name
				}
				entered := ""
				switch err := h.signIn(t.Context(), c.typed, rightPassword); {
				case err == nil:
					entered = "ann"
				case !errors.Is(err, auth.ErrUnauthorized):
					t.Fatal(err)
				}
				if invited != c.want || entered != c.want {
					t.Errorf("invitations find %q, sign-in finds %q; want %q", invited, entered, c.want)
				}
				// A second user takes the look-alike only if it is another address.
				_, err = h.CreateUser(t.Context(), auth.NewUser{Name: "bob", Email: c.typed, Password: rightPassword})
				if taken := err != nil; taken != (c.want != "") {
					t.Errorf("a second user with %s: %v", c.typed, err)
				}
			})
		})
	}
}
