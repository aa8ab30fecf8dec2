package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/delivery"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/mcp/wire"
)

// rows returns the tools for invitations to the user.
func (b invitationTools) rows() []tool {
	return []tool{
		reading(tool{
			name: "list_invitations", title: "List invitations",
			description: "Lists invitations that wait for respond_to_event, with conflicts, and times guests propose.",
			begin:       doing(b.listInvitations), gives: invitationsView{},
		}), sending(b.once(tool{
			name: "respond_to_event", title: "Answer invitation",
			description: "Answers an invitation or a proposal, and tells its sender. Ask first.",
			scope:       calendar.ScopeRead | calendar.ScopeWrite | calendar.ScopeInvite,
			hints:       toolHints{destructive: true, idempotent: true},
			begin:       withSubject(anEvent, b.aim, b.respondToEvent), gives: respondedView{},
		})),
	}
}

// proposing is the answer in respond_to_event that proposes another time.
const proposing = "propose"

// propose sends the organizer a proposal for another time.
func (b invitationTools) propose(ctx context.Context, c *call, s subject, in *eventAnswer) (answer, error) {
	if !isTime(in.start) {
		return answer{}, errArgument(`"answer" is "propose": give the other time as "start", and "end" if its ` +
			`length changes`)
	}
	times, err := s.oneTime("start", in.start, "end", in.end)
	if err != nil {
		return answer{}, err
	}
	w := delivery.ProposedTime{Times: times, Comment: in.comment, When: s.when, Meter: c.meter}
	if s.scope != edit.All {
		w.Instance = s.id
	}
	told, err := b.service.Propose(ctx, c.caller, s.cal, s.found.Object.UID, w)
	if err != nil {
		return answer{}, b.outdated(ctx, c, s, err)
	}
	return c.responded(s, s.found, "PROPOSED", told)
}

// responded returns an event after the user's response.
func (c *call) responded(s subject, now query.Instance, said string, told []calendar.Told) (answer, error) {
	return same(c.respondedView(s, now, said, told))
}

func (c *call) respondedView(s subject, now query.Instance, said string, told []calendar.Told) respondedView {
	v, at := viewOfEvent(now), s.zone.times(now)
	return respondedView{
		v.Calendar, v.UID, v.RecurrenceID, v.Title, at.StartLocal, at.StartWeekday, said, v.ETag,
		standing(c.caller, s.cal, now.Component).Untrusted,
		keptView{},
		c.told(told, s.cal, now.Component, refusals{}),
	}
}

// proposals returns all open proposals of attendees. A token restricted to some calendars cannot read the inbox, so it
// gets none.
func (b invitationTools) proposals(ctx context.Context, c *call) (query.Proposals, error) {
	if c.caller.MayOwn(calendar.ReadObjects) != nil {
		return query.Proposals{}, nil
	}
	return b.service.Proposals(ctx, c.caller, c.meter)
}

// proposed returns the proposals that a call may refer to: for its event, and at its times if it gives any.
func (b invitationTools) proposed(ctx context.Context, c *call, s subject, in *eventAnswer) ([]query.Proposal, error) {
	found, err := b.proposals(ctx, c)
	if err != nil {
		return nil, err
	}
	all := found.All
	for _, side := range [...]struct {
		name string
		edit.Field[string]
		of func(query.Proposal) ical.Time
	}{
		{"start", in.start, func(p query.Proposal) ical.Time { return p.Proposal.Start }},
		{"end", in.end, proposalEnd},
	} {
		if !isTime(side.Field) {
			continue
		}
		value, _ := side.Value()
		m, err := s.zone.read(side.name, value)
		if err != nil {
			return nil, err
		}
		all = slices.DeleteFunc(all, func(p query.Proposal) bool { return !s.zone.means(m, side.of(p)) })
	}
	return slices.DeleteFunc(all, func(p query.Proposal) bool {
		whole := s.scope == edit.All || s.id.IsZero()
		return p.Occurrence.Calendar.ID != s.cal.ID || p.Object.UID != s.found.Object.UID ||
			p.Which.IsZero() != whole ||
			!whole && !p.RecurrenceID.Time.Equal(s.found.RecurrenceID.Time)
	}), nil
}

// proposalEnd is the end of a proposal, or its start if neither the proposal nor the event has an end.
func proposalEnd(p query.Proposal) ical.Time { return cmp.Or(p.Proposal.End, p.Proposal.Start) }

// means reports whether a moment in a call equals a proposed time. A floating time is compared in the zone of the call.
func (z zoned) means(m moment, t ical.Time) bool {
	switch given := ical.Instant(m.at); {
	case m.date || t.IsDate():
		return m.date && t.IsDate() && given.Civil == t.Civil
	case t.Form == ical.FormFloating:
		_, offset := m.at.In(z.Location()).Zone()
		return ical.CivilFromSeconds(m.at.Unix()+int64(offset)) == t.Civil
	default:
		return given == t
	}
}

