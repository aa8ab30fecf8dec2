package caldav_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/caldav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// linked is a house with a public link to a calendar.
func linked(t *testing.T, change func(*caldav.Config)) *house {
	t.Helper()
	h := newHouse(t, testdb.SQLite(t), change)
	h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
	for i := range 20 {
		h.must(t, fmt.Sprintf("PUT /dav/calendars/alice/work/%d.ics", i),
			event(fmt.Sprint(i), strings.Repeat("long ", 50)))
	}
	h.publish(t, "work", calendar.ReadAccess)
	return h
}

// follow requests a path without a login.
func (h *house) follow(t *testing.T, path string, headers ...string) reply {
	t.Helper()
	return h.send(t, "GET "+path+"\nAs: nobody\n"+strings.Join(headers, "\n"), "")
}

// TestLinkBelowBase: a proxy may publish the service under a path, and remove that path or not.
func TestLinkBelowBase(t *testing.T) {
	t.Parallel()
	h := linked(t, func(c *caldav.Config) {
		c.BaseURL = &url.URL{Scheme: "https", Host: "cal.example.com", Path: "/my/cal"}
	})
	secret := string(h.secret)
	for path, want := range map[string]int{
		"/dav/links/" + secret + "/work.ics":         http.StatusOK,
		"/my/cal/dav/links/" + secret + "/work.ics":  http.StatusOK,
		"/my/cal/dav/links/" + secret + "/work.ics/": http.StatusOK,
		"/my/dav/links/" + secret + "/work.ics":      http.StatusUnauthorized,
		"/dav/links/" + secret + ".ics":              http.StatusOK, // older links
		"/dav/links/" + secret + "/.ics":             http.StatusOK,
		"/dav/links/" + secret + "/Other%20name.ifb": http.StatusOK,
		"/dav/links/" + secret + "/work":             http.StatusOK, // for browsers a page
		"/dav/links/" + secret:                       http.StatusOK,
		"/dav/links/" + secret + ".ics/work.ics":     http.StatusNotFound,
		"/dav/links/" + secret + ".txt":              http.StatusNotFound,
		"/dav/links/.ics":                            http.StatusNotFound,
		"/dav/links/x/" + secret + ".ics":            http.StatusNotFound,
		"/dav/links/" + secret + "/a/work.ics":       http.StatusUnauthorized,
	} {
		if got := h.follow(t, path); got.status != want {
			t.Errorf("%s: %d, want %d", strings.ReplaceAll(path, string(h.secret), "…"), got.status, want)
		}
	}
}

// TestLinkPathSaysWhatItIsOf: a link's address ends in the plain words of the calendar's name. A free/busy link does
// not reveal the name.
func TestLinkPathSaysWhatItIsOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Team":                     "Team",
		"Sportclub Süd":            "Sportclub-S%C3%BCd",
		"../../a?b#c%2F\x00\u202e": "a-b-c-2F",
		"🎉":                        "calendar",
		" . ":                      "calendar",
		"a\xffb":                   "a-b",
		strings.Repeat("ж", 100):   strings.Repeat("%D0%B6", 40),
	} {
		got := caldav.LinkPath(auth.Link{Access: calendar.ReadAccess, CalendarName: name}, "SECRET")
		if got != "dav/links/SECRET/"+want+".ics" {
			t.Errorf("%q: %s", name, got)
		}
	}
	if got := caldav.LinkPath(auth.Link{Access: calendar.FreeBusyAccess, CalendarName: "Chemotherapy"},
		"SECRET"); got != "dav/links/SECRET/busy.ics" {
		t.Errorf("busy times: %s", got)
	}
}

// TestLinkPropfindHref: the href in the response is the address that clients know.
func TestLinkPropfindHref(t *testing.T) {
	t.Parallel()
	h := linked(t, func(c *caldav.Config) {
		c.BaseURL = &url.URL{Scheme: "https", Host: "cal.example.com", Path: "/my/cal"}
	})
	for _, base := range []string{"", "/my/cal"} {
		got := h.send(t, "PROPFIND "+base+"/dav/links/"+string(h.secret)+"/A&b%20c.ics/\nAs: nobody\nDepth: 0", "")
		if want := "<d:href>/my/cal/dav/links/" + string(h.secret) +
			"/A&amp;b%20c.ics</d:href>"; got.status != http.StatusMultiStatus || !strings.Contains(got.body, want) {
			t.Errorf("%d %s", got.status, strings.ReplaceAll(got.body, string(h.secret), "…"))
		}
	}
}

