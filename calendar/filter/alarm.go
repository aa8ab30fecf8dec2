package filter

import (
	"strings"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/ical"
)

// trigger is the time when an alarm fires.
type trigger struct {
	at     ical.Time     // absolute, or zero
	offset ical.Duration // relative to the start or the end of an instance
	toEnd  bool
	repeat int64
	every  int64 // seconds
}

// alarms implements the table for VALARM: one of the alarms fires in the window, for any instance of its component.
func (m *matcher) alarms(w window, parent *ical.Component, list []*ical.Component) (bool, error) {
	var relative []trigger
	for _, c := range list {
		t, ok := readTrigger(c)
		switch {
		case !ok:
		case t.at.IsZero():
			relative = append(relative, t)
		default:
			if at, err := m.clock.At(t.at); err == nil && t.fires(w, at) {
				return true, nil
			}
		}
	}
	if len(relative) == 0 {
		return false, nil
	}
	return m.relativeAlarms(w, parent, relative)
}

// alarmsMost limits the alarms of all instances that Match checks.
const alarmsMost = 100_000

func (m *matcher) relativeAlarms(w window, parent *ical.Component, list []trigger) (bool, error) {
	search, looks := reach(list).before(w), 0
	for found, err := range m.walk(search, m.object.Calendar, []*ical.Component{parent}) {
		if err != nil {
			return false, err
		}
		if looks += len(list); looks > alarmsMost {
			return false, &recur.BudgetError{What: "alarms", Limit: alarmsMost}
		}
		for _, t := range list {
			if t.fires(w, t.of(found.Start.Time, found.End.Time)) {
				return true, nil
			}
		}
	}
	return false, nil
}

// readTrigger parses the times of an alarm; false if it never fires.
func readTrigger(c *ical.Component) (trigger, bool) {
	p := c.Property("TRIGGER")
	if p == nil {
		return trigger{}, false
	}
	var t trigger
	t.repetition(c)
	var err error
	if t.offset, err = p.Duration(); err == nil {
		related, _ := p.Param("RELATED")
		t.toEnd = strings.EqualFold(related, "END")
		return t, true
	}
	t.at, err = p.Time()
	return t, err == nil
}

// repetition parses REPEAT and DURATION, which have a meaning only together (RFC 5545 §3.6.6).
func (t *trigger) repetition(c *ical.Component) {
	times, every := c.Property("REPEAT"), c.Property("DURATION")
	if times == nil || every == nil {
		return
	}
	n, err := times.Int()
	if err != nil {
		return
	}
	d, err := every.Duration()
	if err != nil || d.Negative || d.IsZero() {
		return
	}
	t.repeat, t.every = int64(n), seconds(d)
}

// of returns the first time that the alarm fires for an instance.
func (t trigger) of(start, end time.Time) int64 {
	if t.toEnd {
		start = end
	}
	return content.Later(start, t.offset).Unix()
}

// fires reports whether an alarm whose first time is at fires in the window.
func (t trigger) fires(w window, at int64) bool {
	if at >= w.start || t.repeat <= 0 {
		return w.holds(at)
	}
	// The first repetition at or after the start of the window.
	n := (w.start - at + t.every - 1) / t.every
	return n <= t.repeat && w.holds(at+n*t.every)
}

// distance is the range of an alarm's times relative to its instance, in seconds.
type distance struct{ least, most int64 }

func reach(list []trigger) distance {
	d := distance{forever, beginning}
	for _, t := range list {
		at := seconds(t.offset)
		d.least, d.most = min(d.least, at-clockChange), max(d.most, at+clockChange)
		if t.repeat > 0 && t.repeat > (forever-d.most)/t.every {
			d.most = forever
		} else if t.repeat > 0 {
			d.most = max(d.most, at+clockChange+t.repeat*t.every)
		}
	}
	return d
}

// clockChange is more than any clock change, so it bounds the difference of a nominal day from 24 hours.
const clockChange = 26 * 3600

// before returns the window of the instances whose alarms fire in w.
func (d distance) before(w window) window {
	if d.most == forever {
		return window{beginning, shift(w.end, -d.least)}
	}
	return window{shift(w.start, -d.most), shift(w.end, -d.least)}
}

// seconds returns a duration without clock changes.
func seconds(d ical.Duration) int64 {
	return int64(d.NominalDays())*24*3600 + d.ExactSeconds()
}
