package content

import (
	"math"
	"time"

	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// Clock converts the times of one object to seconds since 1970. Floating times and dates are in the zone Floating.
type Clock struct {
	Zones    *zone.Resolver
	Floating *zone.Zone
}

// Clock returns the clock of an object; a nil zone means UTC.
func (o *Object) Clock(zones *zone.DB, floating *zone.Zone) Clock {
	if floating == nil {
		floating = zone.UTC()
	}
	return Clock{zones.FromDocument(o.Calendar), floating}
}

// At returns the instant of a time, or the midnight of a date. An error is a [*zone.UnknownError] or a fault in the
// VTIMEZONE.
func (k Clock) At(t ical.Time) (int64, error) {
	z, err := k.zone(t)
	if err != nil {
		return 0, err
	}
	at, _ := z.Unix(t.Civil.Seconds())
	return at, nil
}

func (k Clock) zone(t ical.Time) (*zone.Zone, error) {
	switch t.Form {
	case ical.FormUTC:
		return zone.UTC(), nil
	case ical.FormZoned:
		return k.Zones.Zone(t.TZID)
	case ical.FormDate, ical.FormFloating:
	}
	return k.Floating, nil
}

// Time returns the instant of a property with one time; ok is false if the property is missing.
func (k Clock) Time(c *ical.Component, name string) (at int64, ok bool, err error) {
	p := c.Property(name)
	if p == nil {
		return 0, false, nil
	}
	t, err := p.Time()
	if err != nil {
		return 0, false, err
	}
	at, err = k.At(t)
	return at, err == nil, err
}

// Begin returns the start of a component: its DTSTART or, in a task without one, its DUE.
func (k Clock) Begin(c *ical.Component) (at int64, ok bool, err error) {
	if c.Property("DTSTART") == nil && c.Name() == Todo {
		return k.Time(c, "DUE")
	}
	return k.Time(c, "DTSTART")
}

// Extent returns the instant of a time, or the start and the end of a date.
func (k Clock) Extent(t ical.Time) (start, end int64, err error) {
	start, err = k.At(t)
	if err != nil || !t.IsDate() {
		return start, start, err
	}
	end, err = k.At(ical.Date(t.Civil.AddDays(1)))
	return start, end, err
}

// Period returns the start and the end of a period.
func (k Clock) Period(p ical.Period) (start, end int64, err error) {
	if start, err = k.At(p.Start); err != nil {
		return 0, 0, err
	}
	if p.HasEnd() {
		end, err = k.At(p.End)
		return start, end, err
	}
	end, err = k.after(p.Start, p.Duration)
	return start, end, err
}

// after adds a duration: days in wall-clock time, the rest exactly (RFC 5545 §3.3.6).
func (k Clock) after(t ical.Time, d ical.Duration) (int64, error) {
	t.Civil = t.Civil.AddDays(d.NominalDays())
	at, err := k.At(t)
	return at + d.ExactSeconds(), err
}

// The values for a missing start or end.
const (
	Beginning = math.MinInt64
	Forever   = math.MaxInt64
)

// Bounds returns the time from DTSTART to DTEND or for the DURATION. A missing property means no start or no end
// (RFC 7953 §3.1, for VAVAILABILITY).
func (k Clock) Bounds(c *ical.Component) (start, end int64, err error) {
	start, end = Beginning, Forever
	if at, ok, err := k.Time(c, "DTEND"); err != nil {
		return 0, 0, err
	} else if ok {
		end = at
	}
	p := c.Property("DTSTART")
	if p == nil {
		return start, end, nil
	}
	from, err := p.Time()
	if err != nil {
		return 0, 0, err
	}
	if lasting := c.Property("DURATION"); lasting != nil {
		d, err := lasting.Duration()
		if err != nil {
			return 0, 0, err
		}
		if end, err = k.after(from, d); err != nil {
			return 0, 0, err
		}
	}
	start, err = k.At(from)
	return start, end, err
}

// Later adds a duration to an instant, with its days in the wall-clock time of t's location.
func Later(t time.Time, d ical.Duration) time.Time {
	if days := d.NominalDays(); days != 0 {
		z := zone.In(t.Location())
		t, _ = z.Resolve(z.Civil(t).AddDays(days))
	}
	return t.Add(time.Duration(d.ExactSeconds()) * time.Second)
}
