package calendar

import (
	"context"
	"encoding/json"
	"slices"

	"caldav-mcp-server/ical"
)

// Difference is what a change did to one property.
type Difference struct {
	// In is the component: "VEVENT", "VEVENT 20260309T090000Z" for an instance of a series, "" for
	// a calendar's settings.
	In string
	// Name is the property's.
	Name string
	// Before and After are its lines as they were and are; one of them may be empty.
	Before, After []string
}

// differences tells what a change did. It is nil when the journal does not know any more.
func (s *Service) differences(ctx context.Context, j journalOf, e Entry) ([]Difference, error) {
	var before, after []byte
	last := true
	// The latest first: what comes last is the change itself, before it stands what came next.
	for each, err := range s.store.Entries(ctx, e.Calendar, e.siblings(e.Version)) {
		if err != nil {
			return nil, err
		}
		if each.Version == e.Version {
			before = each.Before
			break
		}
		after, last = each.Before, false
	}
	if last {
		now, err := s.present(ctx, j, e)
		if err != nil {
			return nil, err
		}
		after = now
	}
	if before == nil || after == nil || e.Change != Modified {
		return nil, nil
	}
	return compare(before, after), nil
}

// siblings asks for the changes of what a change is about, from a version on.
func (e Entry) siblings(from Version) EntryQuery {
	if e.Whom != "" {
		return EntryQuery{From: from, Whom: e.Whom}
	}
	return EntryQuery{From: from, Of: &e.UID}
}

// present are the bytes of what a change is about as it is now, nil when it is not there.
func (s *Service) present(ctx context.Context, j journalOf, e Entry) ([]byte, error) {
	if e.Whom != "" {
		shares, err := s.store.Shares(ctx, j.ID)
		return presentOffer(shares, e.Whom).data, err
	}
	if e.UID == "" {
		kept, err := s.store.Kept(ctx, Holder{Place: AtCalendar, Calendar: j.Calendar})
		return settingsOf(j.Calendar, kept).encode(), err
	}
	o, err := s.store.ObjectByUID(ctx, j.ID, e.UID)
	if err != nil && ReasonOf(err) == NotFound {
		return nil, nil
	}
	return o.Data, err
}

// compare lists the properties in which two texts differ, in the order in which they stand.
func compare(before, after []byte) []Difference {
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

// lineKey is a property of a component.
type lineKey struct{ in, name string }

// textLines are the properties of a text.
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
		// An older program took it. It can be compared as a whole.
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

// without returns the lines that are not among the others, as often as they are there more.
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
