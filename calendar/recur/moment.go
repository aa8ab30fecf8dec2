package recur

import (
	"fmt"
	"time"

	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

const secondsPerDay = 24 * 3600

// Moment is the start, the end or the recurrence id of an instance. Its Time keeps the zone of the object.
type Moment struct {
	Time     time.Time
	AllDay   bool // Time is the beginning of a day in the reader's zone
	Floating bool // Time was read in the reader's zone
}

// Civil returns the date, or the wall-clock time, as written in the object.
func (m Moment) Civil() ical.Civil {
	c := zone.In(m.Time.Location()).Civil(m.Time)
	if m.AllDay {
		return c.Date()
	}
	return c
}

// Repeated reports whether the clock had already shown the same time once and was then set back. Written without an
// offset, the moment would be read as the earlier one.
func (m Moment) Repeated() bool {
	first, _ := zone.In(m.Time.Location()).Resolve(m.Civil())
	return !first.Equal(m.Time)
}

// point is a moment in a form for arithmetic.
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

// day returns the beginning of the wall-clock day.
func (p point) day() int64 { return startOfDay(p.wall) }

// at returns another point on the same wall clock.
func (p point) at(wall int64) point {
	p.wall = wall
	p.unix, _ = p.zone.Unix(wall)
	return p
}

// after returns the point this many elapsed seconds later, regardless of clock changes.
func (p point) after(seconds int64) point {
	p.unix += seconds
	p.wall = p.zone.Wall(p.unix)
	return p
}

// instant returns the point in the same zone at another instant.
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

// Zones resolves a TZID to its zone; [zone.Resolver] implements it.
type Zones interface {
	Zone(tzid string) (*zone.Zone, error)
}

// reader converts written times to points.
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

// property reads the first property with a name. It returns false if there is none.
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

// dayOf returns the day that a time means where a day is expected: UNTIL, EXDATE and RECURRENCE-ID of a series of whole
// days. Exchange writes local midnight in UTC; other clients write the date with an arbitrary time.
func dayOf(t ical.Time, z *zone.Zone) int64 {
	wall := t.Civil.Seconds()
	if t.Form == ical.FormUTC {
		if local := z.Wall(wall); local == startOfDay(local) {
			return local
		}
	}
	return startOfDay(wall)
}
