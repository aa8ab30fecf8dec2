package web_test

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"caldav-mcp-server/auth/vault"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/linked/ics"
	"caldav-mcp-server/outbound"
	"caldav-mcp-server/web"
)

type sealer struct{ *vault.Vault }

func (s sealer) Seal(secret []byte, user, account string) ([]byte, string, error) {
	return s.Vault.Seal(secret, vault.Owner{User: user, Account: account})
}

func (s sealer) Open(sealed []byte, user, account string) ([]byte, error) {
	return s.Vault.Open(sealed, vault.Owner{User: user, Account: account})
}

// publisher publishes a feed at a secret address, and is a provider whose owner agrees.
type publisher struct {
	*httptest.Server
	sealer sealer
	gone   atomic.Bool
	// busy adds an event on Monday, May 4th, from 9 to 10 in Berlin.
	busy     atomic.Bool
	verifier atomic.Value
}

func newPublisher(t *testing.T) *publisher {
	t.Helper()
	p := &publisher{sealer: sealer{vault.New(vault.Given([]vault.Key{vault.NewKey()}))}}
	p.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.gone.Load() || r.URL.Path != "/s3cret.ics" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nX-WR-CALNAME:<b>Choir</b>\r\n" +
			"BEGIN:VEVENT\r\nUID:a\r\nDTSTAMP:20260301T000000Z\r\n" +
			"DTSTART:20260501T170000Z\r\nSUMMARY:Rehearsal\r\nEND:VEVENT\r\n"))
		if p.busy.Load() {
			_, _ = w.Write([]byte("BEGIN:VEVENT\r\nUID:b\r\nDTSTAMP:20260301T000000Z\r\nDTSTART:20260504T070000Z\r\n" +
				"DTEND:20260504T080000Z\r\nSUMMARY:Concert\r\nEND:VEVENT\r\n"))
		}
		_, _ = w.Write([]byte("END:VCALENDAR\r\n"))
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *publisher) address() string {
	_, port, _ := net.SplitHostPort(p.Listener.Addr().String())
	return "https://example.com:" + port + "/s3cret.ics"
}

func (p *publisher) providers() map[string]mirror.Provider {
	c := outbound.Config{
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		Roots: x509.NewCertPool(), Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		},
	}
	c.Roots.AddCert(p.Certificate())
	feeds := ics.Provider(outbound.New(c), 0)
	return map[string]mirror.Provider{"ics": feeds, "caldav": feeds, "agreed": feeds}
}

// Title, Address and Account make it a [web.Consent].
func (*publisher) Title() string { return "Agreed" }

func (p *publisher) Address(redirect, state, verifier string) string {
	p.verifier.Store(verifier)
	return "https://agree.example/?" + url.Values{"redirect": {redirect}, "state": {state}}.Encode()
}

func (p *publisher) Account(_ context.Context, _, code, verifier string) (mirror.NewAccount, error) {
	if code != "right" || verifier != p.verifier.Load() {
		return mirror.NewAccount{}, errors.New("secret words of a provider")
	}
	return mirror.NewAccount{Name: "At Agreed", Secret: mirror.Secret{URL: p.address()}}, nil
}

var linkedPath = regexp.MustCompile(`linked/(0000[0-9a-f-]+)/look`)

// link makes the pages ones on which accounts can be linked.
func (p *publisher) link(c *web.Config) {
	c.Service.Mirrors.Providers, c.Service.Mirrors.Sealer = p.providers(), p.sealer
	c.Consents = map[string]web.Consent{"agreed": p}
}

