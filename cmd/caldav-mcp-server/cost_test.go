package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/internal/testdb"
)

// costMemory is what fifty of the costliest requests may make the process take.
const costMemory = 300 << 20

// Fifty of the costliest requests at once, of any kind that is known, neither eat the memory nor stay unanswered: each is
// done, refused because it is too much for one, or sent away for a moment.
func TestFiftyCostlyRequestsAtOnce(t *testing.T) {
	slowtest.Skip(t, slowtest.Big, "puts fifty of the most costly requests at once, for a minute")
	program := build(t)
	testdb.Each(t, func(t *testing.T, database string) {
		call(t, on(database), "correct horse\n", "create-user", "ann", "--password-stdin")
		r := serveProgram(t, program, on(database), "--no-first-user")
		c := newClient(t, r, "ann", "correct horse", "")
		for _, kind := range costly() {
			tortured(t, c, kind)
			if peak := peakMemory(t, r); peak > costMemory {
				t.Errorf("with fifty times %s the server took %d MiB", kind.name, peak>>20)
			}
		}
	})
}

// costlyKind is a request that takes much; %d in its address is another number each time.
type costlyKind struct {
	name, method, path, body string
}

func tortured(t *testing.T, c client, kind costlyKind) {
	t.Helper()
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			path, body := strings.ReplaceAll(kind.path, "%d", fmt.Sprint(i)), strings.ReplaceAll(kind.body, "%d", fmt.Sprint(i))
			a, err := c.dav(t.Context(), kind.method, path, body, "Depth", "1")
			if err != nil || a.status >= 500 && a.status != http.StatusServiceUnavailable {
				t.Errorf("%s: %v %d", kind.name, err, a.status)
			}
		})
	}
	all.Wait()
}

func costly() []costlyKind {
	const home = "/dav/calendars/ann/personal/"
	const spaces = ` xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">`
	event := func(uid, lines string) string {
		return strings.ReplaceAll("BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\nBEGIN:VEVENT\nUID:"+uid+"\nDTSTAMP:20260101T000000Z\n"+
			"DTSTART:20270101T100000Z\nDTEND:20270101T110000Z\n"+lines+"END:VEVENT\nEND:VCALENDAR\n", "\n", "\r\n")
	}
	large := "DESCRIPTION:" + strings.Repeat(strings.Repeat("X", 70)+"\n ", 50_000) + "X\n"
	query := func(data, filter string) string {
		return `<C:calendar-query` + spaces + `<D:prop>` + data + `</D:prop><C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT">` +
			filter + `</C:comp-filter></C:comp-filter></C:filter></C:calendar-query>`
	}
	hrefs := ""
	for i := range 2 {
		hrefs += fmt.Sprintf("<D:href>%s%d.ics</D:href>", home, i)
	}
	folded := `<C:prop-filter name="COMMENT"><C:text-match collation="i;unicode-casemap">` + strings.Repeat("Ä", 400) + `</C:text-match></C:prop-filter>`
	return []costlyKind{
		{"a large PUT", "PUT", home + "%d.ics", event("%d", large)},
		{"a large GET", "GET", home + "%d.ics", ""},
		{"a multiget of large objects", "REPORT", home, `<C:calendar-multiget` + spaces + `<D:prop><C:calendar-data/></D:prop>` + hrefs + `</C:calendar-multiget>`},
		{"a large series", "PUT", home + "series.ics", event("series", "RRULE:FREQ=DAILY\n"+large)},
		{
			"its expansion", "REPORT", home,
			query(`<C:calendar-data><C:expand start="20270101T000000Z" end="20350101T000000Z"/></C:calendar-data>`, `<C:time-range start="20280101T000000Z" end="20290101T000000Z"/>`),
		},
		{"many comments", "PUT", home + "comments.ics", event("comments", strings.Repeat("COMMENT:Ä\n", 40_000))},
		{"a query for text in them", "REPORT", home, query(`<D:getetag/>`, strings.Repeat(folded, 9))},
		{"a PROPFIND", "PROPFIND", home, `<D:propfind xmlns:D="DAV:"><D:allprop/></D:propfind>`},
	}
}
