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
	rules "caldav-mcp-server/calendar/booking"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/web/outside"
)

// Booking is a hold or a booking as its link shows it.
type Booking struct {
	calendar.Hold
	View View
	// Keeper is the user who has its event: the page's owner, or one of its people.
	Keeper calendar.User
}

// With names the people whom the visitor meets.
func (b Booking) With() string {
	if b.Host != "" || b.View.Together == rules.AnyOfUs {
		return b.Keeper.Title()
	}
	return b.View.With()
}

// stays returns the only user who can have the booking at another time; "" if the page decides.
func (b Booking) stays() calendar.UserID {
	if b.Host != "" || b.View.Together == rules.AnyOfUs {
		return b.Keeper.ID
	}
	return ""
}

// keeper returns the user who has the event of a hold. One who is deleted has no name.
func (s *Service) keeper(ctx context.Context, owner calendar.User, h calendar.Hold) (calendar.User, error) {
	if h.Host == "" {
		return owner, nil
	}
	u, err := s.Store.UserByID(ctx, h.Host)
	if calendar.ReasonOf(err) == calendar.NotFound {
		return calendar.User{ID: h.Host}, nil
	}
	return u, err
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
	if b.Keeper, err = s.keeper(ctx, b.View.Owner, h); err != nil {
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
	if b.State == calendar.Released {
		return b, ErrExpired
	}
	err = attempt{s, &b}.confirm(ctx)
	if errors.Is(err, ErrTaken) {
		if err = s.end(ctx, b.View.BookingPage.Owner, b.Hold); calendar.ReasonOf(err) != calendar.NotFound {
			return b, errors.Join(ErrTaken, err)
		}
	}
	if !errors.Is(err, ErrUnwritten) && calendar.ReasonOf(err) == calendar.NotFound {
		// The same link may have been confirmed twice at the same moment.
		if again, failed := s.Find(ctx, token); failed == nil && again.State == calendar.Booked {
			return again, nil
		}
		return b, ErrExpired
	}
	if err == nil {
		s.tellVisitor(ctx, b, token)
		s.tellHost(ctx, b, "mail.booking.booked")
	}
	return b, err
}

// attempt is a booking that its visitor confirms or moves. A step changes the booking.
type attempt struct {
	*Service
	b *Booking
}

// confirm books a held time: at once, or after its room has accepted, or when its linked calendar has it.
func (a attempt) confirm(ctx context.Context) error {
	_, owner, err := a.keeping().hosts(ctx, a.b.View, "")
	if err != nil {
		return err
	}
	linked := owner.final.ID != ""
	switch {
	case a.b.State == calendar.Held && a.b.View.Room == "" && !linked:
		return a.decide(ctx, step{
			hold: func(next *calendar.Hold) { next.State = calendar.Booked },
			change: func(v View, h calendar.Hold) edit.Change {
				return bookedChange(v, a.b.Keeper, h)
			},
		})
	case a.b.State == calendar.Held:
		err = a.reserve(ctx, nil)
	case linked && a.b.Host == "":
		return ErrUnread // another request writes it, or has ended; then the hold ends too
	default:
		err = a.accepted(ctx)
	}
	if err != nil {
		return err
	}
	if linked && a.b.Host == "" {
		return a.export(ctx, owner.final)
	}
	return a.finish(ctx)
}

// bookedChange makes the event of a hold an ordinary one.
func bookedChange(v View, keeper calendar.User, h calendar.Hold) edit.Change {
	guests := append([]edit.Attendee{{Address: h.Address, Name: h.Name}}, v.others()...)
	return edit.Change{Fields: edit.Fields{
		Summary: edit.To(languageOf(keeper).Text("booking.event", "title", v.Title, "name", h.Name)),
		Status:  edit.To(edit.Confirmed), Attendees: edit.To(guests), Stranger: edit.To(h.Address),
	}}
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
	end := start.Add(b.End.Sub(b.Start))
	in, err := s.Calendars.Calendar(ctx, callerOf(b.Keeper), b.Calendar)
	if err != nil {
		return b, err
	}
	to := step{
		hold: func(next *calendar.Hold) { next.Start, next.End, next.Moves = start, end, next.Moves+1 },
		change: func(v View, _ calendar.Hold) edit.Change {
			return edit.Change{Times: edit.Times{
				Start: edit.To(outside.Moment(start, v.Zone)), End: edit.To(outside.Moment(end, v.Zone)), AsGiven: true,
			}}
		},
	}
	if in.Origin.Mirrors() {
		err = attempt{s, &b}.moveLinked(ctx, in, to)
	} else {
		err = attempt{s, &b}.decide(ctx, to)
	}
	if !errors.Is(err, ErrUnwritten) && calendar.ReasonOf(err) == calendar.NotFound {
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
		s.tellHost(ctx, b, "mail.booking.moved")
	}
	return b, err
}

// step is a step of a hold.
type step struct {
	// hold makes the step in the hold, change in its event.
	hold   func(*calendar.Hold)
	change func(View, calendar.Hold) edit.Change
	// moved is a booking that the hold is another time for; nil if it is none.
	moved *Booking
}

// decide makes a step of b, if its time is free then. All calendars that count are locked during the decision, so the
// later one of two confirmations sees the earlier one.
func (a attempt) decide(ctx context.Context, to step) error {
	v, err := a.opened(ctx, a.b.View.BookingPage, true)
	if err != nil {
		return err
	}
	// The notice counts from the moment of the choice.
	at := a.Now()
	q := asking{own: a.b.ID, confirmed: true}
	switch {
	case to.moved != nil:
		q.also, q.only = to.moved.ID, to.moved.stays()
	case a.b.State == calendar.Held:
		at = a.b.Created
	default:
		q.only = a.b.stays()
	}
	o, err := v.offer(a.b.Minutes(), at)
	if err != nil {
		return err
	}
	fresh := map[calendar.UserID]bool{}
	for range readsMost {
		if err := a.refresh(ctx, v, fresh); err != nil {
			return err
		}
		next := a.b.Hold
		to.hold(&next)
		now, err := a.read(ctx, v, next.Start, next.End, q)
		if err != nil {
			return err
		}
		free := o.Free(next.Start, now.taken)
		if len(free) == 0 || !next.Start.After(a.Now()) {
			return ErrTaken
		}
		if v.Together != rules.AnyOfUs {
			free = free[:1] // the owner, or the host who stays
		}
		if !slices.ContainsFunc(free, func(i int) bool { return now.hosts[i].ID == a.b.Keeper.ID }) {
			if q.only != "" || a.b.State != calendar.Held {
				return ErrTaken
			}
			if err := a.rehome(ctx, v, now.fairest(v, free, a.Now())); err != nil {
				return err
			}
			continue
		}
		err = a.commit(ctx, v, next, to.change(v, next), now)
		if err == nil {
			a.b.Hold = next
		}
		if !errors.Is(err, ledger.ErrReadAgain) {
			return err
		}
	}
	return ErrUnread
}

// commit makes the change of the event and of the hold, unless a calendar has changed since it was read. If one person
// gets the booking, the calendars of the others do not matter.
func (a attempt) commit(
	ctx context.Context, v View, next calendar.Hold, change edit.Change, now state,
) error {
	claim := ledger.Claim{Now: a.b.Hold, Next: next}
	for _, h := range now.hosts {
		for _, cal := range h.read {
			if cal.Access == calendar.OwnerAccess && (v.Together != rules.AnyOfUs || h.ID == a.b.Keeper.ID) {
				claim.Read = append(claim.Read, cal)
			}
		}
	}
	for _, cal := range now.room.read {
		if cal.Access == calendar.OwnerAccess {
			claim.Read = append(claim.Read, cal)
		}
	}
	// Its lock keeps bookings of different people apart, which are counted together.
	page := now.owner.target
	if v.PerDay > 0 && !slices.ContainsFunc(claim.Read, func(c calendar.Calendar) bool { return c.ID == page.ID }) {
		claim.Read = append(claim.Read, page)
	}
	c := callerOf(a.b.Keeper)
	in, err := a.Calendars.Calendar(ctx, c, a.b.Calendar)
	if err != nil {
		return err
	}
	m := a.meter(ctx, v)
	defer m.Close()
	_, err = a.Calendars.EditClaimed(ctx, c, in, a.b.UID, ledger.Edit{Change: change, Meter: m}, claim)
	return err
}

// refresh syncs the linked calendars that count for a booking, of its host or of all people. It skips users in fresh.
func (a attempt) refresh(ctx context.Context, v View, fresh map[calendar.UserID]bool) error {
	only := calendar.UserID("")
	if v.Together == rules.AnyOfUs {
		only = a.b.Keeper.ID
	}
	all, _, err := a.keeping().hosts(ctx, v, only)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, refreshTime)
	defer cancel()
	all = slices.DeleteFunc(all, func(h host) bool { return fresh[h.ID] })
	failed := make([]error, len(all))
	var each sync.WaitGroup
	for i, h := range all {
		fresh[h.ID] = true
		each.Go(func() { failed[i] = a.refreshOf(ctx, h) })
	}
	each.Wait()
	return cmp.Or(failed...)
}

