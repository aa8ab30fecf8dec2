package content

import (
	"context"
	"strings"

	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// Limits are the limits of an object.
type Limits struct {
	// Attendees limits the attendees of one component; 0 means no limit.
	Attendees int
	// Instances limits the instances in the first four months of a series; 0 means no limit.
	Instances int
}

// Check validates the object by the rules of RFC 4791 §4.1 and RFC 5545 §3.6, as far as clients follow them.
// docs/clients.md lists the accepted violations.
func (o *Object) Check(ctx context.Context, lim Limits, zones *zone.DB) error {
	if o.Calendar.Property("METHOD") != nil {
		return fault(RuleValidObject,
			"the object has a METHOD: it is a message, not something to store; remove the line")
	}
	if v := TextOf(o.Calendar, "VERSION"); v != "" && strings.TrimSpace(v) != "2.0" {
		return fault(RuleValidData, "the object is of iCalendar version %q; this server takes 2.0", v)
	}
	for _, c := range o.Components() {
		if err := o.checkComponent(c, lim); err != nil {
			return err
		}
	}
	if err := o.checkOverrides(); err != nil {
		return err
	}
	resolver := zones.FromDocument(o.Calendar)
	if err := o.checkZones(resolver); err != nil {
		return err
	}
	return o.checkInstances(ctx, lim.Instances, resolver)
}

func (o *Object) checkComponent(c *ical.Component, lim Limits) error {
	if n := len(c.All("ATTENDEE")); lim.Attendees > 0 && n > lim.Attendees {
		return fault(RuleMaxAttendees, "line %d: the %s has %d attendees; this server takes %d", c.Line(), c.Name(), n,
			lim.Attendees)
	}
	if err := checkOnce(c); err != nil {
		return err
	}
	if err := checkTimes(c); err != nil {
		return err
	}
	return checkRules(c)
}

// checkRules rejects recurrence rules that cannot be parsed, because their times would be unknown.
func checkRules(c *ical.Component) error {
	for _, p := range c.All("RRULE") {
		if _, err := p.Recur(); err != nil {
			return invalid(err)
		}
	}
	for _, name := range []string{"RDATE", "EXDATE"} {
		for _, p := range c.All(name) {
			if p.ValueType() == "PERIOD" {
				continue
			}
			if _, err := p.Times(); err != nil {
				return invalid(err)
			}
		}
	}
	return nil
}

// checkZones rejects a TZID that neither a VTIMEZONE of the object nor the zone database defines. A guess would
// show the event at the wrong time.
func (o *Object) checkZones(zones *zone.Resolver) error {
	for _, c := range o.Components() {
		for p := range c.Properties() {
			tzid, given := p.Param("TZID")
			if !given || strings.HasPrefix(p.Name(), "X-") {
				continue
			}
			if _, err := zones.Zone(tzid); err != nil {
				return fault(RuleValidData, "line %d: %s: %v; or add its VTIMEZONE", p.Line(), p.Name(), err)
			}
		}
	}
	return nil
}

// checkOnce rejects duplicates of properties that determine the object's identity or time.
func checkOnce(c *ical.Component) error {
	for _, name := range []string{"UID", "DTSTART", "DTEND", "DUE", "DURATION", "RECURRENCE-ID"} {
		if all := c.All(name); len(all) > 1 {
			return fault(RuleValidObject, "line %d: a second %s in the %s", all[1].Line(), name, c.Name())
		}
	}
	return nil
}

// checkOverrides rejects two overrides of the same instance.
func (o *Object) checkOverrides() error {
	seen := map[ical.Time]bool{}
	for _, c := range o.Overrides {
		id, err := c.Property("RECURRENCE-ID").Time()
		if err != nil {
			return invalid(err)
		}
		if seen[id] {
			return fault(RuleValidObject, "line %d: a second override of the instance %s", c.Line(), id)
		}
		seen[id] = true
	}
	return nil
}
