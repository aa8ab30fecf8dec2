package mcp

import (
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/daterange"
)

// inRange holds the parameters that give a time range.
type inRange struct {
	words, start, end string
	inZone
}

func (in *inRange) takes() []field {
	return []field{
		wordTo(&in.words, "date_range", "In words: tomorrow morning, next friday (of next week), next 7 days, rest of the month, 2026-02-20 to 2026-02-27."),
		wordTo(&in.start, "start", timeForm),
		wordTo(&in.end, "end", "A date counts whole."),
		in.takesZone(),
	}
}

// window is the time range of a call.
type window struct {
	from, until time.Time
	zone        zoned
	// continued is set if the call continues at a cursor.
	continued bool
}

// windowView is a window in a result.
type windowView struct {
	Window spanView `json:"window"`
	zoneView
}

// spanView is a time range; a missing side is open.
type spanView struct {
	Start string `json:"start,omitempty"`
	End   string `json:"end,omitempty"`
}

func (z zoned) span(from, until time.Time) spanView {
	return spanView{z.momentOf(from), z.momentOf(until)}
}

// momentOf formats a moment in the zone; the zero moment gives "".
func (z zoned) momentOf(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.In(z.Location()).Format(time.RFC3339)
}

func (w window) view() windowView {
	return windowView{w.zone.span(w.from, w.until), w.zone.view()}
}

// String formats the window for people.
func (w window) String() string {
	return fmt.Sprintf("%s to %s, %s", w.zone.readable(w.from), w.zone.readable(w.until), w.zone.Name())
}

// readable formats a moment with its weekday.
func (z zoned) readable(t time.Time) string { return t.In(z.Location()).Format("Mon 2006-01-02 15:04") }

// usualRange is the default range.
const (
	usualRange = "next 7 days"
	usualDays  = 7
)

// readRange returns the time range of a call; most is its longest length in days.
func (b toolbox) readRange(c *call, in inRange, z zoned, most int) (window, error) {
	var err error
	words, from, until := in.words, in.start, in.end
	w := window{zone: z}
	switch {
	case words != "" && from+until != "":
		return window{}, errArgument(`give "date_range", or "start" and "end", not both`)
	case words != "" || from+until == "":
		if words == "" {
			words = usualRange
		}
		days, err := daterange.Reader{Now: b.now(), Zone: z.Location(), WeekStart: c.caller.User.FirstDay()}.Parse(words)
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

// between parses a range given by its ends. The default start is now, the default end a week after the start.
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

// readEnd parses the end of a range that starts at from. An end that is a date includes the whole day.
func (z zoned) readEnd(name, value string, from time.Time) (time.Time, error) {
	m, err := z.read(name, value)
	if err != nil || !m.date {
		return m.at, err
	}
	if end := z.midnight(m.behind()); !end.Equal(from) {
		return end, nil
	}
	return z.midnight(m.next()), nil // the same day as start and end means that day
}

func (w window) check(most int) error {
	if w.until.After(w.from.AddDate(0, 0, most)) {
		return calendar.Errorf(calendar.TooLarge, calendar.RuleTooManyMatches, "the time from %s is longer than %d days", w, most).Advising("ask for a part of it")
	}
	return nil
}
