package caldav_test

import (
	"io"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"caldav-mcp-server/internal/testdb"
)

// attack is a request that is made to cost much.
type attack struct {
	name, method string
	body         func() io.Reader
}

func attacks() []attack {
	repeated := func(head, again string, size int) func() io.Reader {
		return func() io.Reader { return &flood{head: head, again: again, size: size} }
	}
	laughs := `<!DOCTYPE l [<!ENTITY a "lol">`
	for i := range 30 {
		b, a := string(rune('b'+i%25)), string(rune('a'+i%25))
		laughs += `<!ENTITY ` + b + ` "` + strings.Repeat("&"+a+";", 10) + `">`
	}
	laughs += `]><D:propfind xmlns:D="DAV:"><D:prop>&z;</D:prop></D:propfind>`
	const query = `<C:calendar-query xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:D="DAV:"><D:prop><D:getetag/></D:prop><C:filter><C:comp-filter name="VCALENDAR">`
	return []attack{
		{"20 MB of nested elements", "PROPFIND", repeated(`<D:propfind xmlns:D="DAV:"><D:prop>`, "<a>", 20<<20)},
		{"a billion laughs", "PROPFIND", func() io.Reader { return strings.NewReader(laughs) }},
		{"1,000,000 hrefs", "REPORT", repeated(multigetHead, "<D:href>/dav/calendars/alice/work/a.ics</D:href>", 48_000_000)},
		{"1,000,000 empty hrefs", "REPORT", repeated(multigetHead, "<D:href/>", 9_000_000)},
		{"a filter of 10 MB", "REPORT", repeated(query, `<C:prop-filter name="SUMMARY"><C:text-match>x</C:text-match></C:prop-filter>`, 10<<20)},
		{"a filter with a text of 10 MB", "REPORT", repeated(query+`<C:prop-filter name="SUMMARY"><C:text-match>`, "text", 10<<20)},
		{"10 MB of properties to keep", "PROPPATCH", repeated(`<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop>`, `<x a="b">y</x>`, 10<<20)},
		{"a property of 10 MB", "PROPPATCH", repeated(`<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><x>`, "y<z/>", 10<<20)},
	}
}

func (h *house) suffer(tb testing.TB, a attack) int {
	tb.Helper()
	r := httptest.NewRequestWithContext(tb.Context(), a.method, "/dav/calendars/alice/work/", struct{ io.Reader }{a.body()})
	r.Header.Set("Depth", "0")
	return h.do(tb, r).status
}

// TestHostileBodiesAreCheap: each is refused, and allocates less than 20 MB until it is,
// all that was given back meanwhile counted in.
//
//nolint:paralleltest // what others allocate at the same time would be counted too
func TestHostileBodiesAreCheap(t *testing.T) {
	h := newHouse(t, testdb.SQLite(t), nil)
	h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
	for _, a := range attacks() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		status := h.suffer(t, a)
		runtime.ReadMemStats(&after)
		if status/100 != 4 {
			t.Errorf("%s: %d", a.name, status)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 20<<20 {
			t.Errorf("%s: %d bytes were allocated before it was refused", a.name, took)
		}
	}
}

// BenchmarkHostileBodies tells how long it takes to refuse them.
func BenchmarkHostileBodies(b *testing.B) {
	h := newHouse(b, testdb.SQLite(b), nil)
	h.must(b, "MKCALENDAR /dav/calendars/alice/work/", "")
	for _, a := range attacks() {
		b.Run(strings.ReplaceAll(a.name, " ", "-"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				h.suffer(b, a)
			}
		})
	}
}
