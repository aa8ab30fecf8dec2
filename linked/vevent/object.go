package vevent

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// Limits bound a converted text: the size of one person's event.
func Limits() ical.Limits { return ical.DefaultLimits() }

// Write puts the components of one event into an object, with the VTIMEZONEs of their zones.
func Write(zones *zone.DB, components ...*ical.Component) []byte {
	root := content.Root()
	for _, name := range zonesOf(components) {
		if z, err := zones.Lookup(name); err == nil {
			from, to := reach(z, components)
			root.AddComponent(zone.Component(z, from, to))
		}
	}
	for _, c := range components {
		root.AddComponent(c)
	}
	return ical.NewDocument(root).Bytes()
}

// Read returns the event of an object. Its zones are those defined in the object, or the well-known ones with their
// names.
func Read(data []byte, zones *zone.DB) (*content.Object, Clock, error) {
	object, err := content.Read(data, Limits())
	if err != nil {
		return nil, Clock{}, err
	}
	if object.Kind != content.Event {
		return nil, Clock{},
			mirror.Refusef("That calendar has only events, and this is a %s. Store it in a calendar of this server.",
				object.Kind)
	}
	for _, c := range object.Overrides {
		if of, ranged := c.Property("RECURRENCE-ID").Param("RANGE"); ranged && of != "" {
			return nil, Clock{},
				mirror.Refusef("\"This and all following\" cannot be kept there. End the series and begin another one.")
		}
	}
	return object, Clock{resolver: zones.FromDocument(object.Calendar), names: zones}, nil
}

// zonesOf lists the zones of components, each once.
func zonesOf(components []*ical.Component) (names []string) {
	for _, c := range components {
		for p := range c.Properties() {
			if name, given := p.Param("TZID"); given && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// reach returns the period that a VTIMEZONE must cover. It starts with the first start, and has an end only without
// recurrence.
func reach(z *zone.Zone, components []*ical.Component) (from, to time.Time) {
	for _, c := range components {
		for _, name := range []string{"DTSTART", "DTEND", "RECURRENCE-ID"} {
			p := c.Property(name)
			if p == nil {
				continue
			}
			t, err := p.Time()
			if err != nil {
				continue
			}
			at, _ := z.Resolve(t.Civil)
			if from.IsZero() || at.Before(from) {
				from = at
			}
			if at.After(to) {
				to = at
			}
		}
	}
	for _, c := range components {
		if c.Property("RRULE") != nil || c.Property("RDATE") != nil {
			return from, time.Time{}
		}
	}
	return from, to
}

// Inner returns the content between a component's BEGIN and END, with unfolded lines. Lines is its reverse.
func Inner(c *ical.Component) string {
	var lines []string
	for p := range c.Properties() {
		lines = append(lines, p.String())
	}
	for sub := range c.Components() {
		lines = append(lines, "BEGIN:"+sub.Name(), Inner(sub), "END:"+sub.Name())
	}
	return strings.Join(lines, "\n")
}

// Lines parses content lines as the properties and alarms of an event. The input is untrusted: an invalid line is an
// error.
func Lines(text string) (*ical.Component, error) {
	var b bytes.Buffer
	b.WriteString("BEGIN:VEVENT\r\n")
	b.WriteString(text)
	b.WriteString("\r\nEND:VEVENT\r\n")
	doc, err := ical.Parse(b.Bytes(), Limits())
	if err != nil {
		return nil, err
	}
	for c := range doc.Components() {
		return c, nil
	}
	return nil, mirror.Refusef("Some stored properties of the event cannot be read.")
}
