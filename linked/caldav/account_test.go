package caldav_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/auth/vault"
	"caldav-mcp-server/caldav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
	linked "caldav-mcp-server/linked/caldav"
	"caldav-mcp-server/outbound"
)

type sealer struct{ *vault.Vault }

func (s sealer) Seal(secret []byte, user, account string) ([]byte, string, error) {
	return s.Vault.Seal(secret, vault.Owner{User: user, Account: account})
}

func (s sealer) Open(sealed []byte, user, account string) ([]byte, error) {
	return s.Vault.Open(sealed, vault.Owner{User: user, Account: account})
}

// pair are two servers: what alice has on the one is linked by bob on the other.
type pair struct {
	t           *testing.T
	ctx         context.Context
	there, here *service.Service
	store       *housetest.House
	alice, bob  calendar.Caller
	web         *httptest.Server
	asked       atomic.Int64
	// plain makes the other server one that does not know sync-collection.
	plain  bool
	linked mirror.Linked
}

func newPair(t *testing.T, plain bool) *pair {
	t.Helper()
	p := &pair{t: t, ctx: t.Context(), plain: plain}
	clock := func() *housetest.Clock { return housetest.At(time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)) }
	there := housetest.Open(t, testdb.SQLite(t), clock())
	alice := calendar.User{ID: "u1", Name: "alice", Email: "alice@there.example"}
	there.Admit(t, alice)
	p.there, p.alice = service.New(there.Middle()), calendar.Caller{User: alice, Scopes: calendar.ScopeAll}
	handler, err := caldav.New(caldav.Config{
		Service: p.there, Limits: caldav.DefaultLimits(), Logger: there.Logger(), Now: there.Now,
	})
	p.must(err)
	p.web = httptest.NewTLSServer(handler.Public(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.asked.Add(1)
		user, password, _ := r.BasicAuth()
		if user != "alice" || password != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if p.plain && r.Method == "REPORT" && r.Header.Get("Depth") == "" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		handler.ServeDAV(w, r, p.alice)
	})))
	t.Cleanup(p.web.Close)
	p.store = housetest.Open(t, testdb.SQLite(t), clock())
	bob := calendar.User{ID: "u2", Name: "bob", Email: "bob@here.example"}
	p.store.Admit(t, bob)
	p.bob = calendar.Caller{User: bob, Scopes: calendar.ScopeAll}
	c := p.store.Middle()
	c.Providers, c.Sealer = map[string]mirror.Provider{"caldav": linked.Provider(p.guard(), 0)}, sealer{
		vault.New(vault.Given([]vault.Key{vault.NewKey()})),
	}
	p.here = service.New(c)
	return p
}

func (p *pair) guard() *outbound.Guard {
	c := outbound.Config{
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		Roots: x509.NewCertPool(), Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		},
	}
	c.Roots.AddCert(p.web.Certificate())
	return outbound.New(c)
}

func (p *pair) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *pair) secret(password string) mirror.Secret {
	_, port, _ := net.SplitHostPort(p.web.Listener.Addr().String())
	return mirror.Secret{URL: "example.com:" + port, Username: "alice", Password: password}
}

func (p *pair) link() calendar.Calendar {
	p.t.Helper()
	var err error
	p.linked, _, err = p.here.Mirrors.Link(p.ctx, p.bob, mirror.NewAccount{
		Provider: "caldav", Secret: p.secret("secret"),
	})
	p.must(err)
	return p.linked.Calendars[0].Calendar
}

