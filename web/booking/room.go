package booking

import (
	"context"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	rules "caldav-mcp-server/calendar/booking"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/ical"
)

// serves reports whether a room answers for itself and has enough places.
func (v View) serves(room calendar.User) bool {
	people := int64(2)
	if v.Together == rules.AllOfUs {
		people = int64(len(v.People) + 2)
	}
	enough := room.Room.Capacity == 0 || people <= room.Room.Capacity
	return room.Room.Bookable() && !room.Room.ByHand && !room.Disabled && room.Email != "" && enough
}

// mayBook reports whether a user may book a room, as the room will decide.
func (k keeping) mayBook(ctx context.Context, u, room calendar.User) (bool, error) {
	switch by := room.Room.Bookers; by {
	case "", calendar.Anybody, string(u.ID):
		return true, nil
	default:
		groups, err := k.GroupsOf(ctx, callerOf(u), u)
		if slices.ContainsFunc(groups, func(g calendar.User) bool { return string(g.ID) == by }) || err != nil {
			return err == nil, err
		}
		all, err := k.Calendars(ctx, callerOf(u))
		return slices.ContainsFunc(all, func(cal calendar.Calendar) bool {
			return cal.Owner == room.ID && cal.Access >= calendar.WriteAccess
		}), err
	}
}

// withRoom adds the calendars of the page's room to a state. It removes the hosts who may not book the room: all, if it
// cannot be booked.
func (k keeping) withRoom(ctx context.Context, v View, now *state) error {
	if v.Room == "" {
		return nil
	}
	var may []host
	for _, h := range now.hosts {
		ok, err := k.mayBook(ctx, h.User, v.InRoom)
		if err != nil {
			return err
		}
		if ok || v.Together == rules.AllOfUs && h.ID != v.Owner.ID { // only the organizer books it
			may = append(may, h)
		}
	}
	now.hosts = may
	if !v.serves(v.InRoom) || v.Together == rules.AllOfUs && (len(may) == 0 || may[0].ID != v.Owner.ID) {
		now.hosts = nil
		return nil
	}
	all, err := k.Calendars(ctx, callerOf(v.InRoom))
	now.room.User = v.InRoom
	now.room.read = slices.DeleteFunc(all, func(cal calendar.Calendar) bool { return cal.Transparent })
	return err
}

// Rooms lists the rooms that a user's pages can name.
func (s *Service) Rooms(ctx context.Context, u calendar.User) (list []calendar.User, err error) {
	all, err := s.Calendars.Rooms(ctx, callerOf(u))
	if err != nil {
		return nil, err
	}
	for _, room := range all {
		may, err := s.keeping().mayBook(ctx, u, room)
		if err != nil {
			return nil, err
		}
		if may && (View{}).serves(room) {
			list = append(list, room)
		}
	}
	return list, nil
}

// checkRoom returns a [*rules.Error] if a page cannot have its room.
func (s *Service) checkRoom(ctx context.Context, v View) error {
	if v.Room == "" {
		return nil
	}
	all, err := s.Rooms(ctx, v.Owner)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(room calendar.User) bool { return string(room.ID) == v.Room })
	if i < 0 || !v.serves(all[i]) {
		return &rules.Error{Field: "room"}
	}
	return nil
}

// reserve takes the time of a hold for its visitor, with the room and the other people, who learn of it. The visitor is
// invited only after the room has accepted. If the hold is for another time of a booking, that one takes no time.
func (a attempt) reserve(ctx context.Context, moved *Booking) error {
	err := a.decide(ctx, step{
		hold: func(next *calendar.Hold) { next.State = calendar.Reserved },
		change: func(v View, _ calendar.Hold) edit.Change {
			f := edit.Fields{Status: edit.To(edit.Confirmed)}
			if v.Room != "" {
				f = edit.Fields{Attendees: edit.To(v.others())}
			}
			return edit.Change{Fields: f}
		},
		moved: moved,
	})
	if err != nil {
		return err
	}
	return a.accepted(ctx)
}

// accepted returns ErrTaken unless the room has accepted a reserved time. It answers before its invitation returns.
func (a attempt) accepted(ctx context.Context) error {
	if a.b.View.Room == "" {
		return nil
	}
	read, _, err := a.event(ctx)
	if err != nil {
		return err
	}
	for _, one := range edit.AttendeesOf(read.Main()) {
		if strings.EqualFold(one.Address, a.b.View.InRoom.Email) && strings.EqualFold(one.Status, "ACCEPTED") {
			return nil
		}
	}
	return ErrTaken
}

// finish books a reserved time.
func (a attempt) finish(ctx context.Context) error {
	_, in, err := a.event(ctx)
	if err != nil {
		return err
	}
	next := a.b.Hold
	next.State = calendar.Booked
	m := a.meter(ctx, a.b.View)
	defer m.Close()
	_, err = a.Calendars.EditClaimed(ctx, callerOf(a.b.Keeper), in, a.b.UID, ledger.Edit{
		Change: bookedChange(a.b.View, a.b.Keeper, next), Meter: m,
	}, ledger.Claim{Now: a.b.Hold, Next: next})
	if err == nil {
		a.b.Hold = next
	}
	return err
}

// event reads the event of a booking.
func (a attempt) event(ctx context.Context) (*content.Object, calendar.Calendar, error) {
	c := callerOf(a.b.Keeper)
	in, err := a.Calendars.Calendar(ctx, c, a.b.Calendar)
	if err != nil {
		return nil, in, err
	}
	m := a.meter(ctx, a.b.View)
	defer m.Close()
	o, err := a.Calendars.ObjectByUID(ctx, m, c, in, a.b.UID)
	if err != nil {
		return nil, in, err
	}
	read, err := content.Read(o.Data, ical.Limits{})
	return read, in, err
}
