package booking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/web/outside"
)

// Booking is a hold or a booking as its link shows it.
type Booking struct {
	calendar.Hold
	View View
}

// Minutes returns its length.
func (b Booking) Minutes() int { return int(b.End.Sub(b.Start) / time.Minute) }

// Find returns the hold or booking of a link. It changes nothing.
func (s *Service) Find(ctx context.Context, token string) (Booking, error) {
	h, err := s.Store.HoldByToken(ctx, hashed(token))
	return s.current(ctx, h, err)
}

// current returns a hold with its page and its present state. It takes the error of reading the hold.
func (s *Service) current(ctx context.Context, h calendar.Hold, err error) (Booking, error) {
	b := Booking{Hold: h}
	if calendar.ReasonOf(err) == calendar.NotFound {
		return b, ErrMissing
	}
	if err != nil {
		return b, err
	}
	p, err := s.Store.BookingPage(ctx, b.Page)
	if err != nil {
		return b, err
	}
	if b.View, err = s.view(ctx, p); err != nil {
		return b, err
	}
	switch {
	case b.State == calendar.Ended, b.State == calendar.Held && !b.Expires.After(s.Now()):
		return b, ErrExpired
	case b.State != calendar.Booked:
		return b, nil
	}
	// The owner may have moved or deleted the event in any program.
	all, err := s.Store.HoldsOf(ctx, b.View.Owner.ID, b.End.Add(-time.Second))
	for _, h := range all {
		if h.ID == b.ID && h.Gone {
			b.State = calendar.Released
		} else if h.ID == b.ID {
			b.Start, b.End = h.Start, h.End
		}
	}
	return b, err
}

// Confirm books a held time. Another confirmation of the same link changes nothing.
func (s *Service) Confirm(ctx context.Context, token string) (Booking, error) {
	b, err := s.Find(ctx, token)
	if err != nil || b.State == calendar.Booked {
		return b, err
	}
	if b.State != calendar.Held {
		return b, ErrExpired
	}
	next := b.Hold
	next.State = calendar.Booked
	fields := edit.Fields{
		Summary:   edit.To(languageOf(b.View).Text("booking.event", "title", b.View.Title, "name", b.Name)),
		Status:    edit.To(edit.Confirmed),
		Attendees: edit.To([]edit.Attendee{{Address: b.Address, Name: b.Name}}),
	}
	err = s.decide(ctx, b, next, edit.Change{Fields: fields})
	if errors.Is(err, ErrTaken) {
		if err = s.end(ctx, b.View.Owner, b.Hold); calendar.ReasonOf(err) != calendar.NotFound {
			return b, errors.Join(ErrTaken, err)
		}
	}
	if calendar.ReasonOf(err) == calendar.NotFound {
		// The same link may have been confirmed twice at the same moment.
		if again, failed := s.Find(ctx, token); failed == nil && again.State == calendar.Booked {
			return again, nil
		}
		return b, ErrExpired
	}
	if err == nil {
		b.Hold = next
		s.tellVisitor(ctx, b, token)
		s.tellOwner(ctx, b, "mail.booking.booked")
	}
	return b, err
}

// Move moves a booking to another free time.
func (s *Service) Move(ctx context.Context, token string, start time.Time) (Booking, error) {
	b, err := s.Find(ctx, token)
	if err != nil {
		return b, err
	}
	if b.State != calendar.Booked || !b.Start.After(s.Now()) {
		return b, ErrExpired
	}
	if b.Moves >= movesMost {
		return b, ErrLimit
	}
	next := b.Hold
	next.Start, next.End, next.Moves = start, start.Add(b.End.Sub(b.Start)), b.Moves+1
	err = s.decide(ctx, b, next, edit.Change{Times: edit.Times{
		Start:   edit.To(outside.Moment(next.Start, b.View.Zone)),
		End:     edit.To(outside.Moment(next.End, b.View.Zone)),
		AsGiven: true,
	}})
	if calendar.ReasonOf(err) == calendar.NotFound {
		// The same button may have been pressed twice, or the owner changed the event at the same moment.
		again, failed := s.Find(ctx, token)
		switch {
		case failed != nil || again.State != calendar.Booked:
			return again, cmp.Or(failed, ErrExpired)
		case again.Start.Equal(start):
			return again, nil
		}
		return again, ErrTaken
	}
	if err == nil {
		b.Hold = next
		s.tellOwner(ctx, b, "mail.booking.moved")
	}
	return b, err
}

