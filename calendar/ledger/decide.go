package ledger

import (
	"context"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/delivery"
	"caldav-mcp-server/calendar/edit"
)

// Decide accepts a proposal for an event in a calendar of the caller and notifies all attendees as usual. Or it
// declines the proposal and notifies its sender (DECLINECOUNTER). The proposal leaves the inbox.
func (s *Ledger) Decide(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, uid calendar.UID, d delivery.Decision,
) (Edited, error) {
	seen, err := s.Counter(ctx, c, cal, d)
	if err != nil {
		return Edited{}, err
	}
	if d.Accept {
		return s.acceptProposal(ctx, c, cal, uid, seen)
	}
	now, err := s.SeenByUID(ctx, d.Meter, c, cal, uid)
	if err != nil {
		return Edited{}, err
	}
	done := Edited{Saved: calendar.Saved{Object: now}, Instance: d.Proposal.Which}
	done.Told, err = seen.Decline(ctx, c, now)
	return done, err
}

// acceptProposal changes the event to the proposed time. The attendee who proposed it has accepted it.
func (s *Ledger) acceptProposal(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, uid calendar.UID, d delivery.Counter,
) (Edited, error) {
	change := s.changing(cal, d.Proposal.Change())
	r := revision{
		Ledger: s, meter: d.Meter, caller: c, cal: cal, tell: calendar.TellAll,
		do: func(ctx context.Context, o *content.Object) (edit.Result, error) {
			if err := d.CheckOpen(ctx, o); err != nil {
				return edit.Result{}, err
			}
			return change(ctx, o)
		},
		along:  func(ctx context.Context, w *work) error { return w.scheduling.RemoveCounter(ctx, d) },
		agreed: d.Proposal.From,
	}
	return r.run(ctx, uid, d.When)
}
