// Package personal separates each user's private part of an object, reminders and TRANSP, from the shared part
// (caldav-sharing §5.5.4).
package personal

import (
	"bytes"
	"slices"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

const (
	alarm        = "VALARM"
	transparency = "TRANSP"
	instance     = "RECURRENCE-ID"
)

// Has reports whether an object contains a private part.
func Has(o *content.Object) bool {
	return slices.ContainsFunc(o.Components(), func(c *ical.Component) bool {
		return c.Property(transparency) != nil || len(c.AllComponents(alarm)) > 0
	})
}

// Take removes the private part from an object and returns it; nil if there is none. All other lines keep their
// bytes.
func Take(o *content.Object) []byte {
	if !Has(o) {
		return nil
	}
	part := ical.NewComponent("VCALENDAR")
	for _, c := range o.Components() {
		// A component without a private part is included too: it does not have the series' alarms.
		own := ical.NewComponent(c.Name())
		if id := c.Property(instance); id != nil {
			own.Add(id.Clone())
		}
		for _, p := range c.All(transparency) {
			c.RemoveProperty(p)
			own.Add(p)
		}
		for _, a := range c.AllComponents(alarm) {
			c.RemoveComponent(a)
			own.AddComponent(a)
		}
		part.AddComponent(own)
	}
	return ical.NewDocument(part).Bytes()
}

// Give adds a private part from [Take] to an object without one. The object may have changed since. An instance
// without its own private part gets the series' part.
func Give(o *content.Object, part []byte) error {
	if len(part) == 0 {
		return nil
	}
	doc, err := ical.Parse(part, ical.Limits{})
	if err != nil {
		return err
	}
	root, err := doc.Calendar()
	if err != nil {
		return err
	}
	own := map[string]*ical.Component{}
	for c := range root.Components() {
		own[named(c)] = c
	}
	for _, c := range o.Components() {
		from, known := own[named(c)]
		if !known {
			from, known = own[""]
		}
		if known {
			give(c, from)
		}
	}
	return nil
}

func give(to, from *ical.Component) {
	for _, p := range from.All(transparency) {
		to.Add(p.Clone())
	}
	for _, a := range from.AllComponents(alarm) {
		to.AddComponent(a.Clone())
	}
}

// named returns a key for an instance of a series; "" for the series itself.
func named(c *ical.Component) string {
	id := c.Property(instance)
	if id == nil {
		return ""
	}
	zone, _ := id.Param("TZID")
	return id.Value() + " " + zone
}

// Exchange replaces the private part in a text, and also returns the part that it replaced.
func Exchange(data, part []byte) (text, taken []byte, err error) {
	o, err := content.Read(data, ical.Limits{})
	if err != nil {
		return nil, nil, err
	}
	taken = Take(o)
	if taken == nil && len(part) == 0 {
		return data, nil, nil
	}
	if err := Give(o, part); err != nil {
		return nil, nil, err
	}
	return o.Document.Bytes(), taken, nil
}

// stamps are the properties that programs update with every write.
var stamps = []string{"DTSTAMP", "LAST-MODIFIED"}

// SameShared reports whether two texts without private parts are equal, apart from their stamps.
func SameShared(a, b []byte) bool {
	return bytes.Equal(a, b) || bytes.Equal(unstamped(a), unstamped(b))
}

func unstamped(data []byte) []byte {
	o, err := content.Read(data, ical.Limits{})
	if err != nil {
		return data
	}
	for _, c := range o.Components() {
		for _, name := range stamps {
			c.Remove(name)
		}
	}
	return o.Document.Bytes()
}
