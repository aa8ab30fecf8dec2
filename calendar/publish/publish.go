// Package publish makes of what a calendar holds what strangers may see of it, who come by a public link.
package publish

import (
	"slices"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/freebusy"
	"caldav-mcp-server/ical"
)

// shown are the properties that strangers see, and whether also of what is not public: those tell when
// something is, the others what. Nothing else is shown: people who are invited have not agreed to it, links
// to join a call or to fetch a file let in whoever reads them, and at what programs keep for themselves
// nobody has looked.
var shown = map[string]bool{
	"UID": true, "DTSTAMP": true, "DTSTART": true, "DTEND": true, "DUE": true, "DURATION": true, "RECURRENCE-ID": true,
	"RRULE": true, "RDATE": true, "EXRULE": true, "EXDATE": true, "SEQUENCE": true, "STATUS": true, "TRANSP": true,

	"SUMMARY": false, "DESCRIPTION": false, "LOCATION": false, "GEO": false, "URL": false, "CATEGORIES": false, "COLOR": false,
	"PRIORITY": false, "RESOURCES": false, "PERCENT-COMPLETE": false, "COMPLETED": false, "CREATED": false,
	"LAST-MODIFIED": false, "CLASS": false,
}

// params say how to read a value; others may say anything.
var params = []string{"TZID", "VALUE", "RANGE", "LANGUAGE", "ENCODING", "CHARSET"}

// kinds are what is shown at all. Published busy times and availability are for whoever asks when
// somebody is busy.
var kinds = []string{content.Event, content.Todo, content.Journal}

// Object leaves of an object what strangers may see, which may be nothing. Of an event that is not
// public it leaves the times, under another UID that hide makes: a UID may tell who made the event, and
// with which program.
func Object(doc *ical.Document, hide func(uid string) string) error {
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
		strip(c, hidden)
		if hidden {
			c.SetText("UID", hide(o.UID))
			c.SetText("SUMMARY", words[freebusy.Busy].summary)
		}
	}
	return nil
}

// public tells whether nothing of the object is to be kept from others. One instance that is decides
// for the series: programs write the rest of it into that instance, too.
func public(o *content.Object) bool {
	return !slices.ContainsFunc(o.Components(), func(c *ical.Component) bool {
		// RFC 5545 §3.8.1.3: what is unknown is to be treated as PRIVATE.
		class := content.WordOf(c, "CLASS")
		return class != "" && class != "PUBLIC"
	})
}

// free tells whether none of the parts takes time.
func free(parts []*ical.Component) bool {
	return !slices.ContainsFunc(parts, func(c *ical.Component) bool {
		return content.WordOf(c, "TRANSP") != "TRANSPARENT" && content.WordOf(c, "STATUS") != "CANCELLED"
	})
}

// strip leaves the properties that are shown. What is within the component goes: alarms would ring at a
// stranger's, the rest (RFC 9073) tells of people and places.
func strip(c *ical.Component, hidden bool) {
	for _, sub := range slices.Collect(c.Components()) {
		c.RemoveComponent(sub)
	}
	for _, p := range slices.Collect(c.Properties()) {
		if always, known := shown[p.Name()]; !known || hidden && !always {
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
// nothing of VFREEBUSY. It holds the time alone.
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
