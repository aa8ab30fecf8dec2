package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/mcp/wire"
)

// standingView shows whether an event makes its reader busy, and who wrote its texts.
type standingView struct {
	Free      bool   `json:"free,omitempty" doc:"It blocks no time, or none of the user's."`
	MyAnswer  string `json:"my_answer,omitempty" doc:"The user's own answer to the invitation."`
	Organizer shown  `json:"organizer,omitempty"`

	Untrusted shown `json:"untrusted_text_by,omitempty" once:"true"`
}

func (v standingView) foreign() bool { return v.Untrusted != "" }

// standing returns the standing of an event for the caller. The event is nil if it cannot be parsed.
func standing(who calendar.Caller, cal calendar.Calendar, event *ical.Component) standingView {
	var v standingView
	organizes := false
	v.Untrusted = authorOf(who, cal)
	if event == nil {
		v.Untrusted = cmp.Or(v.Untrusted, unknownAuthor)
		return v
	}
	if p := event.Property("ORGANIZER"); p != nil {
		v.Organizer = shown(short(bareAddress(p.Value()), longestListedTitle))
		switch {
		case lookup.IsAccount(who, cal, p.Value()):
			organizes = true
			if !who.ActsFor() {
				v.Untrusted = "" // the user made it in the linked account
			}
		case lookup.IsUser(who, p.Value()):
			organizes = true
		default:
			v.Untrusted = v.Organizer
		}
	}
	if p := event.Property(edit.StrangerProperty); p != nil && v.Untrusted == "" {
		v.Untrusted = shown(short(p.Value(), longestListedTitle))
	}
	all := edit.AttendeesOf(event)
	// As in schedule.Respond, the first of several own lines counts.
	if i := slices.IndexFunc(all, func(a edit.Attendee) bool { return lookup.IsOwn(who, cal, a.Address) }); i >= 0 {
		v.MyAnswer = wire.Visible(all[i].Status)
		if organizes && strings.EqualFold(v.MyAnswer, noAnswer) {
			v.MyAnswer = schedule.Accepted // they need no invitation
		}
	}
	v.Free = cal.Access == calendar.OwnerAccess && cal.Transparent || content.Transparent(event) ||
		content.WordOf(event, "STATUS") == string(edit.Cancelled) ||
		v.MyAnswer == "DECLINED" || v.MyAnswer == "DELEGATED"
	return v
}

// about records the author of a foreign text that a refusal of the call may quote.
func (c *call) about(by shown) {
	if by != "" {
		c.foreign = append(c.foreign, by)
	}
}

// unknownAuthor marks a text that the user may or may not have written.
const unknownAuthor shown = "unknown"

// authorOf names the author of a calendar's name and texts, unless that is the user: the owner of a shared calendar, or
// the feed or account of a linked calendar. To a delegate, the owner is another person. Everyone with write access
// there may have written any text in it.
func authorOf(who calendar.Caller, cal calendar.Calendar) shown {
	switch {
	case cal.Owner != "" && cal.Owner != who.Author().ID:
		return shown(cal.OwnerName)
	case cal.Origin.Mirrors():
		return shown(short(cal.Origin.From, longestListedTitle))
	case cal.Owner != "" && cal.Subscribed():
		return unknownAuthor // a feed that only the user's apps read, and may have named
	}
	return ""
}

// mark is the mark of a foreign text in a line of text; "" if the text is the user's own.
func (s shown) mark() string {
	if s == "" {
		return ""
	}
	return ", untrusted text by " + wire.Quoted(defused(string(s)))
}

// markedName is a calendar's name for a list that may be truncated. Therefore the mark of a foreign name comes first.
func markedName(who calendar.Caller, cal calendar.Calendar) string {
	name := wire.Quote(ownName(cal))
	if by := authorOf(who, cal); by != "" {
		return "untrusted text by " + wire.Quote(string(by)) + ": " + name
	}
	return name
}

// joined is one mark for texts of several authors; "" if there are none.
func joined(writers []shown) shown {
	list := slices.DeleteFunc(slices.Sorted(slices.Values(texts(writers))), func(s string) bool { return s == "" })
	return shown(short(strings.Join(slices.Compact(list), ", "), longestListedTitle))
}

