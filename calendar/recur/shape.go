package recur

import (
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// shape is the start of a component and its duration.
type shape struct {
	component *ical.Component
	start     point
	days      int64 // nominal: a day later is the same time on the wall clock
	seconds   int64 // exact
	dated     bool  // whether there is any time at all
}

// readShape reads DTSTART with DTEND, DUE or DURATION. RFC 5545 §3.6.1: without an end, a DATE lasts one day and a
// DATE-TIME has no duration.
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
		// RFC 5545 §3.6.2: a task may have only a DUE, or no time at all.
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

// until computes the duration from an end. An end before the start, which only an import can contain, counts as no
// duration.
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
	s.days, s.seconds = int64(d.NominalDays()), d.ExactSeconds()
	return nil
}

// whole makes an all-day shape last whole days. An event lasts at least one: several clients write DTEND on the day of
// DTSTART for one day. A task may be due on the day it starts.
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

// end returns the end of an instance with another start. Days are counted from the time that the clock shows. That
// differs from the written time if the clocks skip it.
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

// longest returns an upper bound of an instance's duration.
func (s *shape) longest() int64 {
	longest := s.seconds
	if s.days != 0 {
		longest += s.days*secondsPerDay + slack
	}
	return longest
}

// slack exceeds any change of the clocks.
const slack = 26 * 3600

// moved maps the occurrences of a series to a THISANDFUTURE override: they keep their distance on the override's own
// wall clock.
type moved struct {
	shape
	zone  *zone.Zone
	from  point // the RECURRENCE-ID
	delta int64 // on the wall clock
	shift int64 // the same in elapsed time, approximately
}

func newMoved(s shape, id point) moved {
	m := moved{shape: s, zone: s.start.zone, from: id}
	m.delta = s.start.wall - m.wall(id)
	m.shift = s.start.unix - id.unix
	return m
}

// wall returns the time on the override's clock at a point of the series. Days and floating times have no instant, so
// their own clock is used.
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
