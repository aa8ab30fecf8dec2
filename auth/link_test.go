package auth_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/storetest"
)

// owner makes alice with a calendar "work", and returns both as the service knows them.
func (h *house) owner() (calendar.Caller, calendar.Calendar) {
	h.t.Helper()
	u := h.createUser("alice")
	h.createCalendar(u.ID, "work")
	cal, err := h.Store.Calendar(h.t.Context(), u.ID, "work")
	if err != nil {
		h.t.Fatal(err)
	}
	return calendar.Caller{User: u, Scopes: calendar.ScopeAll}, cal
}

func (h *house) createLink(c calendar.Caller, cal calendar.Calendar, spec auth.LinkSpec) (auth.Link, string) {
	h.t.Helper()
	if spec.Access == calendar.NoAccess {
		spec.Access = calendar.ReadAccess
	}
	l, secret, err := h.CreateLink(h.t.Context(), c, cal, spec)
	if err != nil {
		h.t.Fatal(err)
	}
	return l, string(secret)
}

// follow comes by a link, from here.
func (h *house) follow(secret string) error {
	_, err := h.VerifyLink(h.t.Context(), secret)
	return err
}

func TestLinkSpeaksForItsOwner(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		alice, work := h.owner()
		want, secret := h.createLink(alice, work, auth.LinkSpec{
			Name: "Sports club", Access: calendar.FreeBusyAccess, Expires: h.Now().Add(time.Hour),
		})
		got, err := h.VerifyLink(h.t.Context(), secret)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			h.t.Errorf("%v\n%s", err, diff)
		}
		caller := calendar.Caller{
			User: alice.User, Scopes: calendar.ScopeRead, Calendars: []calendar.CalendarID{"work"},
			Most:    calendar.FreeBusyAccess,
			Expires: want.Expires, Agent: "public link",
		}
		if diff := cmp.Diff(caller, got.Caller()); diff != "" {
			h.t.Error(diff)
		}
		if n := h.hashes(func() { _ = h.follow(secret) }); n != 0 {
			h.t.Errorf("a link cost %d hashes of a password's price", n)
		}
		if err := h.bear("mcp_" + secret); !errors.Is(err, auth.ErrUnauthorized) {
			h.t.Errorf("a link as a token: %v", err)
		}
	})
}

func TestLinkIsKeptAsAHash(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		alice, work := h.owner()
		l, secret := h.createLink(alice, work, auth.LinkSpec{})
		if len(secret) != 64 {
			h.t.Errorf("the secret has %d characters", len(secret))
		}
		_, hash, err := h.Store.LinkByID(h.t.Context(), l.ID)
		if err != nil || len(hash) != 64 || strings.Contains(string(hash), secret) {
			h.t.Errorf("hash %q, %v", hash, err)
		}
		_, other := h.createLink(alice, work, auth.LinkSpec{})
		// The id of one and the secret of another.
		if err := h.follow(secret[:22] + other[22:]); !errors.Is(err, auth.ErrUnauthorized) {
			h.t.Errorf("two halves of two links: %v", err)
		}
	})
}

// TestLinkEnds: whatever is wrong with a link, it is refused in the same way, at once, and by every
// process.
func TestLinkEnds(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		alice, work := h.owner()
		neighbour := h.neighbour()
		revoked, one := h.createLink(alice, work, auth.LinkSpec{})
		_, two := h.createLink(alice, work, auth.LinkSpec{Expires: h.Now().Add(time.Hour)})
		_, three := h.createLink(alice, work, auth.LinkSpec{})
		secrets := []string{one, two, three}
		good := func(step string, want ...bool) {
			h.t.Helper()
			for _, process := range []*house{h, neighbour} {
				for i, secret := range secrets {
					if err := process.follow(secret); (err == nil) != want[i] ||
						err != nil && !errors.Is(err, auth.ErrUnauthorized) {
						h.t.Errorf("%s: link %d: %v", step, i+1, err)
					}
				}
			}
		}
		good("at first", true, true, true)
		if err := neighbour.RevokeLink(h.t.Context(), revoked.ID); err != nil {
			h.t.Fatal(err)
		}
		good("one is revoked", false, true, true)
		h.Pass(time.Hour)
		good("one has expired", false, false, true)
		err := h.Store.Update(h.t.Context(), func(tx calendar.Tx) error {
			return tx.TrashCalendar(h.t.Context(), "work")
		})
		if err != nil {
			h.t.Fatal(err)
		}
		good("the calendar is in the trash", false, false, false)
		if err := h.DeleteUser(h.t.Context(), "alice"); err != nil {
			h.t.Fatal(err)
		}
		good("the owner is deleted", false, false, false)
		if err := h.RevokeLink(h.t.Context(), revoked.ID); calendar.ReasonOf(err) != calendar.NotFound {
			h.t.Errorf("revoking what is gone: %v", err)
		}
	})
}

