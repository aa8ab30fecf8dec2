// Package publish reduces a calendar's objects to the parts that strangers may see by a public link.
package publish

import (
	"slices"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/freebusy"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// Strangers see the properties that tell when something is, and of what is public those that tell what it is.
// Nothing else is shown: people who are invited have not agreed to it, links to join a call or to fetch a file
// let in their reader, and at what programs keep for themselves nobody has looked.
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

// params say how to read a value; others may say anything.
var params = []string{"TZID", "VALUE", "RANGE", "LANGUAGE", "ENCODING", "CHARSET"}

// kinds are what is shown at all. Published busy times and availability are for people who ask when
// somebody is busy.
var kinds = []string{content.Event, content.Todo, content.Journal}

// Object leaves of an object what strangers may see, which may be nothing. Of an event that is not
// public it leaves the times, under another UID that hide makes: a UID may name the author of the event, and
// with which program. Names of zones that not every program knows are hidden likewise.
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
	for _, c := range parts {
		for _, sub := range slices.Collect(c.Components()) {
			// Alarms would ring at a stranger's, the rest (RFC 9073) tells of people and places.
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

// public tells whether nothing of the object is to be kept from others. One instance that is decides
// for the series: programs write the rest of it into that instance, too.
func public(o *content.Object) bool {
	return !slices.ContainsFunc(o.Components(), func(c *ical.Component) bool {
		return slices.ContainsFunc(c.All("CLASS"), func(p *ical.Property) bool {
			// RFC 5545 §3.8.1.3: what is unknown is to be treated as PRIVATE. Of several the strictest counts.
			class := content.Word(p)
			return class != "" && class != "PUBLIC"
		})
	})
}

// free tells whether none of the parts takes time.
func free(parts []*ical.Component) bool {
	return !slices.ContainsFunc(parts, func(c *ical.Component) bool {
		return !content.Transparent(c) && content.WordOf(c, "STATUS") != "CANCELLED"
	})
}

// strip leaves the properties that are shown, and of their parameters those that say how to read them.
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

// words is what a busy time is called, and what its STATUS is.
var words = [...]struct{ summary, status string }{
	freebusy.Tentative:   {"Tentative", "TENTATIVE"},
	freebusy.Unavailable: {"Unavailable", "CONFIRMED"},
	freebusy.Busy:        {"Busy", "CONFIRMED"},
}

// Busy writes a busy time as an event, for the many programs that subscribe to events and know
// nothing of VFREEBUSY. It holds only the time.
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
