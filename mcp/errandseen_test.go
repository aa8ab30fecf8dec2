package mcp

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/caldav"
	"caldav-mcp-server/calendar"
)

// phone is a calendar app of alice's: it sees her calendars by CalDAV alone, whatever assistants have done there.
type phone struct {
	*testing.T
	door   *caldav.Handler
	caller calendar.Caller
}

func (h *house) phone(t *testing.T) phone {
	t.Helper()
	door, err := caldav.New(caldav.Config{
		Service: h.service, Limits: caldav.DefaultLimits(), Logger: h.Logger(),
		Now: h.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	caller := h.callers["alice"]
	caller.Token = ""
	return phone{t, door, caller}
}

// seen is an app's view of a calendar or of one of its objects.
type seen struct {
	Responses []struct {
		Href string `xml:"href"`
		Data string `xml:"propstat>prop>calendar-data"`
	} `xml:"response"`
}

func (p phone) ask(method, path, body string) seen {
	p.Helper()
	r := httptest.NewRequestWithContext(p.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Depth", "1")
	w := httptest.NewRecorder()
	p.door.ServeDAV(w, r, p.caller)
	var v seen
	if err := xml.Unmarshal(w.Body.Bytes(), &v); err != nil || w.Code != http.StatusMultiStatus {
		p.Fatalf("%s %s: %d %v %s", method, path, w.Code, err, w.Body)
	}
	return v
}

// find asks all calendars for the events with a text in one of their properties, expanded in a year if one is given.
func (p phone) find(property, text string, year time.Time) (data []string) {
	p.Helper()
	const form = "20060102T150405Z"
	expand, during := "", ""
	if !year.IsZero() {
		times := fmt.Sprintf(`start="%s" end="%s"/>`, year.Format(form), year.AddDate(1, 0, 0).Format(form))
		expand, during = "<C:expand "+times, "<C:time-range "+times
	}
	report := `<C:calendar-query xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:prop><C:calendar-data>` +
		expand + `</C:calendar-data></D:prop>
		<C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT">` + during + `<C:prop-filter name="` +
		property + `">
		<C:text-match>` + text +
		`</C:text-match></C:prop-filter></C:comp-filter></C:comp-filter></C:filter></C:calendar-query>`
	const home = "/dav/calendars/alice/"
	for _, r := range p.ask("PROPFIND", home, "").Responses {
		if path, err := url.PathUnescape(r.Href); err != nil || path == home ||
			strings.Count(path, "/") != strings.Count(home, "/")+1 || strings.Contains(path, "box") {
			continue
		}
		for _, o := range p.ask("REPORT", r.Href, report).Responses {
			data = append(data, o.Data)
		}
	}
	return data
}

// text is the text of an event, with its lines unfolded.
func (p phone) text(uid calendar.UID) string {
	p.Helper()
	found := p.find("UID", string(uid), time.Time{})
	if len(found) != 1 {
		p.Fatalf("an app finds %d events %s", len(found), uid)
	}
	return strings.NewReplacer("\r\n ", "", "\r\n", "\n").Replace(found[0])
}

// instancesOf lists all instances of events with a word in the title, in Berlin time.
func (p phone) instancesOf(word string) []string {
	p.Helper()
	var list []string
	for year := range 8 {
		for _, data := range p.find("SUMMARY", word, noon.AddDate(year, 0, -60)) {
			list = append(list, p.times(data)...)
		}
	}
	slices.Sort(list)
	return list
}

// times are the times of the instances of an expanded event: for all-day events, the first and last day. They are
// parsed independently of the code under test.
func (p phone) times(data string) (list []string) {
	p.Helper()
	for _, event := range strings.Split(data, "BEGIN:VEVENT")[1:] {
		event, _, _ = strings.Cut(event, "BEGIN:VALARM")
		value := make(map[string]string)
		for line := range strings.Lines(event) {
			name, text, _ := strings.Cut(strings.TrimSpace(line), ":")
			name, _, _ = strings.Cut(name, ";")
			value[name] = text
		}
		start, day := p.moment(value["DTSTART"])
		if day {
			end, _ := p.moment(value["DTEND"])
			list = append(list, start.Format(time.DateOnly)+" to "+end.AddDate(0, 0, -1).Format(time.DateOnly))
			continue
		}
		end := start
		if long, err := time.ParseDuration(strings.ToLower(strings.TrimPrefix(value["DURATION"], "PT"))); err == nil {
			end = start.Add(long)
		} else {
			end, _ = p.moment(value["DTEND"])
		}
		list = append(list, start.Format("2006-01-02 15:04")+end.Format("-15:04"))
	}
	return list
}

// moment reads a time in UTC, or a day.
func (p phone) moment(value string) (at time.Time, day bool) {
	p.Helper()
	if at, err := time.Parse("20060102", value); err == nil {
		return at, true
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err == nil {
		at, err = time.Parse("20060102T150405Z", value)
	}
	if err != nil {
		p.Fatal(err)
	}
	return at.In(berlin), false
}
