package calendar

import (
	"context"
	"slices"
)

// Calendars returns the calendars that the caller sees, but for subscriptions: who asks what is
// in the calendars, or for one to write to, asks for nothing of those.
func (s *Service) Calendars(ctx context.Context, c Caller) ([]Calendar, error) {
	all, err := s.CalendarsInHome(ctx, c)
	return slices.DeleteFunc(all, func(cal Calendar) bool { return cal.Subscribed() }), err
}

// CalendarsInHome returns all that the caller sees, as a home lists it.
func (s *Service) CalendarsInHome(ctx context.Context, c Caller) ([]Calendar, error) {
	if err := c.hasScope(ReadObjects); err != nil {
		return nil, err
	}
	all, err := s.store.Calendars(ctx, c.User.ID)
	return c.sees(all), err
}

// Calendar returns one calendar by id.
func (s *Service) Calendar(ctx context.Context, c Caller, id CalendarID) (Calendar, error) {
	cal, err := s.store.Calendar(ctx, c.User.ID, id)
	return seen(c, cal, string(id), err)
}

// CalendarAt returns the calendar at an address in the caller's home.
func (s *Service) CalendarAt(ctx context.Context, c Caller, at Segment) (Calendar, error) {
	cal, err := s.store.CalendarAt(ctx, c.User.ID, at)
	return seen(c, cal, string(at), err)
}

// seen makes what the caller cannot see look exactly like what does not exist.
func seen(c Caller, cal Calendar, asked string, err error) (Calendar, error) {
	if ReasonOf(err) == NotFound && err != nil || err == nil && !c.Sees(cal) {
		return Calendar{}, errNoCalendar(asked)
	}
	return cal, err
}

// allow looks the calendar up as it is now and asks whether the caller may.
func (s *Service) allow(ctx context.Context, c Caller, a Action, id CalendarID) error {
	cal, err := s.Calendar(ctx, c, id)
	if err != nil {
		return err
	}
	return c.May(a, cal)
}

// SharedCalendars returns the calendars of others that the caller sees.
func (s *Service) SharedCalendars(ctx context.Context, c Caller) ([]Calendar, error) {
	all, err := s.Calendars(ctx, c)
	shared := all[:0]
	for _, cal := range all {
		if cal.Access != OwnerAccess {
			shared = append(shared, cal)
		}
	}
	return shared, err
}
