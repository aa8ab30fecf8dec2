package schedule

import (
	"slices"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// Self tells whether an address is one of those of the person whose calendar it is.
type Self func(Address) bool

// Role is what the owner of a calendar is to an event in it (RFC 6638 §3.1).
type Role uint8

// The roles. A Bystander has nothing to tell anybody.
const (
	Bystander Role = iota
	Organizer
	Attendee
)

// scheduled are the components that people are invited to.
func scheduled(o *content.Object) bool {
	return o != nil && (o.Kind == content.Event || o.Kind == content.Todo)
}

// RoleIn is what somebody is to an object. Nobody is told of what says that somebody else sees to that.
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

// organizer is the ORGANIZER of an object; nil where it has none. An override that has none is of that of the series.
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

// OrganizerOf is the address of the organizer; "" where there is none.
func OrganizerOf(o *content.Object) Address {
	if p := organizer(o); p != nil {
		return addressOf(p)
	}
	return ""
}

// Attendees are the addresses of all who take part in something of an object, each once, in the order of the text.
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

// Parties are all whom an object names: the organizer first.
func Parties(o *content.Object) []Address {
	all := Attendees(o)
	if org := OrganizerOf(o); org != "" && !slices.Contains(all, org) {
		all = append([]Address{org}, all...)
	}
	return all
}

// attendee is the line of an attendee in a component; nil where they are not in it.
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

// only is the Self of one address.
func only(a Address) Self { return func(b Address) bool { return a == b } }
