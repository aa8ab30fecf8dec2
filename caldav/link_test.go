package caldav_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"caldav-mcp-server/caldav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// linked is a house with a calendar of which there is a public link.
func linked(t *testing.T, change func(*caldav.Config)) *house {
	t.Helper()
	h := newHouse(t, testdb.SQLite(t), change)
	h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
	for i := range 20 {
		h.must(t, fmt.Sprintf("PUT /dav/calendars/alice/work/%d.ics", i), event(fmt.Sprint(i), strings.Repeat("long ", 50)))
	}
	h.publish(t, "work", calendar.ReadAccess)
	return h
}

// follow comes by a path as somebody who has no login.
func (h *house) follow(t *testing.T, path string, headers ...string) reply {
	t.Helper()
	return h.send(t, "GET "+path+"\nAs: nobody\n"+strings.Join(headers, "\n"), "")
}

// TestLinkBelowBase: a proxy may publish the service below a path, and take it away or not.
func TestLinkBelowBase(t *testing.T) {
	t.Parallel()
	h := linked(t, func(c *caldav.Config) {
		c.BaseURL = &url.URL{Scheme: "https", Host: "cal.example.com", Path: "/my/cal"}
	})
	for path, want := range map[string]int{
		"/" + caldav.LinkPath(h.secret):              http.StatusOK,
		"/my/cal/" + caldav.LinkPath(h.secret):       http.StatusOK,
		"/my/cal/" + caldav.LinkPath(h.secret) + "/": http.StatusOK,
		"/my/" + caldav.LinkPath(h.secret):           http.StatusUnauthorized,
		"/dav/links/" + string(h.secret) + ".txt":    http.StatusNotFound,
		"/dav/links/.ics":                            http.StatusNotFound,
		"/dav/links/x/" + string(h.secret) + ".ics":  http.StatusUnauthorized,
	} {
		if got := h.follow(t, path); got.status != want {
			t.Errorf("%s: %d, want %d", strings.ReplaceAll(path, string(h.secret), "…"), got.status, want)
		}
	}
}

func TestLinkCompressed(t *testing.T) {
	t.Parallel()
	h := linked(t, nil)
	path := "/" + caldav.LinkPath(h.secret)
	plain, got := h.follow(t, path), h.follow(t, path, "Accept-Encoding: gzip")
	if got.header.Get("Content-Encoding") != "gzip" || got.header.Get("Vary") != "Accept-Encoding" || decompressed(t, got.body) != plain.body {
		t.Errorf("%v", got.header)
	}
	if got.header.Get("ETag") != plain.header.Get("ETag") || len(got.body)*5 > len(plain.body) {
		t.Errorf("%d bytes of %d, %v", len(got.body), len(plain.body), got.header)
	}
}

// TestLinkIsNotLogged: whatever goes wrong, the address is in no line of the log.
func TestLinkIsNotLogged(t *testing.T) {
	t.Parallel()
	h := linked(t, nil)
	path := "/" + caldav.LinkPath(h.secret)
	h.must(t, "GET "+path+"\nAs: nobody", "")
	if err := h.close(); err != nil {
		t.Fatal(err)
	}
	got := h.follow(t, path)
	if got.status != http.StatusInternalServerError || got.header.Get("ETag") != "" || !strings.Contains(got.body, "the log of the server") {
		t.Errorf("without a store: %d %v %s", got.status, got.header, got.body)
	}
	log := h.log.String()
	if !strings.Contains(log, "request failed") || strings.Contains(log, string(h.secret)) || strings.Contains(log, string(h.secret[30:])) {
		t.Errorf("the log says %s", log)
	}
}

// TestLinkGuesses: who asks for what is no link learns nothing, and whoever has one does not wait for that.
func TestLinkGuesses(t *testing.T) {
	t.Parallel()
	h := linked(t, nil)
	for i := range 100 {
		guess := fmt.Sprintf("%04d", i) + string(h.secret[4:])
		if got := h.follow(t, "/dav/links/"+guess+".ics"); got.status != http.StatusNotFound {
			t.Fatalf("guess %d: %d %v", i, got.status, got.header)
		}
	}
	if got := h.follow(t, "/"+caldav.LinkPath(h.secret)); got.status != http.StatusOK {
		t.Errorf("a link that is good: %d", got.status)
	}
}

// TestLinkLogsNoCalendar: a stranger's GET writes of an object that cannot be read where it is broken, not
// what it says.
func TestLinkLogsNoCalendar(t *testing.T) {
	t.Parallel()
	h := linked(t, nil)
	data := []byte(strings.ReplaceAll(event("z", "x"), "SUMMARY:", "SUMMARY ZZSECRET "))
	err := h.store.Update(t.Context(), func(tx calendar.Tx) error {
		cal, err := tx.Advance(t.Context(), h.link.Calendar)
		if err != nil {
			return err
		}
		o := calendar.Object{Calendar: cal.ID, Name: "z.ics", Data: data, ETag: calendar.ETagOf(data), Size: int64(len(data)), Version: cal.Version}
		o.UID, o.Kind = "z", calendar.Event
		return tx.PutObject(t.Context(), o)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := h.follow(t, "/"+caldav.LinkPath(h.secret)); got.status != http.StatusOK || strings.Contains(got.body, "ZZSECRET") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if log := h.log.String(); !strings.Contains(log, "cannot be read (syntax)") || strings.Contains(log, "ZZSECRET") {
		t.Errorf("the log says %s", log)
	}
}
