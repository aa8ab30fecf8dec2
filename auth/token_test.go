package auth_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

func TestScopes(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]calendar.Scope{
		"read":                           calendar.ScopeRead,
		"write, read":                    calendar.ScopeRead | calendar.ScopeWrite,
		"read,write,delete,share,invite": calendar.ScopeAll,
		"share,share":                    calendar.ScopeShare,
		"mail":                           calendar.ScopeMail,
	} {
		got, err := auth.ParseScopes(list)
		if err != nil || got != want {
			t.Errorf("ParseScopes(%q) = %b, %v; want %b", list, got, err, want)
		}
		if again, err := auth.ParseScopes(auth.ScopeList(got)); err != nil || again != want {
			t.Errorf("%q reads back as %b, %v", auth.ScopeList(got), again, err)
		}
	}
	for _, list := range []string{"", "READ", "read,", "read;write", "admin"} {
		_, err := auth.ParseScopes(list)
		if calendar.ReasonOf(err) != calendar.Invalid ||
			!strings.Contains(err.Error(), "read,write,delete,share,invite") {
			t.Errorf("ParseScopes(%q): %v, want Invalid with the list of them", list, err)
		}
	}
}

func TestTokenValid(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		token auth.Token
		want  bool
	}{
		"for ever":             {auth.Token{}, true},
		"a second longer":      {auth.Token{Expires: now.Add(time.Second)}, true},
		"ending now":           {auth.Token{Expires: now}, false},
		"revoked":              {auth.Token{Revoked: now.Add(-time.Hour)}, false},
		"revoked, yet in time": {auth.Token{Revoked: now, Expires: now.Add(time.Hour)}, false},
	} {
		if got := c.token.Valid(now); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestTokenSpeaksForItsUser(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		alice := h.createUser("alice")
		h.createCalendar(alice.ID, "work")
		token, secret := h.createToken(auth.TokenSpec{
			User: "Alice", Name: "Claude on laptop", Scopes: calendar.ScopeRead | calendar.ScopeWrite,
			Calendars: []calendar.CalendarID{"work"}, Tools: []calendar.ToolName{"b", "a"},
			Expires: h.Now().Add(time.Hour),
		})
		want := calendar.Caller{
			User: alice, Scopes: calendar.ScopeRead | calendar.ScopeWrite, Token: token.ID,
			Calendars: []calendar.CalendarID{"work"}, Expires: token.Expires, Agent: "Claude on laptop",
			Tools: []calendar.ToolName{"a", "b"},
		}
		for range 2 { // once from the store, once from memory
			got, err := h.VerifyBearer(h.t.Context(), secret, here())
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				h.t.Errorf("Bearer: %v\n%s", err, diff)
			}
			got, err = h.VerifyBasic(h.t.Context(), "ALICE", secret, here())
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				h.t.Errorf("Basic: %v\n%s", err, diff)
			}
		}
		h.createUser("bob")
		if err := h.login("bob", secret); !errors.Is(err, auth.ErrUnauthorized) {
			h.t.Errorf("alice's token under bob's name: %v", err)
		}
	})
}

func TestTokenSpecRefused(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.createUser("alice")
		good := auth.TokenSpec{User: "alice", Name: "x", Scopes: calendar.ScopeRead}
		for name, c := range map[string]struct {
			change func(*auth.TokenSpec)
			want   calendar.Reason
		}{
			"no tools":      {func(s *auth.TokenSpec) { s.Tools = []calendar.ToolName{} }, calendar.Invalid},
			"no name":       {func(s *auth.TokenSpec) { s.Name = " " }, calendar.Invalid},
			"two lines":     {func(s *auth.TokenSpec) { s.Name = "a\nb" }, calendar.Invalid},
			"a long name":   {func(s *auth.TokenSpec) { s.Name = strings.Repeat("x", 201) }, calendar.Invalid},
			"no scope":      {func(s *auth.TokenSpec) { s.Scopes = 0 }, calendar.Invalid},
			"unknown scope": {func(s *auth.TokenSpec) { s.Scopes = calendar.ScopeEvery + 1 }, calendar.Invalid},
			"no calendars":  {func(s *auth.TokenSpec) { s.Calendars = []calendar.CalendarID{} }, calendar.Invalid},
			"expired":       {func(s *auth.TokenSpec) { s.Expires = h.Now() }, calendar.Invalid},
			"nobody":        {func(s *auth.TokenSpec) { s.User = "bob" }, calendar.NotFound},
			"no user name":  {func(s *auth.TokenSpec) { s.User = "b:b" }, calendar.Invalid},
			"absent calendar": {
				func(s *auth.TokenSpec) { s.Calendars = []calendar.CalendarID{"work"} }, calendar.NotFound,
			},
		} {
			spec := good
			c.change(&spec)
			_, secret, err := h.CreateToken(h.t.Context(), spec)
			if err == nil || calendar.ReasonOf(err) != c.want || secret != "" {
				h.t.Errorf("%s: %q, %v; want %v", name, secret, err, c.want)
			}
		}
		if all, err := h.Tokens(h.t.Context(), ""); err != nil || len(all) != 0 {
			h.t.Errorf("%d tokens were made, %v", len(all), err)
		}
	})
}

