package content

import (
	"iter"
	"slices"
	"time"

	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

const (
	// zonesAdded limits the VTIMEZONEs that are added to one text. Names are compared as written, so a hostile text
	// can contain one name in a thousand spellings.
	zonesAdded = 64
	// zoneWork and zoneSize are the cost of a VTIMEZONE: its work, as the bytes that could be compared in the same
	// time (a quarter of a millisecond), and its usual maximum size.
	zoneWork, zoneSize = 64 << 10, 1 << 10
)

// Undefined returns the TZIDs in components that their VCALENDAR does not define, without duplicates, in the order
// of the text.
func Undefined(root *ical.Component, components ...*ical.Component) []string {
	known := map[string]bool{}
	for _, z := range root.AllComponents(timezone) {
		if p := z.Property("TZID"); p != nil {
			known[p.Value()], known[p.Text()] = true, true
		}
	}
	var all []string
	for _, c := range components {
		for id := range zoneNames(c) {
			if !known[id] {
				known[id] = true
				all = append(all, id)
			}
		}
	}
	return all
}

// zoneNames yields the TZIDs in a component, except in a VTIMEZONE.
func zoneNames(c *ical.Component) iter.Seq[string] {
	return func(yield func(string) bool) { eachZone(c, yield) }
}

func eachZone(c *ical.Component, yield func(string) bool) bool {
	if c.Name() == timezone {
		return true
	}
	for p := range c.Properties() {
		if id, given := p.Param("TZID"); given && !yield(id) {
			return false
		}
	}
	for sub := range c.Components() {
		if !eachZone(sub, yield) {
			return false
		}
	}
	return true
}

// NamesZone reports whether a component has times in the zone that a VTIMEZONE defines.
func NamesZone(c, definition *ical.Component) bool {
	p := definition.Property("TZID")
	if p == nil {
		return false
	}
	for id := range zoneNames(c) {
		if id == p.Value() || id == p.Text() {
			return true
		}
	}
	return false
}

// DefineZones adds the missing VTIMEZONEs to a VCALENDAR, before its other components. RFC 5545 §3.2.19 requires
// one for every TZID. Clients may store events without them. But a text that leaves the server must be complete,
// because Outlook does not know the IANA names. A name that the zone database does not know stays undefined.
func DefineZones(root *ical.Component, zones *zone.DB, m *meter.Meter) error {
	ids := Undefined(root, slices.Collect(root.Components())...)
	if len(ids) == 0 {
		return nil
	}
	if err := WeighZones(len(ids), 1, m); err != nil {
		return err
	}
	from, to := years(root)
	before := FirstOf(root)
	for _, id := range ids[:min(len(ids), zonesAdded)] {
		if c := ZoneNamed(id, zones, from, to); c != nil {
			root.InsertComponent(c, before)
		}
	}
	return nil
}

// WeighZones charges the meter for the VTIMEZONEs of some TZIDs before they are generated, in the text for a number
// of people.
func WeighZones(ids, people int, m *meter.Meter) error {
	n := min(ids, zonesAdded)
	if n == 0 {
		return nil
	}
	if err := m.Text(n * zoneWork); err != nil {
		return err
	}
	return m.Write(int64(n) * zoneSize * int64(people))
}

// ZoneNamed returns a VTIMEZONE for the time between two instants, or without end if the second is zero. It keeps
// the name in the text, which may be a Windows name. It is nil if no zone has that name.
func ZoneNamed(id string, zones *zone.DB, from, to time.Time) *ical.Component {
	z, err := zones.Lookup(id)
	if err != nil {
		return nil
	}
	c := zone.Component(z, from, to)
	c.SetText("TZID", id)
	return c
}

// FirstOf returns the component that VTIMEZONEs must precede, because some clients read from the top; nil means the
// end.
func FirstOf(root *ical.Component) *ical.Component {
	for c := range root.Components() {
		if c.Name() != timezone {
			return c
		}
	}
	return nil
}

// years returns the start of the first and the end of the last year in the times of a VCALENDAR. The end is zero if
// a component recurs.
func years(root *ical.Component) (from, to time.Time) {
	first, last, recurs := 9999, 1, false
	for c := range root.Components() {
		if c.Name() == timezone {
			continue
		}
		recurs = recurs || c.Property("RRULE") != nil || c.Property("RDATE") != nil
		for p := range c.Properties() {
			_, given := p.Param("TZID")
			if !given && p.Name() != "DTSTART" && p.Name() != "RECURRENCE-ID" {
				continue
			}
			if t, err := p.Time(); err == nil {
				first, last = min(first, t.Civil.Year), max(last, t.Civil.Year)
			}
		}
	}
	from = time.Date(min(first, last), time.January, 1, 0, 0, 0, 0, time.UTC)
	if !recurs {
		to = time.Date(last, time.December, 31, 0, 0, 0, 0, time.UTC)
	}
	return from, to
}

// EndZone returns the TZID of an event's end, or "UTC", if it differs from the start's; else "".
func EndZone(c *ical.Component) string {
	if c == nil || c.Property("DTSTART") == nil || c.Property("DTEND") == nil {
		return ""
	}
	start, err1 := c.Property("DTSTART").Time()
	end, err2 := c.Property("DTEND").Time()
	switch {
	case err1 != nil || err2 != nil || end.Form == start.Form && end.TZID == start.TZID:
		return ""
	case end.Form == ical.FormUTC:
		return time.UTC.String()
	}
	return end.TZID
}
