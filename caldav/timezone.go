package caldav

import (
	"strings"

	"caldav-mcp-server/calendar"
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
		return breach("c:valid-calendar-timezone", "calendar-timezone takes an iCalendar object with one VTIMEZONE: %s", err)
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

// setTimezoneID takes the name of a zone (RFC 7809 §5.2), which the middle knows or
// refuses. A VTIMEZONE that was set for another zone is forgotten, lest the two disagree.
func setTimezoneID(p *calendar.Properties, e *element) error {
	name := ""
	if e != nil {
		name = strings.TrimSpace(e.Text)
	}
	if name != p.Timezone {
		p.TimezoneData = nil
	}
	p.Timezone = name
	return nil
}
