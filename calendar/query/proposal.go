package query

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/ical"
)

// Proposal is another time that a guest proposes for an event of the caller's, which waits for a decision.
type Proposal struct {
	// Message is the scheduling message that has it.
	Message calendar.ObjectName
	// Occurrence is the event as it stands: the instance that is meant, or the first of all.
	Occurrence
	schedule.Proposal
}

// Proposals are what guests propose, as far as it was read.
type Proposals struct {
	// All are in the order of their making.
	All []Proposal
	// Unread are messages that take too much work, and those whose text is lost, or that of their event.
	Unread int
}

const (
	// mostCounters is how many messages are looked at for what they propose: the latest.
	mostCounters = 100
	// mostCounterBytes is how much text of them is read, the short ones first: guests who send a whole event with each
	// proposal, or worse, keep nobody from the others'.
	mostCounterBytes = 4 << 20
)

// Proposals lists what guests propose for events in the caller's own calendars, the oldest first.
func (s *Queries) Proposals(ctx context.Context, c calendar.Caller, m *meter.Meter) (Proposals, error) {
	notes, err := s.ProposalsTo(ctx, c, mostCounters)
	if err != nil || len(notes) == 0 {
		return Proposals{}, err
	}
	own, err := s.ownCalendars(ctx, c)
	if err != nil {
		return Proposals{}, err
	}
	found, size, unread := make([][]Proposal, len(notes)), int64(0), 0
	for _, i := range bySize(notes) {
		if size += notes[i].Size; size <= mostCounterBytes {
			found[i], err = s.proposedIn(ctx, c, m, own, notes[i])
		}
		switch {
		case size > mostCounterBytes, tooCostly(err), errors.Is(err, calendar.ErrNoText):
			if !notes[i].Removed { // the event is gone
				unread++
			}
		case err != nil:
			return Proposals{}, err
		}
	}
	return Proposals{slices.Concat(found...), unread}, ctx.Err()
}

// bySize are the places of messages, those of the shortest first.
func bySize(notes []calendar.InboxNote) []int {
	order := make([]int, len(notes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(notes[a].Size, notes[b].Size) })
	return order
}

// proposedIn reads one message. The meter knows of it before it is read; once it was, what stays is the event.
func (s *Queries) proposedIn(ctx context.Context, c calendar.Caller, m *meter.Meter, own []calendar.Calendar, n calendar.InboxNote) ([]Proposal, error) {
	before, stays := m.Held(), int64(0)
	defer func() { m.Free(m.Held() - before - stays) }()
	if err := errors.Join(m.Text(int(n.Size)), m.Hold(lookup.ReadFactor*n.Size)); err != nil {
		return nil, err
	}
	item, err := s.Proposal(ctx, c, n.Name)
	if calendar.ReasonOf(err) == calendar.NotFound && err != nil {
		return nil, nil // it has gone meanwhile
	}
	if err != nil {
		return nil, err
	}
	message, err := content.Read(item.Data, ical.Limits{})
	if err != nil {
		return nil, nil // nobody can decide about what cannot be read
	}
	found, err := s.proposedFor(ctx, c, m, own, message)
	for i := range found {
		found[i].Message = n.Name
		stays = min(m.Held()-before, found[i].Object.Size)
	}
	return found, err
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
			if spent(err) {
				return nil, err
			}
			if err != nil {
				continue // the series has it no longer
			}
			all = append(all, Proposal{Occurrence: Occurrence{Calendar: cal, Instance: now}, Proposal: p})
		}
		return all, nil
	}
	return nil, nil
}
