package vevent

import (
	"time"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// Clock resolves the times of one object.
type Clock struct {
	resolver *zone.Resolver
	names    *zone.DB
}

// NewClock returns a clock for times outside an object.
func NewClock(zones *zone.DB) Clock { return Clock{resolver: zones.FromDocument(nil), names: zones} }

// stamp is the time format in instance keys.
const stamp = "20060102T150405Z"

// Key returns the key of the instance that begins at a time: the date, or the instant in UTC.
func (k Clock) Key(t ical.Time) (string, error) {
	if t.IsDate() {
		return t.String(), nil
	}
	at, err := k.Instant(t)
	if err != nil {
		return "", err
	}
	return at.UTC().Format(stamp), nil
}

// LeavesOut reports whether a component excludes the instance of a key.
func (k Clock) LeavesOut(c *ical.Component, key string) bool {
	for _, p := range c.All("EXDATE") {
		times, err := p.Times()
		if err != nil {
			continue
		}
		for _, t := range times {
			if found, err := k.Key(t); err == nil && found == key {
				return true
			}
		}
	}
	return false
}

// Instant returns the instant of a time that is not a date.
func (k Clock) Instant(t ical.Time) (time.Time, error) {
	z, err := k.Zone(t)
	if err != nil {
		return time.Time{}, err
	}
	at, _ := z.Resolve(t.Civil)
	return at, nil
}

// Zone returns the IANA zone of a time.
func (k Clock) Zone(t ical.Time) (*zone.Zone, error) {
	switch t.Form {
	case ical.FormUTC:
		return zone.UTC(), nil
	case ical.FormZoned:
		return k.named(t.TZID)
	case ical.FormDate, ical.FormFloating:
	}
	return nil,
		mirror.Refusef("The event has a time without a zone, which cannot be kept there. Give its times a zone.")
}

func (k Clock) named(name string) (*zone.Zone, error) {
	z, err := k.resolver.Zone(name)
	if err != nil {
		return nil, mirror.Refusef("The time zone %q is not known there.", name)
	}
	if _, known := k.names.Lookup(z.Name()); known != nil || z.Bare() {
		return nil, mirror.Refusef("The time zone %q has no name that is known there. Use one such as Europe/Berlin.",
			name)
	}
	return z, nil
}

// In returns an instant as a wall-clock time in a zone. If that time occurs twice there, the second one is returned in
// UTC, the only form that iCalendar has for it.
func In(at time.Time, z *zone.Zone) ical.Time {
	if z.Name() == "UTC" {
		return ical.Instant(at)
	}
	shown := z.Civil(at)
	if back, _ := z.Resolve(shown); !back.Equal(at) {
		return ical.Instant(at)
	}
	return ical.Zoned(shown, z.Name())
}

// Ends returns the end of a component: its DTEND, its start plus DURATION, or for a date the end of the day.
func Ends(c *ical.Component, start ical.Time) (ical.Time, error) {
	if p := c.Property("DTEND"); p != nil {
		return p.Time()
	}
	if p := c.Property("DURATION"); p != nil {
		d, err := p.Duration()
		if err != nil {
			return ical.Time{}, err
		}
		return after(start, d)
	}
	if start.IsDate() {
		start.Civil = start.Civil.AddDays(1)
	}
	return start, nil
}

func after(start ical.Time, d ical.Duration) (ical.Time, error) {
	if start.IsDate() && d.ExactSeconds() != 0 {
		return ical.Time{}, Mixed()
	}
	start.Civil = start.Civil.AddDays(d.NominalDays()).AddSeconds(d.ExactSeconds())
	return start, nil
}
