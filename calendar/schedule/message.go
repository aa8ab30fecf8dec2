package schedule

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// Method is the purpose of a message (RFC 5546 §1.4).
type Method string

// The methods that messages are made with.
const (
	Request Method = "REQUEST"
	Cancel  Method = "CANCEL"
	Reply   Method = "REPLY"
)

// Message is a scheduling message to somebody (RFC 5546).
type Message struct {
	Method Method
	// From is the sender, To the recipient.
	From, To Address
	// Recurrence is the RECURRENCE-ID of the one instance that it is about; "" where it is about more.
	Recurrence string
	Sequence   int
	// First tells that the recipient was told nothing of the event before.
	First bool
	// Answered is the recipient's earlier answer, where there is only one.
	Answered string
	// Retimed tells that it asks for another answer, since the times are others.
	Retimed bool
	// Refresh tells that the message only passes on the answers of other guests, so that nobody need hear of it.
	Refresh bool
	// Same are the RECURRENCE-IDs of instances of which it says what the recipient was told before.
	Same     map[string]bool
	Document *ical.Document
}

// view is the part of an event that an attendee takes part in.
type view struct {
	master *ical.Component
	apart  map[int64]*ical.Component
	// without are the instances of the series in which they do not.
	without map[int64]ical.Time
}

// view finds the part that somebody takes part in.
func (x *reading) view(who Person) view {
	v := view{apart: map[int64]*ical.Component{}, without: map[int64]ical.Time{}}
	if x.joins(x.master(), who) {
		v.master = x.Master
	}
	for key, c := range x.apart {
		switch {
		case x.joins(c, who):
			v.apart[key] = c
		case v.master != nil:
			v.without[key] = x.ids[key]
		}
	}
	return v
}

func (v view) empty() bool { return v.master == nil && len(v.apart) == 0 }

// components are the components of a view that are sent.
func (v view) components() []*ical.Component {
	var all []*ical.Component
	if v.master != nil {
		master := v.master.Clone()
		var without []*ical.Property
		for _, key := range slices.Sorted(maps.Keys(v.without)) {
			without = append(without, ical.NewTime("EXDATE", v.without[key]))
		}
		master.Add(without...)
		all = append(all, master)
	}
	for _, key := range slices.Sorted(maps.Keys(v.apart)) {
		all = append(all, v.apart[key].Clone())
	}
	return all
}

// sequence is the highest of a view.
func (v view) sequence() int {
	highest := sequence(v.master)
	for _, c := range v.apart {
		highest = max(highest, sequence(c))
	}
	return highest
}

// compose makes the text of a message of components of a reading, which are given away. It defines the zones that the
// reading only names; weighed has counted them.
func (r Rules) compose(x *reading, method Method, components []*ical.Component) *ical.Document {
	root := content.Root()
	root.Add(ical.NewText("METHOD", string(method)))
	for _, c := range x.Calendar.AllComponents("VTIMEZONE") {
		root.AddComponent(c.Clone())
	}
	for _, c := range components {
		r.dress(x, c, method)
		root.AddComponent(c)
	}
	_ = content.DefineZones(root, r.Zones, nil) // without a meter nothing can fail
	return ical.NewDocument(root)
}

// dress makes a component fit to be seen by others: it names its recipient, and has nothing private to the sender.
func (r Rules) dress(x *reading, c *ical.Component, method Method) {
	if c.Property("ORGANIZER") == nil {
		if org := organizer(x.Object); org != nil {
			c.Add(org.Clone())
		}
		if c.Property("ATTENDEE") == nil && x.master() != nil {
			var lines []*ical.Property
			for _, p := range x.Master.All("ATTENDEE") {
				lines = append(lines, p.Clone())
			}
			c.Add(lines...)
		}
	}
	undress(c, method)
	c.Set(ical.NewTime("DTSTAMP", ical.Instant(r.Now)))
}

// undress takes away what is the sender's own, or between them and their server.
func undress(c *ical.Component, method Method) {
	for _, inner := range slices.Collect(c.Components()) {
		if name := inner.Name(); name == "VALARM" || strings.HasPrefix(name, "X-") {
			c.RemoveComponent(inner)
		}
	}
	c.RemoveFunc(func(p *ical.Property) bool {
		if name := p.Name(); name != "ATTENDEE" && name != "ORGANIZER" {
			return private(name, method)
		}
		bare(p)
		return false
	})
}

// bare takes away the parameters between a person and their server.
func bare(p *ical.Property) {
	for _, name := range [...]string{paramAgent, paramStatus, paramForce, paramReplied, paramPercent} {
		p.RemoveParam(name)
	}
}

// shown are the properties beyond the standards that guests need: a text in HTML, where the meeting is, how it is joined.
// Whatever else programs and people write down may be meant for nobody but them.
var shown = [...]string{
	"X-ALT-DESC", "X-GOOGLE-CONFERENCE", "X-APPLE-STRUCTURED-LOCATION",
	"X-MICROSOFT-LOCATIONS", "X-MICROSOFT-ONLINEMEETINGCONFLINK", "X-MICROSOFT-ONLINEMEETINGEXTERNALLINK", "X-MICROSOFT-ONLINEMEETINGINFORMATION",
	"X-MICROSOFT-SKYPETEAMSMEETINGURL", "X-MICROSOFT-SCHEDULINGSERVICEUPDATEURL", "X-MICROSOFT-DISALLOW-COUNTER",
}

// shownPrefix begins the names by which Outlook tells guests of an event.
const shownPrefix = "X-MICROSOFT-CDO-"

