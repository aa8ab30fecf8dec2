package content

import (
	"slices"
	"strings"

	"caldav-mcp-server/ical"
)

// Rebase applies the difference between two versions of an object, before and after, to a third one that was made from
// before as well. It returns the names of the properties that both changed, in different ways: there after wins, except
// that answers of attendees in now are kept. A nil before or after is a new or a deleted object.
func Rebase(before, after, now []byte) (result []byte, both []string, err error) {
	if len(before) == 0 || len(after) == 0 {
		return after, nil, nil
	}
	var objects [3]*Object
	for i, data := range [...][]byte{before, after, now} {
		if objects[i], err = Read(data, ical.Limits{}); err != nil {
			return nil, nil, err
		}
	}
	r := rebase{}
	r.component(objects[0].Calendar, objects[1].Calendar, objects[2].Calendar)
	slices.Sort(r.both)
	return objects[2].Document.Bytes(), slices.Compact(r.both), nil
}

type rebase struct{ both []string }

// component changes now.
func (r *rebase) component(before, after, now *ical.Component) {
	for _, name := range propertyGroups(before, after) {
		r.properties(name, before, after, now)
	}
	for key, changed := range parts(after) {
		was, is := parts(before)[key], parts(now)[key]
		switch {
		case was != nil && same(was, changed):
		case is == nil:
			if was != nil {
				r.both = append(r.both, changed.Name())
			}
			now.AddComponent(changed.Clone())
		case was == nil && same(changed, is):
		case was == nil:
			r.component(ical.NewComponent(changed.Name()), changed, is)
		default:
			r.component(was, changed, is)
		}
	}
	for key, was := range parts(before) {
		if is := parts(now)[key]; is != nil && parts(after)[key] == nil {
			if !same(was, is) {
				r.both = append(r.both, was.Name())
			}
			now.RemoveComponent(is)
		}
	}
}

// parts returns the sub-components by their identity: the recurrence id, the zone's name, or the whole text.
func parts(c *ical.Component) map[string]*ical.Component {
	all := map[string]*ical.Component{}
	for sub := range c.Components() {
		key := sub.Name() + "\x00"
		switch sub.Name() {
		case Event, Todo, Journal, FreeBusy, Availability:
			if id := sub.Property("RECURRENCE-ID"); id != nil {
				key += id.Value()
			}
		case timezone:
			key += TextOf(sub, "TZID")
		default:
			key += string(letters(sub))
		}
		all[key] = sub
	}
	return all
}

func same(a, b *ical.Component) bool { return string(letters(a)) == string(letters(b)) }

// times are the properties that make up the time of an event. They change together.
const times = "DTSTART DTEND DURATION DUE"

// groupOf returns the name of the group of properties that change together.
func groupOf(name string) string {
	if slices.Contains(strings.Fields(times), name) {
		return times
	}
	return name
}

func propertyGroups(all ...*ical.Component) (names []string) {
	for _, c := range all {
		for p := range c.Properties() {
			if name := groupOf(p.Name()); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func linesOf(c *ical.Component, group string) (lines []string) {
	for p := range c.Properties() {
		if groupOf(p.Name()) == group {
			lines = append(lines, p.String())
		}
	}
	return lines
}

// properties changes a group of properties of now.
func (r *rebase) properties(group string, before, after, now *ical.Component) {
	was, wanted, is := linesOf(before, group), linesOf(after, group), linesOf(now, group)
	if slices.Equal(was, wanted) || slices.Equal(wanted, is) {
		return
	}
	if !slices.Equal(was, is) {
		switch group {
		case "ATTENDEE":
			r.attendees(before, after, now)
			return
		case "EXDATE", "RDATE", "CATEGORIES", "ATTACH", "COMMENT":
			mix(before, after, now, group)
			return
		case "DTSTAMP", "LAST-MODIFIED", "SEQUENCE":
		default:
			r.both = append(r.both, strings.Fields(group)[0])
		}
	}
	now.RemoveFunc(func(p *ical.Property) bool { return groupOf(p.Name()) == group })
	for p := range after.Properties() {
		if groupOf(p.Name()) == group {
			now.Add(p.Clone())
		}
	}
}

// mix removes the lines that after lacks, and adds its new lines.
func mix(before, after, now *ical.Component, group string) {
	was, wanted, is := linesOf(before, group), linesOf(after, group), linesOf(now, group)
	now.RemoveFunc(func(p *ical.Property) bool {
		return p.Name() == group && slices.Contains(was, p.String()) && !slices.Contains(wanted, p.String())
	})
	for _, p := range after.All(group) {
		if line := p.String(); !slices.Contains(was, line) && !slices.Contains(is, line) {
			now.Add(p.Clone())
		}
	}
}

// attendees adds and removes the attendees that after adds and removes. If both versions changed an attendee, now has
// the answer.
func (r *rebase) attendees(before, after, now *ical.Component) {
	was, wanted, is := attendeesOf(before), attendeesOf(after), attendeesOf(now)
	for address, p := range is {
		old := was[address]
		if old == nil {
			continue
		}
		changed := wanted[address]
		switch {
		case changed == nil:
			now.RemoveProperty(p)
		case changed.String() == old.String():
		case p.String() == old.String():
			now.RemoveProperty(p)
			now.Add(changed.Clone())
		case p.String() != changed.String():
			r.both = append(r.both, "ATTENDEE")
		}
	}
	for _, p := range after.All("ATTENDEE") {
		address := strings.ToLower(p.Value())
		if was[address] == nil && is[address] == nil {
			now.Add(p.Clone())
		}
	}
}

func attendeesOf(c *ical.Component) map[string]*ical.Property {
	all := map[string]*ical.Property{}
	for _, p := range c.All("ATTENDEE") {
		all[strings.ToLower(p.Value())] = p
	}
	return all
}
