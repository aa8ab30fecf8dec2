package lookup

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
)

// People returns the users that the caller knows, sorted by name: the caller, users who share a calendar with the
// caller in either direction, the caller's groups, all rooms, and with an open directory all users. A token limited
// to certain calendars knows only users who share these.
func (s *Reader) People(ctx context.Context, c calendar.Caller) ([]calendar.User, error) {
	if c.HasScope(calendar.ReadObjects) != nil {
		return []calendar.User{c.User}, nil // a caller who may not read knows no other user
	}
	if s.Policy().OpenDirectory && c.Calendars == nil {
		people, err := s.store.Users(ctx)
		groups, failed := s.groupsOf(ctx, c)
		people = append(people, groups...)
		slices.SortFunc(people, byName)
		return people, cmp.Or(err, failed)
	}
	known, err := s.store.Acquaintances(ctx, c.User.ID)
	if err != nil {
		return nil, err
	}
	people := []calendar.User{c.User}
	// Groups that the caller may share with, and that therefore see the caller.
	groups, err := s.groupsOf(ctx, c)
	if err != nil {
		return nil, err
	}
	people = append(people, groups...)
	rooms, err := s.rooms(ctx, c)
	if err != nil {
		return nil, err
	}
	people = append(people, rooms...)
	for _, a := range known {
		if c.Calendars == nil || slices.Contains(c.Calendars, a.Calendar) {
			people = append(people, a.User)
		}
	}
	slices.SortFunc(people, byName)
	return slices.CompactFunc(people, func(a, b calendar.User) bool { return a.ID == b.ID }), nil
}

func byName(a, b calendar.User) int { return cmp.Compare(a.Name, b.Name) }

// groupsOf returns the caller's groups. A token limited to certain calendars has no access to them.
func (s *Reader) groupsOf(ctx context.Context, c calendar.Caller) ([]calendar.User, error) {
	if c.Calendars != nil {
		return nil, nil
	}
	return s.store.GroupsOf(ctx, c.User.ID)
}

// GroupsOf returns the groups that the caller and another user have in common. The caller may not know of others.
func (s *Reader) GroupsOf(ctx context.Context, c calendar.Caller, u calendar.User) ([]calendar.User, error) {
	own, err := s.groupsOf(ctx, c)
	if err != nil || u.ID == c.User.ID {
		return own, err
	}
	theirs, err := s.store.GroupsOf(ctx, u.ID)
	return slices.DeleteFunc(own, func(g calendar.User) bool {
		return !slices.ContainsFunc(theirs, func(t calendar.User) bool { return t.ID == g.ID })
	}), err
}

// MembersOf returns the members of a group that the caller is in; none for other groups.
func (s *Reader) MembersOf(ctx context.Context, c calendar.Caller, group calendar.User) ([]calendar.User, error) {
	own, err := s.groupsOf(ctx, c)
	if err != nil || !slices.ContainsFunc(own, func(g calendar.User) bool { return g.ID == group.ID }) {
		return nil, err
	}
	return s.store.Members(ctx, group.ID)
}

// FindPeople returns the matching users, sorted by name. Users whom the caller does not know match only by whole
// values, even if the search allows more. So callers can find users by exact name or address, but cannot list them.
func (s *Reader) FindPeople(
	ctx context.Context, c calendar.Caller, matches func(calendar.User, calendar.Comparison) bool,
) ([]calendar.User, error) {
	people, err := s.People(ctx, c)
	if err != nil {
		return nil, err
	}
	known := make(map[calendar.UserID]bool, len(people))
	for _, u := range people {
		known[u.ID] = true
	}
	if c.MayOwn(calendar.ReadObjects) == nil && !s.Policy().OpenDirectory {
		if people, err = s.store.Users(ctx); err != nil {
			return nil, err
		}
	}
	var found []calendar.User
	for _, u := range people {
		if known[u.ID] && matches(u, alike) || !known[u.ID] && matches(u, same) {
			found = append(found, u)
		}
	}
	return found, nil
}

// alike is the Comparison for users whom the caller knows.
func alike(value, text string, how calendar.Match) bool {
	value, text = strings.ToLower(value), strings.ToLower(text)
	switch how {
	case calendar.Contains:
		return strings.Contains(value, text)
	case calendar.StartsWith:
		return strings.HasPrefix(value, text)
	case calendar.Equals:
	}
	return value == text
}

// same is the Comparison for other users. An empty value never matches.
func same(value, text string, _ calendar.Match) bool {
	return value != "" && strings.EqualFold(value, text)
}
