package lookup

import (
	"context"

	"caldav-mcp-server/calendar"
)

// rooms returns the rooms and resources, which all users may see. A token limited to certain calendars has no
// access to them.
func (s *Reader) rooms(ctx context.Context, c calendar.Caller) ([]calendar.User, error) {
	if c.Calendars != nil {
		return nil, nil
	}
	return s.store.Rooms(ctx)
}

// Rooms returns the rooms and resources, sorted by name.
func (s *Reader) Rooms(ctx context.Context, c calendar.Caller) ([]calendar.User, error) {
	if err := c.HasScope(calendar.ReadObjects); err != nil {
		return nil, err
	}
	return s.rooms(ctx, c)
}
