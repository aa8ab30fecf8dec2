package mcp

import (
	"slices"
	"strings"

	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/mcp/wire"
)

// A call that a tool cannot carry out is refused. A success without an effect would be reported to the user as done.

// check refuses a change of nothing, and an empty start or end.
func (in *eventPatch) check() error {
	if in.empty() {
		return errArgument("nothing to change was given").
			Advising("give at least one of " + parameters(slices.Concat(in.takesMain(), in.takesMore(), in.takesGuests(), in.takesRare())))
	}
	for _, side := range [...]struct {
		name string
		edit.Field[string]
	}{{"start", in.start}, {"end", in.end}} {
		if !side.Left() && !isTime(side.Field) {
			return errArgument("%q must not be empty: an event has a start and an end; leave %q out to keep it", side.name, side.name)
		}
	}
	return in.checkZone("start or end", in.start, in.end)
}

// isTime reports whether a parameter gives a time. An empty one removes the time.
func isTime(f edit.Field[string]) bool {
	value, _ := f.Value()
	return strings.TrimSpace(value) != ""
}

// checkZone refuses a time zone without a time that it applies to.
func (in inZone) checkZone(names string, times ...edit.Field[string]) error {
	if in.timezone == "" || slices.ContainsFunc(times, isTime) {
		return nil
	}
	return errArgument(`"timezone" is the zone of the times that you give, and you gave none: on its own it changes nothing`).
		Advising(`leave "timezone" out, or give ` + names + " with it")
}

// noAnswer is the status of an attendee who has not responded yet (RFC 5545 §3.2.12).
const noAnswer = "NEEDS-ACTION"

// answerWords are the statuses of an attendee of an event.
var answerWords = []string{noAnswer, "ACCEPTED", "DECLINED", "TENTATIVE", "DELEGATED"}

// cutAnswer splits off the response that attendeeText appends to an attendee. Other words in parentheses belong to the
// address, as in RFC 5322.
func cutAnswer(value string) (attendee, answer string) {
	value = strings.TrimSpace(value)
	i := strings.LastIndex(value, "(")
	if i <= 0 || !strings.HasSuffix(value, ")") {
		return value, ""
	}
	word := strings.TrimSpace(value[i+1 : len(value)-1])
	if upper := strings.ToUpper(word); word == upper || slices.Contains(answerWords, upper) {
		return strings.TrimSpace(value[:i]), upper
	}
	return value, ""
}

// checkAnswers refuses attendees whose response differs from the stored one, because only they can set it.
func (in *eventValues) checkAnswers(event *ical.Component) error {
	var there []edit.Attendee
	if event != nil {
		there = edit.AttendeesOf(event)
	}
	list, _ := in.attendees.Value()
	for _, value := range list {
		_, given := cutAnswer(value)
		if given == "" {
			continue
		}
		if now := answerOf(there, attendeeOf(value).Address); !strings.EqualFold(now, given) {
			return errArgument(`"attendees": the answer of %s is %s and cannot be changed to %s by this tool`, wire.Quote(attendeeOf(value).Address), now, wire.Quote(given)).
				Advising("leave answers out to keep them; attendees answer for themselves, the user with respond_to_event")
		}
	}
	return nil
}

// answerOf returns the response of an attendee.
func answerOf(all []edit.Attendee, address string) string {
	for _, a := range all {
		if strings.EqualFold(a.Address, address) && a.Status != "" {
			return a.Status
		}
	}
	return noAnswer
}