func TestTokensAreListed(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.createUser("alice")
		h.createUser("bob")
		of := func(user string) []string {
			all, err := h.Tokens(h.t.Context(), user)
			if err != nil {
				h.t.Fatal(err)
			}
			var names []string
			for _, token := range all {
				names = append(names, token.UserName+": "+token.Name)
			}
			return names
		}
		h.createToken(auth.TokenSpec{User: "bob", Name: "one"})
		first, _ := h.createToken(auth.TokenSpec{User: "alice", Name: "two"})
		h.Pass(time.Second)
		h.createToken(auth.TokenSpec{User: "alice", Name: "three"})
		if err := h.RevokeToken(h.t.Context(), first.ID); err != nil {
			h.t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"alice: two", "alice: three"}, of("Alice")); diff != "" {
			h.t.Error(diff)
		}
		if diff := cmp.Diff([]string{"alice: two", "alice: three", "bob: one"}, of("")); diff != "" {
			h.t.Error(diff)
		}
		if _, err := h.Tokens(h.t.Context(), "carol"); calendar.ReasonOf(err) != calendar.NotFound {
			h.t.Errorf("nobody's: %v, want NotFound", err)
		}
	})
}

func TestTokenExpires(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.createUser("alice")
		_, secret := h.createToken(auth.TokenSpec{User: "alice", Expires: h.Now().Add(2 * time.Minute)})
		h.Pass(2*time.Minute - time.Second)
		if err := h.bear(secret); err != nil {
			h.t.Errorf("a second before: %v", err)
		}
		h.Pass(time.Second)
		if n := h.hashes(func() {
			if err := h.bear(secret); !errors.Is(err, auth.ErrUnauthorized) {
				h.t.Errorf("in time, though remembered: %v", err)
			}
		}); n != 0 {
			h.t.Errorf("%d hashes for it, want none", n)
		}
		if err := h.neighbour().bear(secret); !errors.Is(err, auth.ErrUnauthorized) {
			h.t.Errorf("in time, elsewhere: %v", err)
		}
	})
}

// A token that was bound to calendars must not reach all of them once its own are gone.
func TestTokenStaysBound(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		alice := h.createUser("alice")
		bob := h.createUser("bob")
		h.createCalendar(bob.ID, "bobs")
		_, secret := h.createToken(auth.TokenSpec{User: "alice", Calendars: []calendar.CalendarID{"bobs"}})
		if err := h.DeleteUser(h.t.Context(), "bob"); err != nil {
			h.t.Fatal(err)
		}
		caller, err := h.VerifyBearer(h.t.Context(), secret, here())
		if err != nil || caller.Calendars == nil {
			h.t.Fatalf("%+v, %v; want a caller bound to nothing", caller, err)
		}
		own := calendar.Calendar{ID: "work", Owner: alice.ID, Access: calendar.OwnerAccess}
		if caller.Sees(own) {
			h.t.Error("it sees a calendar that it was never bound to")
		}
	})
}

