package calendar

import (
	"context"
)

// Directory is the part of a Store that knows the users.
type Directory interface {
	// UserByName returns a user, or NotFound.
	UserByName(ctx context.Context, name string) (User, error)
	// UserByID does the same by what never changes.
	UserByID(ctx context.Context, id UserID) (User, error)
	// Users returns all users by name, in byte order.
	Users(ctx context.Context) ([]User, error)
	// Groups are users of a kind that the methods above but UserByID do not find: GroupByName returns one, or NotFound, GroupsOf
	// those that a user is in, by name, Members the users of one, by name.
	GroupByName(ctx context.Context, name string) (User, error)
	GroupsOf(ctx context.Context, user UserID) ([]User, error)
	Members(ctx context.Context, group UserID) ([]User, error)
	// Acquaintances returns those who share a live calendar with a user and those with whom the
	// user shares one, by name and calendar: also where that was offered and not answered yet, but
	// not where it was declined.
	Acquaintances(ctx context.Context, user UserID) ([]Acquaintance, error)
}

// Acquaintance is somebody whom a user knows by a calendar that one of them shares with the
// other.
type Acquaintance struct {
	User     User
	Calendar CalendarID
}

// Match is how a text is looked for in what is said of a user. Case makes no difference.
type Match uint8

// The ways there are.
const (
	Contains Match = iota
	StartsWith
	Equals
)

// Comparison tells whether a value of a user's is what is searched for.
type Comparison func(value, text string, how Match) bool