// Somebody follows a feed, sees its events and what is wrong with it, and unlinks it; the address is shown nowhere, and
// nobody else sees anything of it.
func TestFeedsAreLinkedOnAPage(t *testing.T) {
	t.Parallel()
	eachLinked(t, func(h *house, p *publisher) {
		ann, bob := h.as("ann"), h.as("bob")
		ann.get("calendars").shows(http.StatusOK, "Linked calendars")
		ann.get("linked").shows(http.StatusOK, "None yet", "Subscribe to a calendar", "Agreed")
		ann.post("linked", "kind", "ics", "url", "http://example.com/x").shows(http.StatusUnprocessableEntity,
			"Paste the address").hides("Choir")
		again := ann.post("linked", "kind", "ics", "url", "https://127.0.0.1:1/s3cret.ics")
		if kept := `value="https://127.0.0.1:1/s3cret.ics"`; !strings.Contains(again.body, kept) ||
			strings.Count(again.body, "s3cret") != 1 {
			t.Errorf("the refused address is not in its field alone:\n%s", again.body)
		}
		page := ann.post("linked", "kind", "ics", "url", p.address()).at("linked?done=account-linked").
			shows(http.StatusOK, "<b>Choir</b>").hides("<b>Choir", "s3cret")
		path := linkedPath.FindStringSubmatch(page.body)
		if path == nil {
			h.Fatal("no account on the page")
		}
		account := "linked/" + path[1]
		ann.get("").shows(http.StatusOK, "Rehearsal")
		bob.get("linked").shows(http.StatusOK, "None yet").hides("Choir")
		for _, do := range []string{"/look", "/unlink"} {
			bob.post(account + do).shows(http.StatusNotFound).hides("Choir")
		}
		p.gone.Store(true)
		ann.post(account + "/look").hides("s3cret")
		ann.get("linked").shows(http.StatusOK, "there is nothing at the address any more").hides("s3cret")
		p.gone.Store(false)
		ann.post(account + "/look").at("linked?done=account-looked").shows(http.StatusOK).hides("there is nothing")
		ann.post(account+"/unlink", "calendars", "trash").at("linked?done=account-dropped").shows(http.StatusOK,
			"None yet")
		ann.get("trash").shows(http.StatusOK, "Choir")
	})
}

// What an app follows by itself is followed here too once its owner says so, and left to the app again.
func TestNotesAreFollowedOnAPage(t *testing.T) {
	t.Parallel()
	eachLinked(t, func(h *house, p *publisher) {
		ann, bob := h.as("ann"), h.as("bob")
		user, err := h.store.UserByName(t.Context(), "ann")
		h.must(err)
		value := `<source xmlns="http://calendarserver.org/ns/"><href xmlns="DAV:">` + p.address() + `</href></source>`
		cal, err := h.calendars.CreateCalendar(t.Context(),
			calendar.Caller{User: user, Scopes: calendar.ScopeAll}, calendar.NewCalendar{
				Properties: calendar.Properties{Name: "<b>School"}, Subscription: true,
				DeadProperties: []calendar.DeadProperty{
					{Name: calendar.PropertyName{
						Space: "http://calendarserver.org/ns/", Local: "source",
					}, Value: value},
				},
			})
		h.must(err)
		note := "linked-note/" + string(cal.ID)
		ann.get("linked").shows(http.StatusOK, "Subscribed by your apps only", "example.com", "Subscribe here too").
			hides("s3cret", "<b>School")
		bob.get("linked").hides("School")
		bob.post(note).shows(http.StatusNotFound)
		ann.get("").hides("Rehearsal")
		p.gone.Store(true)
		ann.post(note).shows(http.StatusUnprocessableEntity, "there is nothing at the address any more",
			"Subscribe here too").hides("s3cret")
		p.gone.Store(false)
		page := ann.post(note).at("linked?done=note-followed").shows(http.StatusOK, "Leave it to the apps").
			hides("Subscribe here too", "s3cret", "to the trash")
		path := linkedPath.FindStringSubmatch(page.body)
		if path == nil {
			h.Fatal("no account on the page")
		}
		ann.get("").shows(http.StatusOK, "Rehearsal")
		ann.get("calendars").shows(http.StatusOK, "which this server follows too")
		ann.get("calendars/" + string(cal.ID)).shows(http.StatusOK)
		ann.post("linked/"+path[1]+"/unlink", "calendars", "note").at("linked?done=note-left").shows(http.StatusOK,
			"Subscribe here too", "None yet")
		ann.get("").hides("Rehearsal")
	})
}

