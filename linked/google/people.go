package google

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/linked/vevent"
)

// people writes the attendees. An event without any has no organizer either: it is not a meeting.
func (w writer) people(c *ical.Component, e *Event) error {
	if len(e.Attendees) == 0 && !e.Omitted {
		return nil
	}
	if o := e.Organizer; o != nil && o.Email != "" {
		c.Add(vevent.Person("ORGANIZER", o.Email, o.Name))
	}
	mine := w.cal.guest(e)
	for i, a := range e.Attendees {
		if mine == &e.Attendees[i] && a.Comment != "" {
			c.Add(ical.NewText("COMMENT", a.Comment))
			a.Comment = ""
		}
		c.Add(attendee(a))
	}
	return nil
}

// guest returns the account among the attendees of an event that another person organizes, or nil. The account's
// comment is the event's COMMENT, which an answer carries to the organizer (RFC 5546 §3.2.3).
func (c Calendar) guest(e *Event) *Attendee {
	if c.Self == "" || e.Organizer == nil || strings.EqualFold(e.Organizer.Email, c.Self) {
		return nil
	}
	i := slices.IndexFunc(e.Attendees, func(a Attendee) bool { return strings.EqualFold(a.Email, c.Self) })
	if i < 0 {
		return nil
	}
	return &e.Attendees[i]
}

func attendee(a Attendee) *ical.Property {
	p := vevent.Person("ATTENDEE", a.Email, a.Name)
	if a.Email == "" {
		// An attendee with a hidden address has only a profile id.
		p = ical.NewProperty("ATTENDEE", "urn:x-google-profile:"+a.ID)
		setParam(p, "CN", a.Name)
	} else {
		setParam(p, profileParam, a.ID)
	}
	if a.Resource {
		p.SetParam("CUTYPE", "ROOM")
	}
	if a.Optional {
		p.SetParam("ROLE", "OPT-PARTICIPANT")
	}
	p.SetParam("PARTSTAT", cmp.Or(answers.Out(a.Answer), "NEEDS-ACTION"))
	if a.Answer == "needsAction" {
		p.SetParam("RSVP", "TRUE")
	}
	setParam(p, commentParam, a.Comment)
	if a.Guests > 0 {
		p.SetParam(guestsParam, strconv.Itoa(a.Guests))
	}
	return p
}

const profile = "urn:x-google-profile:"

// attendeeOf converts an attendee.
func attendeeOf(p *ical.Property) (Attendee, error) {
	a := Attendee{}
	a.Name, _ = p.Param("CN")
	if value := p.Value(); len(value) > len(profile) && value[:len(profile)] == profile {
		a.ID = value[len(profile):]
	} else {
		email, err := vevent.Address(p)
		if err != nil {
			return a, err
		}
		a.Email = email
		a.ID, _ = p.Param(profileParam)
	}
	kind := vevent.Word(p, "CUTYPE", "INDIVIDUAL")
	a.Resource = kind == "ROOM" || kind == "RESOURCE"
	role := vevent.Word(p, "ROLE", "REQ-PARTICIPANT")
	a.Optional = role == "OPT-PARTICIPANT" || role == "NON-PARTICIPANT"
	answer := vevent.Word(p, "PARTSTAT", "NEEDS-ACTION")
	if a.Answer = answers.In(answer); a.Answer == "" {
		return a, mirror.Refusef("Google does not know the answer %q of the guest %s.", answer, a.Email)
	}
	a.Comment, _ = p.Param(commentParam)
	if guests, given := p.Param(guestsParam); given {
		n, err := strconv.Atoi(guests)
		if err != nil || n < 0 {
			return a, mirror.Refusef("%q is no number of further guests.", guests)
		}
		a.Guests = n
	}
	return a, nil
}
