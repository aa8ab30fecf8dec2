package schedule

import (
	"context"
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
	// Whole tells that the message holds everything that the recipient takes part in.
	Whole bool
	// Answered is the recipient's earlier answer, where there is only one.
	Answered string
	// Retimed tells that it asks for another answer, since the times are others.
	Retimed bool
	// Refresh tells that the message only passes on the answers of other guests, so that nobody need hear of it.
	Refresh  bool
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
func (x *reading) view(is Self) view {
	v := view{apart: map[int64]*ical.Component{}, without: map[int64]ical.Time{}}
	if x.attends(x.master(), is) {
		v.master = x.Master
	}
	for key, c := range x.apart {
		switch {
		case x.attends(c, is):
			v.apart[key] = c
		case v.master != nil:
			v.without[key] = x.ids[key]
		}
	}
	return v
}

// guests returns the attendees of each part, with their answers, in a form that can be compared.
func (v view) guests() string {
	var b strings.Builder
	for _, c := range v.components() {
		b.WriteString("\n" + recurrence(c))
		var all []string
		for _, p := range c.All("ATTENDEE") {
			all = append(all, string(addressOf(p))+"="+partstat(p))
		}
		slices.Sort(all)
		b.WriteString(strings.Join(all, " "))
	}
	return b.String()
}

func (v view) empty() bool { return v.master == nil && len(v.apart) == 0 }

// components are the components of a view that are sent.
func (v view) components() []*ical.Component {
	var all []*ical.Component
	if v.master != nil {
		master := v.master.Clone()
		for _, key := range slices.Sorted(maps.Keys(v.without)) {
			master.Add(ical.NewTime("EXDATE", v.without[key]))
		}
		all = append(all, master)
	}
	for _, key := range slices.Sorted(maps.Keys(v.apart)) {
		all = append(all, v.apart[key].Clone())
	}
	return all
}

// answered is somebody's answer to all of a view; "" where there is not exactly one.
func (v view) answered(is Self) string { return oneAnswer(v.components(), is) }

// sequence is the highest of a view.
func (v view) sequence() int {
	highest := sequence(v.master)
	for _, c := range v.apart {
		highest = max(highest, sequence(c))
	}
	return highest
}

// compose makes the text of a message of components of a reading, which are given away.
func (r Rules) compose(x *reading, method Method, components []*ical.Component) *ical.Document {
	root := ical.NewComponent("VCALENDAR")
	root.Add(ical.NewText("VERSION", "2.0"))
	root.Add(ical.NewText("PRODID", content.ProductID))
	root.Add(ical.NewText("METHOD", string(method)))
	for _, c := range x.Calendar.AllComponents("VTIMEZONE") {
		root.AddComponent(c.Clone())
	}
	for _, c := range components {
		r.dress(x, c, method)
		root.AddComponent(c)
	}
	return ical.NewDocument(root)
}

// dress makes a component fit to be seen by others: it names its recipient, and has nothing private to the sender.
func (r Rules) dress(x *reading, c *ical.Component, method Method) {
	if c.Property("ORGANIZER") == nil {
		if org := organizer(x.Object); org != nil {
			c.Add(org.Clone())
		}
		if c.Property("ATTENDEE") == nil && x.master() != nil {
			for _, p := range x.Master.All("ATTENDEE") {
				c.Add(p.Clone())
			}
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
	for _, p := range slices.Collect(c.Properties()) {
		switch name := p.Name(); {
		case name == "ATTENDEE" || name == "ORGANIZER":
			bare(p)
		case private(name, method):
			c.RemoveProperty(p)
		}
	}
}

// bare takes away the parameters between a person and their server.
func bare(p *ical.Property) {
	for _, name := range [...]string{paramAgent, paramStatus, paramForce, paramReplied} {
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

// request tells somebody all that they take part in.
func (r Rules) request(x *reading, to Address) Message {
	v := x.view(r.person(to))
	m := Message{
		Method: Request, From: OrganizerOf(x.Object), To: to, Sequence: v.sequence(), Whole: true, Answered: v.answered(r.person(to)),
		Document: r.compose(x, Request, v.components()),
	}
	if v.master == nil && len(v.apart) == 1 {
		for key := range v.apart {
			m.Recurrence = recurrence(x.apart[key])
		}
	}
	return m
}

// Refreshed tells a guest the answers of the others. It has no Document for a guest who takes part in nothing.
func (r Rules) Refreshed(ctx context.Context, event *content.Object, to Address) (Message, error) {
	x, err := r.read(ctx, event)
	if err != nil || x.view(r.person(to)).empty() {
		return Message{}, err
	}
	m := r.request(x, to)
	m.Refresh = true
	return m, nil
}

// recurrence is the RECURRENCE-ID of a component as it stands there.
func recurrence(c *ical.Component) string {
	if p := c.Property("RECURRENCE-ID"); p != nil {
		return p.Value()
	}
	return ""
}

// cancel tells somebody that they no longer take part in anything. Before is what they took part in, seq what is counted now.
func (r Rules) cancel(before *reading, to Address, seq int) Message {
	v := before.view(r.person(to))
	m := Message{Method: Cancel, From: OrganizerOf(before.Object), To: to, Sequence: max(seq, v.sequence()+1), Answered: v.answered(r.person(to))}
	all := v.components()
	if v.master != nil {
		all = all[:1] // it stands for all of the series
	} else if len(all) == 1 {
		m.Recurrence = recurrence(all[0])
	}
	m.Document = r.called(before, all, m.Sequence)
	return m
}

// cancelOne tells somebody that they no longer take part in one instance.
func (r Rules) cancelOne(before *reading, to Address, key int64, id ical.Time, seq int) Message {
	c := before.at(key, id).Clone()
	m := Message{Method: Cancel, From: OrganizerOf(before.Object), To: to, Recurrence: recurrence(c), Sequence: max(seq, sequence(c)+1)}
	m.Answered = partstat(r.line(c, to))
	m.Document = r.called(before, []*ical.Component{c}, m.Sequence)
	return m
}

// called is the text that calls components off. It says when they were to be: programs show nothing without that.
func (r Rules) called(x *reading, all []*ical.Component, seq int) *ical.Document {
	for _, c := range all {
		c.SetText("STATUS", "CANCELLED")
		setSequence(c, seq)
	}
	return r.compose(x, Cancel, all)
}

func setSequence(c *ical.Component, n int) {
	if sequence(c) == n && c.Property("SEQUENCE") != nil {
		return
	}
	c.SetText("SEQUENCE", strconv.Itoa(n))
}
