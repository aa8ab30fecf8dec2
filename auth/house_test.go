package auth_test

import (
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
)

const (
	rightPassword = "correct horse battery"
	wrongPassword = "incorrect horse battery"
)

func atNoon() *housetest.Clock {
	c := housetest.At(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	c.Form = "user-%d"
	return c
}

// counter is the real hasher at the least cost, which counts what it is asked for.
type counter struct {
	auth.Argon2id
	checks, made atomic.Int64
	// during runs in each check.
	during func()
}

func (c *counter) Check(secret string, h auth.Hash) (auth.Check, error) {
	c.checks.Add(1)
	if c.during != nil {
		c.during()
	}
	return c.Argon2id.Check(secret, h)
}

func (c *counter) Hash(secret string) (auth.Hash, error) {
	c.made.Add(1)
	return c.Argon2id.Hash(secret)
}

// house is a Service on a real store.
type house struct {
	*auth.Service
	*housetest.House
	t      *testing.T
	hasher *counter
}

// each runs a test in a house of its own on each engine.
func each(t *testing.T, test func(h *house)) {
	t.Helper()
	testdb.Each(t, func(t *testing.T, url string) {
		test(open(t, url, atNoon(), nil))
	})
}

// open opens a house, as one more process would; wrap may put something before its store.
func open(t *testing.T, url string, c *housetest.Clock, wrap func(auth.Store) auth.Store) *house {
	t.Helper()
	h := &house{t: t, House: housetest.Open(t, url, c), hasher: new(counter)}
	h.hasher.Argon2id = housetest.Cheap
	config := h.config(h.Store)
	if wrap != nil {
		config.Store = wrap(h.Store)
	}
	h.Service = auth.New(config)
	return h
}

func (h *house) config(s auth.Store) auth.Config {
	c := h.Login()
	c.Store, c.Hasher = s, h.hasher
	return c
}

// neighbour is another process on the same database.
func (h *house) neighbour() *house {
	h.t.Helper()
	return open(h.t, h.URL, h.Clock, nil)
}

func (h *house) createUser(name string) calendar.User {
	h.t.Helper()
	u, err := h.CreateUser(h.t.Context(), auth.NewUser{Name: name, Password: rightPassword})
	if err != nil {
		h.t.Fatal(err)
	}
	return u
}

func (h *house) createToken(spec auth.TokenSpec) (auth.Token, string) {
	h.t.Helper()
	if spec.Name == "" {
		spec.Name = "Claude on laptop"
	}
	if spec.Scopes == 0 {
		spec.Scopes = calendar.ScopeRead
	}
	token, secret, err := h.CreateToken(h.t.Context(), spec)
	if err != nil {
		h.t.Fatal(err)
	}
	return token, string(secret)
}

// createCalendar makes a calendar that tokens can be bound to.
func (h *house) createCalendar(owner calendar.UserID, id calendar.CalendarID) {
	h.t.Helper()
	err := h.Store.Update(h.t.Context(), func(tx calendar.Tx) error {
		return tx.InsertCalendar(h.t.Context(), calendar.Calendar{
			ID: id, Owner: owner, Segment: calendar.Segment(id), Created: h.Now(), Modified: h.Now(),
			Properties: calendar.Properties{Name: string(id), Timezone: "UTC", Kinds: calendar.AllKinds()},
		})
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

func here() netip.Addr      { return netip.MustParseAddr("192.0.2.1") }
func elsewhere() netip.Addr { return netip.MustParseAddr("198.51.100.7") }

// login logs in with a password, from here.
func (h *house) login(user, password string) error {
	_, err := h.VerifyBasic(h.t.Context(), user, password, here())
	return err
}

// bear logs in with a token, from here.
func (h *house) bear(token string) error {
	_, err := h.VerifyBearer(h.t.Context(), token, here())
	return err
}

// hashes returns how many checks of a hash something took.
func (h *house) hashes(something func()) int64 {
	before := h.hasher.checks.Load()
	something()
	return h.hasher.checks.Load() - before
}
