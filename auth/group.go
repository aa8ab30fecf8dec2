package auth

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
)

// GroupStore is the part of a [Store] that keeps groups. A group is a user whose Group is set. InsertUser creates it
// and DeleteUser removes it; no other method that looks for users finds it.
type GroupStore interface {
	// Groups returns all groups by name.
	Groups(ctx context.Context) ([]calendar.User, error)
	// GroupByName returns a group, or NotFound.
	GroupByName(ctx context.Context, name string) (calendar.User, error)
	// Members returns the users in a group, by name.
	Members(ctx context.Context, group calendar.UserID) ([]calendar.User, error)
	// PutMember adds a user to a group and returns false if the user is a member already. The group's shares take
	// effect at once.
	PutMember(ctx context.Context, group, user calendar.UserID, at time.Time) (bool, error)
	// DropMember removes a user from a group, with the shares that came from it. NotFound when the user is not a
	// member.
	DropMember(ctx context.Context, group, user calendar.UserID) error
}

// Group is a named set of users to share calendars with.
type Group struct {
	calendar.User
	Members []calendar.User
}

// CreateGroup makes a group without members. Groups and users share one namespace.
func (s *Directory) CreateGroup(ctx context.Context, name, title string) (calendar.User, error) {
	name, err := CanonicalName(name)
	if err != nil {
		return calendar.User{}, err
	}
	if err := validateTitle(title); err != nil {
		return calendar.User{}, err
	}
	g := calendar.User{
		ID: calendar.UserID(s.newID()), Name: name, DisplayName: title, Created: s.seconds(), Group: true,
	}
	err = reworded(s.store.InsertUser(ctx, g, ""), calendar.Exists, "there is a user or a group %q already", name)
	return g, during("making the group", err)
}

// Groups returns all groups with their members, by name.
func (s *Directory) Groups(ctx context.Context) ([]Group, error) {
	all, err := s.store.Groups(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing groups: %w", err)
	}
	groups := make([]Group, len(all))
	for i, g := range all {
		groups[i].User = g
		if groups[i].Members, err = s.store.Members(ctx, g.ID); err != nil {
			return nil, fmt.Errorf("listing the members of %s: %w", g.Name, err)
		}
	}
	return groups, nil
}

// group returns a group by name, or NotFound.
func (s *Directory) group(ctx context.Context, name string) (calendar.User, error) {
	canonical, err := CanonicalName(name)
	if err != nil {
		return calendar.User{}, err
	}
	g, err := s.store.GroupByName(ctx, canonical)
	return g, reworded(err, calendar.NotFound, "there is no group %q", canonical)
}

// AddMembers adds users to a group: all of them, or none if one does not exist. It returns the users who were not
// members before.
func (s *Directory) AddMembers(ctx context.Context, group string, users []string) (added []string, err error) {
	g, all, err := s.party(ctx, group, users)
	if err != nil {
		return nil, err
	}
	for _, u := range all {
		is, err := s.store.PutMember(ctx, g.ID, u.ID, s.seconds())
		if err != nil {
			return added, fmt.Errorf("adding %s: %w", u.Name, err)
		}
		if is {
			added = append(added, u.Name)
		}
	}
	return added, nil
}

// RemoveMembers removes users from a group. Access that came only from the group ends at once.
func (s *Directory) RemoveMembers(ctx context.Context, group string, users []string) error {
	g, all, err := s.party(ctx, group, users)
	if err != nil {
		return err
	}
	in, err := s.store.Members(ctx, g.ID)
	if err != nil {
		return fmt.Errorf("listing the members of %s: %w", g.Name, err)
	}
	for _, u := range all {
		if !slices.ContainsFunc(in, func(m calendar.User) bool { return m.ID == u.ID }) {
			return calendar.Errorf(calendar.NotFound, "", "%s is not in the group %s", u.Name, g.Name)
		}
	}
	for _, u := range all {
		if err := s.store.DropMember(ctx, g.ID, u.ID); err != nil {
			return fmt.Errorf("removing %s: %w", u.Name, err)
		}
	}
	return nil
}

// SetMemberships adds a user to groups and removes them from others, by the name of the group. It returns the names of
// groups that do not exist.
func (s *Directory) SetMemberships(
	ctx context.Context, u calendar.User, in map[string]bool,
) (missing []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(in)) {
		g, err := s.group(ctx, name)
		if calendar.ReasonOf(err) == calendar.NotFound {
			missing = append(missing, name)
			continue
		}
		if err == nil && in[name] {
			_, err = s.store.PutMember(ctx, g.ID, u.ID, s.seconds())
		} else if err == nil {
			err = s.store.DropMember(ctx, g.ID, u.ID)
			if calendar.ReasonOf(err) == calendar.NotFound {
				err = nil
			}
		}
		if err != nil {
			return missing, fmt.Errorf("setting the members of %s: %w", name, err)
		}
	}
	return missing, nil
}

// party returns a group and some users. It fails if one of them does not exist.
func (s *Directory) party(ctx context.Context, group string,
	users []string,
) (g calendar.User, all []calendar.User, err error) {
	if g, err = s.group(ctx, group); err != nil {
		return g, nil, err
	}
	for _, name := range users {
		u, err := s.User(ctx, name)
		if err != nil {
			return g, nil, err
		}
		all = append(all, u)
	}
	return g, all, nil
}

// DeleteGroup removes a group. Its members lose the access that came only from it; the calendars stay with their
// owners.
func (s *Directory) DeleteGroup(ctx context.Context, name string) error {
	g, err := s.group(ctx, name)
	if err != nil {
		return err
	}
	return during("deleting the group", s.store.DeleteUser(ctx, g.ID))
}
