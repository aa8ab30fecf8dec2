package schedule

import (
	"maps"
	"slices"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// Person identifies a person, whichever of their addresses is used.
type Person string

// roster holds the attendees of a component. Large events name hundreds of people in hundreds of instances, so no line
// should be parsed twice.
type roster struct {
	at map[Address]*ical.Property
	of map[Person]*ical.Property
	// served lists the attendees whose messages the server handles.
	served map[Person]bool
}

// rosterOf returns the roster of attendee lines.
func (r Rules) rosterOf(lines []*ical.Property) *roster {
	all := &roster{map[Address]*ical.Property{}, map[Person]*ical.Property{}, map[Person]bool{}}
	for _, p := range lines {
		a := addressOf(p)
		who := r.who(a)
		if all.at[a] == nil {
			all.at[a] = p
		}
		if all.of[who] == nil {
			all.of[who] = p
		}
		if served(p) {
			all.served[who] = true
		}
	}
	return all
}

// line returns a person's line: by this address if possible, else by another of theirs.
func (o *roster) line(a Address, who Person) *ical.Property {
	if p := o.at[a]; p != nil {
		return p
	}
	return o.of[who]
}

// inherits reports whether a component takes its attendees from its series.
func (x *reading) inherits(c *ical.Component) bool {
	return c != nil && c != x.master() && x.master() != nil && c.Property("ORGANIZER") == nil &&
		c.Property("ATTENDEE") == nil
}

// roster returns a component's roster. Its attendees must not change afterwards.
func (x *reading) roster(c *ical.Component) *roster {
	if x.inherits(c) {
		c = x.Master
	}
	if known := x.rosters[c]; known != nil {
		return known
	}
	var lines []*ical.Property
	if c != nil {
		lines = c.All("ATTENDEE")
	}
	x.rosters[c] = x.rules.rosterOf(lines)
	return x.rosters[c]
}

// joins reports whether a person takes part in a component and the server handles their messages.
func (x *reading) joins(c *ical.Component, who Person) bool {
	return c != nil && x.roster(c).served[who] && !x.cancelled(c)
}

// cancelled reports whether a component is cancelled.
func (x *reading) cancelled(c *ical.Component) bool {
	off, known := x.off[c]
	if !known {
		off = content.WordOf(c, "STATUS") == "CANCELLED"
		x.off[c] = off
	}
	return off
}

// oneAnswer returns a person's answer in some components, or "" if there is none or they differ.
func (x *reading) oneAnswer(all []*ical.Component, who Person) string {
	said := ""
	for _, c := range all {
		now := partstat(x.roster(c).of[who])
		if said != "" && said != now {
			return ""
		}
		said = now
	}
	return said
}

// parts returns the components that list each person, in the order of instances. Components that inherit their
// attendees are not included.
func (x *reading) parts() map[Person][]*ical.Component {
	all := map[Person][]*ical.Component{}
	add := func(c *ical.Component) {
		if c == nil || x.inherits(c) || x.cancelled(c) {
			return
		}
		for who := range x.roster(c).served {
			all[who] = append(all[who], c)
		}
	}
	add(x.master())
	for _, key := range slices.Sorted(maps.Keys(x.apart)) {
		add(x.apart[key])
	}
	return all
}
