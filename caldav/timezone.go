package caldav

import (
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// setTimezone takes an iCalendar object with one VTIMEZONE (RFC 4791 §5.2.2), which is kept
// as it is. Where its name says which zone it is, floating times follow that one.
func setTimezone(p *calendar.Properties, e *element) error {
	if e == nil {
		p.TimezoneData, p.Timezone = nil, ""
		return nil
	}
	_, id, err := soleTimezone(e.Text)
	if err != nil {
		return breach("c:valid-calendar-data", "calendar-timezone takes an iCalendar object with one VTIMEZONE: %s", err)
	}
	p.TimezoneData = &e.Text
	if z, err := zone.Lookup(id); err == nil {
		p.Timezone = z.Name()
	}
	return nil
}

// soleTimezone reads an iCalendar object with one VTIMEZONE, and returns its TZID too.
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
		return nil, "", unfit("it has %d of them", len(zones))
	}
	for c := range cal.Components() {
		if c != zones[0] {
			return nil, "", unfit("it has a %s, too", c.Name())
		}
	}
	id := zones[0].Property("TZID")
	if id == nil {
		return nil, "", unfit("it has no TZID")
	}
	return cal, id.Text(), nil
}

// setTimezoneID takes the name of a zone (RFC 7809 §5.2), and refuses one that is not known. A VTIMEZONE that was
// set under another name is forgotten, lest the two disagree.
func setTimezoneID(p *calendar.Properties, e *element) error {
	name := ""
	if e != nil {
		name = strings.TrimSpace(e.Text)
	}
	if name == "" {
		p.TimezoneData, p.Timezone = nil, ""
		return nil
	}
	if p.TimezoneData != nil && timezoneName(*p.TimezoneData) == name {
		return nil // it is set already, be it one that only the VTIMEZONE explains
	}
	z, err := zone.Lookup(name)
	if err != nil {
		return breach("c:valid-timezone", "%s", err) // RFC 7809 §3.1.5
	}
	p.TimezoneData, p.Timezone = nil, z.Name()
	return nil
}

// timezoneName is the TZID in a text that setTimezone has taken.
func timezoneName(text string) string {
	_, id, err := soleTimezone(text)
	if err != nil {
		return ""
	}
	return id
}

// timezone gives the VTIMEZONE that was set, or that of the zone which was named: a client that reads the one property
// learns the value of the other (RFC 7809 §3.1.5).
func (r *resource) timezone(m *markup) error {
	if r.calendar.TimezoneData != nil {
		m.cdata([]byte(*r.calendar.TimezoneData))
		return nil
	}
	text, err := r.x.timezoneText(r.calendar.Timezone)
	if err != nil {
		return err
	}
	m.cdata(text)
	return nil
}

// timezoneID gives the name of the zone as calendar-timezone has it, be it one that nobody knows.
func (r *resource) timezoneID(m *markup) error {
	if r.calendar.TimezoneData == nil {
		return m.text(r.calendar.Timezone).ok()
	}
	if err := r.x.meter.Text(len(*r.calendar.TimezoneData)); err != nil {
		return err
	}
	return m.text(timezoneName(*r.calendar.TimezoneData)).ok()
}

// written is how far back the VTIMEZONE of a zone tells its changes.
var written = time.Date(1970, time.January, 1, 0, 0, 0, 0, time.UTC)

// timezoneWork is how many bytes could be compared while a VTIMEZONE is written: a millisecond is usual.
const timezoneWork = 256 << 10

// timezoneText writes the VTIMEZONE of a known zone, once: every listing of a home by Apple's apps asks for it.
func (x *exchange) timezoneText(name string) ([]byte, error) {
	if text, ok := x.timezones.Load(name); ok {
		return text.([]byte), nil //nolint:forcetypeassert // nothing else is stored there
	}
	z, err := zone.Lookup(name)
	if err != nil {
		return nil, errAbsent
	}
	if err := x.meter.Text(timezoneWork); err != nil {
		return nil, err
	}
	root := content.Root(zone.Component(z, written, time.Time{}))
	text := ical.NewDocument(root).Bytes()
	x.timezones.Store(z.Name(), text)
	return text, nil
}
