package schedule

import (
	"slices"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// Note writes into an event what came of messages to people in it (SCHEDULE-STATUS, RFC 6638 §3.2.9), and tells
// whether that is another thing than before. What came of an answer stands with the organizer, and not with the same
// person as a guest.
func (r Rules) Note(o *content.Object, came map[Person]string) bool {
	changed, organizer := false, r.who(OrganizerOf(o))
	for _, c := range o.Components() {
		for _, name := range [...]string{"ATTENDEE", "ORGANIZER"} {
			for _, p := range c.All(name) {
				now, _ := p.Param(paramStatus)
				who := r.who(addressOf(p))
				if status, told := came[who]; told && served(p) && now != status && (who == organizer) == (name == "ORGANIZER") {
					p.SetParam(paramStatus, status)
					changed = true
				}
			}
		}
	}
	return changed
}

// StatusOf is the SCHEDULE-STATUS of an attendee, from the first component that has one.
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

// Cleaned takes out of what a client sent what only the server says: what came of messages.
func Cleaned(o *content.Object) {
	for _, c := range o.Components() {
		for p := range c.Properties() {
			if p.Name() == "ATTENDEE" || p.Name() == "ORGANIZER" {
				p.RemoveParam(paramStatus)
			}
		}
	}
}

// Quiet has no message sent to the guests who are new in an event: somebody else tells them, or nobody does
// (SCHEDULE-AGENT=NONE, RFC 6638 §7.1).
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

// SentBy names the person who acted for the message's sender (RFC 5545 §3.2.18).
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

// Sender returns the sender that a message names: the organizer, or the attendee who answers. It is "" where there is no
// such person, or more than one.
func Sender(o *content.Object, method Method) Address {
	if ofOrganizer(method) {
		return OrganizerOf(o)
	}
	from := Address("")
	for _, c := range o.Components() {
		for _, p := range c.All("ATTENDEE") {
			// A delegate is named beside the attendee who sends them.
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

// ActsFor tells whether an event says that a deputy sends messages of a method for somebody in it.
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

// ofOrganizer tells whether organizers send messages of a method.
func ofOrganizer(m Method) bool {
	return slices.Contains([]Method{Request, Cancel, "ADD", DeclineCounter}, m)
}

// Answered is somebody's answer to an event; "" where there is not exactly one.
func Answered(o *content.Object, is Self) string { return oneAnswer(o.Components(), is) }

// oneAnswer is somebody's answer in all of some components; "" where there is not exactly one.
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
