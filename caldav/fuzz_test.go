package caldav_test

import (
	"encoding/xml"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"caldav-mcp-server/internal/testdb"
)

// questions are XML bodies of every method that takes one.
var questions = []string{
	`<D:propfind xmlns:D="DAV:"><D:allprop/><D:include><D:owner/></D:include></D:propfind>`,
	`<D:propfind xmlns:D="DAV:"><D:propname/></D:propfind>`,
	`<D:propfind xmlns:D="DAV:"><D:prop><x:y xmlns:x="&lt;&quot;"/><y xmlns=""/><D:getetag/></D:prop></D:propfind>`,
	`<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><D:displayname>&#x10FFFF;&#9;]]&gt;</D:displayname></D:prop></D:set></D:propertyupdate>`,
	`<D:propertyupdate xmlns:D="DAV:"><D:remove><D:prop><D:getetag/></D:prop></D:remove></D:propertyupdate>`,
	`<C:calendar-multiget xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:D="DAV:"><D:prop><C:calendar-data/></D:prop><D:href>/dav/calendars/alice/work/a.ics</D:href><D:href>&amp;</D:href></C:calendar-multiget>`,
	`<D:sync-collection xmlns:D="DAV:"><D:sync-token/><D:sync-level>1</D:sync-level><D:limit><D:nresults>1</D:nresults></D:limit><D:prop/></D:sync-collection>`,
	`<A:mkcol xmlns:A="DAV:"/>`, `<?xml version="1.0"?><!DOCTYPE a><a/>`, ``, ` `, `<`,
}

// FuzzPropfind: no XML body makes the door panic, fail inside or answer with what is no
// XML itself.
func FuzzPropfind(f *testing.F) {
	for _, q := range questions {
		f.Add(q)
	}
	h := newHouse(f, testdb.SQLite(f), nil)
	h.must(f, "MKCALENDAR /dav/calendars/alice/work/", "")
	h.must(f, "PUT /dav/calendars/alice/work/a.ics", event("a", "]]> &amp; <x>"))
	f.Fuzz(func(t *testing.T, body string) {
		for _, method := range []string{"PROPFIND", "REPORT", "PROPPATCH"} {
			r := httptest.NewRequestWithContext(t.Context(), method, "/dav/calendars/alice/work/", strings.NewReader(body))
			r.Header.Set("Depth", "1")
			got := h.do(t, r)
			if got.status >= 500 {
				t.Fatalf("%s: %d\n%s", method, got.status, h.log)
			}
			if strings.HasPrefix(got.header.Get("Content-Type"), "application/xml") {
				wellFormed(t, got.body)
			}
		}
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
