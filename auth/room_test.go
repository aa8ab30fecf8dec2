package auth_test

import (
	"fmt"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// Nobody makes tokens without end: what is revoked or over makes room again, and others are not in the way.
func TestTokensAreBounded(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.createUser("ann")
		h.createUser("bob")
		for i := range 500 {
			one := auth.Token{
				ID: calendar.TokenID(fmt.Sprint("t", i)), User: ann.ID, Name: "one", Scopes: calendar.ScopeRead,
				Created: h.Now(),
			}
			if i == 0 {
				one.Expires = h.Now().Add(time.Hour)
			}
			if err := h.Store.InsertToken(t.Context(), one, auth.Hash("x"), ""); err != nil {
				t.Fatal(err)
			}
		}
		more := func() error {
			_, _, err := h.CreateToken(t.Context(), auth.TokenSpec{
				User: "ann", Name: "more", Scopes: calendar.ScopeRead,
			})
			return err
		}
		if err := more(); calendar.ReasonOf(err) != calendar.Invalid {
			t.Errorf("one too many: %v", err)
		}
		h.createToken(auth.TokenSpec{User: "bob"})
		h.Pass(2 * time.Hour)
		if err := more(); err != nil {
			t.Errorf("one is over: %v", err)
		}
		if err := more(); calendar.ReasonOf(err) != calendar.Invalid {
			t.Errorf("one too many again: %v", err)
		}
		if err := h.RevokeToken(t.Context(), "t1"); err != nil {
			t.Fatal(err)
		}
		if err := more(); err != nil {
			t.Errorf("one is revoked: %v", err)
		}
	})
}

// Nobody makes links without end.
func TestLinksAreBounded(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.createUser("ann")
		h.createCalendar(ann.ID, "work")
		cal, err := h.Store.Calendar(t.Context(), ann.ID, "work")
		if err != nil {
			t.Fatal(err)
		}
		c := calendar.Caller{User: ann, Scopes: calendar.ScopeAll}
		spec := auth.LinkSpec{Access: calendar.ReadAccess}
		for i := range 500 {
			one := auth.Link{
				ID: auth.LinkID(fmt.Sprint("l", i)), Owner: ann, Calendar: cal.ID, Access: calendar.ReadAccess,
				Created: h.Now(),
			}
			if err := h.Store.InsertLink(t.Context(), one, "x"); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := h.CreateLink(t.Context(), c, cal, spec); calendar.ReasonOf(err) != calendar.Invalid {
			t.Errorf("one too many: %v", err)
		}
		if err := h.RevokeLink(t.Context(), "l7"); err != nil {
			t.Fatal(err)
		}
		if _, _, err := h.CreateLink(t.Context(), c, cal, spec); err != nil {
			t.Errorf("one has ended: %v", err)
		}
	})
}

// Anyone who signs in again and again ends their oldest sessions, and nobody else's.
func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.createUser("ann")
		h.createUser("bob")
		sign := func(name string) string {
			t.Helper()
			entry, err := h.SignIn(t.Context(), name, rightPassword, here(), "Firefox")
			if err != nil {
				t.Fatal(err)
			}
			return string(entry.Secret)
		}
		bob, first := sign("bob"), sign("ann")
		h.Pass(time.Minute)
		var latest string
		for range 100 {
			latest = sign("ann")
		}
		for secret, want := range map[string]bool{bob: true, first: false, latest: true} {
			if _, err := h.Session(t.Context(), secret); (err == nil) != want {
				t.Errorf("a session is good: %v, want %t", err, want)
			}
		}
	})
}
