package lookup

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
)

// People returns the users who exist as far as the caller can tell, by name: themselves, those
// they share a calendar with in either direction, all rooms, and everybody where the directory is open. A
// token that is bound to some calendars knows only the users with whom these are shared.
func (s *Reader) People(ctx context.Context, c calendar.Caller) ([]calendar.User, error) {
	if c.HasScope(calendar.ReadObjects) != nil {
		return []calendar.User{c.User}, nil //nolint:nilerr // a caller who may not read knows nobody else
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
	// Those whom the caller may share with, and who sees them by it.
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

// groupsOf are the groups that the caller is in. A token that is bound to some calendars has no business with them.
func (s *Reader) groupsOf(ctx context.Context, c calendar.Caller) ([]calendar.User, error) {
	if c.Calendars != nil {
		return nil, nil
	}
	return s.store.GroupsOf(ctx, c.User.ID)
}

// GroupsOf returns the groups that the caller and another user are both in: of others, nobody learns anything.
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

// MembersOf returns who is in a group that the caller is in; of any other, nobody.
func (s *Reader) MembersOf(ctx context.Context, c calendar.Caller, group calendar.User) ([]calendar.User, error) {
	own, err := s.groupsOf(ctx, c)
	if err != nil || !slices.ContainsFunc(own, func(g calendar.User) bool { return g.ID == group.ID }) {
		return nil, err
	}
	return s.store.Members(ctx, group.ID)
}

// FindPeople returns the users who match, by name. Those whom the caller does not know are
// compared by whole values, whatever the search asks for: they are found by a caller who can name them,
// and nobody can list them.
func (s *Reader) FindPeople(ctx context.Context, c calendar.Caller, matches func(calendar.User, calendar.Comparison) bool) ([]calendar.User, error) {
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

// alike is the Comparison for people whom the caller knows.
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

// same is the Comparison for the others. An empty value names nobody.
func same(value, text string, _ calendar.Match) bool {
	return value != "" && strings.EqualFold(value, text)
}
