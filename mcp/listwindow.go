package mcp

import (
	"fmt"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/daterange"
)

// takesRange are the parameters by which a tool is told which time is meant.
var takesRange = []field{
	{name: "date_range", kind: text, doc: "Days in words, such as \"today\", \"tomorrow morning\", \"this week\", \"next 7 days\", \"rest of the month\", \"next friday\" (of next week), \"last friday\" (the latest before today), \"monday to friday\" (the end is read from the start), \"first monday of may\", \"dec 24\", \"q1 2027\", \"2026-02-20 to 2026-02-27\". Weeks begin on Monday.", optional: true},
	{name: "start", kind: text, doc: "Instead of date_range, when the time begins: " + timeForms + ".", optional: true},
	{name: "end", kind: text, doc: "When it ends; a date such as 2026-03-01 counts whole.", optional: true},
	takesZone,
}

// window is the time that a call is about.
type window struct {
	from, until time.Time
	zone        zoned
	// continued tells that the call goes on with a former answer.
	continued bool
}

// windowView is a window as tools return it.
type windowView struct {
	Window struct {
		Start string `json:"start"`
		End   string `json:"end"`
	} `json:"window"`
	zoneView
}

func (w window) view() windowView {
	v := windowView{zoneView: w.zone.view()}
	v.Window.Start = w.from.In(w.zone.Location()).Format(time.RFC3339)
	v.Window.End = w.until.In(w.zone.Location()).Format(time.RFC3339)
	return v
}

// String writes the window as people say it.
func (w window) String() string {
	return fmt.Sprintf("%s to %s, %s", w.zone.readable(w.from), w.zone.readable(w.until), w.zone.Name())
}

// readable writes a moment with its weekday.
func (z zoned) readable(t time.Time) string { return t.In(z.Location()).Format("Mon 2006-01-02 15:04") }

// usualRange is what is meant when nothing is said.
const (
	usualRange = "next 7 days"
	usualDays  = 7
)

// readRange finds out which time a call means; most is how many days that may be.
func (b toolbox) readRange(c *call, cal calendar.Calendar, most int) (window, error) {
	z, err := b.zoneFor(c, cal)
	if err != nil {
		return window{}, err
	}
	return b.readRangeIn(c, z, most)
}

// readRangeIn is readRange where the zone is known.
func (b toolbox) readRangeIn(c *call, z zoned, most int) (window, error) {
	var err error
	words, from, until := given(c, "date_range"), given(c, "start"), given(c, "end")
	w := window{zone: z}
	switch {
	case words != "" && from+until != "":
		return window{}, errArgument(`give "date_range", or "start" and "end", not both`)
	case words != "" || from+until == "":
		if words == "" {
			words = usualRange
		}
		days, err := daterange.Reader{Now: b.now(), Zone: z.Location(), WeekStart: time.Monday}.Parse(words)
		if err != nil {
			return window{}, errArgument(`"date_range": %s`, err)
		}
		w.from, w.until = days.From, days.Until
	default:
		if w, err = z.between("start", from, "end", until, b.now()); err != nil {
			return window{}, err
		}
	}
	return w, w.check(most)
}

func given(c *call, name string) string { return strings.TrimSpace(c.args.text(name)) }

// between reads a time that is given by its ends. A start that is missing is the present, an
// end a week later.
func (z zoned) between(startName, from, endName, until string, now time.Time) (window, error) {
	w := window{from: now.Truncate(time.Second), zone: z}
	var err error
	if from != "" {
		if w.from, err = z.readInstant(startName, from); err != nil {
			return w, err
		}
	}
	if w.until = w.from.AddDate(0, 0, usualDays); until != "" {
		w.until, err = z.readEnd(endName, until, w.from)
	}
	if err == nil && !w.from.Before(w.until) {
		err = errArgument("%q (%s) must be after %q (%s)", endName, z.readable(w.until), startName, z.readable(w.from))
	}
	return w, err
}

// readEnd reads the end of a time that begins at a moment. People who end on a day mean all of it.
func (z zoned) readEnd(name, value string, from time.Time) (time.Time, error) {
	m, err := z.read(name, value)
	if err != nil || !m.date {
		return m.at, err
	}
	if end := z.midnight(m.behind()); !end.Equal(from) {
		return end, nil
	}
	return z.midnight(m.next()), nil // the same day twice is that day
}

func (w window) check(most int) error {
	if w.until.After(w.from.AddDate(0, 0, most)) {
		e := calendar.Errorf(calendar.TooLarge, calendar.RuleTooManyMatches, "the time from %s is longer than %d days", w, most)
		e.Hint = "ask for a part of it"
		return e
	}
	return nil
}
