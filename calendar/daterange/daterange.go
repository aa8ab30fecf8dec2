// Package daterange parses date ranges as people write them: "next week", "2026-02-20 to 2026-02-27".
package daterange

import (
	"fmt"
	"strings"
	"time"

	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// Range is a range of whole days in a zone, or of parts of days. From is inclusive, Until is exclusive.
type Range struct {
	From, Until time.Time
}

// Reader holds the context of the text.
type Reader struct {
	Now  time.Time
	Zone *time.Location
	// WeekStart is the first day of the user's week.
	WeekStart time.Weekday
}

// Error reports a text that is not a date range, and lists the accepted forms.
type Error struct {
	Text string
	// Why is the reason if the form was recognized; otherwise it is empty.
	Why string
}

// Error returns the reason, or the accepted forms.
func (e *Error) Error() string {
	if e.Why != "" {
		return fmt.Sprintf("the date range %q cannot be read: %s", e.Text, e.Why)
	}
	return fmt.Sprintf("the date range %q cannot be read; examples: %s", e.Text, strings.Join(Examples(), ", "))
}

// Examples returns one text for each accepted form.
func Examples() []string {
	var list []string
	for _, f := range forms() {
		list = append(list, fmt.Sprintf("%q", f.example))
	}
	return append(list, `"tomorrow morning"`, `"mon-fri"`, `"until friday"`, `"2026-02-20 to 2026-02-27"`)
}

// Parse parses a range. It ignores case, extra white space, commas and a trailing period.
func (r Reader) Parse(text string) (Range, error) {
	d, err := r.fromTo(normalize(text))
	if err == nil {
		found := Range{r.moment(d.first, d.opens), r.moment(d.last, d.closes)}
		if found.From.Before(found.Until) {
			return found, nil
		}
		err = &unreadable{"that day does not exist in this time zone"}
	}
	return Range{}, &Error{Text: text, Why: err.why}
}

// unreadable is the reason for an error; why is empty when no form matches.
type unreadable struct{ why string }

// reading is the context for parsing one end of a range.
type reading struct {
	Reader
	// anchor is the reference date for a name without a year or a week: today, or the start of the range.
	anchor day
	// after is the earliest date for a weekday that ends the range.
	after day
	forms []form
	// ends is set for the end of a range.
	ends bool
	// run is set when both ends are weekdays. The range is part of one week then, so "last" refers to the week.
	run bool
	// past is set if a name without a year or a week means the latest one that has begun, not the next one.
	past bool
	// within is set inside "end of" or "rest of".
	within bool
}

// fromTo parses one period, or two joined by "to": from the start of the first to the end of the second. The second
// is relative to the first: "friday to monday" is four days.
func (r Reader) fromTo(s string) (days, *unreadable) { return r.fromToOf(s, false) }

// fromToOf is fromTo. If past is set, names mean the latest days that have begun.
func (r Reader) fromToOf(s string, past bool) (days, *unreadable) {
	parts := strings.Split(s, " to ")
	if len(parts) > 2 {
		return days{}, &unreadable{`it has more than one "to"`}
	}
	read := reading{
		Reader: r, forms: forms(), anchor: r.today(), past: past,
		run: len(parts) == 2 && isWeekday(parts[0]) && isWeekday(parts[1]),
	}
	first, err := read.days(parts[0])
	if len(parts) == 1 || err != nil {
		return first, err
	}
	read.ends, read.anchor, read.after = true, first.first, first.first
	if first.first == first.last {
		// "monday to monday" does not mean a single day.
		read.after = first.first.plus(1)
	}
	last, err := read.days(parts[1])
	switch {
	case err != nil:
		return days{}, err
	case last.last.before(first.first), last.last == first.first && last.closes <= first.opens:
		return days{}, &unreadable{"it ends before it begins"}
	}
	return days{first.first, last.last, first.opens, last.closes}, nil
}

// days parses one period, optionally followed by a part of the day.
func (r reading) days(s string) (days, *unreadable) {
	if found, err := r.whole(s); err == nil || err.why != "" {
		return found, err
	}
	for _, part := range partsOfDay {
		rest, cut := strings.CutSuffix(s, " "+part.word)
		if !cut {
			continue
		}
		switch rest {
		case "this":
			rest = "today"
		case "last":
			rest = "yesterday"
		}
		found, err := r.whole(strings.TrimSuffix(rest, " in the"))
		if err == nil && found.first != found.last {
			err = &unreadable{"a part of the day must follow a single day"}
		}
		found.opens, found.closes = part.opens, part.closes
		return found, err
	}
	return days{}, &unreadable{}
}

// partsOfDay are the usual hours of the parts of the day.
var partsOfDay = [...]struct {
	word          string
	opens, closes int
}{
	{"morning", 6, 12},
	{"afternoon", 12, 18},
	{"evening", evening, 24},
	{"night", evening, 24},
}

const evening = 18

// whole parses a period in one of the forms.
func (r reading) whole(s string) (days, *unreadable) {
	for _, f := range r.forms {
		m := f.pattern.FindStringSubmatch(s)
		if m == nil {
			continue
		}
		d, why := f.read(r, m[1:])
		if why != "" {
			return days{}, &unreadable{why}
		}
		return d, nil
	}
	return days{}, &unreadable{}
}

// moment returns the first instant when the clock of a day has reached an hour. If midnight is repeated, the
// day begins with the first one; if it is skipped, the day begins after the gap.
func (r Reader) moment(d day, hour int) time.Time { return r.clock(d, 60*hour) }

// at returns the first instant when the clock has reached a time.
func (r Reader) at(c ical.Civil) time.Time {
	z := zone.In(r.Zone)
	at, fit := z.Resolve(c)
	if fit == zone.Gap {
		at = time.Unix(z.Segment(at.Unix()).From, 0).In(r.Zone)
	}
	return at
}

func (r Reader) today() day { return dayOf(r.Now.In(r.Zone)) }
