package booking

import (
	"context"
	"errors"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/web/outside"
)

// A booking in a linked calendar is written to its source, which takes a while and cannot be taken back. So its time is
// reserved here first, by the event of a hold; that event is deleted after the write.

// writeLasts is longer than a write to a source may take.
const writeLasts = 5 * time.Minute

// spare returns a hold for an event that is deleted when the hold ends. It has no link, and counts for no limit.
func (a attempt) spare(of calendar.Hold, in calendar.CalendarID) calendar.Hold {
	of.ID, of.Token, of.State = calendar.HoldID(a.NewID()), hashed(outside.NewToken()), calendar.Ended
	of.Created, of.Expires = time.Unix(0, 0).UTC(), a.Now().Add(writeLasts).UTC().Truncate(time.Second)
	of.Calendar, of.UID = in, newUID(a.NewID)
	return of
}

// unwritten hides the error of a linked calendar, which may name its account, from visitors.
func (a attempt) unwritten(ctx context.Context, err error) error {
	a.Logger.WarnContext(ctx, "a booking was not written to a linked calendar", "error", err)
	return ErrUnwritten
}

// export writes a reserved booking to its linked calendar. If that fails, the hold stays.
func (a attempt) export(ctx context.Context, to calendar.Calendar) error {
	left := a.spare(a.b.Hold, to.ID)
	if err := a.Store.KeepHold(ctx, left); err != nil {
		return err
	}
	fields := bookedChange(a.b.View, a.b.Keeper, a.b.Hold).Fields
	if text := a.descriptionOf(ctx); text != "" {
		fields.Description = edit.To(text)
	}
	if at := a.b.View.Place(); at != "" {
		fields.Location = edit.To(at)
	}
	_, err := a.Calendars.CreateTelling(ctx, callerOf(a.b.Keeper), to, edit.Draft{
		Kind: content.Event, UID: string(left.UID), Fields: fields,
		Times: edit.Times{
			Start: edit.To(outside.Moment(a.b.Start, a.b.View.Zone)),
			End:   edit.To(outside.Moment(a.b.End, a.b.View.Zone)),
		},
	}, calendar.TellAll)
	if err != nil {
		// The source may have stored it nevertheless. Then it is deleted when it arrives here.
		return errors.Join(a.unwritten(ctx, err), a.release(context.WithoutCancel(ctx)))
	}
	if err := a.Store.SwapHolds(ctx, a.b.ID, left.ID, a.Now()); err != nil {
		return err
	}
	was := a.b.Hold
	a.b.State, a.b.Calendar, a.b.UID = calendar.Booked, left.Calendar, left.UID
	left.Calendar, left.UID = was.Calendar, was.UID
	a.drop(ctx, a.b.View, left)
	return nil
}

// drop ends a hold. If that fails, Sweep does it later.
func (s *Service) drop(ctx context.Context, v View, h calendar.Hold) {
	if err := s.end(context.WithoutCancel(ctx), v.BookingPage.Owner, h); err != nil {
		s.Logger.WarnContext(ctx, "the event of a hold is deleted later", "error", err)
	}
}

// release makes a reserved hold one that waits for its confirmation again.
func (a attempt) release(ctx context.Context) error {
	_, in, err := a.event(ctx)
	if err != nil {
		return err
	}
	next := a.b.Hold
	next.State = calendar.Held
	m := a.meter(ctx, a.b.View)
	defer m.Close()
	_, err = a.Calendars.EditClaimed(ctx, callerOf(a.b.Keeper), in, a.b.UID, ledger.Edit{
		Change: edit.Change{Fields: edit.Fields{Status: edit.To(edit.Tentative)}}, Meter: m,
	}, ledger.Claim{Now: a.b.Hold, Next: next})
	if err == nil {
		a.b.Hold = next
	}
	return err
}

// moveLinked moves a booking in a linked calendar. Another event reserves the new time meanwhile.
func (a attempt) moveLinked(ctx context.Context, in calendar.Calendar, to step) error {
	_, owner, err := a.keeping().hosts(ctx, a.b.View, "")
	if err != nil {
		return err
	}
	next := a.b.Hold
	to.hold(&next)
	r := Booking{Hold: a.spare(next, owner.target.ID), View: a.b.View, Keeper: a.b.Keeper}
	r.State = calendar.Held
	if err := a.Store.KeepHold(ctx, r.Hold); err != nil {
		return err
	}
	defer func() { a.drop(ctx, a.b.View, r.Hold) }()
	if err := a.place(ctx, a.b.View, owner, r.Hold, ""); err != nil {
		return err
	}
	err = attempt{a.Service, &r}.reserve(ctx, a.b)
	if err != nil {
		return err
	}
	m := a.meter(ctx, a.b.View)
	defer m.Close()
	_, err = a.Calendars.EditClaimed(ctx, callerOf(a.b.Keeper), in, a.b.UID, ledger.Edit{
		Change: to.change(a.b.View, next), Meter: m,
	}, ledger.Claim{Now: a.b.Hold, Next: next})
	if err != nil {
		return a.unwritten(ctx, err)
	}
	a.b.Hold = next
	return nil
}
