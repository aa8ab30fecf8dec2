package booking

import (
	"context"
	"errors"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
)

// A booking in a linked calendar is written to its source, which takes a while and cannot be taken back. So its time is
// reserved here first, by the event of a hold; that event is deleted after the write.

// writeLasts is longer than a write to a source may take.
const writeLasts = 5 * time.Minute

// spare returns a hold for an event that is deleted when the hold ends. No link leads to it, and it counts for no limit.
func (s *Service) spare(of calendar.Hold, in calendar.CalendarID) calendar.Hold {
	of.ID, of.Token, of.State = calendar.HoldID(s.NewID()), hashed(newToken()), calendar.Ended
	of.Created, of.Expires = time.Unix(0, 0).UTC(), s.Now().Add(writeLasts).UTC().Truncate(time.Second)
	of.Calendar, of.UID = in, s.newUID()
	return of
}

// unwritten hides the error of a linked calendar, which may name its account, from visitors.
func (s *Service) unwritten(ctx context.Context, err error) error {
	s.Logger.WarnContext(ctx, "a booking was not written to a linked calendar", "error", err)
	return ErrUnwritten
}

// export writes a reserved booking to its linked calendar. If that fails, the hold stays.
func (s *Service) export(ctx context.Context, b *Booking, to calendar.Calendar) error {
	left := s.spare(b.Hold, to.ID)
	if err := s.Store.KeepHold(ctx, left); err != nil {
		return err
	}
	fields := bookedChange(b.View, b.Keeper, b.Hold).Fields
	if text := s.descriptionOf(ctx, *b); text != "" {
		fields.Description = edit.To(text)
	}
	if at := b.View.Place(); at != "" {
		fields.Location = edit.To(at)
	}
	_, err := s.Calendars.CreateTelling(ctx, callerOf(b.Keeper), to, edit.Draft{
		Kind: content.Event, UID: string(left.UID), Fields: fields,
		Times: edit.Times{Start: edit.To(s.moment(b.View, b.Start)), End: edit.To(s.moment(b.View, b.End))},
	}, calendar.TellAll)
	if err != nil {
		// The source may have stored it nevertheless. Then it is deleted when it arrives here.
		return errors.Join(s.unwritten(ctx, err), s.release(context.WithoutCancel(ctx), b))
	}
	if err := s.Store.SwapHolds(ctx, b.ID, left.ID, s.Now()); err != nil {
		return err
	}
	was := b.Hold
	b.State, b.Calendar, b.UID = calendar.Booked, left.Calendar, left.UID
	left.Calendar, left.UID = was.Calendar, was.UID
	s.drop(ctx, b.View, left)
	return nil
}

// drop ends a hold. If that fails, Sweep does it later.
func (s *Service) drop(ctx context.Context, v View, h calendar.Hold) {
	if err := s.end(context.WithoutCancel(ctx), v.BookingPage.Owner, h); err != nil {
		s.Logger.WarnContext(ctx, "the event of a hold is deleted later", "error", err)
	}
}

// release makes a reserved hold one that waits for its confirmation again.
func (s *Service) release(ctx context.Context, b *Booking) error {
	_, in, err := s.event(ctx, *b)
	if err != nil {
		return err
	}
	next := b.Hold
	next.State = calendar.Held
	m := s.meter(ctx, b.View)
	defer m.Close()
	_, err = s.Calendars.EditClaimed(ctx, callerOf(b.Keeper), in, b.UID, ledger.Edit{
		Change: edit.Change{Fields: edit.Fields{Status: edit.To(edit.Tentative)}}, Meter: m,
	}, ledger.Claim{Now: b.Hold, Next: next})
	if err == nil {
		b.Hold = next
	}
	return err
}

// moveLinked moves a booking in a linked calendar. Another event reserves the new time meanwhile.
func (s *Service) moveLinked(ctx context.Context, b *Booking, in calendar.Calendar, to step) error {
	_, owner, err := s.hosts(ctx, b.View, "")
	if err != nil {
		return err
	}
	next := b.Hold
	to.hold(&next)
	r := Booking{Hold: s.spare(next, owner.target.ID), View: b.View, Keeper: b.Keeper}
	r.State = calendar.Held
	if err := s.Store.KeepHold(ctx, r.Hold); err != nil {
		return err
	}
	defer func() { s.drop(ctx, b.View, r.Hold) }()
	if err := s.place(ctx, b.View, owner, r.Hold, ""); err != nil {
		return err
	}
	if err := s.reserve(ctx, &r, b); err != nil {
		return err
	}
	m := s.meter(ctx, b.View)
	defer m.Close()
	_, err = s.Calendars.EditClaimed(ctx, callerOf(b.Keeper), in, b.UID, ledger.Edit{
		Change: to.change(b.View, next), Meter: m,
	}, ledger.Claim{Now: b.Hold, Next: next})
	if err != nil {
		return s.unwritten(ctx, err)
	}
	b.Hold = next
	return nil
}
