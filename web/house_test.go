package web_test

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oauth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/intake"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store"
	"caldav-mcp-server/web"
)

// rightPassword is everybody's.
const rightPassword = "correct horse battery"

// house is the pages on a real store, behind a server. Its clock stands still until it is moved.
type house struct {
	*testing.T
	*housetest.House
	store     *store.Store
	auth      *auth.Service
	oauth     *oauth.Service
	calendars *service.Service
	intake    *intake.Intake
	server    *httptest.Server
	pages     *web.Handler
	log       *housetest.Log
	limits    auth.Limits
}

// option changes what a house's pages are made of.
type option func(*web.Config)

// each runs a test in a house of its own on each engine.
func each(t *testing.T, test func(h *house), options ...option) {
	t.Helper()
	testdb.Each(t, func(t *testing.T, url string) { test(open(t, url, options...)) })
}

func open(t *testing.T, url string, options ...option) *house {
	t.Helper()
	clock := housetest.At(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	clock.Form = "00000000-0000-4000-8000-%012d"
	h := &house{T: t, House: housetest.Open(t, url, clock), limits: auth.DefaultLimits()}
	h.store, h.log = h.Store, h.House.Log
	log := h.Logger()
	h.auth = auth.New(h.Login())
	middle := h.Middle()
	middle.NeedAcceptance = true
	h.calendars = service.New(middle)
	h.intake = h.intakeWith(h.store)
	c := web.Config{
		Auth: h.auth, Service: h.calendars, Intake: h.intake, Now: h.Now, Version: "1.2.3", Logger: log,
		MCPURL:     "http://127.0.0.1:5233/mcp",
		LinkPath:   func(_ auth.Link, secret auth.Secret) string { return "dav/links/" + string(secret) + "/x.ics" },
		ClientAddr: func(*http.Request) netip.Addr { return netip.MustParseAddr("192.0.2.1") },
	}
	c.OAuth = h.newOAuth(log)
	c.NewUser, c.NewRoom = h.auth.CreateUser, h.auth.CreateUser
	c.ChangeUser = h.auth.ChangeUser
	c.Defaults = func(context.Context) (auth.Defaults, []string, error) {
		return auth.Defaults{Reminder: calendar.NoReminder}, nil, nil
	}
	c.DeleteUser = func(ctx context.Context, u calendar.User, _ calendar.UserDeletion) (bool, error) {
		return false, h.auth.DeleteUser(ctx, u.Name)
	}
	c.Polls = h.polls(c.Service)
	c.IsDeletedLater = func(context.Context, calendar.User) (bool, error) { return false, nil }
	for _, o := range options {
		o(&c)
	}
	pages, err := web.New(c)
	h.must(err)
	h.pages = pages
	otherDoor := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }
	h.server = httptest.NewServer(h.resource(pages.Before(http.HandlerFunc(otherDoor))))
	t.Cleanup(h.server.Close)
	return h
}

func (h *house) pass(d time.Duration) { h.Pass(d) }
func (h *house) newID() string        { return h.NewID() }

func (h *house) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// user makes a user whose password is rightPassword.
func (h *house) user(name string) calendar.User {
	h.Helper()
	u, err := h.auth.CreateUser(h.Context(), auth.NewUser{
		Name: name, Password: rightPassword, Timezone: "Europe/Berlin",
	})
	h.must(err)
	return u
}

// browser keeps cookies, follows redirects, and fills in forms.
type browser struct {
	*house
	client *http.Client
	agent  string
	// https tells that the browser thinks it comes by https, so that its cookies do.
	https bool
	// language is the Accept-Language of its requests, or "".
	language string
}

func (h *house) browser() *browser {
	jar, err := cookiejar.New(nil)
	h.must(err)
	return &browser{house: h, client: &http.Client{Jar: jar}, agent: "Mozilla/5.0 Firefox/140.0"}
}

// as is a browser in which a user is signed in.
func (h *house) as(name string) *browser {
	h.Helper()
	b := h.browser()
	b.post("sign-in", "name", name, "password", rightPassword).shows(http.StatusOK)
	return b
}

// shown is a page as it came.
type shown struct {
	b      *browser
	status int
	header http.Header
	// path is where it was found in the end, after /account/, with its query.
	path string
	body string
}

// address is where a path is: below /account/, unless it begins at the root.
func (b *browser) address(path string) string {
	if b.https {
		return "https" + strings.TrimPrefix(b.server.URL, "http") + "/account/" + path
	}
	if strings.HasPrefix(path, "/") {
		return b.server.URL + path
	}
	return b.server.URL + "/account/" + path
}

// get opens a page, named by its path after /account/.
func (b *browser) get(path string) shown {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, b.address(path), nil)
	b.must(err)
	return b.send(r)
}

// post sends a form: names and values in turn.
func (b *browser) post(path string, fields ...string) shown {
	b.Helper()
	form := url.Values{}
	for pair := range slices.Chunk(fields, 2) {
		form.Add(pair[0], pair[1])
	}
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, b.address(path),
		strings.NewReader(form.Encode()))
	b.must(err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return b.send(r)
}

func (b *browser) send(r *http.Request) shown {
	b.Helper()
	r.Header.Set("User-Agent", b.agent)
	if b.language != "" {
		r.Header.Set("Accept-Language", b.language)
	}
	if r.Header.Get("Accept") == "" {
		r.Header.Set("Accept", "text/html,*/*;q=0.8")
	}
	res, err := b.client.Do(r)
	b.must(err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	b.must(err)
	path := strings.TrimPrefix(res.Request.URL.RequestURI(), "/account/")
	return shown{b, res.StatusCode, res.Header, path, string(body)}
}

// shows wants a status, and texts that a person reads.
func (s shown) shows(status int, texts ...string) shown {
	s.b.Helper()
	if s.status != status {
		s.b.Fatalf("/account/%s: answered %d, want %d\n%s\n%s", s.path, s.status, status, s.text(), s.b.log.String())
	}
	for _, text := range texts {
		if !strings.Contains(s.text(), text) {
			s.b.Errorf("/account/%s does not say %q:\n%s", s.path, text, s.text())
		}
	}
	return s
}

// hides wants texts nowhere, not even in the markup.
func (s shown) hides(texts ...string) shown {
	s.b.Helper()
	for _, text := range texts {
		if strings.Contains(s.body, text) {
			s.b.Errorf("/account/%s has %q:\n%s", s.path, text, s.body)
		}
	}
	return s
}

// at wants the page to be found at a path.
func (s shown) at(path string) shown {
	s.b.Helper()
	if s.path != path {
		s.b.Fatalf("came to /account/%s, want /account/%s\n%s", s.path, path, s.text())
	}
	return s
}

var markup = regexp.MustCompile(`(?s)<[^>]*>|\s+`)

// isolated are the tags around foreign names.
var isolated = regexp.MustCompile(`</?bdi>`)

// text is what a person reads, on one line.
func (s shown) text() string {
	body := markup.ReplaceAllString(isolated.ReplaceAllString(s.body, ""), " ")
	return strings.TrimSpace(unescape.Replace(regexp.MustCompile(`\s+`).ReplaceAllString(body, " ")))
}

var unescape = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">", "&#34;", `"`, "&#39;", "'")
