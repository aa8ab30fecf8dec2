package calendar

import (
	"context"
	"strings"
	"time"
)

// Share is what one user was given of another one's calendar.
type Share struct {
	Calendar CalendarID
	// User is who it was given to.
	User    User
	Access  Access
	Created time.Time
}

// ShareReader is the part of a Store that knows who was given what.
type ShareReader interface {
	// Shares returns the shares of a calendar, by the names of their users.
	Shares(ctx context.Context, id CalendarID) ([]Share, error)
}

// ShareKeeper is the part of a Tx that changes shares. The calendar is locked.
type ShareKeeper interface {
	// Share gives a user access to a calendar that is not theirs, in place of what they had;
	// NoAccess takes it away, and with it what they had set for themselves. NotFound when the
	// calendar or the user does not exist.
	Share(ctx context.Context, id CalendarID, user UserID, access Access) error
	// Arrangement returns what a user has set for themselves; NotFound when they have no share.
	Arrangement(ctx context.Context, id CalendarID, user UserID) (Arrangement, error)
	// Arrange writes it; NotFound when they have no share.
	Arrange(ctx context.Context, id CalendarID, user UserID, a Arrangement) error
}

// Share gives the user of a name access to a calendar of the caller's, in place of what they
// had.
func (s *Service) Share(ctx context.Context, c Caller, id CalendarID, with string, access Access) (Share, error) {
	if err := s.allow(ctx, c, ShareCalendar, id); err != nil {
		return Share{}, err
	}
	if access <= NoAccess || access >= OwnerAccess {
		return Share{}, Errorf(Invalid, "", "a calendar is shared for free and busy times, for reading, or for reading and writing")
	}
	user, err := s.sharee(ctx, with)
	if err != nil {
		return Share{}, err
	}
	if user.ID == c.User.ID {
		return Share{}, Errorf(Invalid, "", "this calendar is yours already: share it with somebody else")
	}
	share := Share{Calendar: id, User: user, Access: access, Created: s.now()}
	return share, s.reshare(ctx, id, user.ID, access)
}

// sharee finds a user by name.
func (s *Service) sharee(ctx context.Context, name string) (User, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	user, err := s.store.UserByName(ctx, name)
	if err != nil && ReasonOf(err) == NotFound {
		return user, Errorf(NotFound, "", "there is no user %q", name)
	}
	return user, err
}

// reshare writes a share. The calendar moves on with it, so that its owner's other programs
// hear of it; the sharee's home finds out by itself, see Home.
func (s *Service) reshare(ctx context.Context, id CalendarID, user UserID, access Access) error {
	return s.store.Update(ctx, func(tx Tx) error {
		if _, err := tx.Advance(ctx, id); err != nil {
			return err
		}
		if access == NoAccess {
			if _, err := tx.Arrangement(ctx, id, user); err != nil {
				return err
			}
		}
		return tx.Share(ctx, id, user, access)
	})
}

// Unshare takes away what the user of a name was given of a calendar. Its owner may do that,
// and whoever has a share may give up their own.
func (s *Service) Unshare(ctx context.Context, c Caller, id CalendarID, with string) error {
	cal, err := s.Calendar(ctx, c, id)
	if err != nil {
		return err
	}
	action := ShareCalendar
	if cal.Access != OwnerAccess && strings.EqualFold(strings.TrimSpace(with), c.User.Name) {
		action = LeaveCalendar
	}
	if err := c.May(action, cal); err != nil {
		return err
	}
	user, err := s.sharee(ctx, with)
	if err == nil {
		err = s.reshare(ctx, id, user.ID, NoAccess)
	}
	// Whether there is such a user does not matter to who takes something away.
	if err != nil && ReasonOf(err) == NotFound {
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
	return s.Unshare(ctx, c, id, c.User.Name)
}

// Shares returns who was given what of a calendar of the caller's.
func (s *Service) Shares(ctx context.Context, c Caller, id CalendarID) ([]Share, error) {
	if err := s.allow(ctx, c, ListShares, id); err != nil {
		return nil, err
	}
	return s.store.Shares(ctx, id)
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
