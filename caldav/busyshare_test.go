package caldav_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

const busyNamed = ` xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"`

// busyShare is alice's calendar as bob sees it with free/busy access.
type busyShare struct {
	*house
	t  *testing.T
	at string
}

func newBusyShare(t *testing.T, url string) busyShare {
	h := newHouse(t, url, nil)
	h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
	s := busyShare{h, t, "/dav/calendars/bob/id-1/"}
	s.write("doctor", "20261124T090000Z", "PT1H")
	s.write("lunch", "20261125T110000Z", "PT1H")
	s.write("party", "20261125T113000Z", "PT3H")
	h.share(t, []string{"SHARE", "alice", "work", "bob", "busy"})
	return s
}

// write stores an event of alice's. Bob may only see its time.
func (s busyShare) write(name, start, length string) {
	s.t.Helper()
	s.must(s.t, "PUT /dav/calendars/alice/work/"+name+
		".ics", "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:zz-hidden\nBEGIN:VEVENT\nUID:zz-hidden-"+name+
		"\nDTSTAMP:20261120T100000Z\nDTSTART:"+start+"\nDURATION:"+length+
		"\nSUMMARY:zz-hidden\nBEGIN:VALARM\nACTION:AUDIO\nTRIGGER:-PT5M\nEND:VALARM\nEND:VEVENT\nEND:VCALENDAR\n")
}

// ask sends a request of bob's, and checks that the response reveals no details.
func (s busyShare) ask(head, body string) reply {
	s.t.Helper()
	got := s.send(s.t, head+"\nAs: bob", body)
	if told := fmt.Sprint(got.header, got.body); strings.Contains(told, "zz-hidden") ||
		got.header.Get("Last-Modified") != "" {
		s.t.Errorf("%s tells %s", head, told)
	}
	return got
}

// sync lists changes since a token, with a limit, and returns the objects and the next token.
func (s busyShare) sync(token string, limit int) (r reply, hrefs []string, next string) {
	s.t.Helper()
	most := ""
	if limit > 0 {
		most = fmt.Sprintf("<D:limit><D:nresults>%d</D:nresults></D:limit>", limit)
	}
	r = s.ask("REPORT "+s.at, "<D:sync-collection"+busyNamed+"><D:sync-token>"+token+
		"</D:sync-token><D:sync-level>1</D:sync-level>"+most+"<D:prop><D:getetag/></D:prop></D:sync-collection>")
	if found := regexp.MustCompile(`<d:sync-token>(.*)</d:sync-token>`).FindStringSubmatch(r.body); found != nil {
		next = found[1]
	}
	return r, s.hrefs(r), next
}

// hrefs returns the hrefs of a response.
func (s busyShare) hrefs(r reply) (list []string) {
	for _, found := range regexp.MustCompile(`<d:href>([^<]*\.ics)</d:href>`).FindAllStringSubmatch(r.body, -1) {
		list = append(list, found[1])
	}
	slices.Sort(list)
	return list
}

// TestBusyShareIsACalendar: programs treat a free/busy share as a calendar, so it behaves like one, with an event for
// each busy time and nothing more (clients F1).
func TestBusyShareIsACalendar(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		s := newBusyShare(t, url)
		_, hrefs, token := s.sync("", 0)
		if len(hrefs) != 2 {
			t.Fatalf("%d busy times, want 2: %v", len(hrefs), hrefs)
		}
		for what, head := range map[string]struct{ head, body string }{
			"a list": {
				"PROPFIND " + s.at + "\nDepth: 1",
				`<D:propfind` + busyNamed + `><D:prop><D:getetag/><D:getcontenttype/><D:creationdate/` +
					`><D:getlastmodified/></D:prop></D:propfind>`,
			},
			"a query": {
				"REPORT " + s.at + "\nDepth: 1", `<C:calendar-query` + busyNamed +
					`><D:prop><D:getetag/><C:calendar-data/></D:prop><C:filter><C:comp-filter ` +
					`name="VCALENDAR"><C:comp-filter name="VEVENT"><C:time-range ` +
					`start="20261101T000000Z"/></C:comp-filter></C:comp-filter></C:filter></C:calendar-query>`,
			},
			"a home": {
				"REPORT /dav/calendars/bob/\nDepth: 1", `<C:calendar-query` + busyNamed +
					`><D:prop><C:calendar-data><C:expand start="20261101T000000Z" ` +
					`end="20261201T000000Z"/></C:calendar-data></D:prop><C:filter><C:comp-filter ` +
					`name="VCALENDAR"/></C:filter></C:calendar-query>`,
			},
			"a multiget": {
				"REPORT " + s.at, `<C:calendar-multiget` + busyNamed +
					`><D:prop><D:getetag/><C:calendar-data/></D:prop><D:href>` +
					strings.Join(hrefs, "</D:href><D:href>") + `</D:href></C:calendar-multiget>`,
			},
		} {
			got := s.ask(head.head, head.body)
			if found := s.hrefs(got); !slices.Equal(found, hrefs) || strings.Contains(head.body, "calendar-data") &&
				strings.Count(got.body, "SUMMARY:Busy") != 2 {
				t.Errorf("%s finds %v: %s", what, found, got.body)
			}
		}
		if got := s.ask(
			"REPORT "+s.at+"\nDepth: 1", `<C:calendar-query`+busyNamed+
				`><D:prop><C:calendar-data/></D:prop><C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter `+
				`name="VEVENT"><C:time-range start="20261124T000000Z" `+
				`end="20261125T000000Z"/></C:comp-filter></C:comp-filter></C:filter></C:calendar-query>`,
		); strings.Count(got.body, "DTSTART:20261124T090000Z") != 1 || len(s.hrefs(got)) != 1 {
			t.Errorf("of one day: %s", got.body)
		}
		if got := s.ask(
			"REPORT "+s.at+"\nDepth: 1", `<C:calendar-query`+busyNamed+
				`><D:prop><D:getetag/></D:prop><C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter `+
				`name="VEVENT"><C:comp-filter `+
				`name="VALARM"/></C:comp-filter></C:comp-filter></C:filter></C:calendar-query>`,
		); len(s.hrefs(got)) != 0 {
			t.Errorf("a query finds what it should not see: %s", got.body)
		}
		for _, href := range hrefs {
			got := s.ask("GET "+href, "")
			if got.status != http.StatusOK || got.header.Get("ETag") == "" ||
				!strings.Contains(got.body, "SUMMARY:Busy") {
				t.Errorf("GET: %d %v %s", got.status, got.header, got.body)
			}
			if again := s.ask("GET "+href+"\nIf-None-Match: "+got.header.Get("ETag"), ""); again.status !=
				http.StatusNotModified {
				t.Errorf("GET again: %d", again.status)
			}
			for _, head := range []string{
				"PUT " + href, "DELETE " + href, "COPY " + href + "\nDestination: /dav/calendars/bob/id-1/x.ics",
			} {
				if got := s.ask(head, got.body); got.status/100 == 2 {
					t.Errorf("%s: %d", head, got.status)
				}
			}
		}
		if got := s.ask("GET "+s.at, ""); strings.Count(got.body, "SUMMARY:Busy") != 2 ||
			got.header.Get("ETag") != `W/"`+token+`"` {
			t.Errorf("the whole: %v %s", got.header, got.body)
		}
	})
}