// line is the standing at the end of an event's line.
func (v standingView) line() string {
	var said strings.Builder
	if v.Free {
		said.WriteString(", free")
	}
	if v.MyAnswer != "" {
		said.WriteString(", the user's answer: " + bareOrQuoted(strings.ToLower(v.MyAnswer)))
	}
	if v.Organizer != "" && v.Organizer != v.Untrusted {
		said.WriteString(", organizer " + wire.Quoted(string(v.Organizer)))
	}
	said.WriteString(v.Untrusted.mark())
	return said.String()
}

// knowMails loads the addresses of the caller, so that events know them under each.
func (b toolbox) knowMails(ctx context.Context, c *call) (err error) {
	c.caller.Mails, err = b.service.Mails(ctx, c.caller.User)
	return err
}

// bareAddress is an address without its scheme.
func bareAddress(value string) string {
	value = strings.TrimSpace(value)
	if scheme := "mailto:"; len(value) > len(scheme) && strings.EqualFold(value[:len(scheme)], scheme) {
		return value[len(scheme):]
	}
	return value
}

// toldView lists the recipients of a change: attendees, or the organizer.
type toldView struct {
	Told      []shown `json:"told,omitempty" once:"true"`
	Unreached []shown `json:"not_reached,omitempty" once:"true"`
	Declined  []shown `json:"declined,omitempty" doc:"Rooms that this does not book, and why." once:"true"`
	Untold    string  `json:"nobody_told,omitempty" once:"true"`
}

