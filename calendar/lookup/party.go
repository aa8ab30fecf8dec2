package lookup

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/schedule"
)

// Parties are the local users among the participants of an event, by address.
type Parties map[schedule.Address]calendar.User

// Are returns a function that reports whether an address belongs to a user.
func (p Parties) Are(user calendar.UserID) schedule.Self {
	return func(a schedule.Address) bool { return user != "" && p[a].ID == user }
}

// Users returns the users without duplicates, sorted by ID.
func (p Parties) Users() []calendar.User {
	users := slices.SortedFunc(maps.Values(p), func(a, b calendar.User) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(users, func(a, b calendar.User) bool { return a.ID == b.ID })
}

// Person identifies the person with an address: the user, or the address itself if there is no user.
func (p Parties) Person(a schedule.Address) schedule.Person {
	if u, here := p[a]; here {
		return schedule.Person("user " + u.ID)
	}
	return schedule.Person(a)
}

// UserFinder finds users by addresses and names. It is a store or a transaction.
type UserFinder interface {
	UsersAt(ctx context.Context, mails, names []string) ([]calendar.UserAt, error)
}

// FindParties resolves addresses to users.
func (s *Reader) FindParties(ctx context.Context, in UserFinder, named []schedule.Address) (Parties, error) {
	var mails, names []string
	by := map[string][]schedule.Address{}
	for _, a := range named {
		if mail := a.Mail(); mail != "" {
			mails, by[mail] = append(mails, mail), append(by[mail], a)
		} else if name := a.Principal(s.home); name != "" {
			names, by[name] = append(names, name), append(by[name], a)
		}
	}
	found := Parties{}
	if len(mails)+len(names) == 0 {
		return found, nil
	}
	users, err := in.UsersAt(ctx, mails, names)
	for _, u := range users {
		for _, a := range by[u.Text] {
			found[a] = u.User
		}
	}
	return found, err
}
