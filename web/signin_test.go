package web_test

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/web"
)

// Somebody signs in, stays signed in as long as they come, and signs out.
func TestSignIn(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		b := h.browser()
		b.get("").shows(http.StatusOK, "Password").at("sign-in?next=")
		b.post("sign-in", "name", "Ann", "password", rightPassword).at("welcome").
			shows(http.StatusOK, "ann", "Sign out")
		b.get("sign-in").at("/calendar/week/")

		h.pass(20 * 24 * time.Hour)
		b.get("").at("")
		other := h.as("ann")
		sessions, err := h.auth.Sessions(t.Context(), ann)
		h.must(err)
		if len(sessions) != 2 {
			t.Errorf("there are %d sessions, want 2", len(sessions))
		}
		b.post("sign-out").at("sign-in?done=signed-out").shows(http.StatusOK, "You are signed out")
		b.get("").at("sign-in?next=")
		other.get("").at("")
		h.pass(30 * 24 * time.Hour)
		other.get("").at("sign-in?next=")
	})
}

// Whatever is wrong, a stranger reads the same.
func TestSignInRefused(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		for _, wrong := range [][]string{
			{"name", "ann", "password", "something else"},
			{"name", "nobody", "password", rightPassword},
			{"name", "n/o", "password", rightPassword},
			{"name", "ann"},
			{},
		} {
			b := h.browser()
			b.post("sign-in", wrong...).shows(http.StatusUnprocessableEntity, "That did not match").hides("signed in")
			b.get("").at("sign-in?next=")
		}
		for range 20 {
			h.browser().post("sign-in", "name", "ann", "password", "again and again "+h.newID())
		}
		s := h.browser().post("sign-in", "name", "ann", "password", "again and again").shows(http.StatusTooManyRequests,
			"Too many attempts")
		if s.header.Get("Retry-After") == "" {
			t.Error("there is no Retry-After")
		}
	})
}

// A page of another site cannot make a browser do anything here.
func TestForeignForms(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		b := h.as("ann")
		for _, header := range [][2]string{
			{"Sec-Fetch-Site", "cross-site"},
			{"Sec-Fetch-Site", "same-site"},
			{"Origin", "https://evil.example"},
			{"Origin", "null"},
		} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.server.URL+"/account/sign-out", nil)
			h.must(err)
			r.Header.Set(header[0], header[1])
			b.send(r).shows(http.StatusForbidden, "another site")
		}
		b.get("").at("")
	})
}

// After a sign-in a person is where they wanted to go, and never elsewhere.
func TestSignInGoesOn(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		h.as("ann") // the first sign-in leads to the welcome page
		const calendars = "/calendar/"
		for next, want := range map[string]string{
			"confirm?x=1": "/account/confirm?x=1", "": calendars, "//evil.example": calendars,
			"https://evil.example/": calendars, "/dav/": calendars, "../dav/": calendars,
			`\\evil.example`: calendars, "javascript:alert(1)": calendars, "a\r\nSet-Cookie: x=y": calendars,
		} {
			b := h.browser()
			b.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			s := b.post("sign-in", "name", "ann", "password", rightPassword, "next", next).shows(http.StatusSeeOther)
			if got := s.header.Get("Location"); got != want {
				t.Errorf("next=%q leads to %q, want %s", next, got, want)
			}
		}
		// A shared calendar waits for an answer on the home page.
		bob := h.user("bob")
		_, err := h.calendars.Share(h.Context(), callerOf(bob), h.made(bob, "Family").ID, "ann", calendar.ReadAccess)
		h.must(err)
		h.browser().post("sign-in", "name", "ann", "password", rightPassword).at("").shows(http.StatusOK, "Family")
	})
}

