package booking

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	rules "caldav-mcp-server/calendar/booking"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/slot"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/locale"
)

// state is the basis of a decision about times.
type state struct {
	taken rules.Taken
	// read are the calendars that count, target is the one that gets the bookings.
	read   []calendar.Calendar
	target calendar.Calendar
}

// read returns the taken times between two moments. The hold of the visitor takes none; it may be zero. With
// confirmed, the holds of other visitors take none either: the first confirmation wins.
func (s *Service) read(
	ctx context.Context, v View, from, until time.Time, own calendar.HoldID, confirmed bool,
) (now state, err error) {
	// First the calendars: whatever changes later, changes their versions.
	if now.read, now.target, err = s.counted(ctx, v); err != nil {
		return now, err
	}
	holds, err := s.Store.HoldsOf(ctx, v.Owner.ID, from.AddDate(0, 0, -2))
	if err != nil {
		return now, err
	}
	ignored := []calendar.UID{}
	for _, h := range holds {
		held := h.State == calendar.Held
		switch {
		case h.ID == own, held && (confirmed || !h.Expires.After(s.Now())):
			ignored = append(ignored, h.UID)
		case h.Page == v.ID && !h.Gone:
			now.taken.Booked = append(now.taken.Booked, h.Start)
		}
	}
	m := s.Calendars.Meter(ctx, v.caller())
	defer m.Close()
	q := query.BusyQuery{
		People: []calendar.User{v.Owner}, Only: []calendar.CalendarID{}, From: from.AddDate(0, 0, -2),
		Until: until.AddDate(0, 0, 2), Timezone: v.Zone, ByType: true, Ignored: ignored, Meter: m,
	}
	for _, cal := range now.read {
		q.Only = append(q.Only, cal.ID)
	}
	busy, err := s.Calendars.FreeBusy(ctx, v.caller(), q)
	now.taken.Busy = busy.Periods
	return now, err
}

// offer returns the rule of a page for one of its lengths, as at a moment.
func (s *Service) offer(v View, minutes int, at time.Time) (rules.Offer, error) {
	if !slices.Contains(v.Minutes, minutes) {
		return rules.Offer{}, ErrTaken
	}
	hours, days := v.Owner.Workweek()
	week, err := v.Week(hours, days)
	return v.Offer(week, v.Zone.Location(), minutes, at), err
}

