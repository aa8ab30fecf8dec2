package caldav_test

import (
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"caldav-mcp-server/caldav"
	"caldav-mcp-server/internal/testdb"
)

// questions are XML bodies for every method that takes one.
var questions = []string{
	`<D:propfind xmlns:D="DAV:"><D:allprop/><D:include><D:owner/></D:include></D:propfind>`,
	`<D:propfind xmlns:D="DAV:"><D:propname/></D:propfind>`,
	`<D:propfind xmlns:D="DAV:"><D:prop><x:y xmlns:x="&lt;&quot;"/><y xmlns=""/><D:getetag/></D:prop></D:propfind>`,
	`<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><D:displayname>&#x10FFFF;&#9;]]&gt;</D:displayname></D:prop></` +
		`D:set></D:propertyupdate>`,
	`<D:propertyupdate xmlns:D="DAV:"><D:remove><D:prop><D:getetag/></D:prop></D:remove></D:propertyupdate>`,
	`<C:calendar-multiget xmlns:C="urn:ietf:params:xml:ns:caldav" ` +
		`xmlns:D="DAV:"><D:prop><C:calendar-data/></D:prop><D:href>/dav/calendars/alice/work/a.ics</D:href><D:href>&` +
		`amp;</D:href></C:calendar-multiget>`,
	`<D:sync-collection xmlns:D="DAV:"><D:sync-token/><D:sync-level>1</D:sync-level><D:limit><D:nresults>1</` +
		`D:nresults></D:limit><D:prop/></D:sync-collection>`,
	`<A:mkcol xmlns:A="DAV:"/>`, `<?xml version="1.0"?><!DOCTYPE a><a/>`, ``, ` `, `<`,
}

// bodied are the methods with an XML body, and addresses where they work.
var bodied = []struct{ method, path string }{
	{"PROPFIND", "work/"},
	{"REPORT", "work/"},
	{"REPORT", ""},
	{"PROPPATCH", "work/"},
	{"PROPPATCH", "work/a.ics"},
	{"PROPPATCH", ""},
	{"MKCALENDAR", "new/"},
	{"MKCOL", "new/"},
	{"ACL", "work/"},
}

// FuzzBodies: no XML body makes any method panic, fail internally or answer with invalid XML; and stored properties
// can be read again.
func FuzzBodies(f *testing.F) {
	for i := range bodied {
		for _, q := range questions {
			f.Add(uint8(i), q)
		}
	}
	for _, s := range samples() {
		f.Add(uint8(1), s.body)
	}
	h := newHouse(f, testdb.SQLite(f), nil)
	h.must(f, "MKCALENDAR /dav/calendars/alice/work/", "")
	h.must(f, "PUT /dav/calendars/alice/work/a.ics", event("a", "]]> &amp; <x>"))
	f.Fuzz(func(t *testing.T, which uint8, body string) {
		c := bodied[int(which)%len(bodied)]
		h.sound(t, h.request(t, c.method, c.path, body))
		if strings.HasPrefix(c.method, "MK") {
			h.sound(t, h.request(t, "DELETE", c.path, ""))
		}
		if c.method == "PROPPATCH" {
			h.sound(t, h.request(t, "PROPFIND", c.path, ""))
		}
	})
}

// request returns a request for an address in alice's home.
func (h *house) request(t *testing.T, method, path, body string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "/dav/calendars/alice/"+path, strings.NewReader(body))
	r.Header.Set("Depth", "1")
	return r
}

// sound requires a response without a server error, and valid XML if its type is XML.
func (h *house) sound(t *testing.T, r *http.Request) {
	t.Helper()
	got := h.do(t, r)
	if got.status >= 500 && got.status != http.StatusBadGateway && got.status != http.StatusInsufficientStorage {
		t.Fatalf("%s %s: %d\n%s", r.Method, r.URL.Path, got.status, h.Log)
	}
	if strings.HasPrefix(got.header.Get("Content-Type"), "application/xml") {
		wellFormed(t, got.body)
	}
}

// FuzzHeaders checks the same for headers and addresses.
func FuzzHeaders(f *testing.F) {
	for i, o := range caldav.Operations() {
		if o.Method == "REPORT" {
			continue // the reports have no headers of their own
		}
		f.Add(uint8(i), "/dav/calendars/alice/work/a.ics", "infinity", "/dav/calendars/alice/work/b.ics",
			`(["x"]) (Not <DAV:no-lock>)`, "return=minimal; x, depth-noroot", `W/"a", "b,c"`)
		f.Add(uint8(i), "/dav/calendars/alice/work/", "1", "http://cal.example.com:80/dav/calendars/alice/new/",
			`</dav/> (<urn:x> ["a]"])`, "return-representation", "*")
		f.Add(uint8(i), "/dav/calendars/bob/work/%2e", "", "//x", `<>()`, "return=", `"`)
		f.Add(uint8(i), "/principals/", "-1", "mailto:x", `(not[W/"]"])`, ",;=", "")
	}
	h := newHouse(f, testdb.SQLite(f), nil)
	f.Fuzz(func(t *testing.T, which uint8, path, depth, destination, states, prefer, tags string) {
		u, err := url.Parse(path)
		if err != nil || !strings.HasPrefix(path, "/") {
			return
		}
		o := caldav.Operations()[int(which)%len(caldav.Operations())]
		r := httptest.NewRequestWithContext(t.Context(), o.Method, "/", strings.NewReader(samples()[o.Name].body))
		r.URL = u
		r.Header = http.Header{
			"Depth": {depth}, "Destination": {destination}, "If": {states}, "Prefer": {prefer}, "Overwrite": {depth},
			"If-Match": {tags}, "If-None-Match": {tags}, "If-Unmodified-Since": {tags},
		}
		if h.send(t, "HEAD /dav/calendars/alice/work/a.ics", "").status != http.StatusOK {
			h.send(t, "MKCALENDAR /dav/calendars/alice/work/", "")
			h.must(t, "PUT /dav/calendars/alice/work/a.ics", event("a", "There"))
		}
		h.sound(t, r)
	})
}

func wellFormed(t *testing.T, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("the answer is no XML: %v\n%s", err, text)
		}
	}
}