// TestLinkPropfindKeepsTheLimits: requests of strangers have the same limits as those of users, and the link is
// verified first.
func TestLinkPropfindKeepsTheLimits(t *testing.T) {
	t.Parallel()
	h := linked(t, nil)
	names := strings.Repeat(`<D:a/>`, 300)
	for what, ask := range map[string]struct {
		header, body string
		want         int
	}{
		"deep": {"Depth: 0", strings.Repeat("<a>", 50), http.StatusBadRequest},
		"many names": {
			"Depth: 0", `<D:propfind xmlns:D="DAV:"><D:prop>` + names + `</D:prop></D:propfind>`, http.StatusForbidden,
		},
		"large":        {"Depth: 0\nContent-Length: 3000000", "x", http.StatusRequestEntityTooLarge},
		"no XML":       {"Depth: 0", "BEGIN:VCALENDAR", http.StatusBadRequest},
		"no such deep": {"Depth: 7", "", http.StatusBadRequest},
		"a report's": {
			"Depth: 0", `<D:propfind xmlns:D="DAV:"><D:prop><c:calendar-data ` +
				`xmlns:c="urn:ietf:params:xml:ns:caldav"/></D:prop></D:propfind>`, http.StatusMultiStatus,
		},
	} {
		for secret, want := range map[string]int{
			string(h.secret): ask.want, "never" + string(h.secret[5:]): http.StatusNotFound,
		} {
			got := h.send(t, "PROPFIND /dav/links/"+secret+"/work.ics\nAs: nobody\n"+ask.header, ask.body)
			if got.status != want || strings.Contains(got.body, "long") {
				t.Errorf("%s: %d %s, want %d", what, got.status, strings.ReplaceAll(got.body, secret, "…"), want)
			}
		}
	}
	if h.Log.String() != "" {
		t.Errorf("the log says %s", h.Log)
	}
}

// ending is a body that calls a function at its end.
type ending struct {
	*strings.Reader
	happens func()
}

func (e ending) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if e.Len() == 0 {
		e.happens()
	}
	return n, err
}

