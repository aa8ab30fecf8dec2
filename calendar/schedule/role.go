package schedule

import (
	"slices"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// Self reports whether an address belongs to the calendar's owner.
type Self func(Address) bool

// Role is the role of a calendar's owner in an event (RFC 6638 §3.1).
type Role uint8

// The roles. A Bystander sends no messages.
const (
	Bystander Role = iota
	Organizer
	Attendee
)

// scheduled reports whether people can be invited to an object.
func scheduled(o *content.Object) bool {
	return o != nil && (o.Kind == content.Event || o.Kind == content.Todo)
}

// RoleIn returns a person's role in an object.
func RoleIn(o *content.Object, is Self) Role {
	org := organizer(o)
	switch {
	case org == nil:
		return Bystander
	case is(addressOf(org)):
		return Organizer
	case slices.ContainsFunc(Attendees(o), is):
		return Attendee
	}
	return Bystander
}

// organizer returns an object's ORGANIZER, or nil. An override without one has the organizer of the series.
func organizer(o *content.Object) *ical.Property {
	if !scheduled(o) {
		return nil
	}
	for _, c := range o.Components() {
		if p := c.Property("ORGANIZER"); p != nil {
			return p
		}
	}
	return nil
}

// OrganizerOf returns the organizer's address, or "".
func OrganizerOf(o *content.Object) Address {
	if p := organizer(o); p != nil {
		return addressOf(p)
	}
	return ""
}

// Attendees returns the addresses of all attendees of an object, each once, in the order of the text.
func Attendees(o *content.Object) []Address {
	if !scheduled(o) {
		return nil
	}
	var all []Address
	known := map[Address]bool{}
	for _, c := range o.Components() {
		for _, p := range c.All("ATTENDEE") {
			if a := addressOf(p); !known[a] {
				known[a] = true
				all = append(all, a)
			}
		}
	}
	return all
}

// Parties returns the addresses of the organizer and all attendees, the organizer first.
func Parties(o *content.Object) []Address {
	all := Attendees(o)
	if org := OrganizerOf(o); org != "" && !slices.Contains(all, org) {
		all = append([]Address{org}, all...)
	}
	return all
}

// attendee returns an attendee's line in a component, or nil.
func attendee(c *ical.Component, is Self) *ical.Property {
	if c == nil {
		return nil
	}
	for _, p := range c.All("ATTENDEE") {
		if is(addressOf(p)) {
			return p
		}
	}
	return nil
}

// only returns a Self for one address.
func only(a Address) Self { return func(b Address) bool { return a == b } }