// Times returns the free times of a page that start between two moments. A visitor who moves a booking has a hold.
func (s *Service) Times(
	ctx context.Context, v View, minutes int, from, until time.Time, own calendar.HoldID,
) ([]slot.Slot, error) {
	o, err := s.offer(v, minutes, s.Now())
	if err != nil {
		return nil, err
	}
	from = latest(from, o.Earliest)
	if until.After(o.Latest) {
		until = o.Latest.Add(time.Second)
	}
	if !from.Before(until) {
		return nil, nil
	}
	now, err := s.read(ctx, v, from, until, own, false)
	if err != nil {
		return nil, err
	}
	return o.Times(from, until, now.taken), nil
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Wish is a visitor's choice.
type Wish struct {
	Start         time.Time
	Minutes       int
	Name, Address string
	Answers       []string
	// Zone is the name of the visitor's time zone. Network is a hash of the network.
	Zone, Network string
	Language      *locale.Language
}

// check validates a wish and makes its texts inert.
func (s *Service) check(v View, w *Wish) error {
	w.Name = line(w.Name)
	if n := length(w.Name); n < 1 || n > longestName {
		return ErrName
	}
	address, err := s.Mailer.Address(w.Address)
	if err != nil || address == v.Owner.Email {
		return ErrAddress
	}
	w.Address = address
	if len(w.Answers) != len(v.Questions) {
		return ErrAnswer
	}
	for i, q := range v.Questions {
		w.Answers[i] = plain(w.Answers[i])
		if n := length(w.Answers[i]); n > rules.LongestAnswer || n == 0 && q.Required {
			return ErrAnswer
		}
	}
	return nil
}

// Hold holds a time for a visitor and mails the link that confirms it.
func (s *Service) Hold(ctx context.Context, v View, w Wish) error {
	if err := s.check(v, &w); err != nil {
		return err
	}
	o, err := s.offer(v, w.Minutes, s.Now())
	if err != nil {
		return err
	}
	now, err := s.read(ctx, v, w.Start, w.Start.Add(o.Length), "", true)
	if err != nil {
		return err
	}
	if !o.Offers(w.Start, now.taken) {
		return ErrTaken
	}
	token, at := newToken(), s.Now().UTC().Truncate(time.Second)
	h := calendar.Hold{
		ID: calendar.HoldID(s.NewID()), Page: v.ID, Token: hashed(token), State: calendar.Held, Calendar: now.target.ID,
		UID: calendar.UID("booking." + s.NewID() + "@caldav-server"), Start: w.Start, End: w.Start.Add(o.Length),
		Expires: at.Add(holdLasts), Created: at, Name: w.Name, Address: w.Address, Zone: w.Zone,
		Language: w.Language.Tag(), Network: w.Network,
	}
	if err := s.Store.InsertHold(ctx, h, limits); err != nil {
		if calendar.ReasonOf(err) == calendar.TooLarge {
			return ErrLimit
		}
		return err
	}
	if err = s.place(ctx, v, now.target, h, w); err == nil {
		if err = s.mailLink(ctx, v, h, token, w.Language); err != nil {
			s.Logger.WarnContext(ctx, "the link of a booking was not sent", "error", err)
			err = ErrUnsent
		}
	}
	if err != nil {
		return errors.Join(err, s.end(context.WithoutCancel(ctx), v.Owner, h))
	}
	return nil
}

// place creates the event of a hold. It is tentative, so that other programs show it as such.
func (s *Service) place(ctx context.Context, v View, in calendar.Calendar, h calendar.Hold, w Wish) error {
	text := ""
	for i, q := range v.Questions {
		if w.Answers[i] != "" {
			text += line(q.Text) + "\n" + w.Answers[i] + "\n\n"
		}
	}
	d := edit.Draft{
		Kind: content.Event, UID: string(h.UID),
		Times: edit.Times{Start: edit.To(s.moment(v, h.Start)), End: edit.To(s.moment(v, h.End))},
		Fields: edit.Fields{
			Summary: edit.To(languageOf(v).Text("booking.held", "title", v.Title, "name", h.Name)),
			Status:  edit.To(edit.Tentative),
		},
	}
	if text != "" {
		d.Fields.Description = edit.To(text[:len(text)-2])
	}
	if v.Location != "" {
		d.Fields.Location = edit.To(v.Location)
	}
	_, err := s.Calendars.CreateTelling(ctx, v.caller(), in, d, calendar.TellNobody)
	return err
}

// moment returns an instant on the owner's clock, or in UTC if the clock shows that time twice.
func (s *Service) moment(v View, t time.Time) ical.Time {
	local := t.In(v.Zone.Location())
	_, offset := local.Zone()
	again := time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), 0, 0, local.Location())
	if !again.Equal(t) || v.Zone.Name() == "UTC" {
		return ical.Instant(t)
	}
	return ical.Zoned(ical.CivilFromSeconds(t.Unix()+int64(offset)), v.Zone.Name())
}

// Booking is a hold or a booking as its link shows it.
type Booking struct {
	calendar.Hold
	View View
}

// Minutes returns its length.
func (b Booking) Minutes() int { return int(b.End.Sub(b.Start) / time.Minute) }

