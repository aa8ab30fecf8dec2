package main

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// What both sides of a linked account hold is told in lines, which are read from what each side says, by nothing of
// ours:
//
//	k3||k3 v7 secret|20270320T080000Z      the event k3, or its series
//	k3|20270322T080000Z|k3 v9 secret|…     an instance that is unlike its series
//	k3|20270323T080000Z|cancelled          an instance that is left out
//
// The first word of a title is the event's key, the second another one with each write.

// keyOf is the key in a title.
func keyOf(title string) string {
	key, _, _ := strings.Cut(title, " ")
	return key
}

const instantForm = "20060102T150405Z"

// property is a line of iCalendar.
type property struct{ zone, value string }

// instant is the moment of a property in UTC, or its day.
func (p property) instant(t *testing.T) string {
	t.Helper()
	if len(p.value) == len("20060102") || strings.HasSuffix(p.value, "Z") {
		return p.value
	}
	z, err := time.LoadLocation(p.zone)
	if err != nil || p.zone == "" {
		t.Fatalf("a time in the zone %q: %v", p.zone, err)
	}
	at, err := time.ParseInLocation("20060102T150405", p.value, z)
	if err != nil {
		t.Fatal(err)
	}
	return at.UTC().Format(instantForm)
}

// parseProperty reads a line of iCalendar.
func parseProperty(line string) (name string, p property) {
	head, value, _ := strings.Cut(line, ":")
	words := strings.Split(head, ";")
	p.value = value
	for _, word := range words[1:] {
		if zone, is := strings.CutPrefix(word, "TZID="); is {
			p.zone = strings.Trim(zone, `"`)
		}
	}
	return words[0], p
}

// vevents are the events of a text, without nested components.
func vevents(text string) (all []map[string][]property) {
	depth := 0
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n ", ""), "\r\n") {
		name, p := parseProperty(line)
		switch {
		case line == "BEGIN:VEVENT":
			all = append(all, map[string][]property{})
			depth = 1
		case line == "END:VEVENT":
			depth = 0
		case name == "BEGIN" && depth > 0:
			depth++
		case name == "END" && depth > 0:
			depth--
		case depth == 1:
			for value := range strings.SplitSeq(p.value, ",") {
				if name != "EXDATE" {
					value = p.value
				}
				all[len(all)-1][name] = append(all[len(all)-1][name], property{p.zone, value})
				if name != "EXDATE" {
					break
				}
			}
		}
	}
	return all
}

func first(e map[string][]property, name string) property {
	if len(e[name]) == 0 {
		return property{}
	}
	return e[name][0]
}

// linesOf describes an object here in such lines.
func linesOf(t *testing.T, text string) (key string, lines []string) {
	t.Helper()
	all := vevents(text)
	for _, e := range all {
		if e["RECURRENCE-ID"] == nil {
			key = keyOf(first(e, "SUMMARY").value)
		}
	}
	for _, e := range all {
		original := ""
		if e["RECURRENCE-ID"] != nil {
			original = first(e, "RECURRENCE-ID").instant(t)
		}
		if first(e, "STATUS").value == "CANCELLED" && original != "" {
			lines = append(lines, key+"|"+original+"|cancelled")
			continue
		}
		lines = append(lines,
			fmt.Sprintf("%s|%s|%s|%s", key, original, first(e, "SUMMARY").value, first(e, "DTSTART").instant(t)))
		for _, out := range e["EXDATE"] {
			lines = append(lines, key+"|"+out.instant(t)+"|cancelled")
		}
	}
	return key, lines
}

// entry is an object as a CalDAV client finds it.
type entry struct{ href, etag, text, key, uid string }

const everything = `<c:calendar-query xmlns="DAV:" ` +
	`xmlns:c="urn:ietf:params:xml:ns:caldav"><prop><getetag/><c:calendar-data/></prop>` +
	`<c:filter><c:comp-filter name="VCALENDAR"><c:comp-filter ` +
	`name="VEVENT"/></c:comp-filter></c:filter></c:calendar-query>`

// entries are all objects of a calendar.
func (c client) entries(t *testing.T, cal string) (all []entry) {
	t.Helper()
	a := c.must(t, http.StatusMultiStatus, "REPORT", cal, everything, "Content-Type", "application/xml", "Depth", "1")
	var reply struct {
		Responses []struct {
			Href string `xml:"DAV: href"`
			ETag string `xml:"DAV: propstat>prop>getetag"`
			Text string `xml:"urn:ietf:params:xml:ns:caldav propstat>prop>calendar-data"`
		} `xml:"DAV: response"`
	}
	if err := xml.Unmarshal([]byte(strings.ReplaceAll(a.body, "&#13;\n", "\r\n")), &reply); err != nil {
		t.Fatal(err)
	}
	for _, r := range reply.Responses {
		e := entry{href: r.Href, etag: r.ETag, text: crlfOf(r.Text)}
		e.key, _ = linesOf(t, e.text)
		e.uid = first(vevents(e.text)[0], "UID").value
		all = append(all, e)
	}
	return all
}

func crlfOf(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
}

// stateOf is all that a calendar here holds.
func (c client) stateOf(t *testing.T, cal string) (lines []string) {
	t.Helper()
	for _, e := range c.entries(t, cal) {
		_, some := linesOf(t, e.text)
		lines = append(lines, some...)
	}
	slices.Sort(lines)
	return lines
}

// calendarAt finds the address of a calendar by its name.
func (c client) calendarAt(t *testing.T, want string) string {
	t.Helper()
	a := c.must(t, http.StatusMultiStatus, "PROPFIND", "/dav/calendars/admin/",
		`<propfind xmlns="DAV:"><prop><displayname/></prop></propfind>`, "Depth", "1")
	var reply struct {
		Responses []struct {
			Href string `xml:"DAV: href"`
			Name string `xml:"DAV: propstat>prop>displayname"`
		} `xml:"DAV: response"`
	}
	if err := xml.Unmarshal([]byte(a.body), &reply); err != nil {
		t.Fatal(err)
	}
	for _, r := range reply.Responses {
		if r.Name == want {
			return r.Href
		}
	}
	t.Fatalf("there is no calendar %q in\n%s", want, a.body)
	return ""
}
