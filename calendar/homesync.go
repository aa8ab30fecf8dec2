package calendar

import (
	"context"
)

// HomeChanges tells what changed in the caller's home since a token: calendars that were
// added, changed (they, or something in them) or removed. The zero token yields all that is
// there. One that would leave a gap breaks RuleSyncToken.
func (s *Service) HomeChanges(ctx context.Context, c Caller, since SyncToken) (HomeChanges, error) {
	if err := c.hasScope(ReadObjects); err != nil {
		return HomeChanges{}, err
	}
	home, calendars, err := s.home(ctx, c)
	if err != nil {
		return HomeChanges{}, err
	}
	now := Calendar{ID: CalendarID(c.User.ID), Epoch: home.Epoch, Version: home.Version, Pruned: home.Pruned}
	if c.Calendars != nil {
		// What changes in calendars that the caller does not see moves nothing on for them.
		now.Pruned = max(now.Pruned, home.Replaced)
		now.Version = max(now.Pruned, home.seenBy(c))
	}
	if since != (SyncToken{}) {
		if err := since.check(now); err != nil {
			return HomeChanges{}, err
		}
	}
	changes := HomeChanges{Now: now.SyncToken()}
	changes.List = home.since(c, since, calendars)
	changes.Calendars = c.sees(calendars)
	return changes, nil
}

// home brings the record of a home up to date and returns it with the calendars that it was
// compared to. Most often there is nothing to write.
func (s *Service) home(ctx context.Context, c Caller) (Home, []Calendar, error) {
	calendars, err := s.store.Calendars(ctx, c.User.ID)
	if err != nil {
		return Home{}, nil, err
	}
	home, err := s.store.Home(ctx, c.User.ID)
	if err != nil || len(home.notice(calendars)) == 0 {
		return home, calendars, err
	}
	err = s.change(ctx, c, func(w *work) error {
		if home, calendars, err = w.LockHome(ctx, c.User.ID); err != nil {
			return err
		}
		changed := home.notice(calendars)
		if len(changed) == 0 {
			return nil
		}
		home.Version = changed[len(changed)-1].Version
		return w.PutMembers(ctx, c.User.ID, home, changed, s.now())
	})
	return home, calendars, err
}
