package admin

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const importUsersDetails = `
FILE is a CSV table with a header line, or JSON lines; - is standard input. The fields are name, which is required,
display_name, email, timezone, admin, disabled, quota_calendars, quota_objects and quota_bytes. An empty field changes
nothing.

A new user is created as by invite-user; the link for choosing a password is printed once. An existing user is changed
as by set-user. No user is deleted. Errors are reported with the line number, and the other lines are processed anyway.
If you run the command again, it does only the rest. --dry-run only shows the result. --new-links also creates new links
for listed users who have no password yet; their old links end.
  caldav-mcp-server import-users staff.csv --dry-run
`

// importUsersOptions are the flags of import-users.
type importUsersOptions struct {
	dry, newLinks bool
	list          []wantedUser
}

// userOutcome is the outcome of a line in a list of users.
type userOutcome struct {
	Line int    `json:"line"`
	User string `json:"user,omitempty"`
	// Outcome is created, changed, unchanged or failed; in a dry run, the expected outcome.
	Outcome string     `json:"outcome"`
	Link    string     `json:"link,omitempty"`
	Expires *time.Time `json:"expires,omitempty"`
	Error   string     `json:"error,omitempty"`
}

// ImportUsersCommand is the command import-users.
func ImportUsersCommand() command.Command {
	var o importUsersOptions
	return command.Command{
		Name: "import-users", Operands: []string{"FILE"}, Settings: settings.StoreGroup | settings.AddressGroup,
		JSON:    true,
		Summary: "create or change the users in a list", Details: importUsersDetails,
		Flags: func(f *flag.FlagSet) {
			f.BoolVar(&o.dry, "dry-run", false, "only show the result")
			f.BoolVar(&o.newLinks, "new-links", false, "also create new links for existing users without a password")
		},
		Check: func(d *command.Context, operands []string) (err error) {
			o.list, err = usersOf(d.Console, operands[0])
			return err
		},
		Run: func(ctx context.Context, d *command.Context, _ []string) error {
			i := userImport{App: d.App, options: o, pages: d.Config.PagesURL()}
			all := i.all(ctx, o.list)
			if slices.ContainsFunc(all, func(u userOutcome) bool { return u.Link != "" }) {
				defer sayLocal(d)
			}
			return tellUsers(d, all, o.dry)
		},
	}
}

func usersOf(p *console.Console, file string) ([]wantedUser, error) {
	if file == "-" {
		return readUsers(p.Stdin)
	}
	f, err := os.Open(file) // the administrator names it
	if err != nil {
		return nil, fmt.Errorf("opening the list: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	return readUsers(f)
}

// userImport creates and changes users.
type userImport struct {
	*app.App
	options importUsersOptions
	pages   string
}

func (i *userImport) all(ctx context.Context, list []wantedUser) []userOutcome {
	return console.Each(list, func(w wantedUser) userOutcome {
		out := userOutcome{Line: w.line, User: w.name}
		err := w.wrong
		if err == nil {
			err = i.one(ctx, w, &out)
		}
		if err != nil {
			out.Outcome, out.Error = "failed", err.Error()
		}
		return out
	})
}

func (i *userImport) one(ctx context.Context, w wantedUser, out *userOutcome) error {
	u, err := i.Auth.User(ctx, w.name)
	switch {
	case err == nil:
		return i.change(ctx, u, w, out)
	case calendar.ReasonOf(err) != calendar.NotFound:
		return err
	}
	out.Outcome = "created"
	if i.options.dry {
		return nil
	}
	if _, err := i.CreateUser(ctx, auth.NewUser{
		Name: w.name, DisplayName: or(w.edit.DisplayName), Email: or(w.edit.Email), Timezone: or(w.edit.Timezone),
		Admin: or(w.edit.Admin), Invited: true,
	}); err != nil {
		return err
	}
	// The fields that CreateUser does not take.
	if rest := (auth.UserEdit{
		Disabled: w.edit.Disabled, QuotaCalendars: w.edit.QuotaCalendars, QuotaObjects: w.edit.QuotaObjects,
		QuotaBytes: w.edit.QuotaBytes,
	}); rest != (auth.UserEdit{}) {
		if _, err := i.Auth.ChangeUser(ctx, w.name, rest); err != nil {
			return err
		}
	}
	return i.link(ctx, w.name, out)
}

func (i *userImport) change(ctx context.Context, u calendar.User, w wantedUser, out *userOutcome) error {
	if out.Outcome = "unchanged"; !w.edit.Leaves(u) {
		out.Outcome = "changed"
		if !i.options.dry {
			if _, _, err := i.ChangeUser(ctx, u.Name, w.edit); err != nil {
				return err
			}
		}
	}
	if !i.options.newLinks || i.options.dry {
		return nil
	}
	factors, err := i.Auth.Factors(ctx, u)
	if err != nil || factors != (auth.Factors{}) {
		return err
	}
	return i.link(ctx, u.Name, out)
}

// link creates the link for a user to choose a password.
func (i *userImport) link(ctx context.Context, user string, out *userOutcome) error {
	v, secret, err := i.Auth.CreatePasswordLink(ctx, user, auth.Invitation)
	if err == nil {
		out.Link, out.Expires = i.pages+"key/"+string(secret), console.JSONTime(v.Expires)
	}
	return err
}

func or[T any](value *T) (v T) {
	if value != nil {
		v = *value
	}
	return v
}

// tellUsers prints the outcome of each line. It returns an error if a line failed.
func tellUsers(d *command.Context, all []userOutcome, dry bool) error {
	counts := map[string]int{}
	for _, out := range all {
		counts[out.Outcome]++
	}
	text := userLines(d, all)
	if dry {
		text += "dry run: "
	}
	if err := d.Done(all, "%screated %d, changed %d, unchanged %d, failed %d\n", text, counts["created"],
		counts["changed"], counts["unchanged"], counts["failed"]); err != nil {
		return err
	}
	if n := counts["failed"]; n > 0 {
		return fmt.Errorf("%d of %d lines failed; the others are done, and are skipped if you run it again", n,
			len(all))
	}
	return nil
}

// userLines lists the created and changed users, and prints failures to standard error.
func userLines(d *command.Context, all []userOutcome) string {
	var text strings.Builder
	if d.JSON {
		return ""
	}
	for _, out := range all {
		switch {
		case out.Error != "":
			d.Say("line %d: %s\n", out.Line, console.Shown(out.Error))
		case out.Link != "":
			fmt.Fprintf(&text, "%s %s %s\n", out.Outcome, out.User, out.Link)
		case out.Outcome != "unchanged":
			fmt.Fprintf(&text, "%s %s\n", out.Outcome, out.User)
		}
	}
	return text.String()
}
