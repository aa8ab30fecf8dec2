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
	"caldav-mcp-server/calendar/freebusy"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/slot"
	"caldav-mcp-server/locale"
	"caldav-mcp-server/web/outside"
)

// state is the basis of a decision about times.
type state struct {
	taken rules.Taken
	// hosts are the people whose times taken has, in its order. The owner is read even if others meet the visitor.
	hosts []host
	owner host
	// room is the page's room, with its calendars.
	room host
	// holds are the bookings and open holds of the owner's pages.
	holds []calendar.Hold
}

// asking is a question for taken times.
type asking struct {
	// own is the hold of the visitor, which takes none, and also is the booking that it moves.
	own, also calendar.HoldID
	// confirmed is set if the holds of other visitors take none either: the first confirmation wins.
	confirmed bool
	// only is the only host who counts; "" for all.
	only calendar.UserID
}

// mine reports whether a hold is the visitor's.
func (q asking) mine(id calendar.HoldID) bool { return id == q.own || id == q.also }

// read returns the taken times between two moments.
func (s *Service) read(ctx context.Context, v View, from, until time.Time, q asking) (now state, err error) {
	// First the calendars: whatever changes later, changes their versions.
	if now.hosts, now.owner, err = s.keeping().hosts(ctx, v, q.only); err != nil {
		return now, err
	}
	if err := s.keeping().withRoom(ctx, v, &now); err != nil {
		return now, err
	}
	b := query.BusyQuery{
		From: from.AddDate(0, 0, -2), Until: until.AddDate(0, 0, 2), ByType: true, Ignored: []calendar.UID{},
	}
	m := s.meter(ctx, v)
	defer m.Close()
	b.Meter = m
	for n := 0; ; n++ {
		uids, err := now.readHolds(ctx, s, v, b.From, q)
		if err != nil {
			return now, err
		}
		// A hold that begins after its list was read may be in the busy times, so the list is read again.
		more := n == 0
		for _, uid := range uids {
			if !slices.Contains(b.Ignored, uid) {
				b.Ignored, more = append(b.Ignored, uid), more || q.confirmed
			}
		}
		if !more || n == readsMost {
			return now, nil
		}
		if err := now.readBusy(ctx, s, v, b); err != nil || !q.confirmed {
			return now, err
		}
	}
}

// readHolds reads the holds and bookings of the owner's pages, and of other pages with the same people. It returns the
// events that take no time.
func (now *state) readHolds(
	ctx context.Context, s *Service, v View, since time.Time, q asking,
) (ignored []calendar.UID, err error) {
	recent := s.Now().AddDate(0, 0, -fairDays)
	if recent.After(since) {
		recent = since
	}
	ours, err := s.Store.HoldsOf(ctx, v.Owner.ID, recent)
	if err != nil {
		return nil, err
	}
	var in []calendar.CalendarID
	for _, h := range now.hosts {
		for _, cal := range h.read {
			in = append(in, cal.ID)
		}
	}
	theirs, err := s.Store.HoldsIn(ctx, in, since)
	if err != nil {
		return nil, err
	}
	for _, h := range slices.Concat(theirs, ours) {
		if q.mine(h.ID) || h.State == calendar.Held && (q.confirmed || !h.Expires.After(s.Now())) {
			ignored = append(ignored, h.UID)
		}
	}
	now.holds, now.taken.Booked = nil, nil
	for _, h := range ours {
		open := h.State != calendar.Held || h.Expires.After(s.Now())
		if q.mine(h.ID) || !open || h.Gone {
			continue
		}
		now.holds = append(now.holds, h)
		if h.Page == v.ID && (h.State != calendar.Held || !q.confirmed) {
			now.taken.Booked = append(now.taken.Booked, h.Start)
		}
	}
	return ignored, nil
}

// readBusy reads the busy times of the hosts and of the room.
func (now *state) readBusy(ctx context.Context, s *Service, v View, b query.BusyQuery) error {
	read := func(h host) ([]freebusy.Period, error) {
		b.People, b.Only, b.Timezone = []calendar.User{h.User}, []calendar.CalendarID{}, nil
		if h.ID == v.Owner.ID {
			b.Timezone = v.Zone
		}
		for _, cal := range h.read {
			b.Only = append(b.Only, cal.ID)
		}
		found, err := s.Calendars.FreeBusy(ctx, callerOf(h.User), b)
		return found.Periods, err
	}
	now.taken.People = nil
	for _, h := range now.hosts {
		periods, err := read(h)
		if err != nil {
			return err
		}
		now.taken.People = append(now.taken.People, periods)
	}
	var err error
	if now.room.ID != "" {
		now.taken.Room, err = read(now.room)
	}
	return err
}