// decide books next in place of the hold of b, if its time is free. All calendars that count are locked during the
// decision, so the later one of two confirmations sees the earlier one.
func (s *Service) decide(ctx context.Context, b Booking, next calendar.Hold, change edit.Change) error {
	v, err := s.opened(ctx, b.View.BookingPage, true)
	if err != nil {
		return err
	}
	// The notice counts from the moment of the choice.
	at := s.Now()
	if b.State == calendar.Held {
		at = b.Created
	}
	o, err := s.offer(v, b.Minutes(), at)
	if err != nil {
		return err
	}
	if err := s.refresh(ctx, v); err != nil {
		return err
	}
	for range readsMost {
		now, err := s.read(ctx, v, next.Start, next.End, b.ID, true)
		if err != nil {
			return err
		}
		if !o.Offers(next.Start, now.taken) || !next.Start.After(s.Now()) {
			return ErrTaken
		}
		err = s.commit(ctx, v, b, next, change, now)
		if !errors.Is(err, ledger.ErrReadAgain) {
			return err
		}
	}
	return ErrUnread
}

// commit makes the change of the event and of the hold, unless a calendar has changed since it was read.
func (s *Service) commit(
	ctx context.Context, v View, b Booking, next calendar.Hold, change edit.Change, now state,
) error {
	in := now.target
	claim := ledger.Claim{Now: b.Hold, Next: next}
	for _, cal := range now.read {
		if cal.Access == calendar.OwnerAccess {
			claim.Read = append(claim.Read, cal)
		}
		if cal.ID == b.Calendar {
			in = cal
		}
	}
	m := s.meter(ctx, v)
	defer m.Close()
	_, err := s.Calendars.EditClaimed(ctx, v.caller(), in, b.UID, ledger.Edit{Change: change, Meter: m}, claim)
	return err
}

// refresh syncs the linked calendars that count.
func (s *Service) refresh(ctx context.Context, v View) error {
	read, _, err := s.counted(ctx, v)
	if err != nil || !slices.ContainsFunc(read, func(c calendar.Calendar) bool { return c.Origin.Mirrors() }) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, refreshTime)
	defer cancel()
	accounts, err := s.Calendars.Mirrors.LinkedAccounts(ctx, v.caller())
	if err != nil {
		return err
	}
	counts := func(cal calendar.CalendarID) bool {
		return slices.ContainsFunc(read, func(c calendar.Calendar) bool { return c.ID == cal })
	}
	// At the same time: the first answer must not be old when the last one comes.
	failed := make([]error, len(accounts))
	var all sync.WaitGroup
	for i, a := range accounts {
		if slices.ContainsFunc(a.Calendars, func(c mirror.LinkedCalendar) bool { return counts(c.ID) }) {
			all.Go(func() { failed[i] = s.refreshAccount(ctx, v, a.ID, counts) })
		}
	}
	all.Wait()
	if err := errors.Join(failed...); err != nil {
		s.Logger.WarnContext(ctx, "a booking waits for a linked calendar", "error", err)
		return ErrUnread
	}
	return nil
}

// refreshAccount syncs a linked account. The sync also succeeds if only some of its calendars were read, so each one
// that counts is checked.
func (s *Service) refreshAccount(
	ctx context.Context, v View, id calendar.AccountID, counts func(calendar.CalendarID) bool,
) error {
	began := s.Now().Truncate(time.Second) // as it is stored
	if _, err := s.Calendars.Mirrors.Refresh(ctx, v.caller(), id); err != nil {
		return err
	}
	a, err := s.Calendars.Mirrors.LinkedAccount(ctx, v.caller(), id)
	if err != nil {
		return err
	}
	for _, cal := range a.Calendars {
		if counts(cal.ID) && (cal.State.Error != "" || cal.State.Checked.Before(began)) {
			return fmt.Errorf("%s was not read to its end: %s", cal.ID, cal.State.Error)
		}
	}
	return nil
}

// Cancel cancels a booking, or ends a hold.
func (s *Service) Cancel(ctx context.Context, token string) (Booking, error) {
	b, err := s.Find(ctx, token)
	if err != nil || b.State == calendar.Released {
		return b, err
	}
	if b.State == calendar.Held {
		if err = s.end(ctx, b.View.Owner, b.Hold); calendar.ReasonOf(err) != calendar.NotFound {
			b.State = calendar.Released
			return b, err
		}
		// It was confirmed meanwhile.
		if b, err = s.Find(ctx, token); err != nil || b.State != calendar.Booked {
			return b, err
		}
	}
	in, err := s.Calendars.Calendar(ctx, b.View.caller(), b.Calendar)
	if err != nil {
		return b, err
	}
	err = s.cancel(ctx, b, in)
	if err == nil {
		b.State = calendar.Released
		s.tellOwner(ctx, b, "mail.booking.cancelled")
	}
	return b, err
}

// cancel deletes the event of a booking, which sends a cancellation.
func (s *Service) cancel(ctx context.Context, b Booking, in calendar.Calendar) error {
	m := s.meter(ctx, b.View)
	defer m.Close()
	_, err := s.Calendars.CancelObject(ctx, b.View.caller(), in, b.UID, ledger.Cancellation{Meter: m})
	if calendar.ReasonOf(err) == calendar.NotFound {
		return nil
	}
	return err
}