// Somebody agrees at a provider, and comes back. An answer counts once, in the browser and the session that asked.
func TestAccountsAreLinkedByConsent(t *testing.T) {
	t.Parallel()
	eachLinked(t, func(h *house, p *publisher) {
		ann, bob := h.as("ann"), h.as("bob")
		ann.post("linked-at/nothing").shows(http.StatusNotFound)
		begin := func(b *browser) string {
			h.Helper()
			_, found, _ := strings.Cut(b.post("linked-at/agreed").shows(http.StatusOK, "Agreed").header.Get("Refresh"),
				"url=")
			at, err := url.Parse(found)
			if err != nil || at.Host != "agree.example" ||
				at.Query().Get("redirect") != h.server.URL+"/account/linked-at/back" {
				h.Fatalf("led to %q", found)
			}
			if state := at.Query().Get("state"); len(state) != 43 {
				h.Errorf("the state %q is not 32 bytes in base64url", state)
			}
			return "linked-at/back?state=" + at.Query().Get("state")
		}
		bob.get("linked-at/back?state=x&code=right").shows(http.StatusUnprocessableEntity, "Start again")
		hers := begin(ann)
		begin(bob)
		bob.get(hers+"&code=right").shows(http.StatusUnprocessableEntity, "another attempt")
		ann.get("linked-at/back?state=x&code=right").shows(http.StatusUnprocessableEntity, "Start again")
		ann.get(hers+"&code=wrong").shows(http.StatusUnprocessableEntity, "refused access").hides("secret words")
		// The cookie is gone: it was one attempt.
		ann.get(hers+"&code=right").shows(http.StatusUnprocessableEntity, "Start again")
		ann.get(begin(ann)+"&error=access_denied").shows(http.StatusUnprocessableEntity, "You did not agree")
		ann.get(begin(ann)+"&code=right").at("linked?done=account-linked").shows(http.StatusOK, "At Agreed")
		bob.get("linked").shows(http.StatusOK, "None yet")
	})
}

// Somebody links mail, which no app has unasked: they tick it for one, and for no other. Linking anew replaces what was
// there, and unlinking ends it.
func TestMailIsLinkedOnAPage(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, database string) {
		p := newPublisher(t)
		h := open(t, database, func(c *web.Config) {
			p.link(c)
			mail := mailer{
				mirror.Provider{Title: "Gmail", Every: time.Hour, Mail: true, Address: func(s mirror.Secret) string {
					return s.Username
				}, Open: func(mirror.Opening) (mirror.Source, error) { return noCalendars{}, nil }},
			}
			c.Service.Mirrors.Providers["gmail"] = mail.Provider
			c.Consents["gmail"] = mail
		})
		ann := h.user("ann")
		b := h.as("ann")
		b.get("apps/new").shows(http.StatusOK, "share").hides("read mail")
		link := func() {
			h.Helper()
			_, found, _ := strings.Cut(b.post("linked-at/gmail").shows(http.StatusOK, "Gmail").header.Get("Refresh"),
				"url=")
			at, err := url.Parse(found)
			h.must(err)
			b.get("linked-at/back?code=right&state="+at.Query().Get("state")).at("linked?done=mail-linked").
				shows(http.StatusOK, "ann@gmail.test", "do not get access automatically").hides("keep the calendars")
		}
		b.get("linked").shows(http.StatusOK, "Link an account at Gmail", "Nothing is sent or changed")
		link()
		link()
		all, err := h.store.Accounts(t.Context(), ann.ID)
		h.must(err)
		if len(all) != 1 {
			h.Fatalf("%d accounts are linked", len(all))
		}
		b.get("apps/new").shows(http.StatusOK, "read mail").hides(`value="mail" checked`)
		b.get(h.program(claudeRedirect).request("scope", "read mail")).shows(http.StatusOK,
			"Read the mail of your linked Gmail account").hides(`value="mail" checked`)
		b.post("linked/"+string(all[0].ID)+"/look").at("linked?done=account-looked").shows(http.StatusOK,
			"ann@gmail.test")
		b.post("linked/"+string(all[0].ID)+"/unlink", "calendars", "none").at("linked?done=account-unlinked").
			shows(http.StatusOK, "None yet", "its key is deleted")
		b.get("apps/new").hides("read mail")
	})
}

