package auth

import (
	"context"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
)

// The words for groups of bookers that are neither a user nor a group here.
const (
	BookersUsers   = "users"
	BookersAnybody = "anybody"
)

// Bookers returns the stored value for the people who can book a room: users, anybody, or the name of a user or a
// group.
func (s *Directory) Bookers(ctx context.Context, word string) (string, error) {
	switch word = strings.TrimSpace(word); word {
	case BookersUsers:
		return "", nil
	case BookersAnybody:
		return calendar.Anybody, nil
	}
	if u, err := s.User(ctx, word); err == nil {
		return string(u.ID), nil
	}
	g, err := s.group(ctx, word)
	if reason := calendar.ReasonOf(err); err != nil && (reason == calendar.NotFound || reason == calendar.Invalid) {
		err = invalid("there is no user and no group %q; the other words are users and anybody",
			shortened(word, maxTitle))
	}
	return string(g.ID), err
}

// BookersWord returns the word for the bookers of a room; "" if they no longer exist.
func (s *Directory) BookersWord(ctx context.Context, room calendar.User) (string, error) {
	switch room.Room.Bookers {
	case "":
		return BookersUsers, nil
	case calendar.Anybody:
		return BookersAnybody, nil
	}
	by, err := s.store.UserByID(ctx, calendar.UserID(room.Room.Bookers))
	if calendar.ReasonOf(err) == calendar.NotFound {
		return "", nil
	}
	return by.Name, during("looking up who can book "+room.Name, err)
}

// Rooms returns all rooms and resources, by name.
func (s *Directory) Rooms(ctx context.Context) ([]calendar.User, error) {
	all, err := s.Users(ctx)
	return slices.DeleteFunc(all, func(u calendar.User) bool { return !u.Room.Bookable() }), err
}

// RoomNamed returns a room or resource, or NotFound.
func (s *Directory) RoomNamed(ctx context.Context, name string) (calendar.User, error) {
	room, err := s.User(ctx, name)
	if err == nil && !room.Room.Bookable() {
		err = calendar.Errorf(calendar.NotFound, "", "%s is a user, not a room", room.Name)
	}
	return room, err
}
