package schedule

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// Rules are the rules of scheduling, with what they are told of the world.
type Rules struct {
	Zones *zone.DB
	Now   time.Time
	// Known tells that a new event was there before: its guests were told, called off, and have answered what it says.
	Known bool
	// CalledOff is the SEQUENCE with which guests were told that an event of the same UID, which a new one takes the place of,
	// is called off; 0 where there was none.
	CalledOff int
	// Origin is the series that a new event was split from: its answers stay where the times do. Nil for none.
	Origin *content.Object
	// Person tells who has an address; nil where nobody has two.
	Person func(Address) Person
	// Meter counts what the change costs; nil where nobody counts.
	Meter *meter.Meter
}

// who tells who has an address.
func (r Rules) who(a Address) Person {
	if r.Person == nil {
		return Person(a)
	}
	return r.Person(a)
}

// person tells which addresses are of the person who has one.
func (r Rules) person(a Address) Self {
	who := r.who(a)
	return func(b Address) bool { return r.who(b) == who }
}

// reading is an object of which the instances are told apart by when they are. What differs is always what instances
// come to, and not how many components say so: an answer for one instance makes a component and changes no meeting.
type reading struct {
	*content.Object
	rules     Rules
	now       time.Time
	clock     content.Clock
	instances *edit.Instances
	// apart are the overrides, by the keys of their instances.
	apart map[int64]*ical.Component
	ids   map[int64]ical.Time
	made  map[int64]*ical.Component
	// What was found out already: who is in a component, whether it is called off, and what the series leaves out.
	rosters map[*ical.Component]*roster
	off     map[*ical.Component]bool
	guests  map[*ical.Component]int
	left    map[int64]ical.Time
	// seriesLine is the line in the series of the one person for whom a reading of theirs is made, once it was looked for.
	seriesLine *ical.Property
	looked     bool
	// sent are the delegates of that person, once they were sought.
	sent   []Address
	sought bool
}

// read makes a reading; of no object an empty one.
func (r Rules) read(ctx context.Context, o *content.Object) (*reading, error) {
	x := &reading{
		Object: o, rules: r, now: r.Now, apart: map[int64]*ical.Component{}, ids: map[int64]ical.Time{}, made: map[int64]*ical.Component{},
		rosters: map[*ical.Component]*roster{}, off: map[*ical.Component]bool{}, guests: map[*ical.Component]int{},
	}
	if o == nil {
		return x, nil
	}
	x.clock = o.Clock(r.Zones, nil)
	// An object whose rules cannot be computed has only the instances that are told apart.
	x.instances, _ = edit.Editor{Zones: r.Zones, Now: r.Now}.Instances(ctx, o, "ORGANIZER", "ATTENDEE")
	for _, c := range o.Overrides {
		id, err := c.Property("RECURRENCE-ID").Time()
		if err != nil {
			return nil, err
		}
		key, err := x.key(id)
		if err != nil {
			return nil, err
		}
		x.apart[key], x.ids[key] = c, id
	}
	return x, nil
}

func (x *reading) key(id ical.Time) (int64, error) {
	if x.instances != nil {
		return x.instances.Key(id)
	}
	return x.clock.At(id)
}

// master is the series, or what takes place once; nil where there is none.
func (x *reading) master() *ical.Component {
	if x.Object == nil {
		return nil
	}
	return x.Master
}

// at is what an instance comes to; nil where there is none. One that is made of the series leaves it to that to say who
// takes part: instances and guests are many.
func (x *reading) at(key int64, id ical.Time) *ical.Component {
	if c := x.apart[key]; c != nil {
		return c
	}
	if c, known := x.made[key]; known {
		return c
	}
	var c *ical.Component
	if _, out := x.excluded()[key]; !out && x.master() != nil && x.instances != nil {
		// An instance that cannot be found is not there.
		c, _ = x.instances.At(id)
	}
	x.made[key] = c
	return c
}