// The reasons for sending attendees nothing.
const (
	untoldByToken = "this token lacks the scope invite: the others in this event were sent nothing"
	uninvited     = "added without an invitation (SCHEDULE-AGENT=NONE); to invite, remove_attendees, then add_attendees"
	untoldByUser  = "the user has no mail address here, so that nobody can be invited: the others in this event " +
		"were sent nothing"
	untoldByTrash = "restoring from the trash sends no messages: the other attendees will only learn of its next " +
		"change; undo_change with the deletion's change_id would have told them"
	untoldByEvent  = "nobody organizes this event: the others in it were sent nothing, and the user must tell them"
	untoldByGuest  = "the linked account does not organize this event: its provider sends the others nothing"
	untoldBySource = "this server sends nothing to the guests of a linked calendar, and its source may not either: " +
		"the user must tell them"
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

// told returns the recipients of a change to an event, without the rooms that declined, or the reason why there are
// none.
func (c *call) told(all []calendar.Told, cal calendar.Calendar, event *ical.Component, rooms refusals) toldView {
	v := toldTo(rooms.accepted(all))
	v.Declined = rooms.shown
	if c.invites() && !cal.Origin.Mirrors() {
		v.Unreached = append(v.Unreached, c.uninvited(cal, event)...)
	}
	if len(all) > 0 || v.Unreached != nil || !c.hasOthers(cal, event) {
		return v
	}
	if cal.Origin.Mirrors() {
		v.Untold = untoldAtSource(cal.Origin, event)
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

// untoldAtSource is the reason why a change in a linked calendar notifies no one; "" if it is only too small.
func untoldAtSource(from calendar.Origin, event *ical.Component) string {
	organizer := event.Property("ORGANIZER")
	switch {
	case from.Notifier == "":
		return untoldBySource
	case organizer == nil || !from.Has(schedule.AddressOf(organizer.Value()).Mail()):
		return untoldByGuest
	}
	return ""
}

// uninvited lists the attendees whom an earlier call or an app added without an invitation (RFC 6638 §7.1). No change
// of the event reaches them.
func (c *call) uninvited(cal calendar.Calendar, event *ical.Component) []shown {
	if event == nil {
		return nil
	}
	if by := event.Property("ORGANIZER"); by == nil || !lookup.IsOwn(c.caller, cal, by.Value()) {
		return nil
	}
	var list []string
	for _, p := range event.All("ATTENDEE") {
		agent, _ := p.Param("SCHEDULE-AGENT")
		if strings.EqualFold(agent, "NONE") && !lookup.IsOwn(c.caller, cal, p.Value()) {
			list = append(list, bareAddress(p.Value())+": "+uninvited)
		}
	}
	return few(list)
}

// hasOthers reports whether an event has attendees other than the user.
func (c *call) hasOthers(cal calendar.Calendar, event *ical.Component) bool {
	return event != nil && slices.ContainsFunc(event.All("ATTENDEE"),
		func(p *ical.Property) bool { return !lookup.IsOwn(c.caller, cal, p.Value()) })
}

// write writes the recipients as text; in a preview, the expected ones.
func (v toldView) write(b *strings.Builder, preview bool) {
	words := [...]string{"Told", "Not reached", "Declined"}
	if preview {
		words = [...]string{"Would be told", "Would not be reached", "Would decline"}
	}
	for i, list := range [...][]shown{v.Told, v.Unreached, v.Declined} {
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
			told, reached[t.To] = append(told, t.To+way(t)), true
		}
	}
	for _, t := range all {
		if !t.Reached() && (t.Status != "" || !reached[t.To]) {
			not = append(not, t.To+": "+failures[t.Status])
		}
	}
	v.Told, v.Unreached = few(distinct(told)), few(distinct(not))
	return v
}

// way describes how a recipient is notified, other than in their calendar on this server.
func way(t calendar.Told) string {
	if t.By != "" {
		return " (by " + t.By + ")"
	}
	return ways[t.Status]
}

// ways are the ways by status.
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

// ownName is a calendar's name without the owner that calendar.Calendar.ForSharees appends for sharees.
func ownName(cal calendar.Calendar) string {
	if cal.Access == calendar.OwnerAccess {
		return cal.Name
	}
	return strings.TrimSuffix(cal.Name, cal.OwnerMark())
}

// forDelegates are the tools that work in the calendars of users who made the caller their delegate, if calendar_id
// names one; all changes of a change_many are then in that user's calendars. The access table decides about each
// action. All other tools use the caller's own calendars. find_time and get_free_busy choose the caller per calendar.
var forDelegates = []string{
	"list_events", "query_events", "get_event", "create_event", "update_event", "patch_event", "move_event",
	"delete_event", "respond_to_event", "list_tasks", "get_task", "create_task", "update_task", "move_task",
	"delete_task", "get_calendar", "list_changes", "search_events", "sum_hours", "change_many", "undo_change",
}

// actFor makes the caller a delegate if the call is about another user's calendar. It returns a function that ends
// that.
func (h *Handler) actFor(ctx context.Context, t tool, c *call) (end func(), err error) {
	self := c.caller
	end = func() { c.caller = self }
	if id := c.calendarAsked(); id != "" && slices.Contains(forDelegates, t.name) {
		c.caller, err = h.box.service.ActAt(ctx, self, id)
	}
	return end, err
}

// calendarAsked returns the calendar that the arguments of a call name: directly, in the first of several changes, or
// in the id of a change.
func (c *call) calendarAsked() calendar.CalendarID {
	asked := c.asked
	if several, ok := readList(readGroup)(asked["changes"]); ok && len(several) > 0 {
		asked = several[0]
	}
	if id, _ := readText(asked["calendar_id"]); id != "" {
		return calendar.CalendarID(id)
	}
	if text, _ := readText(asked[eventIDName]); text != "" {
		if id, err := parseEventID(text); err == nil {
			return id.Calendar
		}
	}
	if text, _ := readText(asked["change_id"]); text != "" {
		if id, err := calendar.ParseChangeID(text); err == nil {
			return id.Calendar
		}
	}
	return ""
}

// mostDelegators limits the users whose calendars list_calendars adds: anyone can appoint the caller.
const mostDelegators = 30

// delegatedCalendars returns the calendars that the caller can use as a delegate, with the access of the delegation.
func (b toolbox) delegatedCalendars(ctx context.Context, c calendar.Caller) (all []calendar.Calendar, err error) {
	if c.MayActFor() != nil {
		return nil, nil
	}
	from, err := b.service.DelegatedTo(ctx, c)
	for _, d := range from[:min(len(from), mostDelegators)] {
		theirs, err := b.service.Calendars(ctx, c.As(d))
		if err != nil {
			return nil, err
		}
		for _, cal := range theirs {
			cal.Access = d.Access
			all = append(all, cal)
		}
	}
	return all, err
}
