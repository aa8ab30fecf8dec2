package caldav

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

// same compares places.
var same = cmp.AllowUnexported(place{}, addresses{})

func TestPathsAreUnderstood(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path string
		want place
	}{
		{"", place{form: formHost}},
		{"/", place{form: formHost}},
		{"/.well-known/caldav", place{form: formWellKnown}},
		{"/.well-known/caldav/", place{form: formWellKnown}},
		{"/principals", place{form: formBarePrincipals}},
		{"/dav", place{form: formRoot}},
		{"/dav/principals/", place{form: formPrincipals}},
		{"/dav/principals/alice", place{form: formPrincipal, user: "alice"}},
		{"/dav/calendars/", place{form: formHomes}},
		{"/dav/calendars/a%20b/", place{form: formHome, user: "a b"}},
		{"/dav/calendars/alice/work", place{form: formCalendar, user: "alice", calendar: "work"}},
		{"/dav/calendars/alice/%7Buser%7D/", place{form: formCalendar, user: "alice", calendar: "{user}"}},
		{"/dav/calendars/alice/work/x.ics", place{form: formObject, user: "alice", calendar: "work", object: "x.ics"}},
		{"/dav/calendars/alice/work/a%2Fb", place{form: formObject, user: "alice", calendar: "work", object: "a/b"}},
		{"/dav/calendars/alice/work/a%252Fb/", place{
			form: formObject, user: "alice", calendar: "work", object: "a%2Fb",
		}},
		{"/dav/calendars/alice/work/...", place{form: formObject, user: "alice", calendar: "work", object: "..."}},
	} {
		got, err := addresses{}.parse(c.path)
		if err != nil || !cmp.Equal(c.want, got, same) {
			t.Errorf("%q: %v, %v", c.path, err, cmp.Diff(c.want, got, same))
		}
	}
}

func TestPathsAreRefused(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]int{
		"//":                              http.StatusBadRequest,
		"/dav//":                          http.StatusBadRequest,
		"/dav//calendars":                 http.StatusBadRequest,
		"/dav/calendars/../principals":    http.StatusBadRequest,
		"/dav/calendars/%2e%2e/x":         http.StatusBadRequest,
		"/dav/./calendars":                http.StatusBadRequest,
		"/dav/calendars/a%00":             http.StatusBadRequest,
		"/dav/calendars/%ff%fe":           http.StatusBadRequest,
		"/dav/calendars/%c0%ae%c0%ae":     http.StatusBadRequest,
		"/dav/calendars/%":                http.StatusBadRequest,
		"/dav/calendars/%g0":              http.StatusBadRequest,
		"/favicon.ico":                    http.StatusNotFound,
		"/DAV/":                           http.StatusNotFound,
		"/dav/calendars/a/b/c/d":          http.StatusNotFound,
		"/dav/calendars%2Falice":          http.StatusNotFound,
		"/.well-known/carddav":            http.StatusNotFound,
		"/dav/principals/alice/something": http.StatusNotFound,
	} {
		got, err := addresses{}.parse(path)
		f, ok := err.(*dav.StatusError) // the parser returns failures as they are
		if !ok || f.Status != want {
			t.Errorf("%q: %v, %v; want the status %d", path, got, err, want)
		}
	}
}

func TestHrefsMayBeWholeURLs(t *testing.T) {
	t.Parallel()
	object := place{form: formObject, user: "alice", calendar: "work", object: "a b.ics"}
	for _, href := range []string{
		"/dav/calendars/alice/work/a%20b.ics",
		" /dav/calendars/alice/work/a%20b.ics\n",
		"/dav/calendars/alice/work/a b.ics",
		"https://cal.example.com/dav/calendars/alice/work/a%20b.ics",
		"http://127.0.0.1:5232/dav/calendars/alice/work/a%20b.ics?query#fragment",
	} {
		got, err := addresses{}.parseHref(href)
		if err != nil || !cmp.Equal(object, got, same) {
			t.Errorf("%q: %v, %v", href, got, err)
		}
	}
	for href, name := range map[string]calendar.ObjectName{
		"/dav/calendars/alice/work/ä 50% b%":              "ä 50% b%", // KDE's form of the name in the next line
		"/dav/calendars/alice/work/%C3%A4%2050%25%20b%25": "ä 50% b%",
		"/dav/calendars/alice/work/%4z%41":                "%4zA",
	} {
		got, err := addresses{}.parseHref(href)
		if err != nil || got.object != name {
			t.Errorf("%q: %v, %v", href, got, err)
		}
	}
	for _, href := range []string{
		"mailto:alice@example.com", "http://[::1", "/dav/calendars/%ff", "/dav/calendars/%zz/%00",
	} {
		if got, err := (addresses{}).parseHref(href); err == nil {
			t.Errorf("%q is taken for %v", href, got)
		}
	}
}

