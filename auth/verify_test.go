package auth_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

func TestPasswordSpeaksForItsUser(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		alice := h.createUser("alice")
		for _, name := range []string{"alice", "Alice", "ALICE"} {
			got, err := h.VerifyBasic(h.t.Context(), name, rightPassword, here())
			want := calendar.Caller{User: alice, Scopes: calendar.ScopeAll, ForOthers: true}
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				h.t.Errorf("%s: %v\n%s", name, err, diff)
			}
		}
	})
}

// What each kind of wrong credential costs: one that could be right costs a hash, whether its
// user exists or not; one that nobody can have costs none.
func TestWrongCredentials(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.createUser("alice")
		token, secret := h.createToken(auth.TokenSpec{User: "alice"})
		guess := secret[:len(secret)-1] + map[bool]string{true: "B", false: "A"}[strings.HasSuffix(secret, "A")]
		unknown := "mcp_" + strings.Repeat("A", 64)
		for _, c := range []struct {
			name   string
			login  func() error
			hashes int64
		}{
			{"a wrong password", func() error { return h.login("alice", wrongPassword) }, 1},
			{"a wrong user", func() error { return h.login("bob", rightPassword) }, 1},
			{"a password in capitals", func() error { return h.login("alice", strings.ToUpper(rightPassword)) }, 1},
			{"no password", func() error { return h.login("alice", "") }, 0},
			{"a megabyte", func() error { return h.login("alice", strings.Repeat("x", 1<<20)) }, 0},
			{"no name", func() error { return h.login("", rightPassword) }, 0},
			{"a name that cannot be", func() error { return h.login("al/ice", rightPassword) }, 0},
			{"a token's id with another secret", func() error { return h.bear(guess) }, 0},
			{"the same as a password", func() error { return h.login("alice", guess) }, 0},
			{"an unknown token", func() error { return h.bear(unknown) }, 0},
			{"an unknown token as a password", func() error { return h.login("alice", unknown) }, 0},
			{"a token's id alone", func() error { return h.bear("mcp_" + string(token.ID)) }, 0},
			{"a password as a token", func() error { return h.bear(rightPassword) }, 0},
			{"nothing", func() error { return h.bear("") }, 0},
		} {
			n := h.hashes(func() {
				if err := c.login(); err != auth.ErrUnauthorized {
					h.t.Errorf("%s: %v, want ErrUnauthorized", c.name, err)
				}
			})
			if n != c.hashes {
				h.t.Errorf("%s took %d hashes, want %d", c.name, n, c.hashes)
			}
		}
	})
}

func TestVerdictsAreRemembered(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.createUser("alice")
		_, token := h.createToken(auth.TokenSpec{User: "alice"})
		right := func() error { return h.login("alice", rightPassword) }
		wrong := func() error { return h.login("alice", wrongPassword) }
		bearer := func() error { return h.bear(token) }
		for _, c := range []struct {
			name   string
			after  time.Duration
			login  func() error
			hashes int64
		}{
			{"a password", 0, right, 1},
			{"again", 0, right, 0},
			{"a wrong one", 0, wrong, 1},
			{"again", 0, wrong, 0},
			{"a token", 0, bearer, 0},
			{"again", 0, bearer, 0},
			{"a token as a password", 0, func() error { return h.login("alice", token) }, 0},
			{"a wrong one after a minute", time.Minute, wrong, 1},
			{"a right one after a month", 30 * 24 * time.Hour, right, 0},
			{"a token after a month", 0, bearer, 0},
		} {
			h.Pass(c.after)
			if n := h.hashes(func() { _ = c.login() }); n != c.hashes {
				h.t.Errorf("%s took %d hashes, want %d", c.name, n, c.hashes)
			}
		}
	})
}

// A change that another process makes counts with the next request, for right and wrong verdicts.
func TestChangesCountInEveryProcess(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.createUser("alice")
		other := h.neighbour()
		if err := h.login("alice", rightPassword); err != nil {
			h.t.Fatal(err)
		}
		for _, user := range []string{"alice", "bob"} {
			if err := h.login(user, "another horse"); !errors.Is(err, auth.ErrUnauthorized) {
				h.t.Fatal(err)
			}
		}
		if err := other.SetPassword(h.t.Context(), "alice", "another horse"); err != nil {
			h.t.Fatal(err)
		}
		if _, err := other.CreateUser(h.t.Context(), auth.NewUser{Name: "bob", Password: "another horse"}); err != nil {
			h.t.Fatal(err)
		}
		if err := h.login("alice", rightPassword); !errors.Is(err, auth.ErrUnauthorized) {
			h.t.Errorf("the old password: %v", err)
		}
		for _, user := range []string{"alice", "bob"} {
			if err := h.login(user, "another horse"); err != nil {
				h.t.Errorf("%s, refused before: %v", user, err)
			}
		}
	})
}

