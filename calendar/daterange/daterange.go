// Package daterange reads ranges of days as people say them: "next week", "2026-02-20 to 2026-02-27".
package daterange

import (
	"fmt"
	"strings"
	"time"

	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// Range is a run of whole days in a zone, or of parts of them: from the first moment of its
// first day up to, and without, the first moment of the day after its last.
type Range struct {
	From, Until time.Time
}

// Reader knows where and when the words are said.
type Reader struct {
	Now  time.Time
	Zone *time.Location
	// WeekStart is the day on which the speaker's weeks begin.
	WeekStart time.Weekday
}

// Error tells that a text is no range that can be read, and what could be.
type Error struct {
	Text string
	// Why says what is wrong where the form was recognized; otherwise it is empty.
	Why string
}

// Error lists the readable words, so that the caller can ask again.
func (e *Error) Error() string {
	if e.Why != "" {
		return fmt.Sprintf("the date range %q cannot be read: %s", e.Text, e.Why)
	}
	return fmt.Sprintf("the date range %q cannot be read; what can be: %s", e.Text, strings.Join(Examples(), ", "))
}

// Examples returns one text of each readable form.
func Examples() []string {
	var list []string
	for _, f := range forms() {
		list = append(list, fmt.Sprintf("%q", f.example))
	}
	return append(list, `"tomorrow morning"`, `"mon-fri"`, `"until friday"`, `"2026-02-20 to 2026-02-27"`)
}

// Parse reads a range. Case, extra white space, commas and a trailing period do not matter.
func (r Reader) Parse(text string) (Range, error) {
	d, err := r.fromTo(normalize(text))
	if err == nil {
		found := Range{r.moment(d.first, d.opens), r.moment(d.last, d.closes)}
		if found.From.Before(found.Until) {
			return found, nil
		}
		err = &unreadable{"the clocks there skipped that day"}
	}
	return Range{}, &Error{Text: text, Why: err.why}
}

// unreadable is why a text is no range; why is empty when no form fits at all.
type unreadable struct{ why string }

// reading is how one of the ends of a range is read.
type reading struct {
	Reader
	// anchor is the day from which names without a year, or without a week, are sought: today,
	// or the day on which the range begins.
	anchor day
	// after is the day from which a weekday is sought that ends the range.
	after day
	forms []form
	// ends tells that it is the end of a range.
	ends bool
	// run tells that both ends are weekdays: a part of a week, so that "last" names the week.
	run bool
	// within tells that it is the end or the rest of something.
	within bool
}

// fromTo reads one period, or two with a "to" between: all from the start of the first to
// the end of the second. The end is read from the start: "friday to monday" is four days.
func (r Reader) fromTo(s string) (days, *unreadable) {
	parts := strings.Split(s, " to ")
	if len(parts) > 2 {
		return days{}, &unreadable{`it has more than one "to"`}
	}
	read := reading{Reader: r, forms: forms(), anchor: r.today(), run: len(parts) == 2 && isWeekday(parts[0]) && isWeekday(parts[1])}
	first, err := read.days(parts[0])
	if len(parts) == 1 || err != nil {
		return first, err
	}
	read.ends, read.anchor, read.after = true, first.first, first.first
	if first.first == first.last {
		// Nobody says "monday to monday" for one day.
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

// days reads one period, perhaps with a part of the day behind it.
func (r reading) days(s string) (days, *unreadable) {
	if found, err := r.whole(s); err == nil || err.why != "" {
		return found, err
	}
	for _, part := range partsOfDay {
		rest, cut := strings.CutSuffix(s, " "+part.word)
		if !cut {
			continue
		}
		if rest == "this" {
			rest = "today"
		}
		found, err := r.whole(strings.TrimSuffix(rest, " in the"))
		if err == nil && found.first != found.last {
			err = &unreadable{"a part of the day needs one day before it"}
		}
		found.opens, found.closes = part.opens, part.closes
		return found, err
	}
	return days{}, &unreadable{}
}

// partsOfDay are the hours that people mean by them.
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

// whole reads one of the forms.
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

// moment returns the first moment at which it is that hour of a day, or later. A day whose
// midnight comes twice begins with the first; one whose midnight is skipped begins where the
// clocks go on.
func (r Reader) moment(d day, hour int) time.Time {
	z := zone.In(r.Zone)
	at, fit := z.Resolve(ical.CivilFromSeconds(d.utc().Unix() + int64(hour)*3600))
	if fit == zone.Gap {
		at = time.Unix(z.Segment(at.Unix()).From, 0).In(r.Zone)
	}
	return at
}

func (r Reader) today() day { return dayOf(r.Now.In(r.Zone)) }
