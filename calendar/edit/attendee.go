package edit

import (
	"slices"
	"strings"

	"caldav-mcp-server/ical"
)

// Attendee is somebody who takes part: an ATTENDEE or the ORGANIZER.
type Attendee struct {
	// Address is an e-mail address, or a URI.
	Address string
	Name    string
	// Role is REQ-PARTICIPANT when empty, as RFC 5545 §3.2.16 says.
	Role string
	// Status is the PARTSTAT: NEEDS-ACTION when empty.
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

// uri is the calendar address (RFC 5545 §3.3.3).
func (a Attendee) uri() (string, error) {
	address := strings.TrimSpace(a.Address)
	if strings.ContainsAny(address, " \t\r\n\"<>") {
		return "", fault(BadField, "%.100q is no address of an attendee", a.Address).hint("give an e-mail address alone")
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

// same tells whether two lines are about one person.
func same(p *ical.Property, uri string) bool {
	return strings.EqualFold(strings.TrimSpace(p.Value()), uri)
}

// write sets the parameters that were given.
func (a Attendee) write(p *ical.Property) {
	for _, param := range [...]struct{ name, value string }{{"CN", a.Name}, {"ROLE", strings.ToUpper(a.Role)}, {"PARTSTAT", strings.ToUpper(a.Status)}} {
		if now, _ := p.Param(param.name); param.value != "" && now != param.value {
			p.SetParam(param.name, param.value)
		}
	}
}

// attended makes the list of attendees what it is to be. Those who were there keep their line,
// and their answer to the invitation.
func attended(f Field[[]Attendee]) func(*ical.Component) error {
	return func(c *ical.Component) error {
		list, _ := f.Value()
		var kept []*ical.Property
		for _, a := range list {
			p, err := invite(c, a)
			if err != nil {
				return err
			}
			kept = append(kept, p)
		}
		for _, p := range c.All("ATTENDEE") {
			if !slices.Contains(kept, p) {
				c.RemoveProperty(p)
			}
		}
		return nil
	}
}

// joined adds attendees, and takes some off.
func joined(more, less []Attendee) func(*ical.Component) error {
	return func(c *ical.Component) error {
		for _, a := range less {
			uri, err := a.uri()
			if err != nil {
				return err
			}
			for _, p := range c.All("ATTENDEE") {
				if same(p, uri) {
					c.RemoveProperty(p)
				}
			}
		}
		for _, a := range more {
			if _, err := invite(c, a); err != nil {
				return err
			}
		}
		return nil
	}
}

// invite finds or makes the line of an attendee.
func invite(c *ical.Component, a Attendee) (*ical.Property, error) {
	uri, err := a.uri()
	if err != nil {
		return nil, err
	}
	for _, p := range c.All("ATTENDEE") {
		if same(p, uri) {
			a.write(p)
			return p, nil
		}
	}
	p := ical.NewProperty("ATTENDEE", uri)
	if a.Status == "" {
		a.Status = "NEEDS-ACTION"
	}
	if a.Role == "" {
		a.Role = "REQ-PARTICIPANT"
	}
	a.write(p)
	c.Add(p)
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
		if p == nil || !same(p, uri) {
			p = ical.NewProperty("ORGANIZER", uri)
			c.Set(p)
		}
		// RFC 5545 §3.8.4.3: an organizer has neither a role nor an answer.
		Attendee{Name: a.Name}.write(p)
		return nil
	}
}
