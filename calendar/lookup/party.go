package lookup

import (
	"context"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/schedule"
)

// Parties are the users among those whom an event names, by address.
type Parties map[schedule.Address]calendar.User

// Are tells which addresses are a user's.
func (p Parties) Are(user calendar.UserID) schedule.Self {
	return func(a schedule.Address) bool { return user != "" && p[a].ID == user }
}

// Person tells which addresses are of whoever has one. Of a person who is no user, nothing but that is known.
func (p Parties) Person(a schedule.Address) schedule.Self {
	if u, here := p[a]; here {
		return p.Are(u.ID)
	}
	return func(b schedule.Address) bool { return a == b }
}

// UserFinder knows users by their addresses and names: a store, or a transaction.
type UserFinder interface {
	UsersAt(ctx context.Context, mails, names []string) ([]calendar.UserAt, error)
}

// FindParties is where addresses become users.
func FindParties(ctx context.Context, in UserFinder, named []schedule.Address) (Parties, error) {
	var mails, names []string
	for _, a := range named {
		if mail := a.Mail(); mail != "" {
			mails = append(mails, mail)
		} else if name := a.Principal(); name != "" {
			names = append(names, name)
		}
	}
	found := Parties{}
	if len(mails)+len(names) == 0 {
		return found, nil
	}
	users, err := in.UsersAt(ctx, mails, names)
	for _, u := range users {
		for _, a := range named {
			if a.Principal() == u.Text || a.Mail() == u.Text {
				found[a] = u.User
			}
		}
	}
	return found, err
}
