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

// Proposal is an attendee's counter-proposal for an event of the caller. It waits for a decision.
type Proposal struct {
	// Message is the name of the scheduling message.
	Message calendar.ObjectName
	// Occurrence is the current event: the instance concerned, or the first one.
	Occurrence
	schedule.Proposal
}

// Proposals is the result of [Queries.Proposals].
type Proposals struct {
	// All is sorted by creation, the oldest first.
	All []Proposal
	// Unread counts messages that cost too much to read, and those whose text, or their event's text, is lost.
	Unread int
}

const (
	// mostCounters bounds the messages that are read: the latest ones.
	mostCounters = 100
	// mostCounterBytes bounds their text. The shortest messages are read first. So large ones, sent carelessly or on
	// purpose, cannot crowd out the others.
	mostCounterBytes = 4 << 20
)

// Proposals lists the counter-proposals for events in the caller's own calendars, the oldest first.
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

// bySize returns the indices of the messages, the shortest message first.
func bySize(notes []calendar.InboxNote) []int {
	order := make([]int, len(notes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(notes[a].Size, notes[b].Size) })
	return order
}

// proposedIn reads one message. The meter first counts the whole message. After the read it counts only the event,
// which stays.
func (s *Queries) proposedIn(
	ctx context.Context, c calendar.Caller, m *meter.Meter, own []calendar.Calendar, n calendar.InboxNote,
) ([]Proposal, error) {
	before, stays := m.Held(), int64(0)
	defer func() { m.Free(m.Held() - before - stays) }()
	if err := errors.Join(m.Text(int(n.Size)), m.Hold(lookup.ReadFactor*n.Size)); err != nil {
		return nil, err
	}
	item, err := s.Proposal(ctx, c, n.Name)
	if calendar.ReasonOf(err) == calendar.NotFound && err != nil {
		return nil, nil // it was deleted in the meantime
	}
	if err != nil {
		return nil, err
	}
	message, err := content.Read(item.Data, ical.Limits{})
	if err != nil {
		return nil, nil // the organizer cannot decide about an unreadable message
	}
	found, err := s.proposedFor(ctx, c, m, own, message)
	for i := range found {
		found[i].Message = n.Name
		stays = min(m.Held()-before, found[i].Object.Size)
	}
	return found, err
}

// ownCalendars returns the caller's own calendars that hold events.
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

// proposedFor finds the event of a message and the proposals for it.
func (s *Queries) proposedFor(
	ctx context.Context, c calendar.Caller, m *meter.Meter, own []calendar.Calendar, message *content.Object,
) ([]Proposal, error) {
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
			return nil, nil // the organizer cannot decide about an unreadable event
		}
		made, err := schedule.Rules{Zones: s.zones, Now: s.now(), Meter: m}.Proposals(ctx, stored, message)
		if spent(err) || ctx.Err() != nil {
			return nil, errors.Join(err, ctx.Err())
		}
		if err != nil {
			return nil, nil // such a message proposes nothing and must not hide the others
		}
		var all []Proposal
		for _, p := range made {
			now, err := s.InstanceOf(ctx, m, cal, o, p.Which)
			if spent(err) {
				return nil, err
			}
			if err != nil {
				continue // the series no longer has it
			}
			all = append(all, Proposal{Occurrence: Occurrence{Calendar: cal, Instance: now}, Proposal: p})
		}
		return all, nil
	}
	return nil, nil
}
