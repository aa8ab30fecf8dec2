package content

import (
	"caldav-mcp-server/ical"
)

// ends is the property for the end of each kind of component.
var ends = map[string]string{Event: "DTEND", Todo: "DUE", FreeBusy: "DTEND", Availability: "DTEND"}

// checkTimes validates the start, the end and the duration of one component.
func checkTimes(c *ical.Component) error {
	start, err := timeOf(c, "DTSTART")
	if err != nil {
		return err
	}
	end, err := timeOf(c, ends[c.Name()])
	if err != nil {
		return err
	}
	// RFC 5545 §3.8.5.3 requires DTSTART. A recurring task may have only a DUE, because some clients write no other
	// time for chores. It may also have no date at all; then it is on no day.
	if start == nil && (c.Name() == Event || c.Name() != Todo && c.Property("RRULE") != nil) {
		return fault(RuleValidObject, "line %d: the %s has no DTSTART", c.Line(), c.Name())
	}
	if p := c.Property("DURATION"); p != nil {
		if err := checkDuration(c, p, end); err != nil {
			return err
		}
	}
	if start == nil || end == nil {
		return nil
	}
	return checkOrder(c, *start, *end)
}

func timeOf(c *ical.Component, name string) (*ical.Time, error) {
	p := c.Property(name)
	if name == "" || p == nil {
		return nil, nil
	}
	t, err := p.Time()
	if err != nil {
		return nil, invalid(err)
	}
	if t.Civil.Year < minYear {
		return nil, fault(RuleMinDate, "line %d: %s is before the year %d", p.Line(), name, minYear)
	}
	return &t, nil
}

// minYear is the year of min-date-time. Apple writes birthdays without a year into 1604.
const minYear = 1000

func checkDuration(c *ical.Component, p *ical.Property, end *ical.Time) error {
	d, err := p.Duration()
	switch {
	case err != nil:
		return invalid(err)
	case d.Negative:
		return fault(RuleValidData, "line %d: a %s cannot last a negative DURATION", p.Line(), c.Name())
	case end != nil:
		return fault(RuleValidData, "line %d: the %s has both %s and DURATION; one of them must go", p.Line(), c.Name(),
			ends[c.Name()])
	}
	return nil
}

// checkOrder compares times if that needs no zones. RFC 5545 §3.8.2 forbids some combinations that clients write
// and that make sense, so they are accepted: equal times for reminders, a date with a time, and tasks that are due
// before they start.
func checkOrder(c *ical.Component, start, end ical.Time) error {
	if c.Name() == Todo {
		return nil
	}
	if start.Form == end.Form && start.TZID == end.TZID && end.Civil.Before(start.Civil) {
		return fault(RuleValidData, "line %d: the %s ends before it begins", c.Line(), c.Name())
	}
	return nil
}
