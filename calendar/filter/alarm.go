package filter

import (
	"strings"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/ical"
)

// trigger is when an alarm goes off.
type trigger struct {
	at     ical.Time     // absolute, or zero
	offset ical.Duration // relative to the start or the end of an instance
	toEnd  bool
	repeat int64
	every  int64 // seconds
}

// alarms is the table of VALARM: one of the times at which one of the alarms goes off is
// in the window, for any instance of the component that they belong to.
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

// alarmsMost bounds how many alarms of how many instances Match looks at.
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

// readTrigger reads what says when an alarm goes off; false tells that it never does.
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

// repetition reads REPEAT and DURATION, which mean something only together (RFC 5545 §3.6.6).
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

// of is when the alarm first goes off for an instance.
func (t trigger) of(start, end time.Time) int64 {
	if t.toEnd {
		start = end
	}
	return content.Later(start, t.offset).Unix()
}

// fires tells whether an alarm that first goes off at some time does so in the window.
func (t trigger) fires(w window, at int64) bool {
	if at >= w.start || t.repeat <= 0 {
		return w.holds(at)
	}
	// The first repetition that is not before the window.
	n := (w.start - at + t.every - 1) / t.every
	return n <= t.repeat && w.holds(at+n*t.every)
}

// distance is how far from its instance an alarm can go off, in seconds.
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

// clockChange is more than clocks are changed by: so far a nominal day can be from 24 hours.
const clockChange = 26 * 3600

// before is where the instances are whose alarms go off in the window.
func (d distance) before(w window) window {
	if d.most == forever {
		return window{beginning, shift(w.end, -d.least)}
	}
	return window{shift(w.start, -d.most), shift(w.end, -d.least)}
}

// seconds is a duration on a day without a change of the clocks.
func seconds(d ical.Duration) int64 {
	return int64(d.NominalDays())*24*3600 + int64(d.ExactSeconds())
}
