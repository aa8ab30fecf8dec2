package invitations_test

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// document is an iCalendar object as a client edits it: lines that it does not touch keep their bytes.
type document struct {
	head   []string // the calendar's own properties
	zones  []string // VTIMEZONE and other components, as they were
	events []*component
}

// component is a VEVENT: its unfolded property lines, and what is nested in it.
type component struct {
	lines  []string
	nested []string
}

// property is one line taken apart. Names and parameter names are in upper case.
type property struct {
	name   string
	params map[string]string
	value  string
}

func parse(text string) *document {
	text = strings.NewReplacer("\r\n ", "", "\r\n\t", "").Replace(text)
	d := &document{}
	var event *component
	depth := 0
	for line := range strings.SplitSeq(strings.TrimRight(text, "\r\n"), "\r\n") {
		begin, end := strings.HasPrefix(line, "BEGIN:"), strings.HasPrefix(line, "END:")
		switch {
		case line == "BEGIN:VCALENDAR" || line == "END:VCALENDAR":
		case line == "BEGIN:VEVENT":
			event = &component{}
		case line == "END:VEVENT":
			d.events, event = append(d.events, event), nil
		case begin || end || depth > 0:
			if begin {
				depth++
			} else if end {
				depth--
			}
			if event != nil {
				event.nested = append(event.nested, line)
			} else {
				d.zones = append(d.zones, line)
			}
		case event != nil:
			event.lines = append(event.lines, line)
		default:
			d.head = append(d.head, line)
		}
	}
	return d
}

func (d *document) String() string {
	lines := slices.Concat([]string{"BEGIN:VCALENDAR"}, d.head, d.zones)
	for _, e := range d.events {
		lines = slices.Concat(lines, []string{"BEGIN:VEVENT"}, e.lines, e.nested, []string{"END:VEVENT"})
	}
	return strings.Join(append(lines, "END:VCALENDAR", ""), "\r\n")
}

func (d *document) clone() *document { return parse(d.String()) }

func (d *document) uid() string { return d.events[0].value("UID") }

// method is what a message is for.
func (d *document) method() string {
	for _, line := range d.head {
		if value, ok := strings.CutPrefix(line, "METHOD:"); ok {
			return value
		}
	}
	return ""
}

// master is the component of the whole series, or of a single event; nil where only some days are described.
func (d *document) master() *component {
	for _, e := range d.events {
		if !e.has("RECURRENCE-ID") {
			return e
		}
	}
	return nil
}

// override is the component of one instance, nil if there is none.
func (d *document) override(key string) *component {
	for _, e := range d.events {
		if e.has("RECURRENCE-ID") && e.key() == key {
			return e
		}
	}
	return nil
}

func (d *document) drop(key string) {
	d.events = slices.DeleteFunc(d.events, func(e *component) bool { return e.has("RECURRENCE-ID") && e.key() == key })
}

func split(line string) property {
	quoted, colon := false, len(line)
	for i, c := range line {
		if c == '"' {
			quoted = !quoted
		}
		if c == ':' && !quoted {
			colon = i
			break
		}
	}
	parts := strings.Split(line[:colon], ";")
	p := property{name: strings.ToUpper(parts[0]), params: map[string]string{}, value: line[min(colon+1, len(line)):]}
	for _, part := range parts[1:] {
		name, value, _ := strings.Cut(part, "=")
		p.params[strings.ToUpper(name)] = strings.Trim(value, `"`)
	}
	return p
}

func (c *component) clone() *component {
	return &component{lines: slices.Clone(c.lines), nested: slices.Clone(c.nested)}
}

func (c *component) all(name string) []property {
	var list []property
	for _, line := range c.lines {
		if p := split(line); p.name == name {
			list = append(list, p)
		}
	}
	return list
}

func (c *component) first(name string) (property, bool) {
	if list := c.all(name); len(list) > 0 {
		return list[0], true
	}
	return property{}, false
}

func (c *component) has(name string) bool {
	_, ok := c.first(name)
	return ok
}

func (c *component) value(name string) string {
	p, _ := c.first(name)
	return p.value
}

func (c *component) sequence() (n int) {
	_, _ = fmt.Sscan(c.value("SEQUENCE"), &n)
	return n
}

func (c *component) del(name string) {
	c.lines = slices.DeleteFunc(c.lines, func(line string) bool { return split(line).name == name })
}

// set puts a line in the place of those of its name.
func (c *component) set(line string) {
	c.del(split(line).name)
	c.lines = append(c.lines, line)
}

// key names the instance that an override is of.
func (c *component) key() string {
	p, _ := c.first("RECURRENCE-ID")
	return keyOf(p.moment())
}

// address is a calendar user address without its scheme.
func (p property) address() string { return strings.TrimPrefix(strings.ToLower(p.value), "mailto:") }

// invited are the attendees and what they answered.
func (c *component) invited() map[string]string {
	who := map[string]string{}
	for _, p := range c.all("ATTENDEE") {
		part := p.params["PARTSTAT"]
		if part == "" {
			part = "NEEDS-ACTION" // RFC 5545 §3.2.12
		}
		who[p.address()] = part
	}
	return who
}

// uninvite takes an attendee out.
func (c *component) uninvite(who string) {
	c.lines = slices.DeleteFunc(c.lines, func(line string) bool {
		p := split(line)
		return p.name == "ATTENDEE" && p.address() == who
	})
}

// answer sets what one attendee says, and leaves the rest of the line.
func (c *component) answer(who, part string) {
	for i, line := range c.lines {
		p := split(line)
		if p.name != "ATTENDEE" || p.address() != who {
			continue
		}
		p.params["PARTSTAT"] = part
		delete(p.params, "RSVP")
		c.lines[i] = p.String()
	}
}

func (p property) String() string {
	line := p.name
	for _, name := range slices.Sorted(mapKeys(p.params)) {
		value := p.params[name]
		if strings.ContainsAny(value, ":;,") {
			value = `"` + value + `"`
		}
		line += ";" + name + "=" + value
	}
	return line + ":" + p.value
}

const (
	stampForm = "20060102T150405Z"
	wallForm  = "20060102T150405"
	dayForm   = "20060102"
)

// keyOf names an instance by the moment at which it was to start.
func keyOf(at time.Time) string { return at.UTC().Format(stampForm) }

// place is the zone of a property's local times.
func (p property) place() *time.Location {
	if name := p.params["TZID"]; name != "" {
		if loc, err := time.LoadLocation(name); err == nil {
			return loc
		}
	}
	return time.UTC
}

func (p property) moment() time.Time { return p.moments()[0] }

// moments reads all times of a property. Dates are midnights in UTC.
func (p property) moments() []time.Time {
	var list []time.Time
	for value := range strings.SplitSeq(p.value, ",") {
		at, err := time.ParseInLocation(wallForm, strings.TrimSuffix(value, "Z"), p.place())
		if strings.HasSuffix(value, "Z") {
			at, err = time.Parse(stampForm, value)
		}
		if len(value) == len(dayForm) {
			at, err = time.Parse(dayForm, value)
		}
		if err != nil {
			panic(err)
		}
		list = append(list, at)
	}
	return list
}

// at writes a moment as this property has its times.
func (p property) at(moment time.Time) property {
	form := wallForm
	switch {
	case p.params["VALUE"] == "DATE":
		form = dayForm
	case p.params["TZID"] == "":
		form = stampForm
	}
	return property{name: p.name, params: p.params, value: moment.In(p.place()).Format(form)}
}

// named is the property under another name.
func (p property) named(name string) property { p.name = name; return p }
