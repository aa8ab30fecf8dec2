package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// entry is an event or a task, as CalDAV returns it: unfolded lines.
type entry []string

// value returns the value of the first line with this name.
func (e entry) value(name string) string {
	for _, line := range e {
		head, value, _ := strings.Cut(line, ":")
		if head, _, _ = strings.Cut(head, ";"); head == name {
			return value
		}
	}
	return ""
}

// ask sends a CalDAV request, and returns the body of the response.
func (h *house) ask(name, method, path, depth, body string) string {
	r, err := http.NewRequest(method, h.origin+path, strings.NewReader(body))
	must(err)
	r.SetBasicAuth(name, h.passwords[name])
	r.Header.Set("Content-Type", "application/xml")
	if method == http.MethodPut {
		r.Header.Set("Content-Type", "text/calendar")
	}
	r.Header.Set("Depth", depth)
	res, err := http.DefaultClient.Do(r)
	must(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	must(err)
	if res.StatusCode >= http.StatusBadRequest {
		failf("%s %s: %s %s", method, path, res.Status, text)
	}
	return string(text)
}

// put stores an event as a calendar app does.
func (h *house) put(name, uid string, lines ...string) { h.putIn("personal", name, uid, lines...) }

func (h *house) putIn(calendar, name, uid string, lines ...string) {
	h.ask(name, http.MethodPut, "/dav/calendars/"+name+"/"+calendar+"/"+uid+".ics", "0",
		"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//walker//EN\r\nBEGIN:VEVENT\r\nUID:"+uid+
			"\r\nDTSTAMP:20260101T000000Z\r\n"+strings.Join(lines, "\r\n")+"\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
}

// answer is the part of a multistatus that this program reads.
type answer struct {
	Responses []struct {
		Href string `xml:"href"`
		Data string `xml:"propstat>prop>calendar-data"`
	} `xml:"response"`
}

func read(text string) answer {
	var a answer
	must(xml.Unmarshal([]byte(text), &a))
	return a
}

// collections returns the paths of a user's calendars.
func (h *house) collections(name string) []string {
	home := "/dav/calendars/" + name + "/"
	var all []string
	for _, r := range read(h.ask(name, "PROPFIND", home, "1", "")).Responses {
		if r.Href != home && strings.HasSuffix(r.Href, "/") && !strings.HasSuffix(r.Href, "box/") {
			all = append(all, r.Href)
		}
	}
	return all
}

// entries returns a user's events or tasks. A range, such as 20270201T000000Z/20270301T000000Z, expands series.
func (h *house) entries(name, kind, span string) []entry {
	within, expanded := "", ""
	if from, to, ok := strings.Cut(span, "/"); ok {
		within = fmt.Sprintf(`<C:time-range start="%s" end="%s"/>`, from, to)
		expanded = fmt.Sprintf(`<C:expand start="%s" end="%s"/>`, from, to)
	}
	query := `<C:calendar-query xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:prop><C:calendar-data>` +
		expanded + `</C:calendar-data></D:prop><C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="` +
		kind + `">` + within + `</C:comp-filter></C:comp-filter></C:filter></C:calendar-query>`
	var all []entry
	for _, path := range h.collections(name) {
		for _, r := range read(h.ask(name, "REPORT", path, "1", query)).Responses {
			text := strings.NewReplacer("\r\n ", "", "\n ", "", "\r", "").Replace(r.Data)
			for _, part := range strings.Split(text, "BEGIN:"+kind+"\n")[1:] {
				body, _, _ := strings.Cut(part, "END:"+kind)
				all = append(all, strings.Split(body, "\n"))
			}
		}
	}
	return all
}

// starts checks the times of the events with a title, in UTC.
func (h *house) starts(name, title, span string, want ...string) []entry {
	var all []entry
	var got []string
	for _, e := range h.entries(name, "VEVENT", span) {
		if e.value("SUMMARY") == title {
			all = append(all, e)
			got = append(got, e.value("DTSTART"))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		failf("%s has %q at %q, want %q", name, title, got, want)
	}
	return all
}

// one returns the only event or task with a title.
func (h *house) one(name, kind, title string) entry {
	var found []entry
	for _, e := range h.entries(name, kind, "") {
		if e.value("SUMMARY") == title {
			found = append(found, e)
		}
	}
	if len(found) != 1 {
		must(errors.New(fmt.Sprint(name, " has ", len(found), " times ", title)))
	}
	return found[0]
}
