package ledger

import (
	"context"
	"errors"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/ical"
)

// Response answers an invitation that is in a calendar, in the name of the calendar's owner.
type Response struct {
	schedule.Response
	When calendar.Precondition
	// Meter counts what it costs.
	Meter *meter.Meter
}

// Respond answers an invitation. The organizer hears of it, as of any such change.
func (s *Ledger) Respond(ctx context.Context, c calendar.Caller, cal calendar.Calendar, uid calendar.UID, a Response) (Edited, error) {
	if err := c.May(calendar.WriteObjects, cal); err != nil {
		return Edited{}, err
	}
	r := revision{s, a.Meter, c, cal, calendar.TellAll, func(ctx context.Context, o *content.Object) (edit.Result, error) {
		return s.respond(ctx, cal, o, a.Response)
	}, nil}
	return r.run(ctx, uid, a.When)
}

func (s *Ledger) respond(ctx context.Context, cal calendar.Calendar, o *content.Object, a schedule.Response) (edit.Result, error) {
	parties, err := s.FindParties(ctx, s.store, schedule.Parties(o))
	if err != nil {
		return edit.Result{}, err
	}
	self := parties.Are(cal.Owner)
	if schedule.RoleIn(o, self) == schedule.Organizer {
		return edit.Result{}, calendar.Errorf(calendar.Invalid, "", "the owner of %q organizes this event: there is no invitation to answer", cal.Name)
	}
	made, err := schedule.Rules{Zones: s.zones, Now: s.now()}.Respond(ctx, o, self, a)
	switch {
	case errors.Is(err, schedule.ErrNoGuest):
		return edit.Result{}, calendar.Errorf(calendar.Invalid, "", "this event does not invite the owner of %q", cal.Name).
			Advising("an invitation names one of their mail addresses among its attendees")
	case errors.Is(err, schedule.ErrNoInstance):
		return edit.Result{}, calendar.Errorf(calendar.NotFound, "", "the series has no such instance")
	case err != nil:
		return edit.Result{}, err
	}
	return edit.Result{Document: made.Document, Instance: a.Instance}, nil
}

// host lets the owner of a calendar organize events that have guests and no organizer yet. Without a mail
// address nobody can be answered, and so nobody is told.
func (s *Ledger) host(ctx context.Context, cal calendar.Calendar, docs ...*ical.Document) error {
	for _, doc := range docs {
		if doc == nil {
			continue
		}
		o, err := content.Of(doc)
		if err != nil || !attended(o) {
			continue // the code that stores an object refuses one that is no event
		}
		owner, err := s.store.UserByID(ctx, cal.Owner)
		if err != nil {
			return err
		}
		by := schedule.AddressOf("mailto:" + owner.Email)
		found, err := s.FindParties(ctx, s.store, []schedule.Address{by})
		if err != nil {
			return err
		}
		if found.Are(owner.ID)(by) { // and nobody else's, too
			schedule.Host(o, by, owner.DisplayName)
		}
	}
	return nil
}

// attended tells whether an event has guests.
func attended(o *content.Object) bool { return len(schedule.Attendees(o)) > 0 }
