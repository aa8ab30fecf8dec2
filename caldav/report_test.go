package caldav_test

import (
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"caldav-mcp-server/caldav"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/internal/testdb"
)

// query returns a calendar-query for events.
func query(data, event string) string {
	return `<C:calendar-query xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:prop><D:getetag/>` + data +
		`</D:prop><C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT">` + event +
		`</C:comp-filter></C:comp-filter></C:filter></C:calendar-query>`
}

// TestFoldInsideOfACharacter: RFC 5545 §3.1 allows folds within a character, XML cannot represent them. Text that
// neither allows is not stored, so that a tag stands for a single text.
func TestFoldInsideOfACharacter(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t), nil)
	h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
	stored := strings.Replace(event("cut", "Ärger\x01"), "Ä", "\xc3\r\n \x84", 1)
	if tag := h.must(t, "PUT /dav/calendars/alice/work/cut.ics", stored).header.Get("ETag"); tag != "" {
		t.Errorf("%s is told of a text that is not what was sent", tag)
	}
	stored = strings.ReplaceAll(stored, "\x01", "")
	got := h.must(t, "GET /dav/calendars/alice/work/cut.ics", "")
	if got.body != stored {
		t.Errorf("GET gives %q", got.body)
	}
	if tag := h.must(t, "PUT /dav/calendars/alice/work/cut.ics", stored).header.Get("ETag"); tag !=
		got.header.Get("ETag") {
		t.Errorf("%s is the tag of what is there, not %s", got.header.Get("ETag"), tag)
	}
	for _, data := range []string{
		`<C:calendar-data/>`,
		`<C:calendar-data><C:comp name="VCALENDAR"><C:comp name="VEVENT"><C:prop ` +
			`name="SUMMARY"/></C:comp></C:comp></C:calendar-data>`,
	} {
		body := h.must(t, "REPORT /dav/calendars/alice/work/\nDepth: 1", query(data, "")).body
		if err := xml.Unmarshal([]byte(body), new(any)); err != nil {
			t.Errorf("%v in %q", err, body)
		}
		if !strings.Contains(body, "SUMMARY:Ärger\r\n") {
			t.Errorf("no Ärger in %q", body)
		}
	}
}

// TestShapesAreBounded: an expansion can be a thousand times larger than the stored data. At the limit, the remaining
// objects of a response come without their data, each with an error.
func TestShapesAreBounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t), nil)
	h.costing(t, meter.Limits{Written: 1700})
	h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
	for i := range 5 {
		daily := strings.Replace(event(fmt.Sprint(i), "Daily"), "SUMMARY", "RRULE:FREQ=DAILY\r\nSUMMARY", 1)
		h.must(t, fmt.Sprintf("PUT /dav/calendars/alice/work/%d.ics", i), daily)
	}
	const days = `<C:calendar-data><C:expand start="20261124T000000Z" end="20261128T000000Z"/></C:calendar-data>`
	body := h.must(t, "REPORT /dav/calendars/alice/work/\nDepth: 1", query(days, "")).body
	given, refused := strings.Count(body, "<![CDATA["), strings.Count(body, "<d:number-of-matches-within-limits/>")
	if given != 2 || refused != 3 || strings.Count(body, "<d:getetag>") != 5 {
		t.Errorf("%d given, %d refused in %s", given, refused, body)
	}
}

// TestFiltersAreBounded: each filter is tested on every object.
func TestFiltersAreBounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t), func(c *caldav.Config) { c.Limits.Filters = 12 })
	h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
	const one = `<C:prop-filter name="SUMMARY"><C:text-match>x</C:text-match></C:prop-filter>`
	for n, want := range map[int]int{10: 207, 11: 403} {
		got := h.send(t, "REPORT /dav/calendars/alice/work/\nDepth: 1", query("", strings.Repeat(one, n)))
		if got.status != want {
			t.Errorf("%d filters: %d %s", n+2, got.status, got.body)
		}
	}
}

// TestExpansionOfPropertiesIsBounded: nested properties multiply.
func TestExpansionOfPropertiesIsBounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t), func(c *caldav.Config) { c.Limits.Hrefs = 8 })
	for depth, want := range map[int]int{8: 0, 9: 1} {
		request := `<D:expand-property xmlns:D="DAV:">` + strings.Repeat(`<D:property name="principal-URL">`, depth) +
			`<D:property name="displayname"/>` + strings.Repeat(`</D:property>`, depth) + `</D:expand-property>`
		body := h.must(t, "REPORT /dav/principals/alice/", request).body
		if err := xml.Unmarshal([]byte(body), new(any)); err != nil {
			t.Errorf("%v in %s", err, body)
		}
		if got := strings.Count(body, "<d:number-of-matches-within-limits/>"); got != want {
			t.Errorf("%d deep: %d refusals in %s", depth, got, body)
		}
	}
}