// TestBasePaths: one proxy removes the public prefix, another keeps it; hrefs contain it for both. A prefix may look
// like a part of our own paths.
func TestBasePaths(t *testing.T) {
	t.Parallel()
	home := place{form: formHome, user: "alice"}
	for _, c := range []struct {
		base, path string
		want       place
		href       string
	}{
		{"https://example.com", "/dav/calendars/alice/", home, "/dav/calendars/alice/"},
		{"https://example.com/cal", "/cal/dav/calendars/alice/", home, "/cal/dav/calendars/alice/"},
		{"https://example.com/cal/", "/dav/calendars/alice/", home, "/cal/dav/calendars/alice/"},
		{"https://example.com/a%2Fb/c", "/a%2fb/c/dav/calendars/alice/", home, "/a%2Fb/c/dav/calendars/alice/"},
		{"https://example.com/cal", "/cal/", place{form: formHost}, "/cal/"},
		{"https://example.com/dav", "/dav/calendars/alice/", home, "/dav/dav/calendars/alice/"},
		{"https://example.com/dav", "/dav/dav/calendars/alice/", home, "/dav/dav/calendars/alice/"},
	} {
		u, err := url.Parse(c.base)
		if err != nil {
			t.Fatal(err)
		}
		a, err := newAddresses(u)
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.parse(c.path)
		if err != nil || !cmp.Equal(c.want, got, same) || a.href(got) != c.href {
			t.Errorf("%s: %s is %v at %q, %v; want %v at %q", c.base, c.path, got, a.href(got), err, c.want, c.href)
		}
	}
	if _, err := newAddresses(&url.URL{Path: "/a//b"}); err == nil {
		t.Error("a base path with an empty segment is taken")
	}
}

func TestParents(t *testing.T) {
	t.Parallel()
	at := place{form: formObject, user: "alice", calendar: "work", object: "x.ics"}
	var got []string
	for range 6 {
		at = at.parent()
		got = append(got, addresses{}.href(at))
	}
	want := []string{"/dav/calendars/alice/work/", "/dav/calendars/alice/", "/dav/calendars/", "/dav/", "/", "/"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parents (-want +got):\n%s", diff)
	}
}

// FuzzPath: every parsed path is written in one way, and parses to the same place again.
func FuzzPath(f *testing.F) {
	for _, path := range []string{
		"/", "/dav/", "/dav/calendars/alice/work/a%2Fb.ics", "/dav//", "/dav/%2e%2e/", "/principals/",
		"/cal/dav/calendars/%00",
		"/dav/calendars/o&d@example.com/%C3%BC/a;b,c?d",
	} {
		f.Add(path)
	}
	a, err := newAddresses(&url.URL{Path: "/cal"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path string) {
		p, err := a.parse(path)
		if err != nil {
			return
		}
		href := a.href(p)
		again, err := a.parse(href)
		if err != nil || !cmp.Equal(p, again, same) {
			t.Fatalf("%q is %v, whose href %q is %v, %v", path, p, href, again, err)
		}
		if u, err := url.Parse(href); err != nil || dav.PathOf(u) != href {
			t.Fatalf("%q gives the href %q, which is no path: %v", path, href, err)
		}
		for _, part := range layout[p.form].path {
			if s := p.part(part); s == "" || s == ".." || strings.ContainsRune(s, 0) {
				t.Fatalf("%q has the segment %q", path, s)
			}
		}
	})
}

// Logs and metrics show "other" for paths that are no route.
func TestRoutes(t *testing.T) {
	t.Parallel()
	want := strings.Fields(`/ /.well-known/caldav /principals /dav /dav/principals /dav/principals/{user}
		/dav/principals/{user}/calendar-proxy-read /dav/principals/{user}/calendar-proxy-write
		/dav/calendars /dav/calendars/{user} /dav/calendars/{user}/inbox /dav/calendars/{user}/outbox
		/dav/calendars/{user}/inbox/{message}
		/dav/calendars/{user}/{calendar} /dav/calendars/{user}/{calendar}/{object}
		/dav/notifications /dav/notifications/{user} /dav/notifications/{user}/{notice}
		/dav/links/{link} /dav/links/{link}/{title}
		/dav/push/{registration}`)
	if diff := cmp.Diff(want, Routes()); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
}

// TestHrefsInBothWays: a path that is parsed quickly because it needs no escapes is also written without escapes, and
// every other name round-trips.
func TestHrefsInBothWays(t *testing.T) {
	t.Parallel()
	var a addresses
	for c := range 256 {
		name := "x" + string([]byte{byte(c)}) + "y"
		at := place{form: formObject, user: "ann", calendar: "work"}
		at.with(objectPart, name)
		got, err := a.parseHref(a.href(at))
		if valid := c != 0 && c < 0x80; valid != (err == nil) || valid && got != at {
			t.Errorf("%q: %s is %+v: %v", name, a.href(at), got, err)
		}
	}
}
