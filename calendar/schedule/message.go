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

// The methods of the messages that we send.
const (
	Request Method = "REQUEST"
	Cancel  Method = "CANCEL"
	Reply   Method = "REPLY"
)

// Message is a scheduling message to one person (RFC 5546).
type Message struct {
	Method Method
	// From is the sender, To the recipient.
	From, To Address
	// Recurrence is the RECURRENCE-ID if it is about one instance; "" otherwise.
	Recurrence string
	Sequence   int
	// First is set if the recipient knew nothing of the event before.
	First bool
	// Answered is the recipient's earlier answer, if it is the same for all parts.
	Answered string
	// Retimed is set if the times have changed, so that a new answer is needed.
	Retimed bool
	// Refresh is set if the message only distributes other attendees' answers, so that no notification is needed.
	Refresh bool
	// Same lists the RECURRENCE-IDs of the instances that are unchanged for the recipient.
	Same     map[string]bool
	Document *ical.Document
}

// view is the part of an event that an attendee takes part in.
type view struct {
	master *ical.Component
	apart  map[int64]*ical.Component
	// without lists the instances of the series that they do not take part in.
	without map[int64]ical.Time
}

// view returns the part of the event that a person takes part in.
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

// components returns the components to send.
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

// sequence returns the highest SEQUENCE of a view.
func (v view) sequence() int {
	highest := sequence(v.master)
	for _, c := range v.apart {
		highest = max(highest, sequence(c))
	}
	return highest
}

// compose creates a message from components of a reading and takes ownership of them. It adds the definitions of zones
// that the reading only names; weighed has counted them.
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
	_ = content.DefineZones(root, r.Zones, nil) // without a meter it cannot fail
	return ical.NewDocument(root)
}

// dress prepares a component for other people: it adds the organizer and attendees and removes private parts.
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

// undress removes the parts that are private to the sender or their server.
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

// bare removes the parameters that are private to a person and their server.
func bare(p *ical.Property) {
	for _, name := range [...]string{paramAgent, paramStatus, paramForce, paramReplied, paramPercent, paramComment} {
		p.RemoveParam(name)
	}
}

// shown lists the non-standard properties that attendees need: an HTML text, the location, how to join. All other
// non-standard properties may be private.
var shown = [...]string{
	"X-ALT-DESC", "X-GOOGLE-CONFERENCE", "X-APPLE-STRUCTURED-LOCATION",
	"X-MICROSOFT-LOCATIONS", "X-MICROSOFT-ONLINEMEETINGCONFLINK", "X-MICROSOFT-ONLINEMEETINGEXTERNALLINK",
	"X-MICROSOFT-ONLINEMEETINGINFORMATION",
	"X-MICROSOFT-SKYPETEAMSMEETINGURL", "X-MICROSOFT-SCHEDULINGSERVICEUPDATEURL", "X-MICROSOFT-DISALLOW-COUNTER",
}

// shownPrefix is the prefix of Outlook's properties for attendees.
const shownPrefix = "X-MICROSOFT-CDO-"

// private reports whether a property belongs to the event's owner. A comment does, except in an answer, where it is the
// attendee's message to the organizer.
func private(name string, method Method) bool {
	switch name {
	case "REQUEST-STATUS", "COLOR", "CATEGORIES":
		return true
	case "COMMENT":
		return method != Reply
	}
	return strings.HasPrefix(name, "X-") && !strings.HasPrefix(name, shownPrefix) && !slices.Contains(shown[:], name)
}

// request returns the REQUEST for attendees with the same view; people is their number.
func (r Rules) request(x *reading, v view, people int) (Message, error) {
	components, err := r.weighed(x, v.components(), people)
	if err != nil {
		return Message{}, err
	}
	m := Message{
		Method: Request, From: OrganizerOf(x.Object), Sequence: v.sequence(),
		Document: r.compose(x, Request, components),
	}
	if v.master == nil && len(v.apart) == 1 {
		for key := range v.apart {
			m.Recurrence = recurrence(x.apart[key])
		}
	}
	return m, nil
}

// recurrence returns a component's RECURRENCE-ID as written, or "".
func recurrence(c *ical.Component) string {
	if p := c.Property("RECURRENCE-ID"); p != nil {
		return p.Value()
	}
	return ""
}

// cancel returns the CANCEL for attendees with the same view who no longer take part in anything; seq is its SEQUENCE.
func (r Rules) cancel(before *reading, v view, seq, people int) (Message, error) {
	m := Message{Method: Cancel, From: OrganizerOf(before.Object), Sequence: seq}
	all := v.components()
	if v.master != nil {
		all = all[:1] // it stands for the whole series
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

// cancelSome returns the CANCEL for some instances (RFC 5546 §3.2.5). Each has its own SEQUENCE.
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

// Apart splits a message for mail clients. A message about several instances, without their series, becomes one message
// for each changed instance. Outlook expects exactly one appointment in a REQUEST, REPLY or CANCEL ([MS-OXCICAL]
// §2.1.3.1.1.1), and treats an instance without its series as one.
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

// repeated counts the cost of zones that will be written several times.
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

// weighed counts the text of a message in advance, once for each recipient.
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

// size estimates the length of a component's text in bytes.
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

// called returns the text that cancels components. It contains their times, because clients show nothing otherwise.
func (r Rules) called(x *reading, all []*ical.Component) *ical.Document {
	for _, c := range all {
		c.SetText("STATUS", "CANCELLED")
	}
	doc := r.compose(x, Cancel, all)
	for _, c := range all {
		r.addComment(c)
	}
	return doc
}

// addComment adds the sender's comment to a component.
func (r Rules) addComment(c *ical.Component) {
	if r.Comment != "" {
		c.SetText("COMMENT", r.Comment)
	}
}

func setSequence(c *ical.Component, n int) {
	if sequence(c) == n && c.Property("SEQUENCE") != nil {
		return
	}
	c.SetText("SEQUENCE", strconv.Itoa(n))
}
