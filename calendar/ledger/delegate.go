package ledger

import (
	"context"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/change"
)

// Delegator appoints and removes delegates. Its methods check access themselves.
type Delegator struct {
	sharer *Sharer
	now    func() time.Time
}

// AddDelegate makes a user, found by name or mail address, a delegate of the caller, with read or read-write access. It
// replaces the delegate's former access.
func (s *Delegator) AddDelegate(
	ctx context.Context, c calendar.Caller, who string, access calendar.Access,
) (calendar.Delegation, error) {
	if err := c.MayOwn(calendar.AppointDelegates); err != nil {
		return calendar.Delegation{}, err
	}
	user, err := s.sharer.sharee(ctx, c, who)
	if err != nil {
		return calendar.Delegation{}, err
	}
	d := calendar.Delegation{Owner: c.User, Delegate: user, Access: access, Created: s.now()}
	if err := checkDelegate(d); err != nil {
		return d, err
	}
	return d, s.sharer.change(ctx, c, func(tx *change.Tx) error {
		had, err := tx.Delegates(ctx, c.User.ID)
		if err != nil {
			return err
		}
		return put(ctx, tx, had, d)
	})
}

// checkDelegate refuses delegations that cannot exist.
func checkDelegate(d calendar.Delegation) error {
	switch {
	case d.Access != calendar.ReadAccess && d.Access != calendar.WriteAccess:
		return calendar.Errorf(calendar.Invalid, "", "a delegate may read, or read and write")
	case d.Delegate.ID == d.Owner.ID:
		return calendar.Errorf(calendar.Invalid, "", "you cannot be your own delegate: name another user")
	case d.Delegate.Group || d.Delegate.Room.Bookable():
		return calendar.Errorf(calendar.Invalid, "", "only a person can be a delegate: name a user")
	}
	return nil
}

// put stores a delegation, unless there are too many. had are the owner's delegates so far.
func put(ctx context.Context, tx *change.Tx, had []calendar.Delegation, d calendar.Delegation) error {
	known := slices.ContainsFunc(had, func(h calendar.Delegation) bool { return h.Delegate.ID == d.Delegate.ID })
	if known {
		return tx.PutDelegation(ctx, d)
	}
	if len(had) >= calendar.MaxDelegates {
		return errFull()
	}
	// Owners who appoint the same user at once may exceed the limit by a few.
	others, err := tx.CountDelegators(ctx, d.Delegate.ID)
	if err != nil {
		return err
	}
	if others >= calendar.MaxDelegators {
		return calendar.Errorf(calendar.Invalid, "", "%q takes no more delegations", d.Delegate.Name)
	}
	return tx.PutDelegation(ctx, d)
}

func errFull() error {
	return calendar.Errorf(calendar.Invalid, "", "a user can have %d delegates: remove one first",
		calendar.MaxDelegates)
}

// SetDelegates makes these users the caller's delegates with that access, in place of all others with it. A user among
// them who had another access gets this one. It returns the users whose access this gave or ended.
func (s *Delegator) SetDelegates(
	ctx context.Context, c calendar.Caller, access calendar.Access, users []calendar.User,
) (given, ended []calendar.User, err error) {
	if err := c.MayOwn(calendar.AppointDelegates); err != nil {
		return nil, nil, err
	}
	if len(users) > calendar.MaxDelegates {
		return nil, nil, errFull()
	}
	for _, u := range users {
		if err := checkDelegate(calendar.Delegation{Owner: c.User, Delegate: u, Access: access}); err != nil {
			return nil, nil, err
		}
	}
	err = s.sharer.change(ctx, c, func(tx *change.Tx) error {
		given, ended = nil, nil // of an earlier try
		had, err := tx.Delegates(ctx, c.User.ID)
		if err != nil {
			return err
		}
		for _, d := range had {
			stays := slices.ContainsFunc(users, func(u calendar.User) bool { return u.ID == d.Delegate.ID })
			if d.Access != access || stays {
				continue
			}
			if err := tx.DropDelegation(ctx, c.User.ID, d.Delegate.ID); err != nil {
				return err
			}
			ended = append(ended, d.Delegate)
		}
		for _, u := range users {
			if had, err = tx.Delegates(ctx, c.User.ID); err != nil {
				return err
			}
			d := calendar.Delegation{Owner: c.User, Delegate: u, Access: access, Created: s.now()}
			if slices.ContainsFunc(had, func(h calendar.Delegation) bool {
				return h.Delegate.ID == u.ID && h.Access == access
			}) {
				continue
			}
			if err := put(ctx, tx, had, d); err != nil {
				return err
			}
			given = append(given, u)
		}
		return nil
	})
	return given, ended, err
}

// RemoveDelegate ends the delegation of one of the caller's delegates.
func (s *Delegator) RemoveDelegate(ctx context.Context, c calendar.Caller, who string) error {
	if err := c.MayOwn(calendar.AppointDelegates); err != nil {
		return err
	}
	who = strings.TrimSpace(who)
	return s.sharer.change(ctx, c, func(tx *change.Tx) error {
		had, err := tx.Delegates(ctx, c.User.ID)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(had, func(d calendar.Delegation) bool {
			// A delegate may have no mail address, which is not a name.
			return strings.EqualFold(d.Delegate.Name, who) || who != "" && strings.EqualFold(d.Delegate.Email, who)
		})
		if i < 0 {
			return calendar.Errorf(calendar.NotFound, "", "%q is not your delegate", who)
		}
		return tx.DropDelegation(ctx, c.User.ID, had[i].Delegate.ID)
	})
}

// Resign ends the caller's delegation from another user.
func (s *Delegator) Resign(ctx context.Context, c calendar.Caller, owner string) error {
	if err := c.MayOwn(calendar.LeaveCalendar); err != nil {
		return err
	}
	from, err := s.sharer.reader.ActFor(ctx, c, strings.ToLower(strings.TrimSpace(owner)))
	if err != nil {
		return err
	}
	return s.sharer.change(ctx, c, func(tx *change.Tx) error {
		return tx.DropDelegation(ctx, from.User.ID, c.User.ID)
	})
}

// Delegable returns the user with a name or mail address, for SetDelegates. It finds the same users as AddDelegate.
func (s *Delegator) Delegable(ctx context.Context, c calendar.Caller, who string) (calendar.User, error) {
	if err := c.MayOwn(calendar.AppointDelegates); err != nil {
		return calendar.User{}, err
	}
	return s.sharer.sharee(ctx, c, who)
}
