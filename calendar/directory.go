package calendar

import (
	"context"
)

// Directory is the part of a Store that holds the users.
type Directory interface {
	// UserByName returns a user by login name, or NotFound.
	UserByName(ctx context.Context, name string) (User, error)
	// UserByID returns a user by ID, which never changes, or NotFound.
	UserByID(ctx context.Context, id UserID) (User, error)
	// Users returns all users, sorted by the bytes of their names.
	Users(ctx context.Context) ([]User, error)
	// Groups are users that only UserByID and the following methods return. GroupByName returns a group, or
	// NotFound; GroupsOf returns the groups of a user and Members the users of a group, both sorted by name.
	GroupByName(ctx context.Context, name string) (User, error)
	GroupsOf(ctx context.Context, user UserID) ([]User, error)
	Members(ctx context.Context, group UserID) ([]User, error)
	// Acquaintances returns the users who share a live calendar with a user, in either direction, sorted by name
	// and calendar. Shares that are not answered yet count, declined ones do not.
	Acquaintances(ctx context.Context, user UserID) ([]Acquaintance, error)
}

// Acquaintance is a user on the other side of a share.
type Acquaintance struct {
	User     User
	Calendar CalendarID
}

// Match is the way to compare a text with a user's details. It ignores case.
type Match uint8

// The ways to match.
const (
	Contains Match = iota
	StartsWith
	Equals
)

// Comparison reports whether a user's value matches the text.
type Comparison func(value, text string, how Match) bool