// What others must not do with a page, and what browsers are to keep of it, is in the header of every answer.
func TestHeaders(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		b := h.browser()
		for _, path := range []string{"sign-in", "nothing", "static/nothing.css"} {
			s := b.get(path)
			for name, want := range map[string]string{
				"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff",
				"Referrer-Policy": "same-origin",
				"Cache-Control":   "no-store",
			} {
				if !strings.Contains(s.header.Get(name), want) {
					t.Errorf("%s: %s is %q", path, name, s.header.Get(name))
				}
			}
		}
		s := b.get("sign-in")
		link := regexp.MustCompile(`<link rel="icon" type="image/svg.xml" href="/account/([^"]+)">`)
		icon := link.FindStringSubmatch(s.body)
		if icon == nil {
			t.Fatalf("no icon: %s", s.body)
		}
		got := b.get(icon[1])
		if kind := got.header.Get("Content-Type"); kind != "image/svg+xml" || !strings.Contains(got.body, "<svg ") {
			t.Errorf("the icon is %s %s", kind, got.body)
		}
		s = b.get("nothing").shows(http.StatusNotFound, "no such page")
		// Those on the way to a client's question have none: the client waits to hear from its window.
		if got := s.header.Get("Cross-Origin-Opener-Policy"); got != "same-origin" {
			t.Errorf("Cross-Origin-Opener-Policy is %q", got)
		}
	})
}

// Behind https the cookie is one that neither other hosts nor plain connections can set; below a path everything is.
func TestBehindProxy(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		b := h.browser()
		b.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		for _, path := range []string{"sign-in", "/cal/account/sign-in"} {
			s := b.post(path, "name", "ann", "password", rightPassword).shows(http.StatusSeeOther)
			cookie := s.header.Get("Set-Cookie")
			for _, want := range []string{
				"__Host-session=", "Path=/;", "Secure", "HttpOnly", "SameSite=Lax", "Max-Age=2592000",
			} {
				if !strings.Contains(cookie, want) {
					t.Errorf("%s: the cookie %q lacks %s", path, cookie, want)
				}
			}
			if got := s.header.Get("Location"); got != "/cal/account/welcome" {
				t.Errorf("%s leads to %q", path, got)
			}
		}
	}, func(c *web.Config) { c.BaseURL = &url.URL{Scheme: "https", Host: "calendar.example.org", Path: "/cal"} })
}

// A browser that opens the root is led to the pages; programs find there what they always found.
func TestRoot(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		for _, c := range []struct {
			method, path, accept, password string
			status                         int
		}{
			{"GET", "/", "text/html", "", http.StatusSeeOther},
			{"GET", "/account", "", "", http.StatusSeeOther},
			{"GET", "/", "text/html", "Basic x", http.StatusTeapot},
			{"GET", "/", "*/*", "", http.StatusTeapot},
			{"PROPFIND", "/", "text/html", "", http.StatusTeapot},
			{"GET", "/dav/", "text/html", "", http.StatusTeapot},
			{"GET", "/accounts/", "text/html", "", http.StatusTeapot},
		} {
			r, err := http.NewRequestWithContext(t.Context(), c.method, h.server.URL+c.path, nil)
			h.must(err)
			r.Header.Set("Accept", c.accept)
			if c.password != "" {
				r.Header.Set("Authorization", c.password)
			}
			b := h.browser()
			b.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			b.send(r).shows(c.status)
		}
	})
}

// Each refusal of a password or a code is told for the log, and nothing else is.
func TestRefusedLoginsAreTold(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, database string) {
		var told atomic.Int64
		h := open(t, database, func(c *web.Config) { c.Refused = func(context.Context) { told.Add(1) } })
		h.user("ann")
		want := func(n int64) {
			t.Helper()
			if told.Swap(0) != n {
				t.Errorf("not told %d times", n)
			}
		}
		h.browser().post("sign-in", "name", "ann", "password", "something else")
		h.browser().post("sign-in", "name", "nobody", "password", rightPassword)
		want(2)
		b := h.as("ann")
		h.pass(time.Hour)
		b.post("confirm", "password", "something else")
		want(1)
		b.post("confirm", "password", rightPassword)
		b.withCodes()
		want(0)
		sealed := h.browser().post("sign-in", "name", "ann", "password", rightPassword).hidden("sealed")
		for range 7 { // the last one has to wait
			h.browser().post("sign-in/code", "sealed", sealed, "code", "000000")
		}
		want(7)
		h.browser().post("sign-in/code", "sealed", "x", "code", "000000")
		want(0)
	})
}
