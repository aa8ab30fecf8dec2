package auth_test

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// A token takes no hash, wherever it is seen for the first time, and no place in a line behind floods.
func TestTokensTakeNoHash(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.createUser("alice")
		_, token := h.createToken(auth.TokenSpec{User: "alice"})
		for i := range 100 {
			_ = h.login(fmt.Sprint("user", i), wrongPassword)
		}
		for _, at := range []*house{h, h.neighbour()} {
			n := at.hashes(func() {
				if err := at.bear(token); err != nil {
					h.t.Error(err)
				}
			})
			if n != 0 {
				h.t.Errorf("a token took %d hashes", n)
			}
		}
	})
}

// withID returns a token with the secret of one and the id of another.
func (h *house) withID(id calendar.TokenID, secret string) string {
	h.t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(secret, "mcp_"))
	if err != nil {
		h.t.Fatal(err)
	}
	own, err := hex.DecodeString(string(id))
	if err != nil {
		h.t.Fatal(err)
	}
	return "mcp_" + base64.RawURLEncoding.EncodeToString(append(own, raw[len(own):]...))
}

// unsealed makes a token as it was before there were seals.
func (h *house) unsealed(of calendar.User) string {
	h.t.Helper()
	half := strings.Repeat("s", 32)
	hash, err := h.hasher.Hash(half)
	if err != nil {
		h.t.Fatal(err)
	}
	t := auth.Token{
		ID: calendar.TokenID(fmt.Sprintf("%032x", 9)), User: of.ID, Name: "old", Scopes: calendar.ScopeRead,
		Created: h.Now(),
	}
	if err := h.Store.InsertToken(h.t.Context(), t, hash, ""); err != nil {
		h.t.Fatal(err)
	}
	return h.withID(t.ID, "mcp_"+base64.RawURLEncoding.EncodeToString([]byte(strings.Repeat("i", 16)+half)))
}

// A token from before there were seals is hashed once, in all processes together.
func TestOldTokensAreSealed(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		alice := h.createUser("alice")
		old := h.unsealed(alice)
		for _, c := range []struct {
			name   string
			at     *house
			token  string
			hashes int64
			want   error
		}{
			{"a guess at its secret", h, old[:len(old)-4] + "AAAA", 1, auth.ErrUnauthorized},
			{"the first use", h, old, 1, nil},
			{"the next", h, old, 0, nil},
			{"elsewhere", h.neighbour(), old, 0, nil},
			{"a guess by now", h, old[:len(old)-4] + "BBBB", 0, auth.ErrUnauthorized},
		} {
			n := c.at.hashes(func() {
				if err := c.at.bear(c.token); !errors.Is(err, c.want) {
					h.t.Errorf("%s: %v, want %v", c.name, err, c.want)
				}
			})
			if n != c.hashes {
				h.t.Errorf("%s took %d hashes, want %d", c.name, n, c.hashes)
			}
		}
	})
}

// A seal is of no use for another token, nor for one that has ended.
func TestSealsAreEachTokensOwn(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		alice := h.createUser("alice")
		one, secret := h.createToken(auth.TokenSpec{User: "alice"})
		stored, err := h.Store.TokenByID(h.t.Context(), one.ID)
		if err != nil || stored.Seal == "" {
			h.t.Fatalf("sealed with %q, %v", stored.Seal, err)
		}
		other := one
		other.ID = calendar.TokenID(fmt.Sprintf("%032x", 7))
		if err := h.Store.InsertToken(h.t.Context(), other, "hash", stored.Seal); err != nil {
			h.t.Fatal(err)
		}
		if err := h.bear(h.withID(other.ID, secret)); !errors.Is(err, auth.ErrUnauthorized) {
			h.t.Errorf("with another token's seal: %v", err)
		}
		if err := h.RevokeToken(h.t.Context(), one.ID); err != nil {
			h.t.Fatal(err)
		}
		if err := h.neighbour().bear(secret); !errors.Is(err, auth.ErrUnauthorized) {
			h.t.Errorf("a revoked token: %v", err)
		}
		_, brief := h.createToken(auth.TokenSpec{User: alice.Name, Expires: h.Now().Add(time.Hour)})
		h.Pass(time.Hour)
		if err := h.bear(brief); !errors.Is(err, auth.ErrUnauthorized) {
			h.t.Errorf("an expired token: %v", err)
		}
	})
}

// Thirty people stay logged in while others come, get tokens, change passwords and go.
func TestOthersStayWarm(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		const people = 30
		all := func() {
			for i := range people {
				if err := h.login(fmt.Sprint("user", i), rightPassword); err != nil {
					h.t.Error(err)
				}
			}
		}
		for i := range people {
			h.createUser(fmt.Sprint("user", i))
		}
		if n := h.hashes(all); n != people {
			h.t.Errorf("the first round took %d hashes", n)
		}
		h.createUser("bob")
		token, _ := h.createToken(auth.TokenSpec{User: "bob"})
		for _, change := range []func() error{
			func() error { return h.RevokeToken(h.t.Context(), token.ID) },
			func() error { return h.SetPassword(h.t.Context(), "bob", "another horse") },
			func() error { return h.DeleteUser(h.t.Context(), "bob") },
		} {
			if err := change(); err != nil {
				h.t.Fatal(err)
			}
		}
		h.Pass(24 * time.Hour)
		if n := h.hashes(all); n != 0 {
			h.t.Errorf("after what became of bob %d are hashed anew", n)
		}
	})
}
