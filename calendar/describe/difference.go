package describe

import (
	"encoding/json"
	"slices"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/ical"
)

// Difference is the change to one property.
type Difference struct {
	// In is the component: "VEVENT", "VEVENT 20260309T090000Z" for an override, "" for a calendar's settings.
	In string
	// Name is the property's name.
	Name string
	// Before and After are the property's lines before and after the change; one of them may be empty.
	Before, After []string
}

// Differences lists the properties that the change modified. It is nil for a creation or a deletion, and if Before
// or After is missing.
func Differences(c calendar.Change) []Difference {
	if c.Did != calendar.Modified || c.Before == nil || c.After == nil {
		return nil
	}
	return Compare(c.Before, c.After)
}

// Compare lists the properties that differ between two texts, in the order of the texts.
func Compare(before, after []byte) []Difference {
	old, now := linesOf(before), linesOf(after)
	list := []Difference{}
	for _, key := range slices.Concat(old.order, now.order) {
		if slices.ContainsFunc(list, func(d Difference) bool { return key == lineKey{d.In, d.Name} }) {
			continue
		}
		b, a := without(old.lines[key], now.lines[key]), without(now.lines[key], old.lines[key])
		if len(b) > 0 || len(a) > 0 {
			list = append(list, Difference{key.in, key.name, b, a})
		}
	}
	return list
}

// lineKey is a property name in a component.
type lineKey struct{ in, name string }

// textLines are the property lines of a text.
type textLines struct {
	order []lineKey
	lines map[lineKey][]string
}

func (t *textLines) add(in, name, line string) {
	key := lineKey{in, name}
	if _, known := t.lines[key]; !known {
		t.order = append(t.order, key)
	}
	t.lines[key] = append(t.lines[key], line)
}

func linesOf(data []byte) *textLines {
	t := &textLines{lines: map[lineKey][]string{}}
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) == nil {
		names := make([]string, 0, len(fields))
		for name := range fields {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			t.add("", name, string(fields[name]))
		}
		return t
	}
	doc, err := ical.Parse(data, ical.Limits{})
	if err != nil {
		// An older version stored this text although it does not parse. Compare it as a whole.
		t.add("", "text", string(data))
		return t
	}
	for c := range doc.Components() {
		t.addComponent("", c)
	}
	return t
}

func (t *textLines) addComponent(in string, c *ical.Component) {
	if c.Name() != "VCALENDAR" {
		if in != "" {
			in += " "
		}
		in += c.Name()
	}
	if p := c.Property("RECURRENCE-ID"); p != nil {
		in += " " + p.Value()
	}
	for p := range c.Properties() {
		t.add(in, p.Name(), p.String())
	}
	for sub := range c.Components() {
		t.addComponent(in, sub)
	}
}

// without removes others from lines. It counts duplicates: each of the others removes one line.
func without(lines, others []string) []string {
	others = slices.Clone(others)
	var left []string
	for _, line := range lines {
		if i := slices.Index(others, line); i >= 0 {
			others = slices.Delete(others, i, i+1)
		} else {
			left = append(left, line)
		}
	}
	return left
}
