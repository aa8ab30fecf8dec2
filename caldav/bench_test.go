package caldav_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"caldav-mcp-server/internal/testdb"
)

// discard is a client that reads nothing.
type discard struct{ *httptest.ResponseRecorder }

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// BenchmarkReading measures the CalDAV server and the store, without HTTP and login, on a calendar of a thousand
// events.
func BenchmarkReading(b *testing.B) {
	testdb.EachBenchmark(b, func(b *testing.B, url string) {
		h := newHouse(b, url, nil)
		h.must(b, "MKCALENDAR /dav/calendars/alice/work/", "")
		var hrefs strings.Builder
		for i := range 1000 {
			path := fmt.Sprintf("/dav/calendars/alice/work/event-%d.ics", i)
			h.must(b, "PUT "+path, event(fmt.Sprintf("event-%d", i), strings.Repeat("long ", 100)))
			if i%20 == 0 {
				hrefs.WriteString("<D:href>" + path + "</D:href>")
			}
		}
		etags := `<D:propfind xmlns:D="DAV:"><D:prop><D:getetag/></D:prop></D:propfind>`
		for _, c := range []struct{ name, method, path, body string }{
			{"get", "GET", "event-7.ics", ""},
			{"ctag", "PROPFIND", "", `<D:propfind xmlns:D="DAV:"><D:prop><x:getctag ` +
				`xmlns:x="http://calendarserver.org/ns/"/></D:prop></D:propfind>`},
			{"propfind1", "PROPFIND", "", etags},
			{"multiget50", "REPORT", "", `<C:calendar-multiget xmlns:C="urn:ietf:params:xml:ns:caldav" ` +
				`xmlns:D="DAV:"><D:prop><D:getetag/><C:calendar-data/></D:prop>` + hrefs.String() +
				`</C:calendar-multiget>`},
			{"sync-initial", "REPORT", "", `<D:sync-collection xmlns:D="DAV:"><D:sync-token/><D:sync-level>1</` +
				`D:sync-level><D:prop><D:getetag/></D:prop></D:sync-collection>`},
		} {
			b.Run(c.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					r := httptest.NewRequestWithContext(b.Context(), c.method, "/dav/calendars/alice/work/"+c.path,
						strings.NewReader(c.body))
					r.Header.Set("Depth", map[bool]string{true: "1", false: "0"}[c.name == "propfind1"])
					w := discard{httptest.NewRecorder()}
					h.ServeHTTP(w, r)
					if w.Code/100 != 2 {
						b.Fatal(w.Code)
					}
				}
			})
		}
	})
}
