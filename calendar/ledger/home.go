package ledger

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/change"
	"caldav-mcp-server/calendar/lookup"
)

// Homes records which calendars each user sees, and the changes of that.
type Homes struct {
	reader *lookup.Reader
	writer *change.Writer
	store  calendar.Store
	now    func() time.Time
}

// HomeChanges returns the changes in the caller's home since a token: calendars that were added, changed (themselves or
// their contents) or removed. The zero token returns all calendars. A token that would leave a gap breaks
// RuleSyncToken.
func (s *Homes) HomeChanges(
	ctx context.Context, c calendar.Caller, since calendar.SyncToken,
) (calendar.HomeChanges, error) {
	if err := c.HasScope(calendar.ReadObjects); err != nil {
		return calendar.HomeChanges{}, err
	}
	home, calendars, err := s.home(ctx, c)
	if err != nil {
		return calendar.HomeChanges{}, err
	}
	past := calendar.History{
		Of: calendar.CalendarID(c.User.ID), Epoch: home.Epoch, Version: home.Version, Pruned: home.Pruned,
	}
	if c.Calendars != nil || c.ActsFor() {
		// Changes in calendars that the caller cannot see must not change their token.
		past.Pruned = max(past.Pruned, home.Replaced)
		past.Version = max(past.Pruned, home.SeenBy(c))
	}
	if err := past.Check(since); err != nil {
		return calendar.HomeChanges{}, err
	}
	changes := calendar.HomeChanges{Now: past.Now()}
	changes.List = home.Since(c, since, calendars)
	changes.Calendars = c.AllSeen(calendars)
	return changes, nil
}

// home updates the record of a home and returns it with the calendars it was compared to. Usually there is nothing to
// write.
func (s *Homes) home(ctx context.Context, c calendar.Caller) (calendar.Home, []calendar.Calendar, error) {
	calendars, err := s.store.Calendars(ctx, c.User.ID)
	if err != nil {
		return calendar.Home{}, nil, err
	}
	home, err := s.store.Home(ctx, c.User.ID)
	if err != nil {
		return home, nil, err
	}
	proposed, _, err := s.reader.ProposedIn(ctx, c, home, calendars, s.now())
	if err != nil {
		return home, nil, err
	}
	calendars = append(calendars, proposed...)
	if len(home.Notice(calendars)) == 0 {
		return home, calendars, nil
	}
	err = s.writer.Change(ctx, c, func(tx *change.Tx) error {
		if home, calendars, err = tx.LockHome(ctx, c.User.ID); err != nil {
			return err
		}
		calendars = append(calendars, proposed...)
		changed := home.Notice(calendars)
		if len(changed) == 0 {
			return nil
		}
		home.Version = changed[len(changed)-1].Version
		return tx.PutMembers(ctx, c.User.ID, home, changed, s.now())
	})
	return home, calendars, err
}
