package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/mcp/wire"
)

const (
	usualInvitations = 20
	mostInvitations  = 50
)

// answers maps the words of respond_to_event to the status in an event.
var answers = map[string]string{
	"accept": schedule.Accepted, "decline": schedule.Declined,
	"tentative": schedule.Tentative,
}

// invitationTools are the tools for invitations and proposed times.
type invitationTools struct{ toolbox }

// eventAnswer holds the arguments of respond_to_event.
type eventAnswer struct {
	reference
	answer, comment string
	start, end      edit.Field[string]
}

func (in *eventAnswer) takes() []field {
	return slices.Concat(in.takesEvent(), []field{
		textTo(&in.answer, "answer", "propose: another time.").needed().
			oneOf("accept", "decline", "tentative", proposing),
		textTo(&in.comment, "comment", "For its sender.").upTo(longestTitle),
		fieldTo(&in.start, "start", "Of the proposal, or yours."),
		fieldTo(&in.end, "end", "Of the proposal."),
		wordTo(&in.RecurrenceID, "recurrence_id", "Of a series."),
		textTo(&in.scope, "scope", "Of a series; ask.").oneOf(string(edit.This), string(edit.All)),
		in.takesMatch(),
	})
}

// respondedView is an event after the user's response.
type respondedView struct {
	Calendar     calendar.CalendarID `json:"calendar_id"`
	UID          shown               `json:"uid"`
	RecurrenceID string              `json:"recurrence_id,omitempty"`
	Title        shown               `json:"title"`
	StartLocal   string              `json:"start_local"`
	StartWeekday string              `json:"start_weekday"`
	Answered     string              `json:"answered"`
	ETag         calendar.ETag       `json:"etag"`
	Untrusted    shown               `json:"untrusted_text_by,omitempty" once:"true"`
	keptView
	toldView
}

// foreign is always true: models never write this text back.
func (respondedView) foreign() bool { return true }

// keptView lists the instances that a response to the whole series does not change.
type keptView struct {
	Kept     []keptAnswer `json:"kept_answers,omitempty" doc:"Days that keep their own answer."`
	MoreKept int          `json:"more_kept_answers,omitempty"`
	KeptHint string       `json:"kept_hint,omitempty"`
}

// keptAnswer is an instance with a response of its own.
type keptAnswer struct {
	RecurrenceID string `json:"recurrence_id"`
	StartLocal   string `json:"start_local"`
	StartWeekday string `json:"start_weekday"`
	Answer       string `json:"answer"`
}

const (
	// mostKept limits the instances that are listed.
	mostKept = 20
	keptHint = "The days in kept_answers have their own answers, which this answer does not change. Tell the user; " +
		"to change one, call respond_to_event with its recurrence_id and scope this."
)

func (b invitationTools) respondToEvent(ctx context.Context, c *call, s subject, in *eventAnswer) (answer, error) {
	if in.answer == proposing {
		return b.propose(ctx, c, s, in)
	}
	if open, err := b.proposed(ctx, c, s, in); err != nil || len(open) > 0 {
		if err != nil {
			return answer{}, err
		}
		return b.decide(ctx, c, s, in, open)
	}
	if isTime(in.start) || isTime(in.end) {
		return answer{}, errArgument(`"start" and "end" are for "answer": "propose", or name a time that a guest ` +
			`proposed: no guest proposed this one`)
	}
	said := ledger.Response{Response: schedule.Response{
		Status:  answers[in.answer],
		Comment: strings.TrimSpace(in.comment),
	}, When: s.when, Meter: c.meter}
	if s.scope != edit.All {
		said.Instance = s.id
	}
	done, err := b.service.Respond(ctx, c.caller, s.cal, s.found.Object.UID, said)
	now, err := b.after(ctx, c, s, done.Edited, err)
	if err != nil {
		return answer{}, err
	}
	v := c.respondedView(s, now, said.Status, done.Told)
	v.keptView = b.keptOf(ctx, c, s, done)
	return same(v)
}

