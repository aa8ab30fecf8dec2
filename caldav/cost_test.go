package caldav_test

import (
	"fmt"
	"strings"
	"testing"

	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/internal/testdb"
)

// costing limits the cost of a request.
func (h *house) costing(t testing.TB, most meter.Limits) {
	t.Helper()
	h.middle.Limits.Cost = most
	h.remake(t, nil)
}

// TestALargeSeriesIsNotExpanded: its instances would exceed the memory limit of a request, which is known before
// expansion. The response has all other objects (security H1).
func TestALargeSeriesIsNotExpanded(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t), nil)
	h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
	lines := strings.Repeat("COMMENT:"+strings.Repeat("x", 60)+"\r\n", 3000)
	h.must(t, "PUT /dav/calendars/alice/work/large.ics",
		strings.Replace(event("large", "Daily"), "SUMMARY", "RRULE:FREQ=DAILY\r\n"+lines+"SUMMARY", 1))
	h.must(t, "PUT /dav/calendars/alice/work/small.ics", event("small", "Once"))
	const year = `<C:calendar-data><C:expand start="20261124T000000Z" end="20271124T000000Z"/></C:calendar-data>`
	body := h.must(t, "REPORT /dav/calendars/alice/work/\nDepth: 1", query(year, "")).body
	given, refused := strings.Count(body, "<![CDATA["), strings.Count(body, "<d:number-of-matches-within-limits/>")
	if given != 1 || refused != 1 || !strings.Contains(body, "SUMMARY:Once") {
		t.Errorf("%d given, %d refused in %d bytes", given, refused, len(body))
	}
}

// TestLongTextIsNotLookedFor: a long search text would be compared with every property, and no user types one
// (security H3).
func TestLongTextIsNotLookedFor(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t), nil)
	h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
	for bytes, want := range map[int]int{1000: 207, 1001: 403} {
		ask := query("", `<C:prop-filter name="SUMMARY"><C:text-match>`+strings.Repeat("x", bytes)+
			`</C:text-match></C:prop-filter>`)
		if got := h.send(t, "REPORT /dav/calendars/alice/work/\nDepth: 1", ask); got.status != want {
			t.Errorf("%d bytes: %d %s", bytes, got.status, got.body)
		}
	}
}

// TestWorkHasAnEnd: the cost of a query is checked while it compares properties, and the refusal says what to do.
func TestWorkHasAnEnd(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t), nil)
	h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
	lines := strings.Repeat("COMMENT:x\r\n", 10_000)
	h.must(t, "PUT /dav/calendars/alice/work/many.ics",
		strings.Replace(event("many", "Many"), "SUMMARY", lines+"SUMMARY", 1))
	h.costing(t, meter.Limits{Steps: 20_000})
	const one = `<C:prop-filter name="COMMENT"><C:text-match negate-condition="yes">x</C:text-match></C:prop-filter>`
	got := h.send(t, "REPORT /dav/calendars/alice/work/\nDepth: 1", query("", one+one))
	if got.status != 403 || !strings.Contains(got.body, "number-of-matches-within-limits") ||
		!strings.Contains(got.body, "ask for a shorter time") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestLongNamesAreRefused: the response may repeat each name for each object (security H2).
func TestLongNamesAreRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t), nil)
	long := strings.Repeat("n", 1001)
	many := ""
	for i := range 60 {
		many += fmt.Sprintf(`<x:%s%d xmlns:x="urn:x"/>`, long[:900], i)
	}
	for what, body := range map[string]string{
		"a name":        `<propfind xmlns="DAV:"><prop><` + long + `/></prop></propfind>`,
		"a namespace":   `<propfind xmlns="DAV:"><prop><x:n xmlns:x="` + long + `"/></prop></propfind>`,
		"its default":   `<propfind xmlns="DAV:"><prop><n xmlns="` + long + `"/></prop></propfind>`,
		"many names":    `<propfind xmlns="DAV:"><prop>` + many + `</prop></propfind>`,
		"one to expand": `<expand-property xmlns="DAV:"><property name="` + long + `"/></expand-property>`,
		"where to expand": `<expand-property xmlns="DAV:"><property name="n" namespace="` + long +
			`"/></expand-property>`,
	} {
		method := "PROPFIND"
		if strings.Contains(body, "expand-property") {
			method = "REPORT"
		}
		if got := h.send(t, method+" /dav/calendars/alice/\nDepth: 0", body); got.status != 400 && got.status != 403 {
			t.Errorf("%s: %d", what, got.status)
		}
	}
}

// TestExpandedPropertiesAreBounded: an expand-property response is buffered, and addresses multiply (security H2).
func TestExpandedPropertiesAreBounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t), nil)
	hrefs := strings.Repeat("<D:href>/dav/principals/alice/</D:href>", 550)
	h.must(t, "PROPPATCH /dav/principals/alice/", `<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><q xmlns="urn:q">`+
		hrefs+`</q></D:prop></D:set></D:propertyupdate>`)
	names := ""
	for i := range 20 {
		names += fmt.Sprintf(`<property name="n%d%s" namespace="urn:z"/>`, i, strings.Repeat("x", 900))
	}
	ask := func(inner string) reply {
		return h.send(t, "REPORT /dav/principals/alice/",
			`<expand-property xmlns="DAV:"><property name="q" namespace="urn:q">`+inner+`</property></expand-property>`)
	}
	if got := ask(`<property name="displayname"/>`); got.status != 207 ||
		strings.Count(got.body, "<d:response>") != 551 {
		t.Errorf("usual names: %d", got.status)
	}
	got := ask(names)
	if !strings.Contains(got.body, "number-of-matches-within-limits") || len(got.body) > 1<<20 {
		t.Errorf("long names: %d in %d bytes", got.status, len(got.body))
	}
	got = ask(`<property name="q" namespace="urn:q"><property name="displayname"/></property>`)
	if !strings.Contains(got.body, "number-of-matches-within-limits") || len(got.body) > 1<<20 {
		t.Errorf("two levels: %d in %d bytes", got.status, len(got.body))
	}
}

// TestACrowdIsRefused: an event with more attendees than the calendar's limit is refused by that rule, and no
// invitation is sent. At the limit it is stored.
func TestACrowdIsRefused(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
		said := h.must(t, "PROPFIND /dav/calendars/alice/work/\nDepth: 0",
			`<D:propfind xmlns:D="DAV:" `+
				`xmlns:C="urn:ietf:params:xml:ns:caldav"><D:prop><C:max-attendees-per-instance/></D:prop></`+
				`D:propfind>`).body
		if !strings.Contains(said, "max-attendees-per-instance>1000<") {
			t.Errorf("the calendar says\n%s", said)
		}
		with := func(guests int) string {
			var lines strings.Builder
			for i := range guests {
				fmt.Fprintf(&lines, "ATTENDEE:mailto:guest%d@example.net\r\n", i)
			}
			return strings.Replace(event("crowd", "Party"), "SUMMARY", lines.String()+"SUMMARY", 1)
		}
		got := h.send(t, "PUT /dav/calendars/alice/work/crowd.ics", with(1001))
		if got.status != 403 || !strings.Contains(got.body, "max-attendees-per-instance/>") ||
			!strings.Contains(got.body, "1001 attendees; this server takes 1000") {
			t.Errorf("1,001 guests: %d\n%s", got.status, got.body)
		}
		if got := h.send(t, "GET /dav/calendars/alice/work/crowd.ics", ""); got.status != 404 {
			t.Errorf("it is there: %d", got.status)
		}
		h.must(t, "PUT /dav/calendars/alice/work/crowd.ics", with(1000))
	})
}
