package query

import (
	"context"
	"errors"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/ical"
)

// Proposal is another time that a guest proposes for an event of the caller's, which waits for a decision.
type Proposal struct {
	// Message is what the caller's inbox has of it.
	Message calendar.ObjectName
	// Occurrence is the event as it stands: the instance that is meant, or the first of all.
	Occurrence
	schedule.Proposal
}

// Proposals lists what guests propose for events in the caller's own calendars, the oldest first.
func (s *Queries) Proposals(ctx context.Context, c calendar.Caller, m *meter.Meter) ([]Proposal, error) {
	items, err := s.Messages(ctx, c)
	if err != nil {
		return nil, err
	}
	var all []Proposal
	var own []calendar.Calendar
	for _, i := range items {
		message, err := content.Read(i.Data, ical.Limits{})
		if err != nil || content.WordOf(message.Calendar, "METHOD") != string(schedule.Counter) {
			continue
		}
		if own == nil {
			if own, err = s.ownCalendars(ctx, c); err != nil {
				return nil, err
			}
		}
		found, err := s.proposedFor(ctx, c, m, own, message)
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			p.Message = i.Name
			all = append(all, p)
		}
	}
	return all, nil
}

// ownCalendars are those of the caller in which an event of theirs may be.
func (s *Queries) ownCalendars(ctx context.Context, c calendar.Caller) ([]calendar.Calendar, error) {
	all, err := s.Calendars(ctx, c)
	own := []calendar.Calendar{}
	for _, cal := range all {
		if cal.Owner == c.User.ID && cal.Kinds.Has(calendar.Event) && c.May(calendar.ReadObjects, cal) == nil {
			own = append(own, cal)
		}
	}
	return own, err
}

// proposedFor finds the event of a message, and what the message proposes for it.
func (s *Queries) proposedFor(ctx context.Context, c calendar.Caller, m *meter.Meter, own []calendar.Calendar, message *content.Object) ([]Proposal, error) {
	for _, cal := range own {
		o, err := s.ObjectByUID(ctx, m, c, cal, calendar.UID(message.UID))
		if calendar.ReasonOf(err) == calendar.NotFound && err != nil {
			continue
		}
		if err != nil {
			return nil, err
		}
		stored, err := content.Read(o.Data, ical.Limits{})
		if err != nil {
			return nil, nil //nolint:nilerr // for what cannot be read nobody can decide
		}
		made, err := schedule.Rules{Zones: s.zones, Now: s.now(), Meter: m}.Proposals(ctx, stored, message)
		if spent(err) || ctx.Err() != nil {
			return nil, errors.Join(err, ctx.Err())
		}
		if err != nil {
			return nil, nil //nolint:nilerr // such a message proposes nothing, and keeps nobody from the others
		}
		var all []Proposal
		for _, p := range made {
			now, err := s.InstanceOf(ctx, m, cal, o, p.Which)
			if err != nil {
				continue // the series has it no longer
			}
			all = append(all, Proposal{Occurrence: Occurrence{Calendar: cal, Instance: now}, Proposal: p})
		}
		return all, nil
	}
	return nil, nil
}