// Find returns the hold or booking of a link. It changes nothing.
func (s *Service) Find(ctx context.Context, token string) (b Booking, err error) {
	b.Hold, err = s.Store.HoldByToken(ctx, hashed(token))
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
		return b, errors.Join(ErrTaken, s.end(ctx, b.View.Owner, b.Hold))
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
		Start: edit.To(s.moment(b.View, next.Start)), End: edit.To(s.moment(b.View, next.End)), AsGiven: true,
	}})
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
	m := s.Calendars.Meter(ctx, v.caller())
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
	for _, a := range accounts {
		for _, cal := range a.Calendars {
			counts := func(c calendar.Calendar) bool { return c.ID == cal.ID }
			if !slices.ContainsFunc(read, counts) {
				continue
			}
			if _, err := s.Calendars.Mirrors.Refresh(ctx, v.caller(), a.ID); err != nil {
				s.Logger.WarnContext(ctx, "a booking waits for a linked calendar", "error", err)
				return ErrUnread
			}
			break
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
		b.State = calendar.Released
		return b, s.end(ctx, b.View.Owner, b.Hold)
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
	m := s.Calendars.Meter(ctx, b.View.caller())
	defer m.Close()
	_, err := s.Calendars.CancelObject(ctx, b.View.caller(), in, b.UID, ledger.Cancellation{Meter: m})
	if calendar.ReasonOf(err) == calendar.NotFound {
		return nil
	}
	return err
}

// end deletes the event of a hold and ends the hold.
func (s *Service) end(ctx context.Context, owner calendar.User, h calendar.Hold) error {
	c := View{Owner: owner}.caller()
	in, err := s.Calendars.Calendar(ctx, c, h.Calendar)
	if err == nil {
		m := s.Calendars.Meter(ctx, c)
		defer m.Close()
		_, err = s.Calendars.CancelObject(ctx, c, in, h.UID, ledger.Cancellation{
			Meter: m, Telling: calendar.TellNobody,
		})
	}
	if err != nil && calendar.ReasonOf(err) != calendar.NotFound {
		return err
	}
	return s.Store.EndHold(ctx, h.ID, s.Now())
}

const (
	// sweepEvery is how often expired holds are looked for, sweepMost how many end at once.
	sweepEvery = 30 * time.Second
	sweepMost  = 100
)

// Run ends expired holds until the context ends. Several processes can run it at once.
func (s *Service) Run(ctx context.Context) {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		if err := s.Sweep(ctx); err != nil && ctx.Err() == nil {
			s.Logger.WarnContext(ctx, "expired holds were not ended", "error", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// Sweep ends the holds that expired more than holdGrace ago.
func (s *Service) Sweep(ctx context.Context) error {
	all, err := s.Store.ExpiredHolds(ctx, s.Now().Add(-holdGrace), sweepMost)
	if err != nil {
		return err
	}
	var failed error
	for _, h := range all {
		p, err := s.Store.BookingPage(ctx, h.Page)
		if err == nil {
			err = s.end(ctx, calendar.User{ID: p.Owner}, h)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// tellOwner mails the owner what happened to a booking. It is not worth an error: the calendar shows it.
func (s *Service) tellOwner(ctx context.Context, b Booking, id string) {
	u := b.View.Owner
	l := languageOf(b.View)
	text := b.Name + "\n" + b.Address + "\n" + When(l, b.Start, b.View.Zone.Location(), u.View.Clock) + "\n"
	subject := l.Text(id, "title", b.View.Title, "name", b.Name)
	if err := s.Mailer.Send(context.WithoutCancel(ctx), u.Email, u.Title(), subject, text, l); err != nil {
		s.Logger.WarnContext(ctx, "the owner of a booking page got no mail", slog.Any("error", err))
	}
}

// languageOf returns the owner's language.
func languageOf(v View) *locale.Language { return locale.Match(v.Owner.Languages()...) }

// When formats the day and time of a booking, with its time zone.
func When(l *locale.Language, start time.Time, in *time.Location, cycle string) string {
	start = start.In(in)
	return l.Text("mail.day-time", "day", l.Date(start), "time", l.Time(start, cycle)) + " (" + in.String() + ")"
}

// mailLink mails a visitor the link of a hold. The visitor's own words are not in it, because anybody can enter another
// person's address.
func (s *Service) mailLink(ctx context.Context, v View, h calendar.Hold, token string, l *locale.Language) error {
	in, err := time.LoadLocation(h.Zone)
	if err != nil {
		in = v.Zone.Location()
	}
	text := l.Text("mail.booking.text", "title", v.Title, "owner", v.Owner.Title(),
		"when", When(l, h.Start, in, "")) + "\n\n" +
		l.Text("mail.booking.link", "minutes", int(holdLasts/time.Minute)) + "\n" +
		s.Root.JoinPath(LinkPath, token).String() + "\n\n" + l.Text("mail.booking.later") + "\n\n" +
		l.Text("mail.booking.unasked") + "\n"
	return s.Mailer.Send(ctx, h.Address, "", l.Text("mail.booking.subject", "title", v.Title), text, l)
}

// LinkPath is the path of the links in mails, below the prefix. No page has so short a name.
const LinkPath = "r"