// TestCalendarsOfAnAccountAreChosen: a new account leads to the choice of its calendars, which can be changed later. An
// address of the pages that is not the visitor's account is unknown.
func TestCalendarsOfAnAccountAreChosen(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, database string) {
		p := newPublisher(t)
		h := open(t, database, func(c *web.Config) {
			p.link(c)
			c.Service.Mirrors.Providers["caldav"] = mirror.Provider{
				Title: "Shelf", Every: time.Hour, Address: func(s mirror.Secret) string { return s.URL },
				Open: func(mirror.Opening) (mirror.Source, error) { return shelf{}, nil },
			}
		})
		h.user("ann")
		h.user("bob")
		ann, bob := h.as("ann"), h.as("bob")
		page := ann.post("linked", "kind", "caldav", "url", "shelf.example", "username", "ann", "password", "x").
			shows(http.StatusOK, "Choose the calendars to link", "<b>Club", "School", "read-only")
		if n := strings.Count(page.body, `name="calendar"`); n != 2 || strings.Count(page.body, " checked") != n {
			t.Errorf("%d calendars are offered, and not all ticked", n)
		}
		found := linkedPath.FindStringSubmatch(ann.get("linked").shows(http.StatusOK, "Not linked", "School").body)
		if found == nil {
			t.Fatal("no account on the page")
		}
		account := "linked/" + found[1]
		bob.get(account).shows(http.StatusNotFound).hides("School")
		bob.post(account, "calendar", "s").shows(http.StatusNotFound).hides("School")
		ticks := func(page shown, want ...string) {
			t.Helper()
			var got []string
			for _, tick := range ticked.FindAllStringSubmatch(page.body, -1) {
				got = append(got, tick[1])
			}
			if !slices.Equal(got, want) {
				t.Errorf("ticked are %q, not %q", got, want)
			}
		}
		ticks(ann.post(account, "calendar", "unknown", "calendar", "s", "new", "yes").
			shows(http.StatusUnprocessableEntity, "no calendar"), "s", "yes")
		ann.post(account, "calendar", "s").at("linked?done=account-chosen").shows(http.StatusOK, "Not linked:",
			"<b>Club")
		ticks(ann.get(account), "s")
		ann.post(account, "calendar", "c", "new", "yes").at("linked?done=account-chosen").shows(http.StatusOK, "School")
		ticks(ann.get(account), "c", "yes")
		ann.get("trash").shows(http.StatusOK, "School")
	})
}

var ticked = regexp.MustCompile(`value="([^"]*)" checked`)

// shelf is an account with two calendars and no entries.
type shelf struct{ mirror.Source }

func (shelf) Calendars(context.Context) ([]mirror.Remote, error) {
	return []mirror.Remote{{ID: "c", Name: "<b>Club", Writable: true}, {ID: "s", Name: "School"}}, nil
}

func (shelf) Changes(context.Context, string, string) (mirror.Changes, error) {
	return mirror.Changes{Cursor: "end", Whole: true}, nil
}

// mailer is a provider of mail whose owner agrees.
type mailer struct{ mirror.Provider }

func (mailer) Title() string { return "Gmail" }

func (mailer) Address(_, state, _ string) string {
	return "https://agree.example/?" + url.Values{"state": {state}}.Encode()
}

func (mailer) Account(context.Context, string, string, string) (mirror.NewAccount, error) {
	return mirror.NewAccount{Subject: "ann@gmail.test", Secret: mirror.Secret{Username: "ann@gmail.test"}}, nil
}

// noCalendars is an account without any.
type noCalendars struct{ mirror.Source }

func (noCalendars) Calendars(context.Context) ([]mirror.Remote, error) { return nil, nil }

// eachLinked runs a test in a house where accounts can be linked, which ann and bob live in.
func eachLinked(t *testing.T, test func(*house, *publisher)) {
	t.Helper()
	testdb.Each(t, func(t *testing.T, database string) {
		p := newPublisher(t)
		h := open(t, database, p.link)
		h.user("ann")
		h.user("bob")
		test(h, p)
	})
}
