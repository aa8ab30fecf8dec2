package schedule

import (
	"maps"
	"slices"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// Person is who somebody is, by whichever of their addresses they are named.
type Person string

// roster is the people in a component. Large events name each of hundreds in each of hundreds of instances: anyone who looks
// for one reads no line twice.
type roster struct {
	at map[Address]*ical.Property
	of map[Person]*ical.Property
	// served are those who take part as far as the server sees to it.
	served map[Person]bool
}

// rosterOf reads lines.
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

// line is that of the person at an address: under it, or else under another one of theirs.
func (o *roster) line(a Address, who Person) *ical.Property {
	if p := o.at[a]; p != nil {
		return p
	}
	return o.of[who]
}

// inherits tells whether a component leaves it to its series to say who takes part.
func (x *reading) inherits(c *ical.Component) bool {
	return c != nil && c != x.master() && x.master() != nil && c.Property("ORGANIZER") == nil && c.Property("ATTENDEE") == nil
}

// roster is that of a component, which has its last guest by now.
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

// joins tells whether somebody takes part in what a component says, as far as the server sees to it.
func (x *reading) joins(c *ical.Component, who Person) bool {
	return c != nil && x.roster(c).served[who] && !x.cancelled(c)
}

// cancelled tells whether a component says that it is called off.
func (x *reading) cancelled(c *ical.Component) bool {
	off, known := x.off[c]
	if !known {
		off = content.WordOf(c, "STATUS") == "CANCELLED"
		x.off[c] = off
	}
	return off
}

// oneAnswer is somebody's answer in all of some components; "" where there is not exactly one.
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

// parts are the components in which each person takes part by a line of their own, in the order of instances. What
// leaves its guests to the series is not among them.
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