// offer returns the rule of a page for one of its lengths, as at a moment.
func (v View) offer(minutes int, at time.Time) (rules.Offer, error) {
	if !v.has(minutes) {
		return rules.Offer{}, ErrTaken
	}
	hours, days := v.Owner.Workweek()
	week, err := v.Week(hours, days)
	return v.Offer(week, v.Zone.Location(), minutes, at), err
}

// Times returns the free times of a page that start between two moments. The host of a moved booking stays.
func (s *Service) Times(
	ctx context.Context, v View, minutes int, from, until time.Time, moved *Booking,
) ([]slot.Slot, error) {
	o, err := v.offer(minutes, s.Now())
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
	q := asking{}
	if moved != nil {
		q.own, q.only = moved.ID, moved.stays()
	}
	now, err := s.read(ctx, v, from, until, q)
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
	own := func(u calendar.User) bool { return u.Email == address }
	if err != nil || address == v.Owner.Email || slices.ContainsFunc(v.Hosts(), own) {
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
	o, err := v.offer(w.Minutes, s.Now())
	if err != nil {
		return h, err
	}
	to, err := s.choose(ctx, v, o, w.Start)
	if err != nil {
		return h, err
	}
	token, at := outside.NewToken(), s.Now().UTC().Truncate(time.Second)
	h = calendar.Hold{
		ID: calendar.HoldID(s.NewID()), Page: v.ID, Token: hashed(token), State: calendar.Held, Calendar: to.target.ID,
		UID: newUID(s.NewID), Host: to.id(v), Start: w.Start, End: w.Start.Add(o.Length),
		Expires: at.Add(holdLasts), Created: at, Name: w.Name, Address: w.Address, Zone: w.Zone,
		Language: w.Language.Tag(), Network: w.Network,
	}
	if err := s.Store.InsertHold(ctx, h, limits); err != nil {
		if calendar.ReasonOf(err) == calendar.TooLarge {
			return h, ErrLimit
		}
		return h, err
	}
	if err = s.place(ctx, v, to, h, answersOf(v, w)); err == nil {
		if err = s.mailLink(ctx, v, h, token, w.Language); err != nil {
			s.Logger.WarnContext(ctx, "the link of a booking was not sent", "error", err)
			err = ErrUnsent
		}
	}
	if err != nil {
		err = errors.Join(err, s.end(context.WithoutCancel(ctx), v.BookingPage.Owner, h))
	}
	return h, err
}

// choose returns the host of a new hold, or ErrTaken. If one of several people gets it, holds of other visitors should
// not be in the way.
func (s *Service) choose(ctx context.Context, v View, o rules.Offer, start time.Time) (host, error) {
	end := start.Add(o.Length)
	now, err := s.read(ctx, v, start, end, asking{confirmed: true})
	if err != nil {
		return host{}, err
	}
	free := o.Free(start, now.taken)
	if len(free) == 0 {
		return host{}, ErrTaken
	}
	if v.Together != rules.AnyOfUs {
		return now.owner, nil
	}
	quiet, err := s.read(ctx, v, start, end, asking{})
	if err != nil {
		return host{}, err
	}
	if better := o.Free(start, quiet.taken); len(better) > 0 {
		now, free = quiet, better
	}
	return now.fairest(v, free, s.Now()), nil
}

// answersOf writes a visitor's answers as the description of an event.
func answersOf(v View, w Wish) string {
	var answers []string
	for i, q := range v.Questions {
		if w.Answers[i] != "" {
			answers = append(answers, outside.Line(q.Text)+"\n"+w.Answers[i])
		}
	}
	return strings.Join(answers, "\n\n")
}

// place creates the event of a hold. It is tentative, so that other programs show it as such.
func (s *Service) place(ctx context.Context, v View, in host, h calendar.Hold, description string) error {
	d := edit.Draft{
		Kind: content.Event, UID: string(h.UID),
		Times: edit.Times{Start: edit.To(outside.Moment(h.Start, v.Zone)), End: edit.To(outside.Moment(h.End, v.Zone))},
		Fields: edit.Fields{
			Summary: edit.To(languageOf(in.User).Text("booking.held", "title", v.Title, "name", h.Name)),
			Status:  edit.To(edit.Tentative), Stranger: edit.To(h.Address),
		},
	}
	if description != "" {
		d.Fields.Description = edit.To(description)
	}
	if at := v.Place(); at != "" {
		d.Fields.Location = edit.To(at)
	}
	_, err := s.Calendars.CreateTelling(ctx, callerOf(in.User), in.target, d, calendar.TellNobody)
	return err
}
