package schedule

import (
	"strconv"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// guestsMost is how many attendees a mail names. Beyond that, each recipient's mail names them alone: otherwise 400
// guests get 400 names each, and the outbox 160,000. RFC 5546 §3.2.2 asks for at least one attendee, and answers
// are matched by their sender.
const guestsMost = 50

// Crowded reports whether a message has an event with more attendees than a mail names.
func Crowded(d *ical.Document) bool {
	root, err := d.Calendar()
	if err != nil {
		return false
	}
	for c := range root.Components() {
		if len(c.All("ATTENDEE")) > guestsMost {
			return true
		}
	}
	return false
}

// Alone returns a message as a mail to one person: its events with many attendees name this person and the number of
// the others.
func Alone(d *ical.Document, to Address) *ical.Document {
	root, err := d.Calendar()
	if err != nil {
		return d
	}
	alone := ical.NewComponent(root.Name())
	for p := range root.Properties() {
		alone.Add(p.Clone())
	}
	for c := range root.Components() {
		if len(c.All("ATTENDEE")) <= guestsMost {
			alone.AddComponent(c.Clone())
			continue
		}
		alone.AddComponent(withOnly(c, to))
	}
	return ical.NewDocument(alone)
}

// withOnly returns an event with one of its attendees.
func withOnly(c *ical.Component, to Address) *ical.Component {
	one, others := ical.NewComponent(c.Name()), 0
	organizer := Address("")
	if p := c.Property("ORGANIZER"); p != nil {
		organizer = addressOf(p)
	}
	for p := range c.Properties() {
		if p.Name() == "ATTENDEE" && addressOf(p) != to {
			if addressOf(p) != organizer {
				others++
			}
			continue
		}
		one.Add(p.Clone())
	}
	for inner := range c.Components() {
		one.AddComponent(inner.Clone())
	}
	one.Set(ical.NewProperty(content.OtherGuests, strconv.Itoa(others)))
	return one
}
