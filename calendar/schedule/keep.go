package schedule

import (
	"strings"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// theirs are the properties that are each attendee's own, once they have the event.
var theirs = [...]string{"TRANSP", "CATEGORIES", "COLOR", "CLASS", "COMMENT", "PERCENT-COMPLETE", "COMPLETED", "X-MICROSOFT-CDO-BUSYSTATUS"}

// keepOwn gives a component what the attendee had of their own: alarms, whether it takes their time, notes, the answer.
// Asks is set when the series asks for another answer.
func (r Rules) keepOwn(old, now *reading, c *ical.Component, d Delivery, asks bool) {
	was := old.counterpart(now, c)
	for _, alarm := range c.AllComponents("VALARM") {
		c.RemoveComponent(alarm)
	}
	if d.Room {
		c.Remove("TRANSP") // the organizer speaks of their own time
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
		// An organizer of this server has every answer; one elsewhere need not have got the latest.
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

// keepProgress leaves somebody the status of a task that they are at work on, or done with: the organizer's is of the whole.
func keepProgress(c, was *ical.Component, mine *ical.Property) {
	if said := partstat(mine); said != Completed && said != InProcess {
		return
	}
	if p := was.Property("STATUS"); p != nil && progress(c) && progress(was) {
		c.Set(p.Clone())
	}
}

// transplant takes over the properties that are private to a component's holder.
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

// Lighten takes out of a copy what programs and their people add most of: alarms, comments, categories and properties of
// their own. It is what goes first where a copy gets too large.
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
