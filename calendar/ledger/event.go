package ledger

import (
	"context"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/lookup"
)

// Create creates an event or a task. The server chooses its UID, unless the draft has one from [Ledger.BeginAttempt].
func (s *Ledger) Create(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, d edit.Draft,
) (calendar.Saved, error) {
	return s.CreateTelling(ctx, c, cal, d, calendar.TellAll)
}

// CreateTelling is Create with a choice of the people to notify. The invitations come from the calendar's owner.
func (s *Ledger) CreateTelling(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, d edit.Draft, tell calendar.Telling,
) (calendar.Saved, error) {
	return s.create(ctx, c, cal, d, tell, nil)
}

// create is CreateTelling with a further step in the same transaction, which may be nil.
func (s *Ledger) create(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, d edit.Draft, tell calendar.Telling,
	along func(context.Context, *work) error,
) (calendar.Saved, error) {
	if err := c.May(calendar.WriteObjects, cal); err != nil {
		return calendar.Saved{}, err
	}
	if d.UID == "" {
		d.UID = s.newUID()
	}
	doc, err := s.editor(cal).New(ctx, d)
	if err != nil {
		return calendar.Saved{}, lookup.Refusal(err)
	}
	if err := s.host(ctx, cal, doc); err != nil {
		return calendar.Saved{}, err
	}
	saved, err := s.saveAll(ctx, c, cal, []calendar.Draft{{
		Name: nameFor(d.UID), Data: doc.Bytes(), When: calendar.Precondition{NoneMatchAny: true}, Telling: tell,
	}}, along)
	if err != nil {
		return calendar.Saved{}, err
	}
	return saved[0], nil
}

func (s *Ledger) newUID() string { return newUID(s.newID) }

// newUID returns the UID of an object that the server creates.
func newUID(newID func() string) string { return newID() + "@caldav-server" }

// nameFor returns the name of an object that the server creates.
func nameFor(uid string) calendar.ObjectName { return calendar.ObjectName(uid + ".ics") }
