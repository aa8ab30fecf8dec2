package web

import (
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/delivery"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/ical"
)

// proposal is a guest's proposal of a new time for one of the visitor's events.
type proposal struct {
	Message calendar.ObjectName
	// Which, Start and End identify a proposal within its message. They also detect a newer one that arrived after the
	// page was shown.
	Which, Start, End          string
	By, Title, Now, At, Remark string
}

// mostProposals limits the list on the home page; once some are decided, the next ones appear.
const mostProposals = 20

// proposalPages list and decide new times that guests propose.
type proposalPages struct{ *pageRequest }

// proposals returns the pending proposals and the number of further ones that cannot be shown.
func (p proposalPages) proposals(c clock) (list []proposal, unread int, err error) {
	m := p.Service.Meter(p.r.Context(), p.caller())
	defer m.Close()
	found, err := p.Service.Proposals(p.r.Context(), p.caller(), m)
	for _, one := range found.All[:min(len(found.All), mostProposals)] {
		list = append(list, proposal{
			one.Message, one.Which.String(), one.Start.String(), one.Proposal.End.String(), excerpt(one.From.Name()),
			c.titleOf(one.Instance), c.sentence(one), c.proposed(one), excerpt(one.Comment),
		})
	}
	return list, found.Unread, err
}

// sentence describes the present time of an event.
func (c clock) sentence(p query.Proposal) string {
	if p.Occurrence.Start.AllDay {
		return c.date(p.Occurrence.Start.Time)
	}
	return c.date(p.Occurrence.Start.Time) + ", " + c.span(p.Occurrence.Start, p.Occurrence.End)
}

// proposed describes the time that a guest proposes.
func (c clock) proposed(p query.Proposal) string {
	said := c.when(p.Proposal.Start)
	if !p.Proposal.End.IsZero() && p.Proposal.End != p.Proposal.Start {
		said += " – " + c.when(p.Proposal.End)
	}
	return said
}

func (c clock) when(t ical.Time) string {
	wall := time.Unix(t.Civil.Seconds(), 0).UTC()
	switch {
	case t.IsDate():
		return c.lang.ShortDateYear(wall)
	case t.Form == ical.FormFloating:
		return c.lang.ShortDate(wall) + " " + c.lang.Time(wall, c.cycle)
	default:
		return c.date(wall) + " " + c.time(wall)
	}
}

// proposalAnswers are the values of the two buttons.
var proposalAnswers = map[string]struct {
	accept bool
	notice string
}{
	"accept":  {true, "proposal-accepted"},
	"decline": {false, "proposal-declined"},
}

// decideProposal accepts or declines a proposal.
func (p proposalPages) decideProposal() error {
	said, ok := proposalAnswers[p.field("answer")]
	if !ok {
		return p.wrong("error.proposal-answer")
	}
	m := p.Service.Meter(p.r.Context(), p.caller())
	defer m.Close()
	found, err := p.Service.Proposals(p.r.Context(), p.caller(), m)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(found.All, func(one query.Proposal) bool {
		return string(one.Message) == p.r.PathValue("message") && one.Which.String() == p.field("which") &&
			one.Proposal.Start.String() == p.field("start") && one.Proposal.End.String() == p.field("end")
	})
	if i < 0 {
		return p.failed(calendar.NotFound, "error.proposal-gone")
	}
	one := found.All[i]
	_, err = p.Service.Decide(p.r.Context(), p.caller(), one.Occurrence.Calendar, one.Object.UID, delivery.Decision{
		Message: one.Message, Proposal: one.Proposal, Accept: said.accept, Meter: m,
	})
	return p.after(err, p.nextOr(""), said.notice)
}

// unverified is an invitation by mail that was not accepted into the calendar, because its sender is unverified.
type unverified struct {
	Name                           calendar.ObjectName
	From, Organizer, Title, At, On string
	// What, Reason and Standing are ids of texts.
	What, Reason, Standing string
}

// distrust are the ids of texts about the reasons.
var distrust = map[calendar.Distrust]string{
	calendar.NotOrganizer: "unverified.not-organizer", calendar.NotProven: "unverified.no-proof",
	calendar.NotInvited: "unverified.not-invited",
}

// unverifiedPages list and dismiss invitations from unverified senders.
type unverifiedPages struct{ *pageRequest }

// unverified returns the visitor's unverified invitations.
func (p unverifiedPages) unverified(c clock) (list []unverified, err error) {
	all, err := p.Service.Unverified(p.r.Context(), p.caller())
	for _, u := range all {
		one := unverified{
			Name: u.Name, From: excerpt(string(u.From)), Organizer: excerpt(u.Organizer), Title: excerpt(u.Title),
			On: c.Moment(u.Created), What: "unverified.invitation", Reason: distrust[u.Why],
			Standing: "unverified.not-proven",
		}
		switch {
		case u.Method == calendar.MethodCancel:
			one.What = "unverified.cancellation"
		case u.Known:
			one.What = "unverified.update"
		}
		if u.Proven {
			one.Standing = "unverified.proven"
		}
		if !u.Start.IsZero() {
			one.At = c.when(u.Start)
		}
		list = append(list, one)
	}
	return list, err
}

// dismissUnverified deletes one.
func (p unverifiedPages) dismissUnverified() error {
	err := p.Service.DismissUnverified(p.r.Context(), p.caller(), calendar.ObjectName(p.r.PathValue("name")))
	return p.after(err, "", "mail-dismissed")
}
