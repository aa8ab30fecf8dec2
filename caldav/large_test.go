package caldav_test

import (
	"fmt"
	"strings"
	"testing"

	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/internal/testdb"
)

// TestLargeObjectsComeOneByOne: however many large objects a request names, it holds one of them in memory, and a few
// megabytes. The response has all of them, as stored, on both engines (security M6).
func TestLargeObjectsComeOneByOne(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
		large := strings.Repeat("COMMENT:"+strings.Repeat("x", 60)+"\r\n", 6000)
		hrefs := ""
		for i := range 12 {
			h.must(t, fmt.Sprintf("PUT /dav/calendars/alice/work/%d.ics", i),
				strings.Replace(event(fmt.Sprint(i), "Large"), "SUMMARY", large+"SUMMARY", 1))
			hrefs += fmt.Sprintf("<D:href>/dav/calendars/alice/work/%d.ics</D:href>", i)
		}
		// All twelve together have 5 MB.
		h.costing(t, meter.Limits{Held: 4 << 20})
		const props = `<D:prop><D:getetag/><C:calendar-data/></D:prop>`
		const spaces = ` xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">`
		for what, ask := range map[string]string{
			"multiget": `<C:calendar-multiget` + spaces + props + hrefs +
				`<D:href>/dav/calendars/alice/work/none.ics</D:href></C:calendar-multiget>`,
			"sync": `<D:sync-collection` + spaces + `<D:sync-token/><D:sync-level>1</D:sync-level>` + props +
				`</D:sync-collection>`,
			"query": query(`<C:calendar-data/>`, ""),
		} {
			for range 3 { // from the store, then from the cache
				got := h.must(t, "REPORT /dav/calendars/alice/work/\nDepth: 1", ask)
				if n := strings.Count(got.body, large); n != 12 || strings.Contains(got.body, "within-limits") {
					t.Errorf("%s: %d of 12 in %d bytes", what, n, len(got.body))
				}
			}
		}
		if got := h.must(t, "GET /dav/calendars/alice/work/7.ics", "").body; !strings.Contains(got, large) {
			t.Errorf("GET: %d bytes", len(got))
		}
		h.costing(t, meter.Limits{Held: 1 << 20})
		if got := h.send(t, "GET /dav/calendars/alice/work/7.ics", ""); got.status != 403 {
			t.Errorf("GET of more than a request may hold: %d", got.status)
		}
	})
}
