package ledger

import (
	"context"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/change"
	"caldav-mcp-server/calendar/lookup"
)

// Sharer shares calendars and answers offers of shares. Its methods check access themselves.
type Sharer struct {
	reader *lookup.Reader
	writer *change.Writer
	store  calendar.Store
}

// change runs do as one change: everything is committed, or nothing. do may run again, see Store.Update.
func (s *Sharer) change(ctx context.Context, c calendar.Caller, do func(*change.Tx) error) error {
	return s.writer.Change(ctx, c, do)
}

// Share offers access to a calendar of the caller to a user, found by name or mail address. It replaces the user's
// former access.
func (s *Sharer) Share(
	ctx context.Context, c calendar.Caller, id calendar.CalendarID, with string, access calendar.Access,
) (calendar.Share, error) {
	return s.share(ctx, c, id, with, calendar.ShareEdit{Access: access})
}

// Settle is Share for the administrator: the user need not accept.
func (s *Sharer) Settle(
	ctx context.Context, c calendar.Caller, id calendar.CalendarID, with string, access calendar.Access,
) (calendar.Share, error) {
	return s.share(ctx, c, id, with, calendar.ShareEdit{Access: access, Settled: true})
}

func (s *Sharer) share(
	ctx context.Context, c calendar.Caller, id calendar.CalendarID, with string, e calendar.ShareEdit,
) (calendar.Share, error) {
	if err := s.reader.Allow(ctx, c, calendar.ShareCalendar, id); err != nil {
		return calendar.Share{}, err
	}
	user, err := s.shareeOf(ctx, c, id, with)
	if err == nil && user.ID == c.User.ID {
		err = errOwnCalendar()
	}
	// An administrator of the server knows all groups, and hears why one cannot be shared with.
	mayKnow := e.Settled || c.User.Admin && c.MayOwn(calendar.ShareCalendar) == nil
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound && mayKnow {
		if group, none := s.store.GroupByName(ctx, strings.ToLower(strings.TrimSpace(with))); none == nil {
			user, err = group, nil
		}
	}
	if err != nil {
		return calendar.Share{}, err
	}
	if e.Access == calendar.NoAccess {
		return calendar.Share{}, errShareLevel()
	}
	e.With = user
	shares, err := s.Reshare(ctx, c, id, []calendar.ShareEdit{e})
	if err != nil {
		return calendar.Share{}, err
	}
	return shares[0], nil
}

// Sharee finds the user, by name or mail address, with whom the caller wants to share a calendar. It finds the same
// users as a search for people.
func (s *Sharer) Sharee(
	ctx context.Context, c calendar.Caller, id calendar.CalendarID, with string,
) (calendar.User, error) {
	if err := s.reader.Allow(ctx, c, calendar.ShareCalendar, id); err != nil {
		return calendar.User{}, err
	}
	user, err := s.sharee(ctx, c, with)
	if err == nil && user.ID == c.User.ID {
		return user, errOwnCalendar()
	}
	return user, err
}

// sharee finds a user by name or by a unique mail address.
func (s *Sharer) sharee(ctx context.Context, c calendar.Caller, with string) (calendar.User, error) {
	with = strings.TrimSpace(with)
	user, err := s.store.UserByName(ctx, strings.ToLower(with))
	if err == nil || calendar.ReasonOf(err) != calendar.NotFound {
		return user, err
	}
	groups, err := s.store.GroupsOf(ctx, c.User.ID)
	if i := slices.IndexFunc(groups, func(g calendar.User) bool {
		return strings.EqualFold(g.Name,
			with)
	}); err == nil && i >= 0 {
		return groups[i], nil
	}
	if err != nil {
		return calendar.User{}, err
	}
	found, err := s.reader.FindPeople(ctx, c, func(u calendar.User, is calendar.Comparison) bool {
		return u.Email != "" && is(u.Email, with, calendar.Equals)
	})
	if err == nil && len(found) == 0 && strings.Contains(with, "@") && c.MayOwn(calendar.ReadObjects) == nil {
		// a verified address other than the main one
		at, failed := s.store.UsersAt(ctx, []string{strings.ToLower(with)}, nil)
		for _, u := range at {
			found = append(found, u.User)
		}
		err = failed
	}
	if err == nil && len(found) != 1 {
		return calendar.User{}, calendar.Errorf(calendar.NotFound, "", "there is no user %q", with)
	}
	if err != nil {
		return calendar.User{}, err
	}
	return found[0], nil
}

// Unshare withdraws a user's share of a calendar. The owner may do that, and a sharee may leave a share of their own.
func (s *Sharer) Unshare(ctx context.Context, c calendar.Caller, id calendar.CalendarID, with string) error {
	cal, err := s.reader.Calendar(ctx, c, id)
	if err != nil {
		return err
	}
	if cal.Access != calendar.OwnerAccess && strings.EqualFold(strings.TrimSpace(with), c.User.Name) {
		return s.Leave(ctx, c, id)
	}
	if err := c.May(calendar.ShareCalendar, cal); err != nil {
		return err
	}
	user, err := s.shareeOf(ctx, c, id, with)
	taken := false
	if err == nil {
		_, taken, err = s.reshare(ctx, c, id, []calendar.ShareEdit{{With: user}})
	}
	// The error does not reveal whether such a user exists.
	if err == nil && !taken || err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		return calendar.Errorf(calendar.NotFound, "", "the calendar %q is not shared with %q", cal.Name, with)
	}
	return err
}

// shareeOf is sharee that also finds a group with a share of the calendar, even if the caller has left the group.
func (s *Sharer) shareeOf(
	ctx context.Context, c calendar.Caller, id calendar.CalendarID, with string,
) (calendar.User, error) {
	shares, err := s.store.Shares(ctx, id)
	if err != nil {
		return calendar.User{}, err
	}
	if i := slices.IndexFunc(shares, func(h calendar.Share) bool {
		return strings.EqualFold(h.User.Name,
			strings.TrimSpace(with))
	}); i >= 0 {
		return shares[i].User, nil
	}
	return s.sharee(ctx, c, with)
}

// Leave gives up the caller's share of a calendar.
func (s *Sharer) Leave(ctx context.Context, c calendar.Caller, id calendar.CalendarID) error {
	cal, err := s.reader.Calendar(ctx, c, id)
	if err != nil {
		return err
	}
	if cal.Access == calendar.OwnerAccess {
		return calendar.Errorf(calendar.Invalid, "", "the calendar %q is yours: it can be deleted, not left", cal.Name)
	}
	if err := c.May(calendar.LeaveCalendar, cal); err != nil {
		return err
	}
	return s.answer(ctx, c, id, calendar.Reply{Leave: true})
}
