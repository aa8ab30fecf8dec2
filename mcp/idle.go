package mcp

import (
	"slices"
	"strings"

	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/ical"
)

// What a call asks for and a tool cannot do is refused. A success without an effect would be told
// to the user as one.

// eventValues are the parameters by which a change of an event says what is to be different.
var eventValues = func() []string {
	var names []string
	for _, f := range join([]field{takesTitle, takesStart, takesEnd}, takesTexts, takesMore) {
		names = append(names, f.name)
	}
	return names
}()

// checkPatch refuses a change of nothing, and times that are taken away.
func (a arguments) checkPatch() error {
	if !slices.ContainsFunc(eventValues, a.has) {
		e := errArgument("nothing was given that is to be changed")
		e.Hint = "give at least one of " + strings.Join(eventValues, ", ")
		return e
	}
	for _, name := range [...]string{"start", "end"} {
		if a.has(name) && strings.TrimSpace(a.text(name)) == "" {
			return errArgument("%q must not be empty: an event has a start and an end; leave %q out to keep it", name, name)
		}
	}
	return a.checkZone("start", "end")
}

// checkZone refuses a zone with which no time was given that is in it.
func (a arguments) checkZone(times ...string) error {
	if a.text("timezone") == "" || slices.ContainsFunc(times, func(name string) bool { return strings.TrimSpace(a.text(name)) != "" }) {
		return nil
	}
	e := errArgument(`"timezone" is the zone of times that you give, and none was given: by itself it changes nothing`)
	e.Hint = `leave "timezone" out, or give ` + strings.Join(times, " or ") + " with it"
	return e
}

// checkTask refuses what says two things of a task, and a zone without a time.
func (a arguments) checkTask() error {
	if a.has("completed") && a.has("percent") && a.yes("completed") != (a.number("percent") == mostPercent) {
		return errArgument(`"completed" is %t and "percent" is %d: give one of them, or make them say the same`, a.yes("completed"), a.number("percent"))
	}
	return a.checkZone("due", "start")
}

// noAnswer is that of an attendee who has not answered yet (RFC 5545 §3.2.12).
const noAnswer = "NEEDS-ACTION"

// answerWords are the other answers that there are to an invitation to an event.
var answerWords = []string{noAnswer, "ACCEPTED", "DECLINED", "TENTATIVE", "DELEGATED"}

// cutAnswer takes from an attendee the answer that attendeeText writes behind it. Other words in
// brackets are a part of the address, as RFC 5322 has it.
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

// checkAnswers refuses answers to an invitation that are not those that the event has: attendees
// give their own, in programs that tell the organizer.
func (a arguments) checkAnswers(event *ical.Component) error {
	var there []edit.Attendee
	if event != nil {
		there = edit.AttendeesOf(event)
	}
	for _, value := range a.texts("attendees") {
		_, given := cutAnswer(value)
		if given == "" {
			continue
		}
		if now := answerOf(there, attendeeOf(value).Address); !strings.EqualFold(now, given) {
			e := errArgument(`"attendees": the answer of %s is %s and cannot be changed to %s by this tool`, quote(attendeeOf(value).Address), now, quote(given))
			e.Hint = "leave answers out, they stay as they are; attendees answer in their own calendar programs"
			return e
		}
	}
	return nil
}

// answerOf is the answer that somebody has given.
func answerOf(all []edit.Attendee, address string) string {
	for _, a := range all {
		if strings.EqualFold(a.Address, address) && a.Status != "" {
			return a.Status
		}
	}
	return noAnswer
}
