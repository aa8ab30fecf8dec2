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