// dress gives an instance that is made of the series the people of that, before it becomes part of the object.
func (x *reading) dress(c *ical.Component) {
	if !x.inherits(c) {
		return
	}
	for _, name := range [...]string{"ORGANIZER", "ATTENDEE"} {
		var lines []*ical.Property
		for _, p := range x.Master.All(name) {
			lines = append(lines, p.Clone())
		}
		c.Add(lines...)
	}
	delete(x.rosters, c)
}

// excluded are the instances that the series leaves out, by their keys, as it was read.
func (x *reading) excluded() map[int64]ical.Time {
	if x.left == nil {
		x.left = x.excludes()
	}
	return x.left
}

func (x *reading) excludes() map[int64]ical.Time {
	out := map[int64]ical.Time{}
	if x.master() == nil {
		return out
	}
	for _, p := range x.Master.All("EXDATE") {
		times, err := p.Times()
		if err != nil {
			continue
		}
		for _, t := range times {
			if key, err := x.key(t); err == nil {
				out[key] = t
			}
		}
	}
	return out
}

// touched are the instances that two readings tell apart or leave out, in order.
func touched(a, b *reading) ([]int64, map[int64]ical.Time) {
	ids := map[int64]ical.Time{}
	for _, x := range [...]*reading{a, b} {
		maps.Copy(ids, x.excluded())
		maps.Copy(ids, x.ids)
	}
	return slices.Sorted(maps.Keys(ids)), ids
}

// attendeesIn returns the ATTENDEE lines of a component. An override without any has those of
// its series.
func (x *reading) attendeesIn(c *ical.Component) []*ical.Property {
	if c == nil {
		return nil
	}
	if x.inherits(c) {
		c = x.Master
	}
	return c.All("ATTENDEE")
}

// attends tells whether somebody takes part in what a component says, as far as the server sees to it.
func (x *reading) attends(c *ical.Component, is Self) bool {
	if c == nil || content.WordOf(c, "STATUS") == "CANCELLED" {
		return false
	}
	if x.inherits(c) {
		p := x.mine(c, is)
		return p != nil && served(p)
	}
	return slices.ContainsFunc(c.All("ATTENDEE"), func(p *ical.Property) bool { return is(addressOf(p)) && served(p) })
}

// timing is when an event takes place, and how often, in a form that can be compared. Where it changes, a guest who was
// asked is asked anew (RFC 6638 §3.2.8).
func (x *reading) timing(c *ical.Component) string {
	if c == nil {
		return ""
	}
	var b strings.Builder
	start, end, err := x.clock.Bounds(c)
	b.WriteString(strconv.FormatInt(start, 10) + " " + strconv.FormatInt(end, 10))
	if err != nil || c.Property("DTSTART") == nil {
		b.WriteString(text(c, "DTSTART") + text(c, "DTEND") + text(c, "DURATION"))
	}
	if p := c.Property("DTSTART"); p != nil {
		if t, err := p.Time(); err == nil && t.IsDate() {
			b.WriteString(" day")
		}
	}
	if p := c.Property("DUE"); p != nil {
		at, _, _ := x.clock.Time(c, "DUE")
		b.WriteString(" due " + strconv.FormatInt(at, 10))
	}
	for _, name := range [...]string{"RRULE", "EXRULE"} {
		for _, p := range c.All(name) {
			parts := strings.Split(strings.ToUpper(strings.TrimSpace(p.Value())), ";")
			slices.Sort(parts)
			b.WriteString("\n" + name + strings.Join(parts, ";"))
		}
	}
	b.WriteString(x.dates(c))
	if z, at := x.zoneOf(c); z != nil {
		b.WriteString("\n" + at.Civil.String() + pace(z, max(start, x.now.Unix())))
	}
	return b.String()
}

