package schedule

import (
	"context"
	"slices"
	"strings"

	"caldav-mcp-server/ical"
)

// organizers lists the properties that an attendee's copy takes from the organizer, in the organizer's spelling.
// Clients rewrite the text: Thunderbird drops INTERVAL=1, Evolution sorts BYDAY.
var organizers = [...]string{
	"SUMMARY", "LOCATION", "DESCRIPTION", "STATUS", "GEO", "URL",
	"DTSTART", "DTEND", "DURATION", "DUE", "RRULE", "EXRULE", "RDATE", "SEQUENCE",
}

// restore puts the organizer's part of the stored component into an attendee's new text, and reports whether that
// changed it. All other properties are the attendee's.
func (x *reading) restore(old *reading, was, c *ical.Component, is Self) bool {
	if was == nil {
		return false
	}
	changed := false
	for _, name := range organizers {
		if !ownStatus(name, was, c) && !sameLines(was.All(name), c.All(name)) {
			c.Remove(name)
			c.Add(clones(was.All(name))...)
			changed = true
		}
	}
	return x.restorePeople(old, was, c, is) || changed
}

// lendPeriods restores the durations of a series' additional dates (RDATE;VALUE=PERIOD) if an attendee's client stored
// only their starts, as Thunderbird does.
func (r Rules) lendPeriods(ctx context.Context, old, now *reading) (*reading, error) {
	was, c := old.master(), now.master()
	if was == nil || c == nil {
		return now, nil
	}
	before, after := was.All("RDATE"), c.All("RDATE")
	if !slices.ContainsFunc(before, (*ical.Property).IsPeriods) ||
		slices.ContainsFunc(after, (*ical.Property).IsPeriods) ||
		!slices.Equal(starts(before), starts(after)) {
		return now, nil
	}
	c.Remove("RDATE")
	c.Add(clones(before)...)
	return r.again(ctx, now)
}

// starts lists the sorted starts of RDATEs.
func starts(rdates []*ical.Property) []string {
	var all []string
	for _, p := range rdates {
		for date := range strings.SplitSeq(p.Value(), ",") {
			start, _, _ := strings.Cut(date, "/")
			all = append(all, start)
		}
	}
	slices.Sort(all)
	return all
}

// restorePeople restores the organizer and the other attendees with their answers, because the text may be older. The
// lines of the sender and of their delegate stay.
func (x *reading) restorePeople(old *reading, was, c *ical.Component, is Self) bool {
	if x.inherits(c) && old.inherits(was) {
		return false
	}
	changed := false
	if org := organizer(old.Object); org != nil {
		line := org.Clone()
		if p := c.Property("ORGANIZER"); p != nil {
			carryParams(line, p, paramForce)
		}
		if !sameLines([]*ical.Property{line}, c.All("ORGANIZER")) {
			c.Set(line)
			changed = true
		}
	}
	people := attendeesFor(old.attendeesIn(was), c.All("ATTENDEE"), is)
	if !sameLines(people, c.All("ATTENDEE")) {
		c.Remove("ATTENDEE")
		c.Add(people...)
		changed = true
	}
	delete(x.rosters, c)
	return changed
}

// attendeesFor returns the stored lines in the order of the sent ones, with the sender's own line as they sent it.
func attendeesFor(stored, sent []*ical.Property, is Self) []*ical.Property {
	var all []*ical.Property
	there, answer := map[Address]bool{}, ""
	for _, p := range sent {
		a := addressOf(p)
		i := slices.IndexFunc(stored, func(s *ical.Property) bool { return addressOf(s) == a })
		switch {
		case there[a]:
		case is(a) && i >= 0, i < 0 && !is(a) && delegatedBy(p, is):
			all = append(all, p.Clone())
		case i >= 0:
			all = append(all, stored[i].Clone())
		case is(a):
			answer = partstat(p) // by another of their addresses
		}
		there[a] = there[a] || i >= 0
	}
	for _, s := range stored {
		if there[addressOf(s)] {
			continue
		}
		line := s.Clone()
		if is(addressOf(s)) && answer != "" {
			setParam(line, paramPartstat, answer)
		}
		all = append(all, line)
	}
	return all
}

// followSeries applies a new answer to the series to the instances that had the same answer or none, unless the same
// text changes them. Clients write it only to the master.
func (x *reading) followSeries(now *reading, is Self) {
	before, answer := attendee(x.master(), is), attendee(now.master(), is)
	if before == nil || answer == nil || partstat(before) == partstat(answer) {
		return
	}
	for key, c := range now.apart {
		mine := attendee(c, is)
		if mine == nil || x.apart[key] == nil || partstat(mine) != said(x, x.apart[key], is) {
			continue
		}
		if partstat(mine) == partstat(before) || partstat(mine) == NeedsAction {
			setParam(mine, paramPartstat, partstat(answer))
		}
	}
}

// sameLines reports whether two lists of properties have the same text.
func sameLines(a, b []*ical.Property) bool {
	return slices.EqualFunc(a, b, func(p, q *ical.Property) bool { return p.String() == q.String() })
}

func clones(all []*ical.Property) []*ical.Property {
	made := make([]*ical.Property, len(all))
	for i, p := range all {
		made[i] = p.Clone()
	}
	return made
}
