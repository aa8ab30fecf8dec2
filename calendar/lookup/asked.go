package lookup

import (
	"context"
	"strings"

	"caldav-mcp-server/calendar"
)

// PeopleAt returns, for each name, the users whose busy times the caller may request: one, none, or several with
// the same full name. Login names and mail addresses resolve as at the scheduling outbox (RFC 6638 §5), for the
// same callers. Full names can be guessed, so they match only users whom the caller knows ([Reader.People]). Groups
// do not match, because they have no busy times.
func (s *Reader) PeopleAt(ctx context.Context, c calendar.Caller, names []string) ([][]calendar.User, error) {
	if err := c.MayOwn(calendar.SeeBusy); err != nil {
		return nil, err
	}
	folded := make([]string, len(names))
	for i, name := range names {
		folded[i] = strings.ToLower(strings.TrimSpace(name))
	}
	addressed, err := s.store.UsersAt(ctx, folded, folded)
	if err != nil {
		return nil, err
	}
	known, err := s.People(ctx, c)
	found := make([][]calendar.User, len(names))
	for i, name := range folded {
		if found[i] = addressedAs(name, addressed); found[i] != nil {
			continue
		}
		for _, u := range known {
			if !u.Group && same(u.DisplayName, name, calendar.Equals) {
				found[i] = append(found[i], u)
			}
		}
	}
	return found, err
}

// addressedAs returns the user with a mail address or a login name. If two users match, the address wins, because
// an invitation would go there.
func addressedAs(name string, all []calendar.UserAt) (found []calendar.User) {
	for _, u := range all {
		if u.Text == name && (found == nil || u.Name != name) {
			found = []calendar.User{u.User}
		}
	}
	return found
}