// private tells whether a property is the event holder's own. A comment is, but in an answer, where it is what a guest
// says to the organizer.
func private(name string, method Method) bool {
	switch name {
	case "REQUEST-STATUS", "COLOR", "CATEGORIES":
		return true
	case "COMMENT":
		return method != Reply
	}
	return strings.HasPrefix(name, "X-") && !strings.HasPrefix(name, shownPrefix) && !slices.Contains(shown[:], name)
}

// request tells people who take part in the same all of that.
// People is how many they are.
func (r Rules) request(x *reading, v view, people int) (Message, error) {
	components, err := r.weighed(x, v.components(), people)
	if err != nil {
		return Message{}, err
	}
	m := Message{Method: Request, From: OrganizerOf(x.Object), Sequence: v.sequence(), Document: r.compose(x, Request, components)}
	if v.master == nil && len(v.apart) == 1 {
		for key := range v.apart {
			m.Recurrence = recurrence(x.apart[key])
		}
	}
	return m, nil
}

// recurrence is the RECURRENCE-ID of a component as it stands there.
func recurrence(c *ical.Component) string {
	if p := c.Property("RECURRENCE-ID"); p != nil {
		return p.Value()
	}
	return ""
}

// cancel tells people who took part in the same that they no longer take part in anything. Seq is its SEQUENCE.
func (r Rules) cancel(before *reading, v view, seq, people int) (Message, error) {
	m := Message{Method: Cancel, From: OrganizerOf(before.Object), Sequence: seq}
	all := v.components()
	if v.master != nil {
		all = all[:1] // it stands for all of the series
	} else if len(all) == 1 {
		m.Recurrence = recurrence(all[0])
	}
	all, err := r.weighed(before, all, people)
	if err != nil {
		return m, err
	}
	for _, c := range all {
		setSequence(c, m.Sequence)
	}
	m.Document = r.called(before, all)
	return m, nil
}

// cancelSome tells people that they no longer take part in some instances (RFC 5546 §3.2.5), each with its own number.
func (r Rules) cancelSome(before *reading, some []contrast, people int) (Message, error) {
	m := Message{Method: Cancel, From: OrganizerOf(before.Object)}
	all := make([]*ical.Component, len(some))
	for i, one := range some {
		all[i] = one.a.Clone()
		setSequence(all[i], max(sequence(one.b), sequence(one.a)+1))
		m.Sequence = max(m.Sequence, sequence(all[i]))
	}
	if len(all) == 1 {
		m.Recurrence = recurrence(all[0])
	}
	all, err := r.weighed(before, all, people)
	if err != nil {
		return m, err
	}
	m.Document = r.called(before, all)
	return m, nil
}

// Apart is a message as mail programs take it: what is about several instances, and not about their series, is one message for
// each of which there is something new. Outlook wants exactly one appointment in a REQUEST, a REPLY or a CANCEL ([MS-OXCICAL]
// §2.1.3.1.1.1), and an instance without its series is one to it.
func (r Rules) Apart(m Message) ([]Message, error) {
	root, err := m.Document.Calendar()
	if err != nil {
		return []Message{m}, nil
	}
	var zones, all []*ical.Component
	for c := range root.Components() {
		switch {
		case c.Name() == "VTIMEZONE":
			zones = append(zones, c)
		case c.Property("RECURRENCE-ID") == nil:
			return []Message{m}, nil
		default:
			all = append(all, c)
		}
	}
	if len(all) < 2 {
		return []Message{m}, nil
	}
	all = slices.DeleteFunc(all, func(c *ical.Component) bool { return m.Same[recurrence(c)] })
	if err := r.repeated(zones, len(all)); err != nil {
		return nil, err
	}
	parts := make([]Message, len(all))
	for i, c := range all {
		one := content.Root()
		one.Add(ical.NewText("METHOD", string(m.Method)))
		for _, z := range zones {
			if content.NamesZone(c, z) {
				one.AddComponent(z.Clone())
			}
		}
		one.AddComponent(c.Clone())
		parts[i] = m
		parts[i].Document, parts[i].Recurrence, parts[i].Sequence = ical.NewDocument(one), recurrence(c), sequence(c)
	}
	return parts, nil
}

// repeated counts zones that are written so often, before they are.
func (r Rules) repeated(zones []*ical.Component, times int) error {
	var bytes int64
	for _, z := range zones {
		bytes += size(z)
	}
	bytes *= int64(times)
	if err := r.Meter.Text(int(bytes)); err != nil {
		return err
	}
	return r.Meter.Write(bytes)
}

// weighed counts the text that a message makes of components, before it is made, for each of those who get it.
func (r Rules) weighed(x *reading, all []*ical.Component, people int) ([]*ical.Component, error) {
	var bytes, lent int64
	for _, c := range all {
		bytes += size(c)
		if x.inherits(c) {
			if lent == 0 {
				lent = size(x.Master)
			}
			bytes += lent
		}
	}
	if err := r.Meter.Text(int(bytes)); err != nil {
		return nil, err
	}
	if err := content.WeighZones(len(content.Undefined(x.Calendar, all...)), people, r.Meter); err != nil {
		return nil, err
	}
	return all, r.Meter.Write(bytes * int64(people))
}

// size is about how many bytes a component has as text.
func size(c *ical.Component) int64 {
	n := int64(24)
	for p := range c.Properties() {
		n += int64(len(p.String())) + 4
	}
	for inner := range c.Components() {
		n += size(inner)
	}
	return n
}

// called is the text that calls components off. It says when they were to be: programs show nothing without that.
func (r Rules) called(x *reading, all []*ical.Component) *ical.Document {
	for _, c := range all {
		c.SetText("STATUS", "CANCELLED")
	}
	return r.compose(x, Cancel, all)
}

func setSequence(c *ical.Component, n int) {
	if sequence(c) == n && c.Property("SEQUENCE") != nil {
		return
	}
	c.SetText("SEQUENCE", strconv.Itoa(n))
}
