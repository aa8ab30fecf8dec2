package poll

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/freebusy"
	rules "caldav-mcp-server/calendar/poll"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/web/outside"
)

// Polls lists a user's polls, the newest first.
func (s *Service) Polls(ctx context.Context, u calendar.User) (list []View, err error) {
	all, err := s.Store.Polls(ctx, u.ID)
	for _, p := range all {
		v, err := s.view(ctx, p)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, err
}

// Poll returns one of a user's polls.
func (s *Service) Poll(ctx context.Context, u calendar.User, id calendar.PollID) (View, error) {
	p, err := s.Store.Poll(ctx, id)
	if err == nil && p.Owner != u.ID {
		err = ErrMissing
	}
	if err != nil {
		return View{}, missing(err)
	}
	return s.view(ctx, p)
}

// Guest is a person whom the owner asks.
type Guest struct{ Name, Address string }

// Save stores a poll of a user, and mails people who are asked in addition. An empty ID is a new poll; another one must
// have the version that the owner saw. The error is a [*rules.Error] with the field that is wrong.
func (s *Service) Save(ctx context.Context, u calendar.User, v View, asked []Guest) (calendar.PollID, error) {
	before := View{}
	if v.ID != "" {
		var err error
		if before, err = s.Poll(ctx, u, v.ID); err != nil {
			return "", err
		}
		if before.State != calendar.PollOpen {
			return "", ErrPicked
		}
	}
	v.Title, v.Text, v.Location = outside.Line(v.Title), outside.Plain(v.Text), outside.Line(v.Location)
	times := v.Times
	v.Times, v.NextTime = before.Times, before.NextTime
	v.Offer(times)
	if err := s.check(ctx, u, v, before); err != nil {
		return "", err
	}
	p := calendar.Poll{ID: v.ID, Owner: u.ID, State: calendar.PollOpen, Version: v.Version, Closes: v.Closes}
	p.Ends = latest(v.Closes, v.Last()).Add(keptFor)
	if p.ID == "" {
		p.ID, p.Link, p.Created, p.Version = calendar.PollID(s.NewID()), outside.NewToken(), s.now(), 0
	}
	people, err := s.people(p, before, asked)
	if err != nil {
		return "", err
	}
	if p.Settings, err = v.Settings.Encode(); err != nil {
		return "", err
	}
	err = s.Store.SavePoll(ctx, p, people, s.letters(p, people), limits, s.Outbox)
	if calendar.ReasonOf(err) == calendar.Stale {
		err = ErrChanged
	}
	return p.ID, err
}

// check validates the settings of a poll.
func (s *Service) check(ctx context.Context, u calendar.User, v, before View) error {
	if err := v.Settings.Check(); err != nil {
		return err
	}
	for _, t := range v.Times {
		start, _ := t.Within(v.Zone.Location())
		if !slices.ContainsFunc(before.Times, t.Same) && !start.After(s.Now()) {
			return &rules.Error{Field: "past"}
		}
	}
	most := s.Now().AddDate(0, 0, rules.MostDays)
	if !v.Closes.Equal(before.Closes) && (!v.Closes.After(s.Now()) || v.Closes.After(most)) {
		return &rules.Error{Field: "closes", Least: 1, Most: rules.MostDays}
	}
	_, err := s.target(ctx, View{Owner: u, Settings: v.Settings})
	return err
}

// target returns the calendar that gets the event.
func (s *Service) target(ctx context.Context, v View) (calendar.Calendar, error) {
	in, err := s.Calendars.Calendar(ctx, v.caller(), calendar.CalendarID(v.Settings.Calendar))
	if calendar.ReasonOf(err) == calendar.NotFound || err == nil && !outside.Takes(in) {
		return in, &rules.Error{Field: "calendar"}
	}
	return in, err
}

// people returns the people who are asked and are not in the poll yet.
func (s *Service) people(p calendar.Poll, before View, asked []Guest) (list []calendar.PollPerson, err error) {
	noAnswers, err := rules.Answers{}.Encode()
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, one := range before.People {
		known[one.Address] = known[one.Address] || one.Invited
	}
	for _, g := range asked {
		address, err := s.Address(g.Address)
		name := outside.Line(g.Name)
		if err != nil || utf8.RuneCountInString(name) > rules.LongestName {
			return nil, &rules.Error{Field: "people", Value: cmp.Or(g.Address, g.Name)}
		}
		if known[address] {
			continue
		}
		known[address] = true
		list = append(list, calendar.PollPerson{
			ID: calendar.PollPersonID(s.NewID()), Poll: p.ID, Link: outside.NewToken(), Invited: true, Name: name,
			Address: address, Created: s.now(), Answers: noAnswers,
		})
	}
	return list, nil
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Remove removes a person with their answers. Their link ends.
func (s *Service) Remove(
	ctx context.Context, u calendar.User, id calendar.PollID, person calendar.PollPersonID,
) error {
	if _, err := s.Poll(ctx, u, id); err != nil {
		return err
	}
	if err := s.Store.DeletePollPerson(ctx, id, person); calendar.ReasonOf(err) != calendar.NotFound {
		return err
	}
	return nil
}

// Delete deletes a poll. Its event stays.
func (s *Service) Delete(ctx context.Context, u calendar.User, id calendar.PollID) error {
	return missing(s.Store.DeletePoll(ctx, u.ID, id))
}

// Cancel ends a poll without an event, and mails the people whom the owner asked. Addresses that strangers entered get
// no mail.
func (s *Service) Cancel(ctx context.Context, u calendar.User, id calendar.PollID) error {
	v, err := s.Poll(ctx, u, id)
	if err != nil || v.State == calendar.PollCancelled {
		return err
	}
	if v.State != calendar.PollOpen {
		return ErrPicked
	}
	p := v.Poll
	p.State, p.Ends = calendar.PollCancelled, s.now().Add(keptFor)
	var asked []calendar.PollPerson
	for _, one := range v.People {
		if one.Invited {
			asked = append(asked, one.PollPerson)
		}
	}
	err = s.Store.SavePoll(ctx, p, nil, s.letters(p, asked), limits, s.Outbox)
	if calendar.ReasonOf(err) == calendar.Stale {
		err = ErrChanged
	}
	return err
}

// Remindable returns the people who have not answered and may get a reminder now.
func (s *Service) Remindable(v View) (list []calendar.PollPerson) {
	if s.Root == nil || !v.Takes(s.Now()) {
		return nil
	}
	for _, p := range v.People {
		last := p.Created
		if p.Reminders > 0 {
			last = p.Reminded
		}
		due := !s.Now().Before(last.Add(remindEvery))
		if p.Invited && p.Changes == 0 && p.Reminders < remindersMost && due {
			list = append(list, p.PollPerson)
		}
	}
	return list
}

// Remind mails the people who have not answered.
func (s *Service) Remind(ctx context.Context, u calendar.User, id calendar.PollID) error {
	v, err := s.Poll(ctx, u, id)
	if err != nil {
		return err
	}
	people := s.Remindable(v)
	if len(people) == 0 {
		return ErrNobody
	}
	err = s.Store.RemindPoll(ctx, v.Poll, people, s.letters(v.Poll, people), s.now(), s.Outbox)
	if calendar.ReasonOf(err) == calendar.Stale {
		err = ErrNobody
	}
	return err
}

// Conflicts reports for each time of an open poll whether its owner is busy then.
func (s *Service) Conflicts(ctx context.Context, v View) (list []bool, err error) {
	if !v.IsOpen() {
		return make([]bool, len(v.Times)), nil
	}
	m := s.Calendars.Meter(ctx, v.caller())
	defer m.Close()
	for _, some := range rules.Stretches(v.Times) {
		q := query.BusyQuery{People: []calendar.User{v.Owner}, Timezone: v.Zone, ByType: true, Meter: m}
		q.From, q.Until = some[0].Within(v.Zone.Location())
		for _, t := range some {
			start, end := t.Within(v.Zone.Location())
			if start.Before(q.From) { // than the start of a whole day, which is in order by UTC
				q.From = start
			}
			q.Until = latest(q.Until, end)
		}
		busy, err := s.Calendars.FreeBusy(ctx, v.caller(), q)
		if err != nil {
			return nil, err
		}
		for _, t := range some {
			start, end := t.Within(v.Zone.Location())
			list = append(list, slices.ContainsFunc(busy.Periods, func(p freebusy.Period) bool {
				taken := p.Type == freebusy.Busy || p.Type == freebusy.Tentative
				return taken && p.Start.Before(end) && p.End.After(start)
			}))
		}
	}
	return list, nil
}

// Pick is the owner's choice.
type Pick struct {
	// Version is the version of the poll that the owner saw.
	Version int64
	// Time is the id of the time, Guests are the people who are invited.
	Time   int64
	Guests []calendar.PollPersonID
}

// Pick creates the event of a poll at one of its times and ends the poll. Of two picks, one succeeds.
func (s *Service) Pick(ctx context.Context, u calendar.User, id calendar.PollID, pick Pick) error {
	v, err := s.Poll(ctx, u, id)
	if err != nil {
		return err
	}
	if v.State != calendar.PollOpen {
		return ErrPicked
	}
	t, ok := v.Time(pick.Time)
	if !ok || v.Version != pick.Version {
		return ErrChanged
	}
	in, err := s.target(ctx, v)
	if err != nil {
		return err
	}
	guests := v.guests(pick.Guests)
	if len(guests) > 0 && u.Email == "" {
		return &rules.Error{Field: "email"} // guests could not answer
	}
	draft := s.event(v, t, guests)
	next := v.Poll
	next.State, next.Picked, next.Calendar, next.UID = calendar.PollPicked, t.ID, in.ID, calendar.UID(draft.UID)
	_, end := t.Within(v.Zone.Location())
	next.Ends = latest(s.now(), end.UTC()).Add(keptFor)
	_, err = s.Calendars.CreatePicked(ctx, v.caller(), in, draft, next)
	if calendar.ReasonOf(err) != calendar.Stale {
		return err
	}
	if v, again := s.Poll(ctx, u, id); again != nil || v.State != calendar.PollOpen {
		return errors.Join(ErrPicked, again)
	}
	return ErrChanged
}

// guests returns the chosen people as attendees, each address once. A name that a stranger entered stays out of the
// event: assistants read the texts of the owner's own events as the owner's.
func (v View) guests(chosen []calendar.PollPersonID) (list []edit.Attendee) {
	for _, p := range v.People {
		same := func(a edit.Attendee) bool { return strings.EqualFold(a.Address, p.Address) }
		if p.Address != "" && !strings.EqualFold(p.Address, v.Owner.Email) && slices.Contains(chosen, p.ID) &&
			!slices.ContainsFunc(list, same) {
			guest := edit.Attendee{Address: p.Address}
			if p.Invited {
				guest.Name = p.Name
			}
			list = append(list, guest)
		}
	}
	return list
}

// event returns the event of a time.
func (s *Service) event(v View, t rules.Time, guests []edit.Attendee) edit.Draft {
	d := edit.Draft{
		Kind: content.Event, UID: "poll." + s.NewID() + "@caldav-server",
		Fields: edit.Fields{Summary: edit.To(v.Title)},
	}
	if t.AllDay {
		day := func(at time.Time) ical.Time { return ical.Date(ical.CivilDate(at.Date())) }
		d.Times = edit.Times{Start: edit.To(day(t.Start.UTC())), End: edit.To(day(t.End.UTC())), AsGiven: true}
	} else {
		d.Times = edit.Times{
			Start: edit.To(outside.Moment(t.Start, v.Zone)), End: edit.To(outside.Moment(t.End, v.Zone)), AsGiven: true,
		}
	}
	if v.Text != "" {
		d.Fields.Description = edit.To(v.Text)
	}
	if v.Location != "" {
		d.Fields.Location = edit.To(v.Location)
	}
	if len(guests) > 0 {
		d.Fields.Attendees = edit.To(guests)
	}
	return d
}
