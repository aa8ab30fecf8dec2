package recur

import (
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// shape is when a component starts, and how it ends relative to that.
type shape struct {
	component *ical.Component
	start     point
	days      int64 // nominal: a day ends at the same time on the wall clock
	seconds   int64 // exact
	dated     bool  // whether there is any time at all
}

// readShape reads DTSTART with DTEND, DUE or DURATION. RFC 5545 §3.6.1: without
// an end, a DATE lasts the day and a DATE-TIME no time.
func readShape(c *ical.Component, r reader) (shape, error) {
	s := shape{component: c}
	ending := "DTEND"
	if c.Name() == "VTODO" {
		ending = "DUE"
	}
	start, started, err := r.property(c, "DTSTART")
	if err != nil {
		return s, err
	}
	end, ended, err := r.property(c, ending)
	if err != nil {
		return s, err
	}
	if !started {
		// RFC 5545 §3.6.2: a task may have no more than a DUE, or not even that.
		s.start, s.dated = end, ended
		return s, nil
	}
	s.start, s.dated = start, true
	if ended {
		s.until(end)
	} else if err := s.lasting(c); err != nil {
		return s, err
	}
	s.whole()
	return s, nil
}

// until takes the duration from an end. An end before the start, which only an
// import can bring, is none.
func (s *shape) until(end point) {
	if s.start.allDay {
		s.days = max(0, (end.day()-s.start.wall)/secondsPerDay)
		return
	}
	s.seconds = max(0, end.unix-s.start.unix)
}

func (s *shape) lasting(c *ical.Component) error {
	property := c.Property("DURATION")
	if property == nil {
		return nil
	}
	d, err := property.Duration()
	if err != nil || d.Negative {
		return err
	}
	s.days, s.seconds = int64(d.NominalDays()), int64(d.ExactSeconds())
	return nil
}

// whole makes an all-day shape last whole days: at least one, unless it is a
// task, whose DUE may be the day on which it starts. DTEND on the day of DTSTART
// is what several clients write for one day.
func (s *shape) whole() {
	if !s.start.allDay {
		return
	}
	s.days += (s.seconds + secondsPerDay - 1) / secondsPerDay
	s.seconds = 0
	if s.component.Name() != "VTODO" {
		s.days = max(s.days, 1)
	}
}

// end is where an instance with another start ends. Days are counted from what the clock shows there, which is not what was
// written where the clocks skip that.
func (s *shape) end(start point) point {
	end := start
	if s.days != 0 {
		if !start.allDay {
			start = start.instant(start.unix)
		}
		end = start.at(start.wall + s.days*secondsPerDay)
	}
	if s.seconds != 0 {
		end = end.after(s.seconds)
	}
	return end
}

// longest is a bound of how long an instance can last.
func (s *shape) longest() int64 {
	longest := s.seconds
	if s.days != 0 {
		longest += s.days*secondsPerDay + slack
	}
	return longest
}

// slack is more than clocks can be changed by.
const slack = 26 * 3600

// moved maps the occurrences of a series to those of an override that holds for
// the future too: the same distance on the override's own wall clock.
type moved struct {
	shape
	zone  *zone.Zone
	from  point // the RECURRENCE-ID
	delta int64 // on the wall clock
	shift int64 // the same as a time, about
}

func newMoved(s shape, id point) moved {
	m := moved{shape: s, zone: s.start.zone, from: id}
	m.delta = s.start.wall - m.wall(id)
	m.shift = s.start.unix - id.unix
	return m
}

// wall is what the override's clock shows at a point of the series. Days and
// floating times have no instant, so that their own clock is taken.
func (m *moved) wall(p point) int64 {
	if p.allDay || p.floating {
		return p.wall
	}
	return m.zone.Wall(p.unix)
}

func (m *moved) start(p point) point {
	wall := m.wall(p) + m.delta
	if m.shape.start.allDay {
		wall = startOfDay(wall)
	}
	return m.shape.start.at(wall)
}
