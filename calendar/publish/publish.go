// Package publish reduces a calendar's objects to the parts that strangers may see through a public link.
package publish

import (
	"slices"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/freebusy"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// Strangers see the time of an object, and its description if it is public. Other data is hidden: attendees have
// not agreed to it, links to calls and files give access, and the content of custom properties is unknown.
var (
	timing = []string{
		"UID", "DTSTAMP", "DTSTART", "DTEND", "DUE", "DURATION", "RECURRENCE-ID", "RRULE", "RDATE", "EXRULE", "EXDATE",
		"SEQUENCE", "STATUS", "TRANSP",
	}
	telling = []string{
		"SUMMARY", "DESCRIPTION", "LOCATION", "GEO", "URL", "CATEGORIES", "COLOR", "PRIORITY", "RESOURCES",
		"PERCENT-COMPLETE", "COMPLETED", "CREATED", "LAST-MODIFIED", "CLASS",
	}
)

// params are the parameters needed to read a value; others may contain anything.
var params = []string{"TZID", "VALUE", "RANGE", "LANGUAGE", "ENCODING", "CHARSET"}

// kinds are the kinds of components to show. Published busy times and availability are for free/busy requests.
var kinds = []string{content.Event, content.Todo, content.Journal}

// Object reduces an object to the parts that strangers may see, which may be none. An event that is not public
// keeps only its times, with the UID replaced by hide: a UID may reveal the author or their program. Names of zones
// that not every program knows are hidden too.
func Object(doc *ical.Document, zones *zone.DB, hide func(string) string) error {
	o, err := content.Of(doc)
	if err != nil {
		return err
	}
	parts, hidden := o.Components(), !public(o)
	if !slices.Contains(kinds, o.Kind) || hidden && (o.Kind != content.Event || free(parts)) {
		parts = nil
	}
	for _, c := range slices.Collect(o.Calendar.Components()) {
		if !slices.Contains(parts, c) && (c.Name() != "VTIMEZONE" || parts == nil) {
			o.Calendar.RemoveComponent(c)
		}
	}
	if !hidden {
		hideCalls(parts)
	}
	for _, c := range parts {
		for _, sub := range slices.Collect(c.Components()) {
			// Alarms would alert strangers; other subcomponents (RFC 9073) describe people and places.
			c.RemoveComponent(sub)
		}
		if !hidden {
			strip(c)
			continue
		}
		reduce(c, timing...)
		c.Set(ical.NewText("UID", hide(o.UID)))
		c.SetText("SUMMARY", words[freebusy.Busy].summary)
	}
	plainZones(o.Calendar, zones, hide)
	return nil
}

// public reports whether the whole object is public. A single private instance makes the series private, because
// programs copy the details of the series into it.
func public(o *content.Object) bool {
	return !slices.ContainsFunc(o.Components(), func(c *ical.Component) bool {
		return slices.ContainsFunc(c.All("CLASS"), func(p *ical.Property) bool {
			// RFC 5545 §3.8.1.3: an unknown value means PRIVATE. If there are several, the strictest counts.
			class := content.Word(p)
			return class != "" && class != "PUBLIC"
		})
	})
}

// free reports whether none of the components is busy.
func free(parts []*ical.Component) bool {
	return !slices.ContainsFunc(parts, func(c *ical.Component) bool {
		return !content.Transparent(c) && content.WordOf(c, "STATUS") != "CANCELLED"
	})
}

// strip removes the properties and parameters that strangers may not see.
func strip(c *ical.Component) {
	for _, p := range slices.Collect(c.Properties()) {
		if !slices.Contains(timing, p.Name()) && !slices.Contains(telling, p.Name()) {
			c.RemoveProperty(p)
			continue
		}
		for _, param := range p.Params() {
			if !slices.Contains(params, param.Name) {
				p.RemoveParam(param.Name)
			}
		}
	}
}

// The titles of events that show only their times.
const (
	BusyTitle        = "Busy"
	TentativeTitle   = "Tentative"
	UnavailableTitle = "Unavailable"
)

// words are the SUMMARY and the STATUS of busy times.
var words = [...]struct{ summary, status string }{
	freebusy.Tentative:   {TentativeTitle, "TENTATIVE"},
	freebusy.Unavailable: {UnavailableTitle, "CONFIRMED"},
	freebusy.Busy:        {BusyTitle, "CONFIRMED"},
}

// Busy returns a busy time as an event, for the many clients that subscribe to events and ignore VFREEBUSY. It
// contains only the time.
func Busy(p freebusy.Period, uid string, stamp time.Time) *ical.Component {
	c := ical.NewComponent(content.Event)
	c.Add(ical.NewText("UID", uid))
	c.Add(ical.NewTime("DTSTAMP", ical.Instant(stamp)))
	c.Add(ical.NewTime("DTSTART", ical.Instant(p.Start)))
	c.Add(ical.NewTime("DTEND", ical.Instant(p.End)))
	c.Add(ical.NewText("SUMMARY", words[p.Type].summary))
	c.Add(ical.NewText("STATUS", words[p.Type].status))
	c.Add(ical.NewText("TRANSP", "OPAQUE"))
	return c
}
