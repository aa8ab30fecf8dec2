package archive

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"caldav-mcp-server/calendar/content"
)

// Some airlines and shops write texts of several lines without indenting the continuation lines (RFC 5545 §3.1). An
// unindented line continues the text above, unless it can be a property of its own.

// texts are the properties that may hold texts of several lines; headTexts are the same for a VCALENDAR.
var (
	texts     = set("SUMMARY", "DESCRIPTION", "LOCATION", "COMMENT", "CONTACT", "STYLED-DESCRIPTION", "X-ALT-DESC")
	headTexts = set("X-WR-CALDESC", "X-WR-CALNAME", "NAME", "DESCRIPTION")
)

// registered are the properties of iCalendar, with its extensions, and of vCalendar 1.0.
var registered = set(strings.Fields(`
	CALSCALE METHOD PRODID VERSION ATTACH CATEGORIES CLASS COMMENT DESCRIPTION GEO LOCATION PERCENT-COMPLETE PRIORITY
	RESOURCES STATUS SUMMARY COMPLETED DTEND DUE DTSTART DURATION FREEBUSY TRANSP TZID TZNAME TZOFFSETFROM TZOFFSETTO
	TZURL ATTENDEE CONTACT ORGANIZER RECURRENCE-ID RELATED-TO URL UID EXDATE EXRULE RDATE RRULE ACTION REPEAT TRIGGER
	CREATED DTSTAMP LAST-MODIFIED SEQUENCE REQUEST-STATUS XML TZUNTIL TZID-ALIAS-OF BUSYTYPE NAME REFRESH-INTERVAL
	SOURCE COLOR IMAGE CONFERENCE CALENDAR-ADDRESS LOCATION-TYPE PARTICIPANT-TYPE RESOURCE-TYPE STRUCTURED-DATA
	STYLED-DESCRIPTION ACKNOWLEDGED PROXIMITY CONCEPT LINK REFID
	DAYLIGHT TZ AALARM DALARM MALARM PALARM DCREATED RNUM`)...)

func set(names ...string) map[string]bool {
	all := map[string]bool{}
	for _, name := range names {
		all[name] = true
	}
	return all
}

// parameter matches the start of a parameter; vCalendar 1.0 has parameters without a name.
var parameter = regexp.MustCompile(`^(?::|;[A-Za-z0-9-]+[=:;])`)

// capital reports whether a name is written in capital letters, as programs write property names.
func capital(name string) bool { return strings.ToUpper(name) == name && strings.ToLower(name) != name }

// continues reports whether a line continues the text above it. A line with a registered name is a property. It is
// ambiguous, and refused, if the text already has an unindented continuation line and the name is not in capitals.
func (w *rewriter) continues(r row, name string, rest []byte) bool {
	upper := strings.ToUpper(name)
	switch {
	case w.text.name == "":
		return false
	case name == "" || !parameter.Match(rest[:min(len(rest), maxEdge)]):
		return true
	case upper == "BEGIN" || upper == "END":
		return !w.edge(upper, rest)
	case registered[upper] || strings.HasPrefix(upper, "X-"):
		if w.text.capital && w.text.last > 0 && !capital(name) {
			w.fault(r.number,
				fmt.Sprintf("this line may be a property %s, or continue the %s in line %d: indent it by a space if "+
					"it does",
					upper, w.text.name, w.text.line))
		}
		return false
	case !w.text.capital:
		return false
	}
	// An unregistered property name must be in capitals and directly followed by its value.
	return !capital(name) || w.text.last > 0 || bytes.HasPrefix(rest, []byte(": "))
}

// edge reports whether a line begins or ends a component.
func (w *rewriter) edge(name string, rest []byte) bool {
	of := strings.ToUpper(string(bytes.TrimSpace(rest[1:min(len(rest), maxEdge)])))
	if name == "END" {
		return slices.Contains(w.inner, of)
	}
	return of == calendarName || of == zoneName || of == "VALARM" || strings.HasPrefix(of, "X-") ||
		slices.Contains(content.Kinds(), of)
}

// goOn appends a line to the text, after a line break.
func (w *rewriter) goOn(r row) {
	more := append(w.blank, r)
	w.blank = nil
	if w.text.last == 0 {
		w.text.first = more[0].number
	}
	if len(w.kept) == 0 {
		w.copy(more[0].number)
	}
	for _, one := range more {
		w.text.last = one.number
		w.append(one.number, append([]byte(` \n`), bytes.TrimLeft(one.raw, " \t")...))
	}
}

// append adds lines to the last written property.
func (w *rewriter) append(number int, lines []byte) {
	if n := len(w.kept); n > 0 {
		w.kept[n-1].raw = append(w.kept[n-1].raw, lines...)
		return
	}
	w.out = append(w.out, lines...)
	for i := range bytes.Count(lines, []byte("\n")) {
		w.lines = append(w.lines, number+i)
	}
}

// endText ends a text and reports the lines that were added to it.
func (w *rewriter) endText() {
	t := w.text
	w.text = running{}
	if t.last > 0 {
		w.mend(t.first,
			fmt.Sprintf("lines %d to %d are not indented: they were read as a continuation of the %s in line %d",
				t.first, t.last, t.name, t.line))
	}
	for _, r := range w.blank {
		if len(w.kept) == 0 {
			w.pass(r)
		}
	}
	w.blank = nil
}
