package schedule

import (
	"strings"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// theirs lists the properties that belong to each attendee, once they have the event.
var theirs = [...]string{
	"TRANSP", "CATEGORIES", "COLOR", "CLASS", "COMMENT", "PERCENT-COMPLETE", "COMPLETED", "X-MICROSOFT-CDO-BUSYSTATUS",
}

// keepOwn copies the attendee's own part to a new version of a component: alarms, transparency, notes, the answer. asks
// is set if the series needs a new answer.
func keepOwn(old, now *reading, c *ical.Component, d Delivery, asks bool) {
	was := old.counterpart(now, c)
	for _, alarm := range c.AllComponents("VALARM") {
		c.RemoveComponent(alarm)
	}
	if d.Room {
		c.Remove("TRANSP") // the organizer's value refers to their own time
	}
	mine := attendee(c, d.Self)
	if was == nil {
		if d.Own != nil && !d.Room {
			transplant(c, d.Own.Main())
		}
		if mine != nil && (d.Outside || d.Room) && partstat(mine) != Delegated {
			setParam(mine, paramPartstat, NeedsAction)
		}
		return
	}
	transplant(c, was)
	keepProgress(c, was, attendee(was, d.Self))
	if d.Room {
		c.Remove("TRANSP")
	}
	if stored := old.mine(was, d.Self); mine != nil && stored != nil {
		if c != now.master() {
			asks = old.timing(was) != now.timing(c)
		}
		// An organizer on this server has every answer; one on another server may lack the latest.
		switch same := !asks && content.WordOf(was, "STATUS") != "CANCELLED"; {
		case same && (d.Outside || d.Room):
			carryParams(mine, stored, paramPartstat)
		case d.Outside, d.Room:
			setParam(mine, paramPartstat, NeedsAction)
		}
		carryParams(mine, stored, paramAgent)
	}
	if org, stored := c.Property("ORGANIZER"), was.Property("ORGANIZER"); org != nil && stored != nil {
		carryParams(org, stored, paramStatus, paramAgent)
	}
}

// keepProgress keeps the status of a task that an attendee is working on or has completed. The organizer's status is
// for the whole task.
func keepProgress(c, was *ical.Component, mine *ical.Property) {
	if said := partstat(mine); said != Completed && said != InProcess {
		return
	}
	if p := was.Property("STATUS"); p != nil && progress(c) && progress(was) {
		c.Set(p.Clone())
	}
}

// transplant copies the private properties of a component's owner.
func transplant(c, was *ical.Component) {
	for _, name := range theirs {
		c.Remove(name)
		var kept []*ical.Property
		for _, p := range was.All(name) {
			kept = append(kept, p.Clone())
		}
		c.Add(kept...)
	}
	there := map[string]bool{}
	for p := range c.Properties() {
		there[p.Name()] = true
	}
	var kept []*ical.Property
	for p := range was.Properties() {
		if strings.HasPrefix(p.Name(), "X-") && !there[p.Name()] {
			kept = append(kept, p.Clone())
		}
	}
	c.Add(kept...)
	for _, alarm := range was.AllComponents("VALARM") {
		c.AddComponent(alarm.Clone())
	}
}

// Lighten removes the properties that users and clients add most of: alarms, comments, categories and private
// properties. They go first if a copy grows too large.
func Lighten(o *content.Object) {
	for _, c := range o.Components() {
		for _, alarm := range c.AllComponents("VALARM") {
			c.RemoveComponent(alarm)
		}
		c.RemoveFunc(func(p *ical.Property) bool {
			return strings.HasPrefix(p.Name(), "X-") || p.Name() == "COMMENT" || p.Name() == "CATEGORIES"
		})
	}
}
