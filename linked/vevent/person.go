package vevent

import (
	"strings"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/ical"
)

const mailto = "mailto:"

// Address returns the mail address of an ATTENDEE or ORGANIZER.
func Address(p *ical.Property) (string, error) {
	value := p.Value()
	if len(value) > len(mailto) && strings.EqualFold(value[:len(mailto)], mailto) {
		return value[len(mailto):], nil
	}
	if email, given := p.Param("EMAIL"); given && email != "" {
		return email, nil
	}
	return "", mirror.Refusef("A guest there needs a mail address, and %q is none.", excerpt(value))
}

// Person makes an ATTENDEE or ORGANIZER.
func Person(name, address, shown string) *ical.Property {
	p := ical.NewProperty(name, mailto+address)
	if shown != "" {
		p.SetParam("CN", shown)
	}
	return p
}

// Word returns a parameter's value in upper case, or the default if it is missing.
func Word(p *ical.Property, name, usual string) string {
	if value, given := p.Param(name); given && value != "" {
		return strings.ToUpper(value)
	}
	return usual
}

// excerpt shortens a text for quoting.
func excerpt(text string) string {
	runes := []rune(text)
	if len(runes) > 60 {
		return string(runes[:60]) + "…"
	}
	return text
}
