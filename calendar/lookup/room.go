package lookup

import (
	"context"
	"slices"

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

// RoomCalendars returns the calendars of the room that has a name or a mail address, for their busy times alone: that a room
// is taken is no secret. It returns none where there is no such room.
func (s *Reader) RoomCalendars(ctx context.Context, c calendar.Caller, name string) ([]calendar.Calendar, error) {
	rooms, err := s.Rooms(ctx, c)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(rooms, func(r calendar.User) bool {
		return same(r.Name, name, calendar.Equals) || same(r.Email, name, calendar.Equals)
	})
	if i < 0 {
		return nil, nil
	}
	all, err := s.store.Calendars(ctx, rooms[i].ID)
	all = slices.DeleteFunc(all, func(cal calendar.Calendar) bool { return cal.Access != calendar.OwnerAccess || cal.Transparent })
	for n := range all {
		all[n].Access, all[n].Shared = calendar.FreeBusyAccess, false
		all[n].Name, all[n].Description = rooms[i].Title(), nil
	}
	return all, err
}
