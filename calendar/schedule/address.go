// Package schedule implements the rules of invitations (RFC 5546, RFC 6638). It computes the messages that a change of
// an event causes between its organizer and attendees, and the effect of a message on the recipient's copy. It works on
// texts and addresses; it knows neither users nor transports.
package schedule

import (
	"net/url"
	"strings"

	"caldav-mcp-server/ical"
)

// Address is a calendar user address in canonical form, for comparison. Written addresses differ in case, in escapes
// and in whether they begin with "mailto:".
type Address string

const mailto = "mailto:"

// AddressOf parses an address from a property.
func AddressOf(value string) Address {
	if plain(value) {
		return Address(value)
	}
	value = strings.TrimSpace(value)
	scheme, rest, isURI := strings.Cut(value, ":")
	switch {
	case isURI && strings.EqualFold(scheme, "mailto"):
		return mailAddress(rest)
	case !isURI && strings.Contains(value, "@") && !strings.Contains(value, "/"):
		return mailAddress(value)
	}
	if plain, err := url.PathUnescape(value); err == nil {
		value = plain
	}
	if isURI {
		value = strings.ToLower(scheme) + value[len(scheme):]
	}
	return Address(strings.TrimRight(value, "/"))
}

// plain reports whether a value is a mail address in canonical form, as nearly all are.
func plain(value string) bool {
	rest, found := strings.CutPrefix(value, mailto)
	if !found {
		return false
	}
	for i := range len(rest) {
		if c := rest[i]; c <= ' ' || c >= 0x7f || c >= 'A' && c <= 'Z' || c == '%' || c == '?' || c == '<' || c == '>' {
			return false
		}
	}
	return true
}

// mailAddress returns the address for the part after "mailto:". Some clients include the person's name there.
func mailAddress(rest string) Address {
	rest, _, _ = strings.Cut(rest, "?")
	if plain, err := url.PathUnescape(rest); err == nil {
		rest = plain
	}
	if _, inner, found := strings.Cut(rest, "<"); found {
		rest, _, _ = strings.Cut(inner, ">")
	}
	return Address(mailto + strings.ToLower(strings.TrimSpace(rest)))
}

// Mail returns the mail address without "mailto:", or "" if it is none.
func (a Address) Mail() string {
	mail, found := strings.CutPrefix(string(a), mailto)
	if !found || strings.Count(mail, "@") != 1 || strings.HasPrefix(mail, "@") || strings.HasSuffix(mail, "@") ||
		strings.ContainsAny(mail, " \t\r\n<>\"") {
		return ""
	}
	return mail
}

// Name returns a name for display: the mail address, or the whole address if it is none.
func (a Address) Name() string {
	if mail := a.Mail(); mail != "" {
		return mail
	}
	return string(a)
}

// Principal returns the name of the user whose principal URL the address is, or "". home is this server's BASE_URL. A
// path belongs to this server; a URL of another server names no user here.
func (a Address) Principal(home string) string {
	before, name, found := strings.Cut(string(a), "/principals/")
	if !found || name == "" || strings.Contains(name, "/") || a.Mail() != "" {
		return ""
	}
	if before == "" || strings.HasPrefix(before, "/") && !strings.HasPrefix(before, "//") {
		return name
	}
	at, err := url.Parse(before)
	ours, err2 := url.Parse(home)
	if err != nil || err2 != nil || at.Host == "" || !strings.EqualFold(at.Host, ours.Host) ||
		!strings.HasPrefix(at.Scheme, "http") {
		return ""
	}
	return name
}

// addressOf returns a property's address.
func addressOf(p *ical.Property) Address { return AddressOf(p.Value()) }

// param returns a one-word parameter in upper case, or "".
func param(p *ical.Property, name string) string {
	value, _ := p.Param(name)
	return strings.ToUpper(strings.TrimSpace(value))
}

// setParam sets or removes a parameter. It writes nothing if the value is unchanged.
func setParam(p *ical.Property, name, value string) {
	now, there := p.Param(name)
	switch {
	case value == "" && there:
		p.RemoveParam(name)
	case value != "" && now != value:
		p.SetParam(name, value)
	}
}

// The scheduling parameters (RFC 6638 §7), and three others. X-REPLIED is the time when an external attendee wrote
// their answer, so that an older answer that arrives later is recognized. X-PERCENT-COMPLETE is how much of a task an
// attendee has done. X-RESPONSE-COMMENT, which Google's iCalendar has too, is an attendee's message to the organizer.
const (
	paramAgent    = "SCHEDULE-AGENT"
	paramStatus   = "SCHEDULE-STATUS"
	paramForce    = "SCHEDULE-FORCE-SEND"
	paramPartstat = "PARTSTAT"
	paramRSVP     = "RSVP"
	paramSentBy   = "SENT-BY"
	paramReplied  = "X-REPLIED"
	paramPercent  = "X-PERCENT-COMPLETE"
	paramComment  = "X-RESPONSE-COMMENT"
	paramFrom     = "DELEGATED-FROM"
)

// The answers of attendees (RFC 5545 §3.2.12).
const (
	NeedsAction = "NEEDS-ACTION"
	Accepted    = "ACCEPTED"
	Declined    = "DECLINED"
	Tentative   = "TENTATIVE"
	Delegated   = "DELEGATED"
	Completed   = "COMPLETED"
	InProcess   = "IN-PROCESS"
)

// answers are the possible answers to an event or a task. Any other value counts as no answer (RFC 5545 §3.2.12).
var answers = map[string]bool{
	NeedsAction: true, Accepted: true, Declined: true, Tentative: true, Delegated: true, Completed: true,
	InProcess: true,
}

// partstat returns an attendee's answer.
func partstat(p *ical.Property) string {
	if p == nil {
		return ""
	}
	if said := param(p, paramPartstat); answers[said] {
		return said
	}
	return NeedsAction
}

// served reports whether the server delivers the messages to and from this person (RFC 6638 §7.1).
func served(p *ical.Property) bool {
	agent := param(p, paramAgent)
	return agent == "" || agent == "SERVER"
}
