// Package schedule has the rules of invitations (RFC 5546, RFC 6638): what a change of an event makes its organizer
// and its attendees tell each other, and what a message makes of the event that somebody has. It knows texts and
// addresses, and neither users nor how messages travel.
package schedule

import (
	"net/url"
	"strings"

	"caldav-mcp-server/ical"
)

// Address is a calendar user address in the one form in which it is compared: as people write addresses, they differ
// in case, in escapes and in whether they say "mailto:".
type Address string

const mailto = "mailto:"

// AddressOf reads an address as a property has it.
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

// plain tells whether a value is a mail address in the form in which it is compared, as nearly all are.
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

// mailAddress is that of what stands behind "mailto:". Some programs put the name of the person there, too.
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

// Mail is the mail address, without "mailto:"; "" where it is none.
func (a Address) Mail() string {
	mail, found := strings.CutPrefix(string(a), mailto)
	if !found || strings.Count(mail, "@") != 1 || strings.HasPrefix(mail, "@") || strings.HasSuffix(mail, "@") || strings.ContainsAny(mail, " \t\r\n<>\"") {
		return ""
	}
	return mail
}

// Name is what people know an address by: the mail address, or what else there is.
func (a Address) Name() string {
	if mail := a.Mail(); mail != "" {
		return mail
	}
	return string(a)
}

// Principal is the name of the user whose principal the address is on the server at home, which is its BASE_URL; "" where
// it is none. A path is one of the server that it is written on; that of another server's user names nobody here.
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
	if err != nil || err2 != nil || at.Host == "" || !strings.EqualFold(at.Host, ours.Host) || !strings.HasPrefix(at.Scheme, "http") {
		return ""
	}
	return name
}

// addressOf is the address that a property names.
func addressOf(p *ical.Property) Address { return AddressOf(p.Value()) }

// param is a parameter that is one word, in upper case; "" where there is none.
func param(p *ical.Property, name string) string {
	value, _ := p.Param(name)
	return strings.ToUpper(strings.TrimSpace(value))
}

// setParam gives a property a parameter, or takes it away, and writes nothing where the value is the same.
func setParam(p *ical.Property, name, value string) {
	now, there := p.Param(name)
	switch {
	case value == "" && there:
		p.RemoveParam(name)
	case value != "" && now != value:
		p.SetParam(name, value)
	}
}

// The parameters of scheduling (RFC 6638 §7), and two of ours: when the answer that somebody sent from outside was
// written, so that an older one that comes later is known for what it is, and how much of a task somebody has done.
const (
	paramAgent    = "SCHEDULE-AGENT"
	paramStatus   = "SCHEDULE-STATUS"
	paramForce    = "SCHEDULE-FORCE-SEND"
	paramPartstat = "PARTSTAT"
	paramRSVP     = "RSVP"
	paramSentBy   = "SENT-BY"
	paramReplied  = "X-REPLIED"
	paramPercent  = "X-PERCENT-COMPLETE"
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

// answers are what can be answered, to an event or to a task. Anything else counts as no answer (RFC 5545 §3.2.12).
var answers = map[string]bool{
	NeedsAction: true, Accepted: true, Declined: true, Tentative: true, Delegated: true, Completed: true, InProcess: true,
}

// partstat is what an attendee has answered.
func partstat(p *ical.Property) string {
	if p == nil {
		return ""
	}
	if said := param(p, paramPartstat); answers[said] {
		return said
	}
	return NeedsAction
}

// served tells whether the server delivers messages to or from the person whom the property names (RFC 6638 §7.1).
func served(p *ical.Property) bool {
	agent := param(p, paramAgent)
	return agent == "" || agent == "SERVER"
}
