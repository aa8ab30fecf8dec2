package booking

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	rules "caldav-mcp-server/calendar/booking"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/slot"
	"caldav-mcp-server/locale"
	"caldav-mcp-server/web/outside"
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
	q := query.BusyQuery{
		People: []calendar.User{v.Owner}, Only: []calendar.CalendarID{}, From: from.AddDate(0, 0, -2),
		Until: until.AddDate(0, 0, 2), Timezone: v.Zone, ByType: true, Ignored: []calendar.UID{},
	}
	for _, cal := range now.read {
		q.Only = append(q.Only, cal.ID)
	}
	m := s.meter(ctx, v)
	defer m.Close()
	q.Meter = m
	for n := 0; ; n++ {
		holds, err := s.Store.HoldsOf(ctx, v.Owner.ID, q.From)
		if err != nil {
			return now, err
		}
		now.taken.Booked = nil
		// A hold that begins after its list was read may be in the busy times, so the list is read again.
		more := n == 0
		for _, h := range holds {
			held := h.State == calendar.Held
			switch {
			case h.ID == own, held && (confirmed || !h.Expires.After(s.Now())):
				if !slices.Contains(q.Ignored, h.UID) {
					q.Ignored, more = append(q.Ignored, h.UID), more || confirmed
				}
			case h.Page == v.ID && !h.Gone:
				now.taken.Booked = append(now.taken.Booked, h.Start)
			}
		}
		if !more || n == readsMost {
			return now, nil
		}
		busy, err := s.Calendars.FreeBusy(ctx, v.caller(), q)
		if now.taken.Busy = busy.Periods; err != nil || !confirmed {
			return now, err
		}
	}
}

// offer returns the rule of a page for one of its lengths, as at a moment.
func (s *Service) offer(v View, minutes int, at time.Time) (rules.Offer, error) {
	if !v.has(minutes) {
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
	w.Name = outside.Line(w.Name)
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
		w.Answers[i] = outside.Plain(w.Answers[i])
		if n := length(w.Answers[i]); n > rules.LongestAnswer || n == 0 && q.Required {
			return ErrAnswer
		}
	}
	return nil
}

// Hold holds a time for a visitor and mails the link that confirms it.
func (s *Service) Hold(ctx context.Context, v View, w Wish) error {
	_, err := s.hold(ctx, v, w)
	return err
}

func (s *Service) hold(ctx context.Context, v View, w Wish) (h calendar.Hold, err error) {
	if err := s.check(v, &w); err != nil {
		return h, err
	}
	o, err := s.offer(v, w.Minutes, s.Now())
	if err != nil {
		return h, err
	}
	now, err := s.read(ctx, v, w.Start, w.Start.Add(o.Length), "", true)
	if err != nil {
		return h, err
	}
	if !o.Offers(w.Start, now.taken) {
		return h, ErrTaken
	}
	token, at := outside.NewToken(), s.Now().UTC().Truncate(time.Second)
	h = calendar.Hold{
		ID: calendar.HoldID(s.NewID()), Page: v.ID, Token: hashed(token), State: calendar.Held, Calendar: now.target.ID,
		UID: calendar.UID("booking." + s.NewID() + "@caldav-server"), Start: w.Start, End: w.Start.Add(o.Length),
		Expires: at.Add(holdLasts), Created: at, Name: w.Name, Address: w.Address, Zone: w.Zone,
		Language: w.Language.Tag(), Network: w.Network,
	}
	if err := s.Store.InsertHold(ctx, h, limits); err != nil {
		if calendar.ReasonOf(err) == calendar.TooLarge {
			return h, ErrLimit
		}
		return h, err
	}
	if err = s.place(ctx, v, now.target, h, w); err == nil {
		if err = s.mailLink(ctx, v, h, token, w.Language); err != nil {
			s.Logger.WarnContext(ctx, "the link of a booking was not sent", "error", err)
			err = ErrUnsent
		}
	}
	if err != nil {
		err = errors.Join(err, s.end(context.WithoutCancel(ctx), v.Owner, h))
	}
	return h, err
}

// place creates the event of a hold. It is tentative, so that other programs show it as such.
func (s *Service) place(ctx context.Context, v View, in calendar.Calendar, h calendar.Hold, w Wish) error {
	var answers []string
	for i, q := range v.Questions {
		if w.Answers[i] != "" {
			answers = append(answers, outside.Line(q.Text)+"\n"+w.Answers[i])
		}
	}
	d := edit.Draft{
		Kind: content.Event, UID: string(h.UID),
		Times: edit.Times{Start: edit.To(outside.Moment(h.Start, v.Zone)), End: edit.To(outside.Moment(h.End, v.Zone))},
		Fields: edit.Fields{
			Summary: edit.To(languageOf(v).Text("booking.held", "title", v.Title, "name", h.Name)),
			Status:  edit.To(edit.Tentative),
		},
	}
	if len(answers) > 0 {
		d.Fields.Description = edit.To(strings.Join(answers, "\n\n"))
	}
	if v.Location != "" {
		d.Fields.Location = edit.To(v.Location)
	}
	_, err := s.Calendars.CreateTelling(ctx, v.caller(), in, d, calendar.TellNobody)
	return err
}