// decide accepts or declines the proposals of attendees for an event of the user.
func (b invitationTools) decide(
	ctx context.Context, c *call, s subject, in *eventAnswer, all []query.Proposal,
) (answer, error) {
	d := delivery.Decision{Accept: in.answer == "accept", Comment: in.comment, When: s.when, Meter: c.meter}
	if !d.Accept && in.answer != "decline" {
		return answer{}, errArgument(`the user organizes this event, and a guest proposes another time: "answer" ` +
			`is "accept" or "decline"`)
	}
	if d.Accept && !isTime(in.start) {
		return answer{}, errArgument(`to accept, give the time that the user has seen and chosen: %s`,
			s.zone.wanted(all)).Advising(`give its "start", and its "end"`)
	}
	if err := s.oneWish(all); err != nil {
		return answer{}, err
	}
	if !d.Accept {
		told, err := b.turnDown(ctx, c, s, d, all)
		if err != nil {
			return answer{}, err
		}
		return c.responded(s, s.found, "PROPOSAL-DECLINED", told)
	}
	d.Message, d.Proposal = all[0].Message, all[0].Proposal // this also settles other proposals for the same time
	edited, err := b.service.Decide(ctx, c.caller, s.cal, s.found.Object.UID, d)
	if err != nil {
		return answer{}, b.outdated(ctx, c, s, err)
	}
	now, err := b.after(ctx, c, s, edited, nil)
	if err != nil {
		return answer{}, err
	}
	return c.responded(s, now, "PROPOSAL-ACCEPTED", edited.Told)
}

// turnDown declines the proposals of several attendees for the same time. A proposal that was replaced or decided in
// the meantime does not stop the others; the error names the declined ones.
func (b invitationTools) turnDown(
	ctx context.Context, c *call, s subject, d delivery.Decision, all []query.Proposal,
) ([]calendar.Told, error) {
	var told []calendar.Told
	var down []string
	var failed []error
	for _, p := range all {
		d.Message, d.Proposal = p.Message, p.Proposal
		edited, err := b.service.Decide(ctx, c.caller, s.cal, s.found.Object.UID, d)
		if err == nil {
			told, down = append(told, edited.Told...), append(down, wire.Visible(p.From.Name()))
			continue
		}
		if failed = append(failed, err); !slices.Contains(overtaken, calendar.ReasonOf(err)) {
			break
		}
	}
	err := partly(failed, down)
	if len(down) == 0 {
		err = b.outdated(ctx, c, s, err)
	}
	return told, err
}

// overtaken are the error reasons of a proposal that can no longer be decided.
var overtaken = []calendar.Reason{calendar.Exists, calendar.Stale, calendar.NotFound}

// partly is the error if some proposals were not declined; it names the declined ones.
func partly(failed []error, down []string) error {
	if len(failed) == 0 {
		return nil
	}
	last, ok := errors.AsType[*calendar.Error](failed[len(failed)-1])
	if !ok {
		return errors.Join(failed...)
	}
	e := *last
	var why []string
	for _, err := range failed {
		if one, ok := errors.AsType[*calendar.Error](err); ok && !slices.Contains(why, one.Message) {
			why = append(why, one.Message)
		}
	}
	if e.Message = strings.Join(why, "; "); len(down) > 0 {
		e.Message += "; declined were the proposals of " + strings.Join(down, ", ")
	}
	return &e
}

// oneWish checks that all proposals are for the same time, so that the user declines none that they have not seen.
func (s subject) oneWish(all []query.Proposal) error {
	for _, p := range all[1:] {
		if p.Proposal.Start != all[0].Proposal.Start || proposalEnd(p) != proposalEnd(all[0]) {
			return errArgument(`guests proposed different times for this event, and the call does not name one: %s`,
				s.zone.wanted(all)).
				Advising(`give the "start" and "end" of the one that the user means`)
		}
	}
	return nil
}

// mostWishes limits the proposals that are listed for one event.
const mostWishes = 10

// wishes describes each proposal in one line. The comments are foreign text.
func (z zoned) wishes(all []query.Proposal) []shown {
	var list []shown
	for i, p := range all {
		if i == mostWishes {
			return append(list, shown(moreItems(len(all)-i)))
		}
		line := wire.Visible(p.From.Name()) + ": " + z.fromTo(p.Proposal)
		if p.Comment != "" {
			line += ", untrusted text: " + wire.Quoted(short(p.Comment, longestListedTitle))
		}
		list = append(list, shown(line))
	}
	return list
}

// wanted lists the proposed times, each once and without foreign text, because refusals show them in full.
func (z zoned) wanted(all []query.Proposal) string {
	var list []string
	for _, p := range all {
		if at := z.fromTo(p.Proposal); !slices.Contains(list, at) {
			list = append(list, at)
		}
	}
	if more := len(list) - mostWishes; more > 0 {
		list = append(list[:mostWishes], moreItems(more))
	}
	return strings.Join(list, "; ")
}

// fromTo formats the times of a proposal.
func (z zoned) fromTo(p schedule.Proposal) string {
	if p.End.IsZero() {
		return z.when(p.Start)
	}
	return z.when(p.Start) + " to " + z.when(p.End)
}

// when formats a proposed time so that a call can give it back.
func (z zoned) when(t ical.Time) string {
	if t.Form != ical.FormUTC {
		text := t.Civil.String()
		if t.IsDate() {
			text = text[:len(time.DateOnly)]
		}
		return dayText(t.Civil.Weekday().String(), text)
	}
	at := time.Unix(t.Civil.Seconds(), 0).In(z.Location())
	return dayText(at.Weekday().String(), at.Format(time.RFC3339))
}

// wishesAbout groups proposals by event or instance.
func wishesAbout(all []query.Proposal) [][]query.Proposal {
	var groups [][]query.Proposal
	for _, p := range all {
		i := slices.IndexFunc(groups, func(g []query.Proposal) bool {
			return g[0].Spot() == p.Spot() && g[0].Which.IsZero() == p.Which.IsZero()
		})
		if i < 0 {
			groups = append(groups, []query.Proposal{p})
		} else {
			groups[i] = append(groups[i], p)
		}
	}
	return groups
}

// writeWishes writes proposals as text.
func writeWishes(b *strings.Builder, all []shown) {
	for _, w := range all {
		fmt.Fprintf(b, "   Proposed by %s\n", defused(string(w)))
	}
}
