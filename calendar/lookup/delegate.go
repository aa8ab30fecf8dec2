package lookup

import (
	"context"
	"slices"

	"caldav-mcp-server/calendar"
)

// ActFor returns the caller as a delegate of a user. The error is the same for users who did not appoint the caller and
// for users who do not exist.
func (s *Reader) ActFor(ctx context.Context, c calendar.Caller, owner string) (calendar.Caller, error) {
	all, err := s.DelegatedTo(ctx, c)
	if err != nil && calendar.ReasonOf(err) != calendar.Forbidden {
		return calendar.Caller{}, err
	}
	i := slices.IndexFunc(all, func(d calendar.Delegation) bool { return d.Owner.Name == owner })
	if i < 0 {
		return calendar.Caller{}, calendar.ErrNotDelegate(owner)
	}
	return c.As(all[i]), nil
}

// ActAt returns the caller for a request about a calendar: the caller as a delegate of the calendar's owner, if a
// delegation gives more access than the caller has, otherwise the caller.
func (s *Reader) ActAt(ctx context.Context, c calendar.Caller, id calendar.CalendarID) (calendar.Caller, error) {
	if c.MayActFor() != nil {
		return c, nil
	}
	own, err := s.Calendar(ctx, c, id)
	if own.Access >= calendar.WriteAccess || err != nil && calendar.ReasonOf(err) != calendar.NotFound {
		return c, err
	}
	all, err := s.DelegatedTo(ctx, c)
	for _, d := range all {
		if d.Access <= own.Access || own.ID != "" && own.Owner != d.Owner.ID {
			continue
		}
		acting := c.As(d)
		_, err := s.Calendar(ctx, acting, id)
		switch {
		case err == nil:
			return acting, nil
		case calendar.ReasonOf(err) != calendar.NotFound:
			return c, err
		}
	}
	return c, err
}

// DelegatedTo returns the delegations that the caller has from other users, sorted by the owners' names.
func (s *Reader) DelegatedTo(ctx context.Context, c calendar.Caller) ([]calendar.Delegation, error) {
	if err := c.MayActFor(); err != nil {
		return nil, err
	}
	return s.store.DelegatedTo(ctx, c.User.ID)
}

// Delegates returns the caller's delegates, sorted by name.
func (s *Reader) Delegates(ctx context.Context, c calendar.Caller) ([]calendar.Delegation, error) {
	if err := c.MayOwn(calendar.ListShares); err != nil {
		return nil, err
	}
	return s.store.Delegates(ctx, c.User.ID)
}
