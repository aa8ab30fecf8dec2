package booking

import (
	"bytes"
	"context"
	"maps"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	rules "caldav-mcp-server/calendar/booking"
	"caldav-mcp-server/web/outside"
)

// Pages lists a user's pages.
func (s *Service) Pages(ctx context.Context, u calendar.User) ([]View, error) {
	all, err := s.Store.BookingPages(ctx, u.ID)
	if err != nil {
		return nil, err
	}
	var list []View
	for _, p := range all {
		v, err := s.view(ctx, p)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// Page returns one of a user's pages.
func (s *Service) Page(ctx context.Context, u calendar.User, id calendar.BookingPageID) (View, error) {
	p, err := s.Store.BookingPage(ctx, id)
	if err == nil && p.Owner != u.ID || calendar.ReasonOf(err) == calendar.NotFound {
		return View{}, ErrMissing
	}
	if err != nil {
		return View{}, err
	}
	return s.view(ctx, p)
}

// Save stores a page of a user. An empty ID is a new page. A secret page gets a name that cannot be guessed. The error
// is a [*rules.Error] with the field that is wrong.
func (s *Service) Save(ctx context.Context, u calendar.User, v View) (calendar.BookingPageID, error) {
	v.Title, v.Text, v.Location = outside.Line(v.Title), outside.Plain(v.Text), outside.Line(v.Location)
	past := s.Now().AddDate(0, 0, -1).UTC().Format(time.DateOnly) // in every zone
	v.Dates = maps.Clone(v.Dates)
	maps.DeleteFunc(v.Dates, func(date, _ string) bool { return date < past })
	switch {
	case len(v.People) == 0:
		v.Together = rules.Alone
	case v.Together == rules.Alone:
		v.Together = rules.AnyOfUs
	}
	if err := v.Settings.Check(); err != nil {
		return "", err
	}
	v.BookingPage.Owner, v.Owner = u.ID, u
	if _, err := s.keeping().counted(ctx, v); err != nil {
		return "", &rules.Error{Field: "calendar"}
	}
	if err := s.checkRoom(ctx, v); err != nil {
		return "", err
	}
	if u.Email == "" && v.On {
		return "", &rules.Error{Field: "email"}
	}
	before := View{}
	if v.ID != "" {
		var err error
		if before, err = s.Page(ctx, u, v.ID); err != nil {
			return "", err
		}
	}
	switch {
	case v.Access == rules.Secret && before.Access == rules.Secret:
		v.Name = before.Name
	case v.Access == rules.Secret:
		v.Name = outside.NewToken()
	case !nameForm.MatchString(v.Name):
		return "", &rules.Error{Field: "name", Least: 3, Most: 40}
	}
	data, err := v.Settings.Encode()
	if err != nil {
		return "", err
	}
	var named []calendar.UserID
	for _, one := range v.People {
		named = append(named, one.ID)
	}
	asked, err := s.Store.BookingPeople(ctx, v.ID)
	if err != nil {
		return "", err
	}
	p := v.BookingPage
	p.Settings = data
	if p.ID == "" {
		p.ID, p.Created = calendar.BookingPageID(s.NewID()), s.Now().UTC().Truncate(time.Second)
		err = s.Store.InsertBookingPage(ctx, p, named, pagesMost)
	} else {
		err = s.Store.UpdateBookingPage(ctx, p, named, before.terms() != v.terms())
	}
	switch reason := calendar.ReasonOf(err); {
	case err == nil:
		v.ID = p.ID
		err = s.ask(ctx, v, asked)
	case reason == calendar.Exists:
		err = &rules.Error{Field: "taken"}
	case reason == calendar.TooLarge:
		err = &rules.Error{Field: "pages", Most: pagesMost}
	}
	return p.ID, err
}

// Delete deletes a page of a user. Its bookings stay in the calendar, but their links end.
func (s *Service) Delete(ctx context.Context, u calendar.User, id calendar.BookingPageID) error {
	holds, err := s.Store.HoldsOf(ctx, u.ID, s.Now())
	if err != nil {
		return err
	}
	for _, h := range holds {
		if h.Page == id && h.State != calendar.Booked {
			if err := s.end(ctx, u.ID, h); err != nil {
				return err
			}
		}
	}
	return s.Store.DeleteBookingPage(ctx, u.ID, id)
}

// Bookings lists the coming bookings of a user's pages.
func (s *Service) Bookings(ctx context.Context, u calendar.User) ([]calendar.Hold, error) {
	all, err := s.Store.HoldsOf(ctx, u.ID, s.Now())
	var list []calendar.Hold
	for _, h := range all {
		if h.State == calendar.Booked && !h.Gone {
			list = append(list, h)
		}
	}
	return list, err
}

// Address returns the address of a page.
func (s *Service) Address(v View) string { return s.Root.JoinPath(v.Name).String() }

// Create makes a page for a user's assistant, with the defaults of the form. Without a name, its address cannot be
// guessed.
func (s *Service) Create(
	ctx context.Context, u calendar.User, name string, on bool, r rules.Settings,
) (rules.Owned, error) {
	r.Access = rules.Public
	if name == "" {
		r.Access = rules.Secret
	}
	if len(r.Minutes) == 0 {
		r.Minutes = []int{30}
	}
	r.NoticeHours, r.HorizonDays = rules.DefaultNotice, rules.DefaultHorizon
	r.Language = languageOf(u).Tag()
	v := View{BookingPage: calendar.BookingPage{Name: strings.ToLower(name), On: on}, Settings: r}
	before, err := s.same(ctx, u, v)
	if err != nil || before.ID != "" && (before.On || !on) {
		return s.owned(before), err
	}
	v.ID = before.ID
	id, err := s.Save(ctx, u, v)
	if err != nil {
		return rules.Owned{}, err
	}
	v, err = s.Page(ctx, u, id)
	return s.owned(v), err
}

// same returns a user's page with the same name and settings, if there is one: an assistant repeats a call whose result
// it lost. A secret name is no difference.
func (s *Service) same(ctx context.Context, u calendar.User, v View) (View, error) {
	v.Title = outside.Line(v.Title)
	data, err := v.Settings.Encode()
	if err != nil {
		return View{}, err
	}
	all, err := s.Pages(ctx, u)
	for _, one := range all {
		if bytes.Equal(one.BookingPage.Settings, data) && (v.Access == rules.Secret || one.Name == v.Name) {
			return one, err
		}
	}
	return View{}, err
}

func (s *Service) owned(v View) rules.Owned {
	return rules.Owned{ID: string(v.ID), Title: v.Title, Address: s.Address(v), On: v.On}
}

// Overview lists a user's pages and their coming bookings.
func (s *Service) Overview(ctx context.Context, u calendar.User) (pages []rules.Owned, all []rules.Coming, err error) {
	views, err := s.Pages(ctx, u)
	if err != nil {
		return nil, nil, err
	}
	titles := map[calendar.BookingPageID]string{}
	for _, v := range views {
		titles[v.ID] = v.Title
		pages = append(pages, s.owned(v))
	}
	held, err := s.Bookings(ctx, u)
	for _, h := range held {
		one := rules.Coming{
			Title: titles[h.Page], Start: h.Start, End: h.End, Name: h.Name, Address: h.Address,
			Calendar: string(h.Calendar), UID: string(h.UID),
		}
		if h.Host != "" { // whose calendar the owner may not see
			one.Calendar, one.UID = "", ""
			host, err := s.keeper(ctx, u, h)
			if err != nil {
				return nil, nil, err
			}
			one.Title += " (" + host.Title() + ")"
		}
		all = append(all, one)
	}
	return pages, all, err
}