// keptOf lists the instances that keep another response. The change is already committed, so an instance that cannot be
// shown is only counted.
func (b invitationTools) keptOf(ctx context.Context, c *call, s subject, done ledger.Responded) (v keptView) {
	for _, kept := range done.Kept[:min(len(done.Kept), mostKept)] {
		i, err := b.service.InstanceOf(ctx, c.meter, s.cal, done.Saved.Object, kept.Instance)
		if err != nil {
			continue
		}
		at := s.zone.times(i)
		v.Kept = append(v.Kept, keptAnswer{stamp(i.RecurrenceID), at.StartLocal, at.StartWeekday, kept.Status})
	}
	if v.MoreKept = len(done.Kept) - len(v.Kept); len(done.Kept) > 0 {
		v.KeptHint = keptHint
	}
	return v
}

// invitationsQuestion holds the arguments of list_invitations.
type invitationsQuestion struct {
	limit int
	inZone
}

func (in *invitationsQuestion) takes() []field {
	return []field{numberTo(&in.limit, "limit", "Default 20.").between(1, mostInvitations), in.takesZone()}
}

// invitationView is an event that waits for a response.
type invitationView struct {
	listedEvent
	Series bool    `json:"series,omitempty" doc:"Answer with scope all."`
	Beside []shown `json:"conflicts,omitempty" doc:"Overlapping events."`
	Wishes []shown `json:"proposed,omitempty" doc:"By guests of the user's event."`
}

// invitationsView is the result of list_invitations.
type invitationsView struct {
	Invitations []invitationView `json:"invitations"`
	Calendars   []legendView     `json:"calendars,omitempty"`
	zoneView
	Truncated bool    `json:"truncated"`
	Unread    int     `json:"unread,omitempty" doc:"Number that can't be followed."`
	Refused   []shown `json:"not_followed,omitempty" doc:"Untrusted mails, kept out of calendars."`

	Offered []offeredView `json:"offered_calendars,omitempty" doc:"With untrusted names; update_calendar accepts one."`
}

func (b invitationTools) listInvitations(ctx context.Context, c *call, in *invitationsQuestion) (answer, error) {
	z, err := b.zoneFor(c, in.inZone, calendar.Calendar{})
	if err != nil {
		return answer{}, err
	}
	found, wishes, err := b.asked(ctx, c, z, cmp.Or(in.limit, usualInvitations))
	if err != nil {
		return answer{}, err
	}
	r := eventRows{zones: b.zones, zone: z, who: c.caller, people: true}
	listed, left := r.list(c, &found.Occurrences)
	found.More += left
	v := invitationsView{
		Invitations: []invitationView{}, Calendars: legend(c.caller, found.Occurrences), zoneView: z.view(),
		Truncated: found.More > 0, Unread: found.Unread,
	}
	if v.Refused, err = b.unverified(ctx, c, z); err != nil {
		return answer{}, err
	}
	var more bool
	if v.Offered, more, err = calendarTools(b).offered(ctx, c, cmp.Or(in.limit, usualInvitations)); err != nil {
		return answer{}, err
	}
	v.Truncated = v.Truncated || more
	for i, o := range found.Occurrences {
		if i < len(wishes) {
			v.Invitations = append(v.Invitations, invitationView{listed[i], o.WholeSeries(), nil, z.wishes(wishes[i])})
			continue
		}
		beside, err := b.clashes(ctx, c, o.Calendar, o.Instance, z)
		if err != nil {
			return answer{}, err
		}
		v.Invitations = append(v.Invitations, invitationView{listed[i], o.WholeSeries(), clashNames(beside), nil})
	}
	return answer{v.prose(r, found.Occurrences), v}, nil
}

// asked returns the events that wait for the user: first events with times proposed by attendees, then invitations.
func (b invitationTools) asked(
	ctx context.Context, c *call, z zoned, limit int,
) (query.Agenda, [][]query.Proposal, error) {
	found, err := b.service.OpenInvitations(ctx, c.caller, z.Zone, limit, c.meter)
	if err != nil {
		return found, nil, err
	}
	proposals, err := b.proposals(ctx, c)
	if err != nil {
		return found, nil, err
	}
	found.Unread += proposals.Unread
	wishes := wishesAbout(proposals.All)
	for i, g := range wishes {
		found.Occurrences = slices.Insert(found.Occurrences, i, g[0].Occurrence)
	}
	if over := len(found.Occurrences) - limit; over > 0 {
		found.Occurrences, found.More = found.Occurrences[:limit], found.More+over
	}
	return found, wishes, nil
}

