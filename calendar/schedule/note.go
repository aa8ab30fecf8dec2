package schedule

import (
	"slices"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// Note records the delivery status of messages in an event (SCHEDULE-STATUS, RFC 6638 §3.2.9) and reports whether that
// changed anything. The status of an answer is recorded at the organizer, even if the organizer is also an attendee.
func (r Rules) Note(o *content.Object, came map[Person]string) bool {
	changed, organizer := false, r.who(OrganizerOf(o))
	for _, c := range o.Components() {
		for _, name := range [...]string{"ATTENDEE", "ORGANIZER"} {
			for _, p := range c.All(name) {
				now, _ := p.Param(paramStatus)
				who := r.who(addressOf(p))
				if status, told := came[who]; told && served(p) && now != status &&
					(who == organizer) == (name == "ORGANIZER") {
					p.SetParam(paramStatus, status)
					changed = true
				}
			}
		}
	}
	return changed
}

// StatusOf returns the SCHEDULE-STATUS of an attendee, from the first component that has one.
func StatusOf(o *content.Object, is Self) string {
	for _, c := range o.Components() {
		if p := attendee(c, is); p != nil {
			if status, said := p.Param(paramStatus); said {
				return status
			}
		}
	}
	return ""
}

// Cleaned removes SCHEDULE-STATUS from a client's text, because only the server sets it.
func Cleaned(o *content.Object) {
	for _, c := range o.Components() {
		for p := range c.Properties() {
			if p.Name() == "ATTENDEE" || p.Name() == "ORGANIZER" {
				p.RemoveParam(paramStatus)
			}
		}
	}
}

// Quiet suppresses the messages to new attendees of an event (SCHEDULE-AGENT=NONE, RFC 6638 §7.1).
func Quiet(before, next *content.Object, is Self) (*content.Object, error) {
	made, err := copyOf(next)
	if err != nil {
		return nil, err
	}
	known := map[Address]bool{}
	for _, a := range Attendees(before) {
		known[a] = true
	}
	for _, c := range made.Components() {
		for _, p := range c.All("ATTENDEE") {
			if a := addressOf(p); !known[a] && !is(a) && served(p) {
				p.SetParam(paramAgent, "NONE")
			}
		}
	}
	return made, nil
}

// SentBy names the person who acts for the message's sender (RFC 5545 §3.2.18).
func (m Message) SentBy(who Address) {
	root, err := m.Document.Calendar()
	if err != nil {
		return
	}
	name := "ATTENDEE"
	if ofOrganizer(m.Method) {
		name = "ORGANIZER"
	}
	for c := range root.Components() {
		for _, p := range c.All(name) {
			if name == "ORGANIZER" || addressOf(p) == m.From {
				p.SetParam(paramSentBy, string(who))
			}
		}
	}
}

// Sender returns the sender that a message names: the organizer, or the attendee who answers. It is "" unless there is
// exactly one.
func Sender(o *content.Object, method Method) Address {
	if ofOrganizer(method) {
		return OrganizerOf(o)
	}
	from := Address("")
	for _, c := range o.Components() {
		for _, p := range c.All("ATTENDEE") {
			// A delegate is named together with the attendee they represent.
			if _, delegate := p.Param(paramFrom); delegate && from != "" {
				continue
			}
			if from != "" && from != addressOf(p) {
				return ""
			}
			from = addressOf(p)
		}
	}
	return from
}

// ActsFor reports whether an event says that deputy sends messages of a method for principal.
func ActsFor(o *content.Object, method Method, principal, deputy Address) bool {
	name := "ATTENDEE"
	if ofOrganizer(method) {
		name = "ORGANIZER"
	}
	for _, c := range o.Components() {
		for _, p := range c.All(name) {
			if by, there := p.Param(paramSentBy); there && addressOf(p) == principal && AddressOf(by) == deputy {
				return true
			}
		}
	}
	return false
}

// ofOrganizer reports whether organizers send messages with this method.
func ofOrganizer(m Method) bool {
	return slices.Contains([]Method{Request, Cancel, "ADD", DeclineCounter}, m)
}

// Answered returns a person's answer to an event, or "" unless there is exactly one.
func Answered(o *content.Object, is Self) string { return oneAnswer(o.Components(), is) }

// oneAnswer returns a person's answer in some components, or "" if there is none or they differ.
func oneAnswer(all []*ical.Component, is Self) string {
	said := ""
	for _, c := range all {
		p := attendee(c, is)
		if p == nil {
			continue
		}
		if said != "" && said != partstat(p) {
			return ""
		}
		said = partstat(p)
	}
	return said
}
