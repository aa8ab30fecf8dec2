package calendar

import (
	"context"
	"strings"
)

// Share offers access to a calendar of the caller's to the user of a name or a mail address, in
// place of what they had.
func (s *Service) Share(ctx context.Context, c Caller, id CalendarID, with string, access Access) (Share, error) {
	return s.share(ctx, c, id, with, ShareEdit{Access: access})
}

// Settle is Share for whoever runs the server: the user is not asked, and need not have been.
func (s *Service) Settle(ctx context.Context, c Caller, id CalendarID, with string, access Access) (Share, error) {
	return s.share(ctx, c, id, with, ShareEdit{Access: access, Settled: true})
}

func (s *Service) share(ctx context.Context, c Caller, id CalendarID, with string, e ShareEdit) (Share, error) {
	user, err := s.Sharee(ctx, c, id, with)
	if err != nil {
		return Share{}, err
	}
	if e.Access == NoAccess {
		return Share{}, errShareLevel()
	}
	e.With = user
	shares, err := s.Reshare(ctx, c, id, []ShareEdit{e})
	if err != nil {
		return Share{}, err
	}
	return shares[0], nil
}

// Sharee finds the user of a name or a mail address with whom the caller would share a calendar.
// Who can be found is what a search for people finds.
func (s *Service) Sharee(ctx context.Context, c Caller, id CalendarID, with string) (User, error) {
	if err := s.allow(ctx, c, ShareCalendar, id); err != nil {
		return User{}, err
	}
	user, err := s.sharee(ctx, c, with)
	if err == nil && user.ID == c.User.ID {
		return user, errOwnCalendar()
	}
	return user, err
}

// sharee finds a user by name or by a mail address that nobody else has.
func (s *Service) sharee(ctx context.Context, c Caller, with string) (User, error) {
	with = strings.TrimSpace(with)
	user, err := s.store.UserByName(ctx, strings.ToLower(with))
	if err == nil || ReasonOf(err) != NotFound {
		return user, err
	}
	found, err := s.FindPeople(ctx, c, func(u User, is Comparison) bool { return u.Email != "" && is(u.Email, with, Equals) })
	if err == nil && len(found) != 1 {
		return User{}, Errorf(NotFound, "", "there is no user %q", with)
	}
	if err != nil {
		return User{}, err
	}
	return found[0], nil
}

// Unshare takes away what the user of a name or a mail address was offered of a calendar. Its
// owner may do that, and whoever has a share may give up their own.
func (s *Service) Unshare(ctx context.Context, c Caller, id CalendarID, with string) error {
	cal, err := s.Calendar(ctx, c, id)
	if err != nil {
		return err
	}
	if cal.Access != OwnerAccess && strings.EqualFold(strings.TrimSpace(with), c.User.Name) {
		return s.Leave(ctx, c, id)
	}
	if err := c.May(ShareCalendar, cal); err != nil {
		return err
	}
	user, err := s.sharee(ctx, c, with)
	taken := false
	if err == nil {
		_, taken, err = s.reshare(ctx, c, id, []ShareEdit{{With: user}})
	}
	// Whether there is such a user does not matter to who takes something away.
	if err == nil && !taken || err != nil && ReasonOf(err) == NotFound {
		return Errorf(NotFound, "", "the calendar %q is not shared with %q", cal.Name, with)
	}
	return err
}

// Leave gives up the caller's share of a calendar.
func (s *Service) Leave(ctx context.Context, c Caller, id CalendarID) error {
	cal, err := s.Calendar(ctx, c, id)
	if err != nil {
		return err
	}
	if cal.Access == OwnerAccess {
		return Errorf(Invalid, "", "the calendar %q is yours: it can be deleted, not left", cal.Name)
	}
	if err := c.May(LeaveCalendar, cal); err != nil {
		return err
	}
	return s.answer(ctx, c, id, Reply{leave: true})
}

// Shares returns who was offered what of a calendar of the caller's.
func (s *Service) Shares(ctx context.Context, c Caller, id CalendarID) ([]Share, error) {
	if err := s.allow(ctx, c, ListShares, id); err != nil {
		return nil, err
	}
	return s.store.Shares(ctx, id)
}
