package calendar

import (
	"context"
	"strings"
	"time"
)

// Share is what one user was offered of another one's calendar, and what they made of it.
type Share struct {
	Calendar CalendarID
	// User is who it was offered to.
	User User
	// Access is what they may do once they have accepted.
	Access Access
	Status ShareStatus
	// Meanwhile is what they may do while they have not answered: what they had before they were
	// offered more.
	Meanwhile Access
	// Title is what the owner calls the calendar towards them, CommonName what the owner calls
	// them; both may be empty.
	Title, CommonName string
	Created           time.Time
}

// ShareStatus says what a user made of what they were offered.
type ShareStatus string

// The states that there are.
const (
	// SharePending waits for an answer. Until it comes, they have what they had before.
	SharePending  ShareStatus = "pending"
	ShareAccepted ShareStatus = "accepted"
	// ShareDeclined is one that was refused, or given up later.
	ShareDeclined ShareStatus = "declined"
	// ShareWithdrawn is none any more; only notices tell of it.
	ShareWithdrawn ShareStatus = "withdrawn"
)

// InForce is what the user may do by now.
func (s Share) InForce() Access {
	switch s.Status {
	case ShareAccepted:
		return s.Access
	case SharePending:
		return s.Meanwhile
	default:
		return NoAccess
	}
}

// Offer is a share as who got it sees it: with the calendar, to which they need not have access.
type Offer struct {
	Share
	From Calendar
}

// Offered is how much a user was offered: by one owner in all, by them without an answer yet, and by everybody
// without an answer. What lies in the trash counts, since it may come back.
type Offered struct{ Shared, Waiting, WaitingOfAll int }

// ShareReader is the part of a Store that knows who was offered what.
type ShareReader interface {
	// Shares returns the shares of a calendar, by the names of their users.
	Shares(ctx context.Context, id CalendarID) ([]Share, error)
	// Offers returns what a user was offered of live calendars, by the calendars' ids.
	Offers(ctx context.Context, user UserID) ([]Offer, error)
}

// ShareKeeper is the part of a Tx that changes shares. The calendar is locked.
type ShareKeeper interface {
	// Shares is ShareReader.Shares within the transaction.
	Shares(ctx context.Context, id CalendarID) ([]Share, error)
	// Offered counts what a user was offered.
	Offered(ctx context.Context, user, by UserID) (Offered, error)
	// PutShare writes a share, in place of what its user had. They may do then what is InForce;
	// where that is nothing, what they had set for themselves is lost. NotFound when the calendar
	// or the user does not exist.
	PutShare(ctx context.Context, s Share) error
	// DropShare takes a share away, with all that came of it.
	DropShare(ctx context.Context, id CalendarID, user UserID) error
	// Arrangement returns what a user has set for themselves; NotFound when they have no access.
	Arrangement(ctx context.Context, id CalendarID, user UserID) (Arrangement, error)
	// Arrange writes it; NotFound when they have no access.
	Arrange(ctx context.Context, id CalendarID, user UserID, a Arrangement) error
}

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
