package lookup

import (
	"context"

	"caldav-mcp-server/calendar"
)

// rooms are what can be booked here: everybody may know of that. A token that is bound to some calendars has no business with
// them.
func (s *Reader) rooms(ctx context.Context, c calendar.Caller) ([]calendar.User, error) {
	if c.Calendars != nil {
		return nil, nil
	}
	return s.store.Rooms(ctx)
}

// Rooms returns the rooms and resources, by name.
func (s *Reader) Rooms(ctx context.Context, c calendar.Caller) ([]calendar.User, error) {
	if err := c.HasScope(calendar.ReadObjects); err != nil {
		return nil, err
	}
	return s.rooms(ctx, c)
}