// TestLinkEndsWhileTheQuestionArrives: a link that is revoked before the end of a PROPFIND body reveals nothing.
func TestLinkEndsWhileTheQuestionArrives(t *testing.T) {
	t.Parallel()
	h := linked(t, nil)
	body := ending{strings.NewReader(`<D:propfind xmlns:D="DAV:"><D:allprop/></D:propfind>`), func() {
		if err := h.auth.RevokeLink(t.Context(), h.link.ID); err != nil {
			t.Error(err)
		}
	}}
	r := httptest.NewRequestWithContext(t.Context(), "PROPFIND", "/"+caldav.LinkPath(h.link, h.secret), body)
	if got := h.do(t, r); got.status != http.StatusNotFound || strings.Contains(got.body, "displayname") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestLinkCompressed(t *testing.T) {
	t.Parallel()
	h := linked(t, nil)
	path := "/" + caldav.LinkPath(h.link, h.secret)
	plain, got := h.follow(t, path), h.follow(t, path, "Accept-Encoding: gzip")
	if got.header.Get("Content-Encoding") != "gzip" || got.header.Get("Vary") != "Accept-Encoding" ||
		decompressed(t, got.body) != plain.body {
		t.Errorf("%v", got.header)
	}
	if got.header.Get("ETag") != plain.header.Get("ETag") || len(got.body)*5 > len(plain.body) {
		t.Errorf("%d bytes of %d, %v", len(got.body), len(plain.body), got.header)
	}
}

// TestLinkIsNotLogged: no error writes the address to the log.
func TestLinkIsNotLogged(t *testing.T) {
	t.Parallel()
	h := linked(t, nil)
	path := "/" + caldav.LinkPath(h.link, h.secret)
	h.must(t, "GET "+path+"\nAs: nobody", "")
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	got := h.follow(t, path)
	if got.status != http.StatusInternalServerError || got.header.Get("ETag") != "" ||
		!strings.Contains(got.body, "the log of the server") {
		t.Errorf("without a store: %d %v %s", got.status, got.header, got.body)
	}
	log := h.Log.String()
	if !strings.Contains(log, "request failed") || strings.Contains(log, string(h.secret)) ||
		strings.Contains(log, string(h.secret[30:])) {
		t.Errorf("the log says %s", log)
	}
}

// TestLinkGuesses: guessing reveals nothing, and does not slow down visitors with a valid link.
func TestLinkGuesses(t *testing.T) {
	t.Parallel()
	h := linked(t, nil)
	for i := range 100 {
		guess := fmt.Sprintf("%04d", i) + string(h.secret[4:])
		if got := h.follow(t, "/dav/links/"+guess+".ics"); got.status != http.StatusNotFound {
			t.Fatalf("guess %d: %d %v", i, got.status, got.header)
		}
	}
	if got := h.follow(t, "/"+caldav.LinkPath(h.link, h.secret)); got.status != http.StatusOK {
		t.Errorf("a link that is good: %d", got.status)
	}
}

// TestLinkLogsNoCalendar: if a stranger's GET finds an unreadable object, the log says where it is broken, but not
// its content (security M10).
func TestLinkLogsNoCalendar(t *testing.T) {
	t.Parallel()
	h := linked(t, nil)
	data := []byte(strings.ReplaceAll(event("z", "x"), "SUMMARY:", "SUMMARY ZZSECRET "))
	err := h.Store.Update(t.Context(), func(tx calendar.Tx) error {
		cal, err := tx.Advance(t.Context(), h.link.Calendar)
		if err != nil {
			return err
		}
		o := calendar.Object{
			Calendar: cal.ID, Name: "z.ics", Data: data, ETag: calendar.ETagOf(data), Size: int64(len(data)),
			Version: cal.Version,
		}
		o.UID, o.Kind = "z", calendar.Event
		return tx.PutObject(t.Context(), o)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := h.follow(t, "/"+caldav.LinkPath(h.link, h.secret)); got.status != http.StatusOK ||
		strings.Contains(got.body, "ZZSECRET") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if log := h.Log.String(); !strings.Contains(log, "cannot be read (syntax)") || strings.Contains(log, "ZZSECRET") {
		t.Errorf("the log says %s", log)
	}
}

// TestLinkPage: browsers that open a link get a page, all others the file. An address with an extension is always that
// of the file.
func TestLinkPage(t *testing.T) {
	t.Parallel()
	h := linked(t, func(c *caldav.Config) {
		c.LinkPage = func(w http.ResponseWriter, _ *http.Request, secret string) {
			_, _ = io.WriteString(w, "page of "+secret)
		}
	})
	const (
		chromium = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8\n" +
			"User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0"
		thunderbird = "Accept: text/html,application/xhtml+xml,*/*;q=0.8\nUser-Agent: Mozilla/5.0 (X11; Linux; " +
			"rv:140.0) Gecko/20100101 Thunderbird/140.0"
	)
	for _, one := range []struct {
		path, headers string
		page          bool
	}{
		{"/Team", chromium, true},
		{"", chromium, true},
		{"/Team?view=list", chromium, true},
		{"/Team?format=ics", chromium, false},
		{"/Team.ics", chromium, false},
		{"/Team.ifb", chromium, false},
		{"/Team", thunderbird, false},
		{"/Team", "Accept: text/calendar, text/html;q=0.5", false},
		{"/Team", "Accept: */*\nUser-Agent: iOS/26.1 dataaccessd/1.0", false},
		{"/Team", "User-Agent: Google-Calendar-Importer", false},
		{"/Team", "", false},
		{"/Team", chromium + "\nAuthorization: Basic YTpi", false},
	} {
		got := h.follow(t, "/dav/links/"+string(h.secret)+one.path, one.headers)
		if page := got.body == "page of "+string(h.secret); got.status != http.StatusOK || page != one.page ||
			!page && !strings.HasPrefix(got.body, "BEGIN:VCALENDAR") {
			t.Errorf("%s for %q: %d %.50s", one.path, one.headers, got.status, got.body)
		}
	}
}