func (a attempt) refreshOf(ctx context.Context, h host) error {
	if !slices.ContainsFunc(h.read, func(c calendar.Calendar) bool { return c.Origin.Mirrors() }) {
		return nil
	}
	accounts, err := a.Calendars.Mirrors.LinkedAccounts(ctx, callerOf(h.User))
	if err != nil {
		return err
	}
	counts := func(cal calendar.CalendarID) bool {
		return slices.ContainsFunc(h.read, func(c calendar.Calendar) bool { return c.ID == cal })
	}
	// At the same time: the first answer must not be old when the last one comes.
	failed := make([]error, len(accounts))
	var all sync.WaitGroup
	for i, account := range accounts {
		if slices.ContainsFunc(account.Calendars, func(c mirror.LinkedCalendar) bool { return counts(c.ID) }) {
			all.Go(func() { failed[i] = a.refreshAccount(ctx, h, account.ID, counts) })
		}
	}
	all.Wait()
	if err := errors.Join(failed...); err != nil {
		a.Logger.WarnContext(ctx, "a booking waits for a linked calendar", "error", err)
		return ErrUnread
	}
	return nil
}

// refreshAccount syncs a linked account. The sync also succeeds if only some of its calendars were read, so each one
// that counts is checked.
func (a attempt) refreshAccount(
	ctx context.Context, h host, id calendar.AccountID, counts func(calendar.CalendarID) bool,
) error {
	began := a.Now().Truncate(time.Second) // as it is stored
	if _, err := a.Calendars.Mirrors.Refresh(ctx, callerOf(h.User), id); err != nil {
		return err
	}
	account, err := a.Calendars.Mirrors.LinkedAccount(ctx, callerOf(h.User), id)
	if err != nil {
		return err
	}
	for _, cal := range account.Calendars {
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
	if b.State != calendar.Booked {
		if err = s.end(ctx, b.View.BookingPage.Owner, b.Hold); calendar.ReasonOf(err) != calendar.NotFound {
			b.State = calendar.Released
			return b, err
		}
		// It was confirmed meanwhile.
		if b, err = s.Find(ctx, token); err != nil || b.State != calendar.Booked {
			return b, err
		}
	}
	in, err := s.Calendars.Calendar(ctx, callerOf(b.Keeper), b.Calendar)
	if err != nil {
		return b, err
	}
	err = s.cancel(ctx, b, in)
	if err == nil {
		b.State = calendar.Released
		s.tellHost(ctx, b, "mail.booking.cancelled")
	}
	return b, err
}

// cancel deletes the event of a booking, which sends a cancellation.
func (s *Service) cancel(ctx context.Context, b Booking, in calendar.Calendar) error {
	m := s.meter(ctx, b.View)
	defer m.Close()
	_, err := s.Calendars.CancelObject(ctx, callerOf(b.Keeper), in, b.UID, ledger.Cancellation{Meter: m})
	switch {
	case calendar.ReasonOf(err) == calendar.NotFound:
		return nil
	case err != nil && in.Origin.Mirrors():
		return attempt{s, &b}.unwritten(ctx, err)
	}
	return err
}
