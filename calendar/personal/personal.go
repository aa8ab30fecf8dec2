// Package personal tells apart what of an object is each user's own, reminders and whether it takes their time, from
// what all share of it (caldav-sharing §5.5.4).
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

// Has tells whether anything in an object is some user's own.
func Has(o *content.Object) bool {
	return slices.ContainsFunc(o.Components(), func(c *ical.Component) bool {
		return c.Property(transparency) != nil || len(c.AllComponents(alarm)) > 0
	})
}

// Take takes out of an object what is its writer's own, and returns it as a text of its own; nil where there is nothing. All other
// lines keep their bytes.
func Take(o *content.Object) []byte {
	if !Has(o) {
		return nil
	}
	part := ical.NewComponent("VCALENDAR")
	for _, c := range o.Components() {
		// One without anything is noted too: its alarms are not those of the series.
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

// Give puts into an object of which nothing is anybody's own what [Take] took out of it, or of what it was before. An
// instance that had no words of its own then gets those of the series.
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

// named tells the instances of a series apart; the series itself is "".
func named(c *ical.Component) string {
	id := c.Property(instance)
	if id == nil {
		return ""
	}
	zone, _ := id.Param("TZID")
	return id.Value() + " " + zone
}

// Exchange returns a text with a part in place of what is its writer's own, and that.
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

// stamps are what programs write anew whenever they write anything.
var stamps = []string{"DTSTAMP", "LAST-MODIFIED"}

// SameShared tells whether two texts of which nothing is anybody's own say the same, but for when they were written.
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