func event(uid, summary string) []byte {
	return []byte("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nBEGIN:VEVENT\r\nUID:" + uid +
		"\r\nDTSTAMP:20260301T000000Z\r\nDTSTART:20260302T090000Z\r\nSUMMARY:" +
		summary + " <&> ü\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
}

func texts(t *testing.T, s *service.Service, c calendar.Caller, cal calendar.Calendar) map[string]string {
	t.Helper()
	all := map[string]string{}
	for o, err := range s.Objects(t.Context(), nil, c, cal, calendar.ObjectQuery{WithData: true}) {
		if err != nil {
			t.Fatal(err)
		}
		all[string(o.UID)] = string(o.Data)
	}
	return all
}

// TestTwoServers links one server of ours to another, which knows sync-collection or does not.
func TestTwoServers(t *testing.T) {
	t.Parallel()
	for _, plain := range []bool{false, true} {
		t.Run(fmt.Sprintf("plain=%v", plain), func(t *testing.T) {
			t.Parallel()
			p := newPair(t, plain)
			theirs, err := p.there.CreateCalendar(p.ctx, p.alice, calendar.NewCalendar{
				Segment: "work", Properties: calendar.Properties{Name: "Work", Kinds: calendar.Kinds{calendar.Event}},
			})
			p.must(err)
			for i := range 230 {
				uid := fmt.Sprintf("uid %d/ä", i)
				_, err := p.there.Put(p.ctx, p.alice, theirs, calendar.Draft{
					Name: calendar.ObjectName(fmt.Sprintf("n %d ä.ics", i)), Data: event(uid, "there"),
				})
				p.must(err)
			}
			mine := p.link()
			same := func() {
				t.Helper()
				if diff := cmp.Diff(texts(t, p.there, p.alice, theirs), texts(t, p.here, p.bob, mine)); diff != "" {
					t.Fatalf("-there +here\n%s", diff)
				}
			}
			if same(); mine.Name != "Work" || !mine.Origin.Writable {
				t.Errorf("the calendar is %+v", mine)
			}
			before := p.asked.Load()
			refresh := func() { _, err := p.here.Mirrors.Round(p.ctx); p.must(err) }
			p.store.Pass(time.Hour)
			refresh()
			if n := p.asked.Load() - before; !plain && n != 1 || plain && n != 1 {
				t.Errorf("a look at nothing new asks %d times", n)
			}
			p.both(theirs, mine, same)
		})
	}
}

// both has each side change.
func (p *pair) both(theirs, mine calendar.Calendar, same func()) {
	p.t.Helper()
	look := func() { _, err := p.here.Mirrors.Refresh(p.ctx, p.bob, p.linked.ID); p.must(err) }
	_, err := p.there.Put(p.ctx, p.alice, theirs, calendar.Draft{
		Name: "n 3 ä.ics", Data: event("uid 3/ä", "changed there"),
	})
	p.must(err)
	p.must(p.there.Delete(p.ctx, p.alice, theirs, "n 4 ä.ics", calendar.Precondition{}))
	look()
	same()
	saved, err := p.here.Put(p.ctx, p.bob, mine, calendar.Draft{Name: "new.ics", Data: event("new?#", "from here")})
	p.must(err)
	same()
	_, err = p.here.Put(p.ctx, p.bob, mine, calendar.Draft{
		Name: "new.ics", Data: event("new?#", "again"),
		When: calendar.Precondition{Match: []calendar.ETag{saved.Object.ETag}},
	})
	p.must(err)
	same()
	look()
	same()
	// Both change the same: the one who comes later is told, and has what is there.
	o, err := p.there.ObjectByUID(p.ctx, nil, p.alice, theirs, "new?#")
	p.must(err)
	_, err = p.there.Put(p.ctx, p.alice, theirs, calendar.Draft{Name: o.Name, Data: event("new?#", "theirs")})
	p.must(err)
	_, err = p.here.Put(p.ctx, p.bob, mine, calendar.Draft{Name: "new.ics", Data: event("new?#", "mine")})
	if calendar.ReasonOf(err) != calendar.Stale {
		p.t.Errorf("an overtaken write: %v", err)
	}
	same()
	p.must(p.here.Delete(p.ctx, p.bob, mine, "new.ics", calendar.Precondition{}))
	same()
	p.web.Close()
	if _, err := p.here.Put(p.ctx, p.bob, mine,
		calendar.Draft{Name: "x.ics", Data: event("x", "x")}); calendar.ReasonOf(err) != calendar.Unavailable {
		p.t.Errorf("the other server is away: %v", err)
	}
}

func TestAWrongPassword(t *testing.T) {
	t.Parallel()
	p := newPair(t, false)
	_, _, err := p.here.Mirrors.Link(p.ctx, p.bob, mirror.NewAccount{Provider: "caldav", Secret: p.secret("wrong")})
	if err == nil || !strings.Contains(err.Error(), "does not accept this name and password") ||
		!errors.Is(err, mirror.ErrSignIn) {
		t.Errorf("got %v", err)
	}
	for _, s := range []string{p.store.Log.String(), fmt.Sprint(err)} {
		if strings.Contains(s, "wrong") {
			t.Errorf("the password is told: %s", s)
		}
	}
	if _, err := linked.Provider(p.guard(), 0).
		Open(mirror.Opening{Secret: mirror.Secret{URL: "http://example.com"}}); err == nil {
		t.Error("a password goes without TLS")
	}
}

// TestAPausedAccountIsAskedAgain: anyone who asks for it gives it as long again, also where it does not answer at once.
func TestAPausedAccountIsAskedAgain(t *testing.T) {
	t.Parallel()
	p := newPair(t, false)
	_, err := p.there.CreateCalendar(p.ctx, p.alice, calendar.NewCalendar{
		Segment: "work", Properties: calendar.Properties{Name: "Work", Kinds: calendar.Kinds{calendar.Event}},
	})
	p.must(err)
	p.link()
	a, err := p.store.Store.Account(p.ctx, p.linked.ID)
	p.must(err)
	began := a
	a.Status, a.Failing = calendar.AccountPaused, p.store.Now().Add(-40*24*time.Hour)
	_, err = p.store.Store.SetAccountState(p.ctx, a, began)
	p.must(err)
	p.web.Close()
	if _, err := p.here.Mirrors.Refresh(p.ctx, p.bob, p.linked.ID); calendar.ReasonOf(err) != calendar.Unavailable {
		t.Errorf("the other server is away: %v", err)
	}
	if a, err = p.store.Store.Account(p.ctx, p.linked.ID); err != nil || a.Status != calendar.AccountFailed {
		t.Errorf("it is %q, %v", a.Status, err)
	}
}

// TestAccountOrganizes: an event with guests that is created in a linked calendar is organized by the account's own
// address there, which its server does not prove.
func TestAccountOrganizes(t *testing.T) {
	t.Parallel()
	p := newPair(t, false)
	_, err := p.there.CreateCalendar(p.ctx, p.alice,
		calendar.NewCalendar{Properties: calendar.Properties{Name: "Work"}})
	p.must(err)
	cal := p.link()
	if o := cal.Origin; o.Address != "alice@there.example" || o.Own {
		t.Errorf("the calendar's origin is %+v", o)
	}
	text := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nBEGIN:VEVENT\r\nUID:lunch\r\n" +
		"DTSTAMP:20260301T000000Z\r\nDTSTART:20260402T090000Z\r\nSUMMARY:Lunch\r\n" +
		"ORGANIZER:mailto:bob@here.example\r\nATTENDEE:mailto:eve@example.net\r\n" +
		"END:VEVENT\r\nEND:VCALENDAR\r\n"
	saved, err := p.here.Put(p.ctx, p.bob, cal, calendar.Draft{Name: "lunch.ics", Data: []byte(text)})
	p.must(err)
	if got := string(saved.Object.Data); !strings.Contains(got, "mailto:alice@there.example") ||
		strings.Contains(got, "bob@here.example") {
		t.Errorf("the event is\n%s", got)
	}
}