// clashNames describes conflicting events in a few words each.
func clashNames(all clashes) []shown {
	var list []shown
	for _, e := range all.Conflicts {
		list = append(list, shown(fmt.Sprintf("%s (%s)%s", quotedTitle(string(e.Title)), dayText(e.StartWeekday,
			e.StartLocal), e.Untrusted.mark())))
	}
	if all.More > 0 {
		list = append(list, shown(moreItems(all.More)))
	}
	return list
}

// prose writes the result as text.
func (v invitationsView) prose(r eventRows, found []query.Occurrence) prose {
	var b strings.Builder
	if len(found) == 0 {
		b.WriteString("No invitation waits for the user's answer. " + unreadProse(v.Unread) + "\n")
		v.writeOthers(&b)
		return prose(strings.TrimSpace(b.String()))
	}
	fmt.Fprintf(&b, "Waiting for the user's answer (times in %s):\n\n", r.zone.Name())
	names, legend := calendarNames{}, []string(nil)
	for i, o := range found {
		e := v.Invitations[i]
		fmt.Fprintf(&b, "%d. %s\n", i+1, r.line(o, e.listedEvent, names.tell(r.who, o.Calendar, &legend)))
		if e.Series {
			b.WriteString("   The whole series is waiting: answer with scope all.\n")
		}
		writeWishes(&b, e.Wishes)
		if e.Beside != nil {
			fmt.Fprintf(&b, "   At the same time: %s\n", defused(strings.Join(texts(e.Beside), "; ")))
		}
	}
	writeLegend(&b, legend)
	if v.Unread > 0 {
		b.WriteString("\n" + unreadProse(v.Unread) + "\n")
	}
	v.writeOthers(&b)
	return prose(strings.TrimSpace(b.String()))
}

// writeOthers writes the lists after the invitations.
func (v invitationsView) writeOthers(b *strings.Builder) {
	writeUnverified(b, v.Refused)
	writeOffered(b, v.Offered)
	if v.Truncated {
		b.WriteString("\nThere are more: ask for more with limit, or answer these first.\n")
	}
}

// mostUnverified limits the listed mails that were ignored.
const mostUnverified = 10

// unverified describes the ignored mails, in one line each. A token restricted to some calendars gets none.
func (b invitationTools) unverified(ctx context.Context, c *call, z zoned) ([]shown, error) {
	if c.caller.MayOwn(calendar.ReadObjects) != nil {
		return nil, nil
	}
	all, err := b.service.Unverified(ctx, c.caller)
	var list []shown
	for i, u := range all {
		if i == mostUnverified {
			return append(list, shown(moreItems(len(all)-i))), err
		}
		list = append(list, shown(z.unverified(u)))
	}
	return list, err
}

// unverified describes a mail and why it was ignored. Address, organizer and title are a stranger's text.
func (z zoned) unverified(u calendar.Unverified) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s by mail was not followed, because %s. The sender is %s.", u.Subject(), u.Reason(), u.Standing())
	if !u.Start.IsZero() {
		b.WriteString(" Start: " + z.when(u.Start) + ".")
	}
	fmt.Fprintf(&b, " Untrusted text: sender %s, organizer %s, title %s",
		wire.Quoted(short(string(u.From), longestListedTitle)), wire.Quoted(short(u.Organizer, longestListedTitle)),
		quotedTitle(short(u.Title, longestListedTitle)))
	return b.String()
}

// writeUnverified writes them as text.
func writeUnverified(b *strings.Builder, all []shown) {
	if len(all) > 0 {
		b.WriteString("\nNot in the calendar:\n")
	}
	for _, line := range all {
		fmt.Fprintf(b, "- %s\n", defused(string(line)))
	}
}
