package planner

import (
	"context"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/delivery"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/calendar/timetext"
	"caldav-mcp-server/ical"
)

// Invitation is an event that waits for the visitor's answer.
type Invitation struct {
	Subject
	Swatch
	Title, When, Organizer string
	// Place is its location, Scope the part of a series that is answered.
	Place   string
	Scope   edit.Scope
	Answers []Choice
}

// mostInvitations limits the list; once some are answered, the next ones appear.
const mostInvitations = 20

// Invitations returns the events that wait for the visitor's answer, and the number of further ones.
func (p *Planner) Invitations(ctx context.Context) (list []Invitation, more int, err error) {
	found, err := p.Service.OpenInvitations(ctx, p.Caller, p.Zone, mostInvitations, p.meter)
	for _, o := range found.Occurrences {
		s := Subject{Calendar: o.Calendar, Instance: o.Instance, base: p.Base}
		one := Invitation{
			Swatch: SwatchOf(o.Calendar), Title: p.titleOf(o.Instance), When: p.when(o.Instance), Scope: edit.All,
			Place: clean(content.TextOf(o.Component, "LOCATION")), Answers: p.answers(),
		}
		if o.Object.Recurring && !o.WholeSeries() {
			one.Scope = edit.This
			if s.At, err = timetext.Parse(Stamp(o.RecurrenceID), nil); err != nil {
				return nil, 0, err
			}
		}
		p.learnNames(ctx, false, o.Component)
		one.Subject, one.Organizer = s, p.organizerOf(o.Component)
		list = append(list, one)
	}
	return list, found.More, err
}

// answers are the possible answers to an invitation.
func (p *Planner) answers() (list []Choice) {
	for _, status := range []string{schedule.Accepted, schedule.Tentative, schedule.Declined} {
		list = append(list, Choice{status, p.text("planner.reply." + answerIDs[status])})
	}
	return list
}

// organizerOf returns the organizer's name or address; "" if there is none.
func (p *Planner) organizerOf(c *ical.Component) string {
	organizer := c.Property("ORGANIZER")
	if organizer == nil {
		return ""
	}
	name, _ := organizer.Param("CN")
	return p.nameOf(name, organizer.Value())
}

// Proposal is a guest's proposal of a new time for an event.
type Proposal struct {
	// Message, Which, Start and End identify it.
	Message, Which, Start, End string
	By, Time, Comment          string
}

// mostProposals limits the proposals on the page of an event.
const mostProposals = 20

// proposals returns the open proposals for a subject that the visitor organizes. For a whole series they include the
// proposals for its single events.
func (p *Planner) proposals(ctx context.Context, s Subject) (list []Proposal) {
	found, err := p.Service.Proposals(ctx, p.Caller, p.meter)
	if err != nil {
		return nil // the page shows the event without them
	}
	for _, one := range found.All {
		if one.Occurrence.Calendar.ID != s.Calendar.ID || one.Object.UID != s.Object.UID ||
			!s.At.IsZero() && !one.Which.IsZero() && one.Which != s.At || len(list) == mostProposals {
			continue
		}
		proposed := Proposal{
			string(one.Message), one.Which.String(), one.Proposal.Start.String(), one.Proposal.End.String(),
			clean(one.From.Name()), p.proposedTime(one.Proposal.Start, one.Proposal.End), clean(one.Comment),
		}
		list = append(list, proposed)
	}
	return list
}

// proposedTime formats a time in the visitor's zone.
func (p *Planner) proposedTime(start, end ical.Time) string {
	one := func(t ical.Time) string {
		if t.IsDate() {
			return p.Language.ShortDate(wall(t.Civil))
		}
		return p.moment(p.instant(t))
	}
	if end.IsZero() || end == start {
		return one(start)
	}
	if end.IsDate() {
		end = ical.Date(end.Civil.AddDays(-1))
	}
	if end == start {
		return one(start)
	}
	return p.text("planner.range", "first", one(start), "last", one(end))
}

// Propose sends the organizer another time, as inputs of forms write it. The times are in the visitor's zone.
func (p *Planner) Propose(ctx context.Context, s Subject, start, end, comment string, one bool) error {
	if last, err := time.Parse(time.DateOnly, end); err == nil {
		end = iso(last.AddDate(0, 0, 1)) // the form has the last day
	}
	change, err := p.Move(s, start, end)
	if err != nil {
		return err
	}
	w := delivery.ProposedTime{Times: change.Times, Comment: clean(comment), Meter: p.meter}
	if one {
		w.Instance = s.At
	}
	_, err = p.Service.Propose(ctx, p.Caller, s.Calendar, s.Object.UID, w)
	return err
}
