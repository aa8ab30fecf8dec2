// Package daterange reads ranges of days as people say them: "next week", "2026-02-20 to 2026-02-27".
package daterange

import (
	"fmt"
	"strings"
	"time"
)

// Range is a run of whole days in a zone: from the first moment of its first day up to,
// and without, the first moment of the day after its last.
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

// Error lists what is readable, so that whoever asked can ask again.
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
	return append(list, `"2026-02-20 to 2026-02-27"`)
}

// Parse reads a range. Case, extra white space and a trailing period do not matter.
func (r Reader) Parse(text string) (Range, error) {
	d, err := r.fromTo(normalize(text))
	if err != nil {
		return Range{}, &Error{Text: text, Why: err.why}
	}
	return Range{r.midnight(d.first), r.midnight(d.last.plus(1))}, nil
}

func normalize(text string) string {
	s := strings.ToLower(strings.Join(strings.Fields(text), " "))
	s = strings.TrimSuffix(s, ".")
	// "to" is written in many ways; between spaces they all mean it.
	return strings.NewReplacer(" until ", " to ", " till ", " to ", " through ", " to ", " – ", " to ", " - ", " to ", "..", " to ").Replace(s)
}

// unreadable is why a text is no range; why is empty when no form fits at all.
type unreadable struct{ why string }

// fromTo reads one period, or two with a "to" between: all from the start of the first to
// the end of the second.
func (r Reader) fromTo(s string) (days, *unreadable) {
	parts := strings.Split(s, " to ")
	first, err := r.days(strings.TrimPrefix(parts[0], "from "))
	if len(parts) == 1 || err != nil {
		return first, err
	}
	last, err := r.days(parts[1])
	switch {
	case err != nil:
		return days{}, err
	case len(parts) > 2:
		return days{}, &unreadable{`it has more than one "to"`}
	case last.last.before(first.first):
		return days{}, &unreadable{"it ends before it begins"}
	}
	return days{first.first, last.last}, nil
}

func (r Reader) days(s string) (days, *unreadable) {
	for _, f := range forms() {
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

// midnight returns the first moment of a day. Where clocks spring forward at midnight the
// day begins at 01:00, and time.Date may then answer with the evening before.
func (r Reader) midnight(d day) time.Time {
	t := time.Date(d.year, d.month, d.of, 0, 0, 0, 0, r.Zone)
	if t.Day() != d.day().of {
		_, end := t.ZoneBounds()
		return end
	}
	if start, _ := t.ZoneBounds(); t.Hour() > 0 && !start.IsZero() {
		return start
	}
	return t
}

func (r Reader) today() day { return dayOf(r.Now.In(r.Zone)) }