// zoneOf is the zone by which something takes place again and again, and when it does so first; nil where there is
// none, or what is there cannot be calculated with.
func (x *reading) zoneOf(c *ical.Component) (*zone.Zone, ical.Time) {
	p := c.Property("DTSTART")
	if p == nil || c.Property("RRULE") == nil && c.Property("RDATE") == nil {
		return nil, ical.Time{}
	}
	t, err := p.Time()
	if err != nil || t.Form != ical.FormZoned {
		return nil, t
	}
	z, err := x.clock.Zones.Zone(t.TZID)
	if err != nil {
		return nil, t
	}
	return z, t
}

// foreseen is how far two zones are compared, in years.
const foreseen = 10

// pace is how the clocks of a zone go from an instant on. Series in two zones may begin at the same instant, and part
// with the next summer.
func pace(z *zone.Zone, from int64) string {
	var b strings.Builder
	until := time.Unix(from, 0).AddDate(foreseen, 0, 0).Unix()
	segment := z.Segment(from)
	b.WriteString(" " + strconv.FormatInt(segment.Offset, 10))
	for segment.To < until {
		next := z.Segment(segment.To)
		if next.Offset != segment.Offset {
			b.WriteString(" " + strconv.FormatInt(segment.To, 10) + "=" + strconv.FormatInt(next.Offset, 10))
		}
		segment = next
	}
	return b.String()
}

// dates are the RDATEs of a component.
func (x *reading) dates(c *ical.Component) string {
	var all []string
	for _, p := range c.All("RDATE") {
		times, err := p.Times()
		if err != nil {
			all = append(all, p.Value())
			continue
		}
		for _, t := range times {
			at, _ := x.clock.At(t)
			all = append(all, strconv.FormatInt(at, 10))
		}
	}
	slices.Sort(all)
	return "\n" + strings.Join(slices.Compact(all), ",")
}

func text(c *ical.Component, name string) string {
	if p := c.Property(name); p != nil {
		return "\n" + p.String()
	}
	return ""
}

// told are the properties, beside the times, that the organizer says and attendees are told of. All others are each
// one's own: nobody gets mail since a colour changed.
var told = [...]string{
	"SUMMARY", "DESCRIPTION", "LOCATION", "GEO", "URL", "STATUS", "PRIORITY", "CONTACT", "RESOURCES", "ATTACH",
	"CONFERENCE", "RELATED-TO", "STYLED-DESCRIPTION",
}

// essence is all that attendees are told of something.
func (x *reading) essence(c *ical.Component) string {
	if c == nil {
		return ""
	}
	return x.timing(c) + x.wording(c)
}

// wording is the part of a component that attendees read, without the times. It includes the name of a series' zone:
// another name with the same clocks is told, and asks for no answer.
func (x *reading) wording(c *ical.Component) string {
	said := words(c, told[:])
	if z, _ := x.zoneOf(c); z != nil {
		said += "\n" + z.Name()
	}
	return said
}

// words are the values of properties, in a form that can be compared.
func words(c *ical.Component, names []string) string {
	var b strings.Builder
	for _, name := range names {
		var values []string
		for _, p := range c.All(name) {
			value := p.Value()
			if name == "STATUS" {
				value = content.Word(p)
			}
			values = append(values, value)
		}
		// Not said is what it is unless it is said.
		if name == "STATUS" && c.Name() == content.Event && len(values) == 0 {
			values = []string{"CONFIRMED"}
		}
		slices.Sort(values)
		b.WriteString("\n" + name + ":" + strings.Join(values, "\n\t"))
	}
	return b.String()
}

// sequence is a component's SEQUENCE.
func sequence(c *ical.Component) int {
	if c == nil {
		return 0
	}
	p := c.Property("SEQUENCE")
	if p == nil {
		return 0
	}
	n, err := p.Int()
	if err != nil {
		return 0
	}
	return max(0, n)
}

// readCopy reads a copy of an object, which may be changed.
func (r Rules) readCopy(ctx context.Context, o *content.Object) (*reading, error) {
	made, err := copyOf(o)
	if err != nil {
		return nil, err
	}
	return r.read(ctx, made)
}

func copyOf(o *content.Object) (*content.Object, error) { return content.Of(o.Document.Clone()) }
