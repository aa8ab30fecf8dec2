package content

import (
	"maps"
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

// WithAnswers returns a version of an object with the attendees' answers of another one, where both have the attendee.
func WithAnswers(text, now []byte) ([]byte, error) {
	var objects [2]*Object
	for i, data := range [...][]byte{text, now} {
		var err error
		if objects[i], err = Read(data, ical.Limits{}); err != nil {
			return nil, err
		}
	}
	here := parts(objects[1].Calendar)
	for c := range objects[0].Calendar.Components() {
		known := here[keyOf(c)]
		if known == nil {
			continue
		}
		answers := byKey(known.All("ATTENDEE"), addressOf)
		for _, p := range c.All("ATTENDEE") {
			if other := answers[addressOf(p)]; other != nil {
				if answer, given := other.Param("PARTSTAT"); given {
					p.SetParam("PARTSTAT", answer)
				}
			}
		}
	}
	return objects[0].Document.Bytes(), nil
}

type rebase struct{ both []string }

// component changes now.
func (r *rebase) component(before, after, now *ical.Component) {
	r.properties(before, after, now)
	was, is, wanted := parts(before), parts(now), parts(after)
	for changed := range after.Components() {
		old, here := was[keyOf(changed)], is[keyOf(changed)]
		switch {
		case old != nil && same(old, changed):
		case here == nil:
			if old != nil {
				r.both = append(r.both, changed.Name())
			}
			now.AddComponent(changed.Clone())
		case old == nil && same(changed, here):
		case old == nil:
			r.component(ical.NewComponent(changed.Name()), changed, here)
		default:
			r.component(old, changed, here)
		}
	}
	for old := range before.Components() {
		if here := is[keyOf(old)]; here != nil && wanted[keyOf(old)] == nil {
			if !same(old, here) {
				r.both = append(r.both, old.Name())
			}
			now.RemoveComponent(here)
		}
	}
}

// keyOf identifies a sub-component by the recurrence id, the zone's name, or the whole text.
func keyOf(c *ical.Component) string {
	key := c.Name() + "\x00"
	switch c.Name() {
	case Event, Todo, Journal, FreeBusy, Availability:
		if id := c.Property("RECURRENCE-ID"); id != nil {
			key += id.Value()
		}
	case timezone:
		key += TextOf(c, "TZID")
	default:
		key += string(letters(c))
	}
	return key
}

// parts returns the sub-components by their keys.
func parts(c *ical.Component) map[string]*ical.Component {
	all := map[string]*ical.Component{}
	for sub := range c.Components() {
		all[keyOf(sub)] = sub
	}
	return all
}

func same(a, b *ical.Component) bool { return string(letters(a)) == string(letters(b)) }

// times are the properties that make up the time of an event. They change together.
const times = "DTSTART DTEND DURATION DUE"

// groups returns the properties of a component that change together, by the name of the group.
func groups(c *ical.Component) map[string][]*ical.Property {
	all := map[string][]*ical.Property{}
	for p := range c.Properties() {
		name := p.Name()
		if slices.Contains(strings.Fields(times), name) {
			name = times
		}
		all[name] = append(all[name], p)
	}
	return all
}

func equal(a, b []*ical.Property) bool {
	return slices.EqualFunc(a, b, func(a, b *ical.Property) bool { return a.String() == b.String() })
}

// properties changes the properties of now.
func (r *rebase) properties(before, after, now *ical.Component) {
	was, wanted, is := groups(before), groups(after), groups(now)
	drop := map[*ical.Property]bool{}
	var add []*ical.Property
	change := func(old, changed *ical.Property) {
		drop[old] = true
		if changed != nil {
			add = append(add, changed.Clone())
		}
	}
	names := slices.Concat(slices.Collect(maps.Keys(was)), slices.Collect(maps.Keys(wanted)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		old, changed, here := was[name], wanted[name], is[name]
		if equal(old, changed) || equal(changed, here) {
			continue
		}
		if !equal(old, here) {
			switch name {
			case "ATTENDEE":
				r.each(old, changed, here, addressOf, change)
				continue
			case "EXDATE", "RDATE", "CATEGORIES", "ATTACH", "COMMENT":
				r.each(old, changed, here, (*ical.Property).String, change)
				continue
			case "DTSTAMP", "LAST-MODIFIED", "SEQUENCE":
			default:
				r.both = append(r.both, strings.Fields(name)[0])
			}
		}
		for _, p := range here {
			change(p, nil)
		}
		for _, p := range changed {
			change(nil, p)
		}
	}
	now.RemoveFunc(func(p *ical.Property) bool { return drop[p] })
	now.Add(add...)
}

func addressOf(p *ical.Property) string { return strings.ToLower(p.Value()) }

// each combines properties that may occur several times, by their key. If both versions changed one, here stays: of an
// attendee it has the answer.
func (r *rebase) each(
	old, changed, here []*ical.Property, key func(*ical.Property) string, change func(old, changed *ical.Property),
) {
	was, wanted, is := byKey(old, key), byKey(changed, key), byKey(here, key)
	for _, p := range here {
		before, after := was[key(p)], wanted[key(p)]
		switch {
		case before == nil:
		case after == nil:
			change(p, nil)
		case after.String() == before.String() || after.String() == p.String():
		case p.String() == before.String():
			change(p, after)
		default:
			r.both = append(r.both, p.Name())
		}
	}
	for _, p := range changed {
		if was[key(p)] == nil && is[key(p)] == nil {
			change(nil, p)
		}
	}
}

func byKey(all []*ical.Property, key func(*ical.Property) string) map[string]*ical.Property {
	found := make(map[string]*ical.Property, len(all))
	for _, p := range all {
		found[key(p)] = p
	}
	return found
}
