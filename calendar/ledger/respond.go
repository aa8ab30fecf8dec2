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

// Response answers an invitation in a calendar, on behalf of the calendar's owner.
type Response struct {
	schedule.Response
	When calendar.Precondition
	// Meter counts the cost.
	Meter *meter.Meter
}

// Responded is the result of an answer.
type Responded struct {
	Edited
	// Kept lists the future instances that kept a different answer after an answer to the whole series.
	Kept []schedule.KeptAnswer
}

// Respond answers an invitation. The organizer is notified as usual.
func (s *Ledger) Respond(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, uid calendar.UID, a Response,
) (Responded, error) {
	if err := c.May(calendar.WriteObjects, cal); err != nil {
		return Responded{}, err
	}
	var done Responded
	r := revision{
		Ledger: s, meter: a.Meter, caller: c, cal: cal, tell: calendar.TellAll,
		do: func(ctx context.Context, o *content.Object) (result edit.Result, err error) {
			result, done.Kept, err = s.respond(ctx, cal, o, a.Response)
			return result, err
		},
	}
	var err error
	done.Edited, err = r.run(ctx, uid, a.When)
	return done, err
}

func (s *Ledger) respond(
	ctx context.Context, cal calendar.Calendar, o *content.Object, a schedule.Response,
) (edit.Result, []schedule.KeptAnswer, error) {
	parties, err := s.FindParties(ctx, s.store, schedule.Parties(o))
	if err != nil {
		return edit.Result{}, nil, err
	}
	known := parties.Are(cal.Owner)
	self := func(a schedule.Address) bool { return known(a) || cal.Origin.Owns(a.Mail()) }
	if schedule.RoleIn(o, self) == schedule.Organizer {
		return edit.Result{}, nil, calendar.Errorf(calendar.Invalid, "",
			"the owner of %q organizes this event: there is no invitation to answer", cal.Name)
	}
	rules := schedule.Rules{Zones: s.zones, Now: s.now()}
	made, err := rules.Respond(ctx, o, self, a)
	switch {
	case errors.Is(err, schedule.ErrNoGuest):
		return edit.Result{}, nil, calendar.Errorf(calendar.Invalid, "", "this event does not invite the owner of %q",
			cal.Name).
			Advising("an invitation names one of their mail addresses among its attendees")
	case errors.Is(err, schedule.ErrNoInstance):
		return edit.Result{}, nil, calendar.Errorf(calendar.NotFound, "", "the series has no such instance")
	case err != nil:
		return edit.Result{}, nil, err
	}
	var kept []schedule.KeptAnswer
	if a.Instance.IsZero() {
		kept, err = rules.Kept(ctx, made, self, a.Status)
	}
	return edit.Result{Document: made.Document, Instance: a.Instance}, kept, err
}

// host makes a calendar's owner the organizer of events with attendees but without an organizer. In a linked calendar
// that is the account's address. Without a mail address attendees could not answer, so no invitations are sent.
func (s *Ledger) host(ctx context.Context, cal calendar.Calendar, docs ...*ical.Document) error {
	for _, doc := range docs {
		if doc == nil {
			continue
		}
		o, err := content.Of(doc)
		if err != nil || !attended(o) {
			continue // the code that stores an object refuses it
		}
		owner, err := s.store.UserByID(ctx, cal.Owner)
		if err != nil {
			return err
		}
		if cal.Origin.Address != "" {
			schedule.Host(o, schedule.AddressOf("mailto:"+cal.Origin.Address), owner.DisplayName)
			continue
		}
		by := schedule.AddressOf("mailto:" + owner.Email)
		found, err := s.FindParties(ctx, s.store, []schedule.Address{by})
		if err != nil {
			return err
		}
		if found.Are(owner.ID)(by) { // the address belongs to the owner alone
			schedule.Host(o, by, owner.DisplayName)
		}
	}
	return nil
}

// attended reports whether an event has attendees.
func attended(o *content.Object) bool { return len(schedule.Attendees(o)) > 0 }
