package query

import (
	"context"

	"caldav-mcp-server/calendar"
)

// Kept returns the properties that are kept of something. What the caller may not read is
// not there for them.
func (s *Queries) Kept(ctx context.Context, c calendar.Caller, h calendar.Holder) ([]calendar.Kept, error) {
	if err := c.MayRead(h); err != nil {
		return nil, nil //nolint:nilerr // see above
	}
	return s.store.Kept(ctx, c.Holder(h))
}

// KeptInHome returns the properties that the caller keeps of each calendar in their home.
func (s *Queries) KeptInHome(ctx context.Context, c calendar.Caller) (map[calendar.CalendarID][]calendar.Kept, error) {
	if err := c.HasScope(calendar.ReadObjects); err != nil {
		return nil, nil //nolint:nilerr // as for Kept
	}
	return s.store.KeptInHome(ctx, c.User.ID)
}

// Keepers returns the objects of a calendar of which properties are kept: most often none.
func (s *Queries) Keepers(ctx context.Context, c calendar.Caller, cal calendar.Calendar) (map[calendar.ObjectName]bool, error) {
	if err := c.May(calendar.ReadObjects, cal); err != nil {
		return nil, nil //nolint:nilerr // as for Kept
	}
	names, err := s.store.Keepers(ctx, cal.ID)
	keepers := make(map[calendar.ObjectName]bool, len(names))
	for _, n := range names {
		keepers[n] = true
	}
	return keepers, err
}
