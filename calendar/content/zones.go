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
	// zonesAdded bounds the VTIMEZONEs that are added to one text. Names are compared as they are written, so a hostile
	// text can have one name in a thousand spellings.
	zonesAdded = 64
	// zoneWork and zoneSize are what a VTIMEZONE costs: the bytes that could be compared in that time (a quarter of a
	// millisecond), and how long it usually is at most.
	zoneWork, zoneSize = 64 << 10, 1 << 10
)

// Undefined returns the TZIDs that components name and for which their VCALENDAR has no VTIMEZONE, each once, in the
// order of the text.
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

// zoneNames yields the TZIDs in a component that is no VTIMEZONE.
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

// DefineZones adds the VTIMEZONEs that a VCALENDAR lacks, before its other components: RFC 5545 §3.2.19 wants one for
// every TZID. Clients may store events without, but a text that leaves the server must explain itself: Outlook does not
// know the names of IANA. A name that the database of zones does not know stays undefined.
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

// WeighZones counts the VTIMEZONEs for a number of TZIDs before they are made, in the text that so many people get.
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

// ZoneNamed returns a VTIMEZONE for the time from one instant to another, or without end if the second is zero. It keeps
// the name that a text uses, which may be a Windows name. It is nil if no zone has that name.
func ZoneNamed(id string, zones *zone.DB, from, to time.Time) *ical.Component {
	z, err := zones.Lookup(id)
	if err != nil {
		return nil
	}
	c := zone.Component(z, from, to)
	c.SetText("TZID", id)
	return c
}

// FirstOf returns the component that a VTIMEZONE must precede, because some clients read from the top; nil for the end.
func FirstOf(root *ical.Component) *ical.Component {
	for c := range root.Components() {
		if c.Name() != timezone {
			return c
		}
	}
	return nil
}

// years returns the beginning of the first and the end of the last year that the times of a VCALENDAR name. The end is
// zero if something in it recurs.
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
