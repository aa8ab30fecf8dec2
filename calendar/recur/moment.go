package recur

import (
	"fmt"
	"time"

	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

const secondsPerDay = 24 * 3600

// Moment is the start, the end or the recurrence id of an instance. Its Time is
// in the zone in which it was written.
type Moment struct {
	Time     time.Time
	AllDay   bool // the Time is the beginning of a day in the reader's zone
	Floating bool // the Time was read in the reader's zone
}

// Civil is what was written, or would be: the date or the wall-clock time.
func (m Moment) Civil() ical.Civil {
	c := zone.In(m.Time.Location()).Civil(m.Time)
	if m.AllDay {
		return c.Date()
	}
	return c
}

// Repeated tells whether the clock had shown the same time once before, when it was put back: written without an offset,
// the moment would be read as that one.
func (m Moment) Repeated() bool {
	first, _ := zone.In(m.Time.Location()).Resolve(m.Civil())
	return !first.Equal(m.Time)
}

// point is a moment that one can count with.
type point struct {
	unix     int64
	wall     int64
	zone     *zone.Zone
	allDay   bool
	floating bool
}

func (p point) moment() Moment {
	return Moment{Time: time.Unix(p.unix, 0).In(p.zone.Location()), AllDay: p.allDay, Floating: p.floating}
}

// day is the beginning of the wall-clock day.
func (p point) day() int64 { return startOfDay(p.wall) }

// at is another point on the same wall clock.
func (p point) at(wall int64) point {
	p.wall = wall
	p.unix, _ = p.zone.Unix(wall)
	return p
}

// after is so many seconds later, however the clocks change.
func (p point) after(seconds int64) point {
	p.unix += seconds
	p.wall = p.zone.Wall(p.unix)
	return p
}

// instant is the point in the same zone at another instant.
func (p point) instant(unix int64) point {
	p.unix = unix
	p.wall = p.zone.Wall(unix)
	return p
}

func startOfDay(wall int64) int64 {
	day := wall / secondsPerDay
	if wall%secondsPerDay < 0 {
		day--
	}
	return day * secondsPerDay
}

// Zones finds the zone that a TZID names; [zone.Resolver] is one.
type Zones interface {
	Zone(tzid string) (*zone.Zone, error)
}

// reader turns written times into points.
type reader struct {
	zones    Zones
	floating *zone.Zone
}

func (r reader) point(t ical.Time) (point, error) {
	p := point{zone: r.floating}
	switch t.Form {
	case ical.FormDate:
		p.allDay = true
	case ical.FormUTC:
		p.zone = zone.UTC()
	case ical.FormZoned:
		z, err := r.zones.Zone(t.TZID)
		if err != nil {
			return point{}, err
		}
		p.zone = z
	default:
		p.floating = true
	}
	return p.at(t.Civil.Seconds()), nil
}

// property reads the first property of a name; false tells that it is missing.
func (r reader) property(c *ical.Component, name string) (point, bool, error) {
	property := c.Property(name)
	if property == nil {
		return point{}, false, nil
	}
	t, err := property.Time()
	if err != nil {
		return point{}, false, err
	}
	p, err := r.point(t)
	if err != nil {
		return point{}, false, fmt.Errorf("%s: %w", name, err)
	}
	return p, true, nil
}

// dayOf is the day that a time means where a day is asked for: UNTIL, EXDATE
// and RECURRENCE-ID of a series of whole days. Exchange writes the local
// midnight in UTC; other clients write the date with any time behind it.
func dayOf(t ical.Time, z *zone.Zone) int64 {
	wall := t.Civil.Seconds()
	if t.Form == ical.FormUTC {
		if local := z.Wall(wall); local == startOfDay(local) {
			return local
		}
	}
	return startOfDay(wall)
}