func TestLinkRefused(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		alice, work := h.owner()
		bob := calendar.Caller{User: h.createUser("bob"), Scopes: calendar.ScopeAll}
		if err := storetest.Share(h.t.Context(), h.Store, work.ID, bob.User.ID, calendar.WriteAccess); err != nil {
			h.t.Fatal(err)
		}
		his, err := h.Store.Calendar(h.t.Context(), bob.User.ID, work.ID)
		if err != nil {
			h.t.Fatal(err)
		}
		nowhere := calendar.Calendar{
			ID: "x", Access: calendar.OwnerAccess, Properties: calendar.Properties{Kinds: calendar.AllKinds()},
		}
		reader := alice
		reader.Scopes = calendar.ScopeAll &^ calendar.ScopeShare
		for name, c := range map[string]struct {
			caller calendar.Caller
			cal    calendar.Calendar
			spec   auth.LinkSpec
			want   calendar.Reason
		}{
			"by a sharee":         {bob, his, auth.LinkSpec{}, calendar.Forbidden},
			"without the scope":   {reader, work, auth.LinkSpec{}, calendar.Forbidden},
			"expired":             {alice, work, auth.LinkSpec{Expires: h.Now()}, calendar.Invalid},
			"two lines":           {alice, work, auth.LinkSpec{Name: "a\nb"}, calendar.Invalid},
			"for writing":         {alice, work, auth.LinkSpec{Access: calendar.WriteAccess}, calendar.Invalid},
			"to no calendar":      {alice, nowhere, auth.LinkSpec{}, calendar.NotFound},
			"to another's as own": {bob, work, auth.LinkSpec{}, calendar.NotFound},
		} {
			if c.spec.Access == calendar.NoAccess {
				c.spec.Access = calendar.ReadAccess
			}
			_, secret, err := h.CreateLink(h.t.Context(), c.caller, c.cal, c.spec)
			if err == nil || calendar.ReasonOf(err) != c.want || secret != "" {
				h.t.Errorf("%s: %q, %v; want %v", name, secret, err, c.want)
			}
		}
		if all, err := h.Links(h.t.Context(), ""); err != nil || len(all) != 0 {
			h.t.Errorf("%d links were made, %v", len(all), err)
		}
		if _, err := h.Links(h.t.Context(), "nobody"); calendar.ReasonOf(err) != calendar.NotFound {
			h.t.Errorf("the links of nobody: %v", err)
		}
	})
}

// TestLinkGuessesBlockNobody: a web page can make its readers ask for links that are none. Neither their
// logins nor their own links wait for that (security L11).
func TestLinkGuessesBlockNobody(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		alice, work := h.owner()
		_, secret := h.createLink(alice, work, auth.LinkSpec{})
		for i := range 200 {
			guess := strings.Repeat(string(rune('A'+i%26)), 20) + secret[20+i%20:][:20] + strings.Repeat("A", 24)
			if err := h.follow(guess); !errors.Is(err, auth.ErrUnauthorized) {
				h.t.Fatalf("a guess: %v", err)
			}
		}
		if err := h.follow(secret); err != nil {
			h.t.Errorf("a good link, never seen: %v", err)
		}
		h.createUser("dora")
		if err := h.login("dora", rightPassword); err != nil {
			h.t.Errorf("a first login: %v", err)
		}
		for _, malformed := range []string{
			"", "x", secret[1:], secret + "A", "mcp_" + secret, strings.Repeat("=", 64),
		} {
			if err := h.follow(malformed); !errors.Is(err, auth.ErrUnauthorized) {
				h.t.Errorf("%q: %v", malformed, err)
			}
		}
		if h.Log.String() != "" {
			h.t.Errorf("the log says %s", h.Log)
		}
	})
}

func TestLinkUseIsNoted(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		alice, work := h.owner()
		_, secret := h.createLink(alice, work, auth.LinkSpec{})
		for range 3 {
			if err := h.follow(secret); err != nil {
				h.t.Fatal(err)
			}
		}
		used := h.Now()
		ended, cancel := context.WithCancel(h.t.Context())
		cancel()
		h.Run(ended) // writes what waits, and returns
		all, err := h.Links(h.t.Context(), "alice")
		if err != nil || len(all) != 1 || !all[0].LastUsed.Equal(used) {
			h.t.Errorf("%+v, %v; want last used at %v", all, err, used)
		}
	})
}
