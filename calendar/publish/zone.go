package publish

import (
	"slices"
	"strings"

	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// plainZones reduces the zones of an object to their offsets and transitions. It hides zone names that not every
// program knows: a custom zone may be named after the event's place.
func plainZones(root *ical.Component, zones *zone.DB, hide func(string) string) {
	resolver := zones.FromDocument(root)
	named := func(tzid string) string {
		if z, err := resolver.Zone(tzid); err == nil {
			if known, err := zones.Lookup(z.Name()); err == nil && known.Name() == z.Name() {
				return z.Name()
			}
		}
		return "Zone-" + hide(strings.Trim(tzid, " \t\"'"))
	}
	names := make(map[string]string)
	for _, c := range slices.Collect(root.Components()) {
		for p := range c.Properties() {
			if tzid, given := p.Param("TZID"); given {
				names[tzid] = named(tzid)
			}
		}
	}
	for _, c := range slices.Collect(root.Components()) {
		if c.Name() == "VTIMEZONE" {
			plainZone(root, c, named)
			continue
		}
		for p := range c.Properties() {
			if tzid, given := p.Param("TZID"); given {
				p.SetParam("TZID", names[tzid])
			}
		}
	}
}

// plainZone reduces a VTIMEZONE to its offsets. It removes one without a TZID, which no property can use.
func plainZone(root, c *ical.Component, named func(string) string) {
	id := c.Property("TZID")
	if id == nil {
		root.RemoveComponent(c)
		return
	}
	name := named(id.Value())
	reduce(c)
	c.Add(ical.NewText("TZID", name))
	for _, observance := range slices.Collect(c.Components()) {
		if observance.Name() != "STANDARD" && observance.Name() != "DAYLIGHT" {
			c.RemoveComponent(observance)
			continue
		}
		reduce(observance, "DTSTART", "TZOFFSETFROM", "TZOFFSETTO", "RRULE", "RDATE")
	}
}
