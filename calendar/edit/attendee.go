package edit

import (
	"cmp"
	"slices"
	"strings"

	"caldav-mcp-server/ical"
)

// Attendee is an ATTENDEE or the ORGANIZER.
type Attendee struct {
	// Address is an email address or a URI.
	Address string
	Name    string
	// Role is the ROLE; empty means REQ-PARTICIPANT, the default of RFC 5545 §3.2.16.
	Role string
	// Status is the PARTSTAT; empty means NEEDS-ACTION.
	Status string
}

// AttendeesOf lists the attendees of a component.
func AttendeesOf(c *ical.Component) []Attendee {
	var list []Attendee
	for _, p := range c.All("ATTENDEE") {
		list = append(list, attendeeOf(p))
	}
	return list
}

// PeopleOf lists the attendees of a component, and its organizer if it has one.
func PeopleOf(c *ical.Component) []Attendee {
	list := AttendeesOf(c)
	if p := c.Property("ORGANIZER"); p != nil {
		list = append(list, attendeeOf(p))
	}
	return list
}

func attendeeOf(p *ical.Property) Attendee {
	a := Attendee{Address: strings.TrimSpace(p.Value())}
	if len(a.Address) > len(mailto) && strings.EqualFold(a.Address[:len(mailto)], mailto) {
		a.Address = a.Address[len(mailto):]
	}
	a.Name, _ = p.Param("CN")
	a.Role, _ = p.Param("ROLE")
	a.Status, _ = p.Param("PARTSTAT")
	return a
}

const mailto = "mailto:"

// uri returns the calendar address (RFC 5545 §3.3.3).
func (a Attendee) uri() (string, error) {
	address := strings.TrimSpace(a.Address)
	if strings.ContainsAny(address, " \t\r\n\"<>") {
		return "", fault(BadField, "%.100q is no address of an attendee", a.Address).
			hint("give an e-mail address alone")
	}
	scheme, _, isURI := strings.Cut(address, ":")
	local, domain, isMail := strings.Cut(address, "@")
	switch {
	case isURI && scheme != "" && !strings.Contains(scheme, "@"):
		return address, nil
	case isMail && local != "" && domain != "":
		return mailto + address, nil
	default:
		return "", fault(BadField, "%.100q is no address of an attendee", a.Address).hint("give an e-mail address")
	}
}

// key normalizes an address for comparison.
func key(address string) string {
	return strings.ToLower(attendeeOf(ical.NewProperty("ATTENDEE", address)).Address)
}

// linesOf maps the keys of the attendees to their lines. If an attendee has two lines, the first one wins.
func linesOf(c *ical.Component) map[string]*ical.Property {
	lines := map[string]*ical.Property{}
	for _, p := range slices.Backward(c.All("ATTENDEE")) {
		lines[key(p.Value())] = p
	}
	return lines
}

// write sets the parameters that the caller gave.
func (a Attendee) write(p *ical.Property) {
	for _, param := range [...]struct{ name, value string }{
		{"CN", a.Name}, {"ROLE", strings.ToUpper(a.Role)}, {"PARTSTAT", strings.ToUpper(a.Status)},
	} {
		if now, _ := p.Param(param.name); param.value != "" && now != param.value {
			p.SetParam(param.name, param.value)
		}
	}
}

// guests is a change of the attendees. It is a difference, so that it applies to components with different attendees.
type guests struct {
	// come are added, stay get the given parameters.
	come, stay []Attendee
	// gone are removed, by their keys.
	gone map[string]bool
}

// compared returns the change that gives a component exactly the attendees of a list.
func compared(c *ical.Component, list []Attendee) guests {
	lines := linesOf(c)
	g := guests{gone: map[string]bool{}}
	for name := range lines {
		g.gone[name] = true
	}
	for _, a := range list {
		delete(g.gone, key(a.Address))
		if lines[key(a.Address)] == nil {
			g.come = append(g.come, a)
		} else {
			g.stay = append(g.stay, a)
		}
	}
	return g
}

// apply changes the attendees of a component. Attendees who stay keep their line with their answer.
func (g guests) apply(c *ical.Component) error {
	c.RemoveFunc(func(p *ical.Property) bool { return p.Name() == "ATTENDEE" && g.gone[key(p.Value())] })
	lines := linesOf(c)
	for _, a := range g.stay {
		if p := lines[key(a.Address)]; p != nil {
			a.write(p)
		}
	}
	for _, a := range g.come {
		if p := lines[key(a.Address)]; p != nil {
			a.write(p)
			continue
		}
		p, err := a.invited(c.Property("ORGANIZER"))
		if err != nil {
			return err
		}
		lines[key(a.Address)] = p
		c.Add(p)
	}
	return nil
}

// invites reports whether the fields change the attendees.
func (f Fields) invites() bool { return !f.Attendees.Left() || len(f.Invite)+len(f.Uninvite) > 0 }

// guests returns the change of attendees in the fields. A full list is compared with the attendees of a component.
func (f Fields) guests(with *ical.Component) guests {
	g := guests{gone: map[string]bool{}}
	if list, _ := f.Attendees.Value(); !f.Attendees.Left() {
		g = compared(with, list)
	}
	g.come = slices.Concat(g.come, f.Invite)
	for _, a := range f.Uninvite {
		g.gone[key(a.Address)] = true
	}
	return g
}

// inherits reports whether an override takes its attendees from its series, as calendar/schedule reads it.
func (e *session) inherits(c *ical.Component) bool {
	master := e.object.Master
	return master != nil && c != master && !names(c) && names(master)
}

// names reports whether a component has an organizer or attendees.
func names(c *ical.Component) bool {
	return c.Property("ORGANIZER") != nil || c.Property("ATTENDEE") != nil
}

// dress copies the organizer and attendees of the series to an override that inherits them, before they change.
func (e *session) dress(c *ical.Component) {
	if !e.inherits(c) {
		return
	}
	for _, name := range [...]string{"ORGANIZER", "ATTENDEE"} {
		for _, p := range e.object.Master.All(name) {
			c.Add(p.Clone())
		}
	}
}

// invited returns the line of a new attendee. RFC 5545 §3.2.17: without RSVP=TRUE no answer is expected, and some
// clients then do not ask their user for one.
func (a Attendee) invited(organizer *ical.Property) (*ical.Property, error) {
	uri, err := a.uri()
	if err != nil {
		return nil, err
	}
	status := string(NeedsAction)
	if organizer != nil && key(organizer.Value()) == key(uri) {
		status = "ACCEPTED" // organizers do not invite themselves
	}
	a.Role, a.Status = cmp.Or(a.Role, "REQ-PARTICIPANT"), cmp.Or(a.Status, status)
	p := ical.NewProperty("ATTENDEE", uri)
	a.write(p)
	if strings.EqualFold(a.Status, string(NeedsAction)) && (organizer == nil || key(organizer.Value()) != key(uri)) {
		p.SetParam("RSVP", "TRUE")
	}
	return p, nil
}

func organized(f Field[Attendee]) func(*ical.Component) error {
	return func(c *ical.Component) error {
		a, ok := f.Value()
		if !ok {
			c.Remove("ORGANIZER")
			return nil
		}
		uri, err := a.uri()
		if err != nil {
			return err
		}
		p := c.Property("ORGANIZER")
		if p == nil || key(p.Value()) != key(uri) {
			p = ical.NewProperty("ORGANIZER", uri)
			c.Set(p)
		}
		// RFC 5545 §3.8.4.3: an organizer has neither a role nor a status.
		Attendee{Name: a.Name}.write(p)
		return nil
	}
}
