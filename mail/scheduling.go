package mail

import (
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/mail/letter"
)

// scheduling is a scheduling message that came by mail, with its possible senders.
type scheduling struct {
	method calendar.Method
	uid    calendar.UID
	// parts are its components: an event, or some instances of one.
	parts []*ical.Component
}

// messageLimits for parsing a message.
var messageLimits = ical.Limits{Bytes: calendarMost, LineBytes: 256 << 10, Lines: 20_000, Depth: 4, Properties: 10_000}

// speakers is who may send each method: the organizer of the event, or an attendee.
var speakers = map[calendar.Method]string{
	calendar.MethodRequest: "ORGANIZER", calendar.MethodCancel: "ORGANIZER", calendar.MethodAdd: "ORGANIZER",
	calendar.MethodDecline: "ORGANIZER",
	calendar.MethodReply:   "ATTENDEE", calendar.MethodRefresh: "ATTENDEE", calendar.MethodCounter: "ATTENDEE",
}

// readScheduling parses a message: a calendar file with one method and one event or task.
func readScheduling(data []byte, method string) (*scheduling, error) {
	doc, err := ical.Parse(data, messageLimits)
	if err != nil {
		return nil, badMailError("its calendar file is broken")
	}
	cal, err := doc.Calendar()
	if err != nil {
		return nil, badMailError("its calendar file is no calendar")
	}
	s := &scheduling{}
	if p := cal.Property("METHOD"); p != nil && len(cal.All("METHOD")) == 1 {
		s.method = calendar.Method(strings.ToUpper(strings.TrimSpace(p.Value())))
	}
	switch {
	case speakers[s.method] == "":
		return nil, badMailError("its calendar file asks for nothing that is known")
	case method != "" && method != string(s.method):
		return nil, badMailError("its calendar file is for something else than the mail says")
	}
	kind := ""
	for c := range cal.Components() {
		if c.Name() == "VTIMEZONE" {
			continue
		}
		uid := c.Property("UID")
		switch {
		case c.Name() != "VEVENT" && c.Name() != "VTODO" && c.Name() != "VJOURNAL" || kind != "" && kind != c.Name():
			return nil, badMailError("its calendar file is of an unknown kind, or of several")
		case uid == nil || uid.Text() == "" || s.uid != "" && string(s.uid) != uid.Text():
			return nil, badMailError("its calendar file is about several things, or about none")
		}
		kind, s.uid = c.Name(), calendar.UID(uid.Text())
		s.parts = append(s.parts, c)
	}
	if len(s.parts) == 0 {
		return nil, badMailError("its calendar file is empty")
	}
	return s, nil
}

// speaker returns the author of a message if the mail's sender may send it. Each part must name the sender, or a person
// of the same domain for whom the sender acts (SENT-BY). The service accepts SENT-BY only if the stored event has it. A
// SENT-BY in another domain is refused here.
func (s *scheduling) speaker(from calendar.MailAddress) (calendar.MailAddress, bool) {
	var who calendar.MailAddress
	for _, c := range s.parts {
		found, ok := speaks(c.All(speakers[s.method]), from)
		if !ok || who != "" && found != who {
			return "", false
		}
		who = found
	}
	return who, who != ""
}

// speaks returns the person who has an address or acts through it.
func speaks(people []*ical.Property, from calendar.MailAddress) (calendar.MailAddress, bool) {
	if len(people) > 0 && people[0].Name() == "ORGANIZER" && len(people) > 1 {
		return "", false
	}
	i := slices.IndexFunc(people, func(p *ical.Property) bool {
		address, err := letter.Address(p.Value())
		return err == nil && address == from
	})
	if i >= 0 {
		return from, true
	}
	for _, p := range people {
		address, err := letter.Address(p.Value())
		if err != nil || letter.Domain(address) != letter.Domain(from) {
			continue
		}
		if by, ok := p.Param("SENT-BY"); ok {
			if by, err := letter.Address(by); err == nil && by == from {
				return address, true
			}
		}
	}
	return "", false
}
