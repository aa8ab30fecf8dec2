package userlist

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// Importer creates and changes users.
type Importer struct {
	Auth *auth.Service
	// NewUser creates a user with their initial calendars; ChangeUser changes one, with all consequences.
	NewUser    func(context.Context, auth.NewUser) (calendar.User, error)
	ChangeUser func(ctx context.Context, name string, e auth.UserEdit) (calendar.User, error)
	// Address returns the address of a link to choose a password.
	Address func(auth.Secret) string
}

// Options are the ways to import a list.
type Options struct {
	// Dry changes nothing and only returns the expected outcome.
	Dry bool
	// NewLinks also creates links for existing users without a password.
	NewLinks bool
}

// The outcomes of a line.
const (
	Created   = "created"
	Changed   = "changed"
	Unchanged = "unchanged"
	Failed    = "failed"
)

// Outcome is the outcome of a line. In a dry run it is the expected one.
type Outcome struct {
	Line int
	User string
	// DisplayName and Email are the user's after the line.
	DisplayName, Email string
	Outcome            string
	Link               string
	Expires            time.Time
	Error              error
}

// Import processes each line. An error in one does not affect the others.
func (i Importer) Import(ctx context.Context, list []Line, o Options) []Outcome {
	all := make([]Outcome, len(list))
	given := map[string]string{}
	groups, noGroups := i.groups(ctx, list)
	for n, line := range list {
		out := &all[n]
		out.Line, out.User, out.Error = line.Number, line.Name, line.Wrong
		out.DisplayName, out.Email = or(line.Edit.DisplayName), or(line.Edit.Email)
		if out.Error == nil && len(line.Groups) > 0 {
			out.Error = cmp.Or(noGroups, knownGroups(line, groups))
		}
		if out.Error == nil {
			out.Error = i.one(ctx, line, o, out)
		}
		if out.Error == nil {
			out.Error = i.join(ctx, line, groups, o, out)
		}
		if out.Error == nil && o.Dry {
			out.Error = i.checkAddress(ctx, line, given)
		}
		if out.Error != nil {
			out.Outcome = Failed
		}
	}
	return all
}

// groups returns the members of each group by its name, if a line names groups.
func (i Importer) groups(ctx context.Context, list []Line) (map[string][]calendar.User, error) {
	if !slices.ContainsFunc(list, func(line Line) bool { return len(line.Groups) > 0 }) {
		return nil, nil
	}
	all, err := i.Auth.Groups(ctx)
	members := map[string][]calendar.User{}
	for _, g := range all {
		members[g.Name] = g.Members
	}
	return members, err
}

// knownGroups refuses a line with an unknown group.
func knownGroups(line Line, groups map[string][]calendar.User) error {
	for _, name := range line.Groups {
		if _, ok := groups[name]; !ok {
			return calendar.Errorf(calendar.NotFound, "", "there is no group %q", name)
		}
	}
	return nil
}

// join adds the user of a line to its groups.
func (i Importer) join(
	ctx context.Context, line Line, groups map[string][]calendar.User, o Options, out *Outcome,
) error {
	for _, group := range line.Groups {
		if slices.ContainsFunc(groups[group], func(u calendar.User) bool { return u.Name == line.Name }) {
			continue
		}
		if out.Outcome == Unchanged {
			out.Outcome = Changed
		}
		if o.Dry {
			continue
		}
		if _, err := i.Auth.AddMembers(ctx, group, []string{line.Name}); err != nil {
			return err
		}
	}
	return nil
}

// checkAddress refuses a line in a dry run if another user has its mail address, or gets it from an earlier line.
// Users who share an address already keep it.
func (i Importer) checkAddress(ctx context.Context, line Line, given map[string]string) error {
	typed := or(line.Edit.Email)
	if typed == "" {
		return nil
	}
	u, err := i.Auth.User(ctx, line.Name)
	if err != nil && calendar.ReasonOf(err) != calendar.NotFound {
		return err
	}
	address := strings.ToLower(typed)
	if holder := given[address]; holder != "" && !strings.EqualFold(u.Email, address) {
		return auth.ErrAddressHeld(typed, holder)
	}
	if err := i.Auth.CheckAddress(ctx, u, typed); err != nil {
		return err
	}
	given[address] = line.Name
	return nil
}

func (i Importer) one(ctx context.Context, line Line, o Options, out *Outcome) error {
	u, err := i.Auth.User(ctx, line.Name)
	out.DisplayName, out.Email = cmp.Or(out.DisplayName, u.DisplayName), cmp.Or(out.Email, u.Email)
	switch {
	case err == nil:
		return i.change(ctx, u, line, o, out)
	case calendar.ReasonOf(err) != calendar.NotFound:
		return err
	}
	out.Outcome = Created
	if o.Dry {
		return nil
	}
	e := line.Edit
	if _, err := i.NewUser(ctx, auth.NewUser{
		Name: line.Name, DisplayName: or(e.DisplayName), Email: or(e.Email), Timezone: or(e.Timezone),
		Language: or(e.Language), Admin: or(e.Admin), Invited: true,
	}); err != nil {
		return err
	}
	// The fields that NewUser does not take.
	if rest := (auth.UserEdit{
		Disabled: e.Disabled, QuotaCalendars: e.QuotaCalendars, QuotaObjects: e.QuotaObjects, QuotaBytes: e.QuotaBytes,
	}); rest != (auth.UserEdit{}) {
		if _, err := i.Auth.ChangeUser(ctx, line.Name, rest); err != nil {
			return err
		}
	}
	return i.link(ctx, line.Name, out)
}

func (i Importer) change(ctx context.Context, u calendar.User, line Line, o Options, out *Outcome) error {
	if out.Outcome = Unchanged; !line.Edit.Leaves(u) {
		out.Outcome = Changed
		if !o.Dry {
			if _, err := i.ChangeUser(ctx, u.Name, line.Edit); err != nil {
				return err
			}
		}
	}
	if !o.NewLinks || o.Dry {
		return nil
	}
	factors, err := i.Auth.Factors(ctx, u)
	if err != nil || factors != (auth.Factors{}) {
		return err
	}
	return i.link(ctx, u.Name, out)
}

// link creates the link for a user to choose a password.
func (i Importer) link(ctx context.Context, user string, out *Outcome) error {
	link, secret, err := i.Auth.CreatePasswordLink(ctx, user, auth.Invitation)
	if err == nil {
		out.Link, out.Expires = i.Address(secret), link.Expires
	}
	return err
}

func or[T any](value *T) (v T) {
	if value != nil {
		v = *value
	}
	return v
}