// TestBusyShareTellsOfBusyTimesAlone: tags and tokens change only with the busy times.
func TestBusyShareTellsOfBusyTimesAlone(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		s := newBusyShare(t, url)
		_, before, token := s.sync("", 0)
		ask := "PROPFIND " + s.at + "\nDepth: 0"
		const body = `<D:propfind xmlns:D="DAV:" ` +
			`xmlns:S="http://calendarserver.org/ns/"><D:prop><D:sync-token/><S:getctag/><D:getetag/></D:prop></` +
			`D:propfind>`
		looks := s.ask(ask, body).body
		home := s.ask("PROPFIND /dav/calendars/bob/\nDepth: 0", body).body
		// A new title, an overlapping event, a transparent event, and one that is deleted and restored.
		s.write("doctor", "20261124T090000Z", "PT60M")
		s.write("within", "20261125T120000Z", "PT10M")
		s.write("longago", "20200101T100000Z", "PT1H")
		s.must(s.t, "DELETE /dav/calendars/alice/work/doctor.ics", "")
		s.write("doctor", "20261124T090000Z", "PT1H")
		if _, hrefs, next := s.sync(token, 0); len(hrefs) > 0 || next != token {
			t.Errorf("told of %v and %s", hrefs, next)
		}
		if got := s.ask(ask, body).body; got != looks {
			t.Errorf("the calendar tells of it: %s", got)
		}
		if got := s.ask("PROPFIND /dav/calendars/bob/\nDepth: 0", body).body; got != home {
			t.Errorf("the home tells of it: %s", got)
		}
		s.write("doctor", "20261124T090000Z", "PT2H")
		if got, _, _ := s.sync(token, 0); got.status != http.StatusForbidden ||
			!strings.Contains(got.body, "valid-sync-token") {
			t.Errorf("a token of before: %d %s", got.status, got.body)
		}
		if got := s.ask(ask, body).body; got == looks {
			t.Error("the calendar does not tell that its times are others")
		}
		var paged []string
		next := ""
		for range 5 {
			_, hrefs, after := s.sync(next, 1)
			if len(hrefs) > 0 {
				paged = append(paged, hrefs...)
			}
			if after == next {
				break
			}
			next = after
		}
		slices.Sort(paged)
		if _, all, now := s.sync("", 0); !slices.Equal(slices.Compact(paged), all) || next != now ||
			!slices.Equal(all, before) {
			t.Errorf("page by page %v until %s, at once %v until %s", paged, next, all, now)
		}
		// After any change of access, sync starts over.
		cal, err := s.service.CalendarAt(t.Context(), s.caller("bob"), "id-1")
		if err != nil {
			t.Fatal(err)
		}
		again := "<D:sync-collection" + busyNamed +
			"><D:sync-token>%s</D:sync-token><D:sync-level>1</D:sync-level><D:prop/></D:sync-collection>"
		for token, access := range map[string]calendar.Access{
			next: calendar.ReadAccess, cal.SyncToken().String(): calendar.FreeBusyAccess,
		} {
			s.grant(t, cal, access)
			if got := s.send(t, "REPORT "+s.at+"\nAs: bob", fmt.Sprintf(again, token)); got.status !=
				http.StatusForbidden {
				t.Errorf("%s with %v: %d", token, access, got.status)
			}
		}
	})
}