func TestManyRequestsShareOneHash(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.createUser("alice")
		n := h.hashes(func() {
			var all sync.WaitGroup
			for range 32 {
				all.Go(func() {
					if err := h.login("alice", rightPassword); err != nil {
						h.t.Error(err)
					}
				})
			}
			all.Wait()
		})
		if n != 1 {
			h.t.Errorf("32 requests with one password took %d hashes", n)
		}
	})
}

// The usual flood: guesses on one account from one address.
func TestFloodOnOneAccount(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		alice := h.createUser("alice")
		h.createUser("bob")
		_, token := h.createToken(auth.TokenSpec{User: "alice"})
		if err := h.login("alice", rightPassword); err != nil {
			h.t.Fatal(err)
		}
		refused := 0
		n := h.hashes(func() {
			for i := range 500 {
				if _, throttled := errors.AsType[*auth.ThrottledError](h.login("alice",
					fmt.Sprint("guess number ", i))); throttled {
					refused++
				}
			}
		})
		if n != 10 || refused != 490 {
			h.t.Errorf("500 guesses took %d hashes, %d were throttled; want 10, 490", n, refused)
		}
		// the verdict is forgotten
		if err := h.Store.ChangeUser(h.t.Context(), alice.ID, auth.UserEdit{DisplayName: new("Alice")}); err != nil {
			h.t.Fatal(err)
		}
		for i := range 500 {
			_ = h.login("alice", fmt.Sprint("another guess ", i))
		}
		for _, c := range []struct {
			name  string
			login error
		}{
			{"the password that was right before", h.login("alice", rightPassword)},
			{"another account, never seen", h.login("bob", rightPassword)},
			{"a token of the account, never seen", h.bear(token)},
		} {
			if c.login != nil {
				h.t.Errorf("%s: %v", c.name, c.login)
			}
		}
	})
}

// A process that never saw the right password cannot tell it from the flood around it, but for
// where it comes from.
func TestFloodBeforeTheFirstLogin(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.createUser("alice")
		for i := range 500 {
			_ = h.login("alice", fmt.Sprint("guess number ", i))
		}
		err := h.login("alice", rightPassword)
		if throttled, ok := errors.AsType[*auth.ThrottledError](err); !ok || throttled.RetryAfter != 6*time.Second {
			h.t.Errorf("from where the flood comes: %v; want to wait 6s", err)
		}
		_, err = h.VerifyBasic(h.t.Context(), "alice", rightPassword, elsewhere())
		if err != nil {
			h.t.Errorf("from elsewhere: %v", err)
		}
		if err := h.login("alice", rightPassword); err != nil {
			h.t.Errorf("now that it was right elsewhere: %v", err)
		}
	})
}

// Anyone who was right before need not wait for the hashes of strangers, however many there are (security L12).
func TestKnownHavePlacesOfTheirOwn(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		alice := h.createUser("alice")
		if err := h.login("alice", rightPassword); err != nil {
			h.t.Fatal(err)
		}
		// the verdict is forgotten
		if err := h.Store.ChangeUser(h.t.Context(), alice.ID, auth.UserEdit{DisplayName: new("Alice")}); err != nil {
			h.t.Fatal(err)
		}
		places := int64(auth.DefaultLimits().Places)
		inside, leave := make(chan struct{}), make(chan struct{})
		already := h.hasher.checks.Load()
		h.hasher.during = func() {
			if h.hasher.checks.Load() <= already+places {
				inside <- struct{}{}
				<-leave
			}
		}
		var strangers sync.WaitGroup
		for i := range places {
			strangers.Go(func() { _ = h.login(fmt.Sprint("nobody", i), wrongPassword) })
		}
		for range places {
			<-inside
		}
		if err := h.login("alice", rightPassword); err != nil {
			h.t.Errorf("while strangers are at work: %v", err)
		}
		close(leave)
		strangers.Wait()
	})
}

// Accounts that do not exist are counted like those that do, or the count would tell them apart.
func TestThrottleDoesNotTellUsersApart(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.createUser("alice")
		flood := func(user string, from netip.Addr) (answers []string) {
			for i := range 20 {
				_, err := h.VerifyBasic(h.t.Context(), user, fmt.Sprint("guess number ", i), from)
				answers = append(answers, err.Error())
			}
			return answers
		}
		if diff := cmp.Diff(flood("alice", here()), flood("bob", elsewhere())); diff != "" {
			h.t.Errorf("a user and nobody differ:\n%s", diff)
		}
	})
}

