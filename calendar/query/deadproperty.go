package query

import (
	"context"

	"caldav-mcp-server/calendar"
)

// DeadProperties returns the dead properties of a resource. If the caller may not read them, there are none.
func (s *Queries) DeadProperties(
	ctx context.Context, c calendar.Caller, h calendar.Holder,
) ([]calendar.DeadProperty, error) {
	if err := c.MayRead(h); err != nil {
		return nil, nil
	}
	return s.store.DeadProperties(ctx, c.Holder(h))
}

// DeadPropertiesInHome returns the dead properties that the caller has set on each calendar in their home.
func (s *Queries) DeadPropertiesInHome(
	ctx context.Context, c calendar.Caller,
) (map[calendar.CalendarID][]calendar.DeadProperty, error) {
	if err := c.HasScope(calendar.ReadObjects); err != nil {
		return nil, nil
	}
	return s.store.DeadPropertiesInHome(ctx, c.User.ID)
}

// DeadPropertyHolders returns the objects of a calendar that have dead properties: usually none.
func (s *Queries) DeadPropertyHolders(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar,
) (map[calendar.ObjectName]bool, error) {
	if err := c.May(calendar.ReadObjects, cal); err != nil {
		return nil, nil
	}
	names, err := s.store.DeadPropertyHolders(ctx, cal.ID)
	keepers := make(map[calendar.ObjectName]bool, len(names))
	for _, n := range names {
		keepers[n] = true
	}
	return keepers, err
}