func TestRevokeToken(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.createUser("alice")
		token, secret := h.createToken(auth.TokenSpec{User: "alice"})
		other := h.neighbour()
		listener, err := h.VerifyBearer(h.t.Context(), secret, here())
		for _, err := range []error{
			err, h.bear(secret), other.bear(secret), other.login("alice", secret),
			other.StillGood(h.t.Context(), listener),
		} {
			if err != nil {
				h.t.Fatal(err)
			}
		}
		if err := h.RevokeToken(h.t.Context(), token.ID); err != nil {
			h.t.Fatal(err)
		}
		for i, err := range []error{
			h.bear(secret), other.bear(secret), other.login("alice", secret), other.StillGood(h.t.Context(), listener),
		} {
			if !errors.Is(err, auth.ErrUnauthorized) {
				h.t.Errorf("%d, after the revocation: %v", i, err)
			}
		}
		all, err := h.Tokens(h.t.Context(), "alice")
		token.Revoked = h.Now()
		if diff := cmp.Diff([]auth.Token{token}, all, cmpopts.IgnoreFields(auth.Token{}, "LastUsed")); err != nil ||
			diff != "" {
			h.t.Errorf("%v\n%s", err, diff)
		}
		if err := h.RevokeToken(h.t.Context(), "00"); calendar.ReasonOf(err) != calendar.NotFound {
			h.t.Errorf("one that is not there: %v, want NotFound", err)
		}
	})
}

// late is a store that does something after it has looked a token up.
type late struct {
	auth.Store
	then func(id calendar.TokenID)
}

func (l *late) TokenByID(ctx context.Context, id calendar.TokenID) (auth.Credential, error) {
	c, err := l.Store.TokenByID(ctx, id)
	if l.then != nil {
		l.then(id)
	}
	return c, err
}

// The token is revoked while it is being checked, by its seal or by its hash: what is found out then must not last.
func TestRevokeTokenDuringItsCheck(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		l := new(late)
		h := open(t, url, atNoon(), func(s auth.Store) auth.Store {
			l.Store = s
			return l
		})
		alice := h.createUser("alice")
		_, secret := h.createToken(auth.TokenSpec{User: "alice"})
		for _, token := range []string{secret, h.unsealed(alice)} {
			l.then = func(id calendar.TokenID) {
				if err := l.RevokeToken(t.Context(), id, h.Now()); err != nil {
					t.Error(err)
				}
			}
			_ = h.bear(token) // either answer is right: both happened at the same time
			l.then = nil
			if err := h.bear(token); !errors.Is(err, auth.ErrUnauthorized) {
				t.Errorf("the next request: %v", err)
			}
		}
	})
}

func TestTokenLastUsed(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.createUser("alice")
		_, secret := h.createToken(auth.TokenSpec{User: "alice"})
		ctx := h.t.Context()
		ended, end := context.WithCancel(ctx)
		end()
		lastUsed := func() time.Time {
			h.Run(ended) // writes what is noted, and returns
			all, err := h.Tokens(ctx, "alice")
			if err != nil || len(all) != 1 {
				h.t.Fatal(all, err)
			}
			return all[0].LastUsed
		}
		if got := lastUsed(); !got.IsZero() {
			h.t.Errorf("before any use: %v", got)
		}
		start := h.Now()
		for _, step := range []struct {
			after time.Duration
			want  time.Time
		}{{0, start}, {time.Minute - time.Second, start}, {time.Second, start.Add(time.Minute)}} {
			h.Pass(step.after)
			if err := h.bear(secret); err != nil {
				h.t.Fatal(err)
			}
			if got := lastUsed(); !got.Equal(step.want) {
				h.t.Errorf("used at %v, last used %v; want %v", h.Now(), got, step.want)
			}
		}
	})
}

// TestRevokeAllEndsWhatABackupBroughtBack: every token and link that is good ends, at once and on either engine
// (security M9).
func TestRevokeAllEndsWhatABackupBroughtBack(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		alice, work := h.owner()
		_, secret := h.createLink(alice, work, auth.LinkSpec{})
		_, token := h.createToken(auth.TokenSpec{User: alice.User.Name})
		if err := h.bear(token); err != nil {
			h.t.Fatal(err)
		}
		if tokens, links, err := h.Living(h.t.Context()); tokens != 1 || links != 1 || err != nil {
			h.t.Errorf("%d tokens and %d links are good, %v", tokens, links, err)
		}
		if err := h.RevokeAll(h.t.Context()); err != nil {
			h.t.Fatal(err)
		}
		if err := h.bear(token); !errors.Is(err, auth.ErrUnauthorized) {
			h.t.Errorf("the token: %v", err)
		}
		if err := h.follow(secret); !errors.Is(err, auth.ErrUnauthorized) {
			h.t.Errorf("the link: %v", err)
		}
		if tokens, links, err := h.Living(h.t.Context()); tokens != 0 || links != 0 || err != nil {
			h.t.Errorf("%d tokens and %d links are good still, %v", tokens, links, err)
		}
	})
}
