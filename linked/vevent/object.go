package vevent

import (
	"bytes"
	"slices"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// Limits bound a text that is mapped: what one person's event can be, not what a calendar program can write.
func Limits() ical.Limits { return ical.DefaultLimits() }

// Write puts the components of one event into an object, with the zones that they name.
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

// Read finds the event in an object. Its zones are those that the object says, or that their names mean.
func Read(data []byte, zones *zone.DB) (*content.Object, Clock, error) {
	object, err := content.Read(data, Limits())
	if err != nil {
		return nil, Clock{}, err
	}
	if object.Kind != content.Event {
		return nil, Clock{}, mirror.Refusef("A calendar there holds events alone, and this is a %s. Keep it in a calendar of this server.", object.Kind)
	}
	for _, c := range object.Overrides {
		if of, ranged := c.Property("RECURRENCE-ID").Param("RANGE"); ranged && of != "" {
			return nil, Clock{}, mirror.Refusef("A change of \"this and all following\" instances cannot be said there: end the series and begin another one.")
		}
	}
	return object, Clock{resolver: zones.FromDocument(object.Calendar), names: zones}, nil
}

// zonesOf lists the zones that components name, each once.
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

// reach is the time for which a zone must be said: from the first start, with an end only where nothing recurs.
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

// Lines reads content lines as the properties and alarms of an event. They come from elsewhere: what is no such line is an
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
	return nil, mirror.Refusef("These are no lines of an event.")
}
