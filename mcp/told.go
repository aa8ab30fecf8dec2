package mcp

import (
	"fmt"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/mcp/wire"
)

// toldView lists the recipients of a change: attendees, or the organizer.
type toldView struct {
	Told      []shown `json:"told,omitempty"`
	Unreached []shown `json:"not_reached,omitempty"`
	Untold    string  `json:"nobody_told,omitempty"`
}

// The reasons for sending attendees nothing.
const (
	untoldByToken = "this token lacks the scope invite: the others in this event were sent nothing"
	untoldByUser  = "the user has no mail address here, so that nobody can be invited: the others in this event were sent nothing"
	untoldByTrash = "restoring from the trash sends no messages: the other attendees will only learn of its next change; undo_change with the deletion's change_id would have told them"
	untoldByEvent = "nobody organizes this event: the others in it were sent nothing, and the user must tell them"
)

// telling returns whether others are notified of the call's changes. A token without the invite scope notifies no one,
// and a change that attendees must be told of is refused.
func (c *call) telling() calendar.Telling {
	if c.invites() {
		return calendar.TellAll
	}
	return calendar.TellNobody
}

func (c *call) invites() bool { return c.caller.HasScope(calendar.TellOthers) == nil }

// told returns the recipients of a change to an event, or the reason why there are none.
func (c *call) told(all []calendar.Told, event *ical.Component) toldView {
	v := toldTo(all)
	if len(all) > 0 || !c.hasOthers(event) {
		return v
	}
	switch organizer := event.Property("ORGANIZER"); {
	case organizer == nil && c.caller.User.Email == "":
		v.Untold = untoldByUser
	case organizer == nil:
		v.Untold = untoldByEvent
	case !c.invites():
		v.Untold = untoldByToken
	}
	return v
}

// hasOthers reports whether an event has attendees other than the user.
func (c *call) hasOthers(event *ical.Component) bool {
	return event != nil && slices.ContainsFunc(event.All("ATTENDEE"), func(p *ical.Property) bool { return !isOwn(c.caller.User, p.Value()) })
}

// write writes the recipients as text; in a preview, the expected ones.
func (v toldView) write(b *strings.Builder, preview bool) {
	words := [...]string{"Told", "Not reached"}
	if preview {
		words = [...]string{"Would be told", "Would not be reached"}
	}
	for i, list := range [...][]shown{v.Told, v.Unreached} {
		if list != nil {
			fmt.Fprintf(b, "\n%s: %s\n", words[i], strings.Join(each(texts(list), wire.Quoted), ", "))
		}
	}
}

// toldTo lists the recipients, each once: a split sends one attendee several messages.
func toldTo(all []calendar.Told) (v toldView) {
	var told, not []string
	reached := map[string]bool{}
	for _, t := range all {
		if t.Reached() {
			told, reached[t.To] = append(told, t.To+ways[t.Status]), true
		}
	}
	for _, t := range all {
		if !t.Reached() && (t.Status != "" || !reached[t.To]) {
			not = append(not, t.To+": "+failures[t.Status])
		}
	}
	v.Told, v.Unreached = few(once(told)), few(once(not))
	return v
}

// once removes duplicates.
func once(list []string) []string {
	said := map[string]bool{}
	return slices.DeleteFunc(list, func(item string) bool {
		again := said[item]
		said[item] = true
		return again
	})
}

// ways describe how a recipient is notified, other than in their calendar on this server.
var ways = map[string]string{
	"1.0": " (by mail, within a minute)",
	"1.1": " (in their inbox alone: another event in their calendar has its UID)",
}

// failures describe why a message did not reach its recipient (RFC 6638 §3.2.9).
var failures = map[string]string{
	"":    "sent nothing, since it is over",
	"3.7": "this is no mail address",
	"3.8": "they may not be written to by this user",
	"5.1": "it could not be delivered",
	"5.2": "this server sends no mail",
	"5.3": "they were sent as much in a day as one user may send them",
}
