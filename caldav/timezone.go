package caldav

import (
	"strings"
	"time"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// setTimezone stores an iCalendar object with one VTIMEZONE (RFC 4791 §5.2.2) unchanged. If its TZID is a known zone,
// floating times use that zone.
func setTimezone(p *calendar.Properties, e *dav.Element) error {
	if e == nil {
		p.TimezoneData, p.Timezone = nil, ""
		return nil
	}
	_, id, err := soleTimezone(e.Text)
	if err != nil {
		return dav.Breach("c:valid-calendar-data",
			"calendar-timezone must be an iCalendar object with one VTIMEZONE: %s", err)
	}
	p.TimezoneData = &e.Text
	if z, err := zone.Lookup(id); err == nil {
		p.Timezone = z.Name()
	}
	return nil
}

// soleTimezone parses an iCalendar object with exactly one VTIMEZONE. It also returns the TZID.
func soleTimezone(text string) (*ical.Component, string, error) {
	doc, err := ical.Parse([]byte(text), ical.DefaultLimits())
	if err != nil {
		return nil, "", err
	}
	cal, err := doc.Calendar()
	if err != nil {
		return nil, "", err
	}
	zones := cal.AllComponents("VTIMEZONE")
	if len(zones) != 1 {
		return nil, "", errUnfit("it has %d of them", len(zones))
	}
	for c := range cal.Components() {
		if c != zones[0] {
			return nil, "", errUnfit("it also has a %s", c.Name())
		}
	}
	id := zones[0].Property("TZID")
	if id == nil {
		return nil, "", errUnfit("it has no TZID")
	}
	return cal, id.Text(), nil
}

// setTimezoneID sets the zone by name (RFC 7809 §5.2) and refuses unknown names. It removes a VTIMEZONE with another
// name, so that the two properties cannot disagree.
func setTimezoneID(p *calendar.Properties, e *dav.Element) error {
	name := ""
	if e != nil {
		name = strings.TrimSpace(e.Text)
	}
	if name == "" {
		p.TimezoneData, p.Timezone = nil, ""
		return nil
	}
	if p.TimezoneData != nil && timezoneName(*p.TimezoneData) == name {
		return nil // the name is set already; it may be one that only the VTIMEZONE defines
	}
	z, err := zone.Lookup(name)
	if err != nil {
		return dav.Breach("c:valid-timezone", "%s", err) // RFC 7809 §3.1.5
	}
	p.TimezoneData, p.Timezone = nil, z.Name()
	return nil
}

// timezoneName returns the TZID of a text that setTimezone has accepted.
func timezoneName(text string) string {
	_, id, err := soleTimezone(text)
	if err != nil {
		return ""
	}
	return id
}

// writeTimezone writes the stored VTIMEZONE, or one for the named zone. A client that sets either property can thus
// read both (RFC 7809 §3.1.5).
func writeTimezone(r *resource, m *dav.Markup) error {
	if r.calendar.TimezoneData != nil {
		m.CDATA([]byte(*r.calendar.TimezoneData))
		return nil
	}
	text, err := r.x.timezoneText(r.calendar.Timezone)
	if err != nil {
		return err
	}
	m.CDATA(text)
	return nil
}

// writeTimezoneID writes the TZID of calendar-timezone, even if the zone is unknown.
func writeTimezoneID(r *resource, m *dav.Markup) error {
	if r.calendar.TimezoneData == nil {
		return m.Text(r.calendar.Timezone).OK()
	}
	if err := r.x.Meter.Text(len(*r.calendar.TimezoneData)); err != nil {
		return err
	}
	return m.Text(timezoneName(*r.calendar.TimezoneData)).OK()
}

// written is the start of the changes that a generated VTIMEZONE contains.
var written = time.Date(1970, time.January, 1, 0, 0, 0, 0, time.UTC)

// timezoneWork is the cost of generating a VTIMEZONE, in bytes of compared text. It usually takes a millisecond.
const timezoneWork = 256 << 10

// timezoneText returns the VTIMEZONE of a known zone. It is cached, since Apple's apps request it whenever they list
// a home.
func (x *request) timezoneText(name string) ([]byte, error) {
	if text, ok := x.timezones.Load(name); ok {
		return text.([]byte), nil // the map holds no other type
	}
	z, err := zone.Lookup(name)
	if err != nil {
		return nil, dav.ErrAbsent
	}
	if err := x.Meter.Text(timezoneWork); err != nil {
		return nil, err
	}
	root := content.Root(zone.Component(z, written, time.Time{}))
	text := ical.NewDocument(root).Bytes()
	x.timezones.Store(z.Name(), text)
	return text, nil
}