func TestFloodThroughTheAccounts(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		n := h.hashes(func() {
			for i := range 500 {
				_ = h.login(fmt.Sprint("user", i), wrongPassword)
			}
		})
		if n != 40 {
			h.t.Errorf("500 accounts took %d hashes, want 40", n)
		}
		h.createUser("alice")
		if _, err := h.VerifyBasic(h.t.Context(), "alice", rightPassword, elsewhere()); err != nil {
			h.t.Errorf("from elsewhere: %v", err)
		}
	})
}

// A phone with an old password must be told so, not locked out with the others behind its address.
func TestPhoneWithAnOldPassword(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.createUser("alice")
		n := h.hashes(func() {
			for range 600 {
				h.Pass(time.Second)
				if err := h.login("alice", wrongPassword); !errors.Is(err, auth.ErrUnauthorized) {
					h.t.Fatal(err)
				}
			}
		})
		if n != 10 {
			h.t.Errorf("ten minutes took %d hashes, want 10", n)
		}
		if err := h.login("alice", rightPassword); err != nil {
			h.t.Errorf("with the new one: %v", err)
		}
	})
}

func TestUnknownTokensBlockNobody(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.createUser("alice")
		for i := range 500 {
			unknown := fmt.Sprintf("mcp_%064d", i)
			if err := h.bear(unknown); !errors.Is(err, auth.ErrUnauthorized) {
				h.t.Fatalf("token %d: %v", i, err)
			}
		}
		if err := h.login("alice", rightPassword); err != nil {
			h.t.Error(err)
		}
	})
}

func TestWeakHashesAreReplaced(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.createUser("alice")
		_, token := h.createToken(auth.TokenSpec{User: "alice"})
		later := h.neighbour()
		later.hasher.made.Store(0)
		later.hasher.Cost = auth.Cost{MemoryKiB: 16, Iterations: 2, Parallelism: 1}
		stored := func() string {
			c, err := h.Store.PasswordByName(h.t.Context(), "alice")
			if err != nil {
				h.t.Fatal(err)
			}
			return string(c.Hash)
		}
		before := stored()
		if err := later.login("alice", wrongPassword); err == nil || stored() != before {
			h.t.Errorf("a wrong password: %v; the hash is now %q", err, stored())
		}
		for _, err := range []error{
			h.login("alice", rightPassword), later.login("alice", rightPassword), later.bear(token),
		} {
			if err != nil {
				h.t.Fatal(err)
			}
		}
		if !strings.HasPrefix(stored(), "$argon2id$v=19$m=16,t=2,p=1$") {
			h.t.Errorf("the hash is still %q", stored())
		}
		if n := later.hasher.made.Load(); n != 1 {
			h.t.Errorf("%d hashes were made, want the password's alone", n)
		}
		if err := h.neighbour().login("alice", rightPassword); err != nil {
			h.t.Errorf("with the new hash: %v", err)
		}
		if later.Log.String() != "" {
			h.t.Errorf("logged: %s", later.Log)
		}
	})
}

// flaky is a store whose database goes away.
type flaky struct {
	auth.Store
	away, credentialsAway atomic.Bool
}

func errAway() error { return calendar.Errorf(calendar.Unavailable, "", "the database is away") }

func (f *flaky) CredentialGeneration(ctx context.Context, of auth.Subject) (int64, error) {
	if f.away.Load() {
		return 0, errAway()
	}
	return f.Store.CredentialGeneration(ctx, of)
}

func (f *flaky) PasswordByName(ctx context.Context, name string) (auth.Credential, error) {
	if f.credentialsAway.Load() {
		return auth.Credential{}, errAway()
	}
	return f.Store.PasswordByName(ctx, name)
}

// A store that is away must never look like a wrong password: clients would forget the right one.
func TestAwayIsNotWrong(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		f := new(flaky)
		h := open(t, url, atNoon(), func(s auth.Store) auth.Store {
			f.Store = s
			return f
		})
		h.createUser("alice")
		for _, broken := range []*atomic.Bool{&f.away, &f.credentialsAway} {
			broken.Store(true)
			for i := range 50 { // more than the throttle lets through: an outage is nobody's guess
				if err := h.login("alice", rightPassword); calendar.ReasonOf(err) != calendar.Unavailable {
					t.Fatalf("login %d while the store is away: %v", i, err)
				}
			}
			broken.Store(false)
		}
		if err := h.login("alice", rightPassword); err != nil {
			t.Errorf("when it is back: %v", err)
		}
		f.away.Store(true)
		if err := h.login("alice", rightPassword); calendar.ReasonOf(err) != calendar.Unavailable {
			t.Errorf("remembered, but perhaps revoked by now: %v", err)
		}
	})
}
