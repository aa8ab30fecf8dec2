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
	"caldav-mcp-server/auth/userlist"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const importUsersDetails = `
FILE is a CSV table with a header line, or JSON lines; - is standard input. The fields are name, which is required,
display_name, email, timezone, language, groups, admin, disabled, quota_calendars, quota_objects and quota_bytes. An
empty field changes nothing. groups are the groups that the user joins, separated by semicolons.

A new user is created as by invite-user; the link for choosing a password is printed once. An existing user is changed
as by set-user. No user is deleted. Errors are reported with the line number, and the other lines are processed anyway.
If you run the command again, it does only the rest. --dry-run only shows the result. --new-links also creates new links
for listed users who have no password yet; their old links end.
  caldav-mcp-server import-users staff.csv --dry-run
`

// importUsersOptions are the flags of import-users.
type importUsersOptions struct {
	dry, newLinks bool
	list          []userlist.Line
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
			all := userOutcomes(userlist.Importer{
				Auth: d.App.Auth, NewUser: d.App.CreateUser,
				ChangeUser: func(ctx context.Context, name string, e auth.UserEdit) (calendar.User, error) {
					u, _, err := d.App.ChangeUser(ctx, name, e)
					return u, err
				},
				Address: func(secret auth.Secret) string { return d.Config.PagesURL() + "key/" + string(secret) },
			}.Import(ctx, o.list, userlist.Options{Dry: o.dry, NewLinks: o.newLinks}))
			if slices.ContainsFunc(all, func(u userOutcome) bool { return u.Link != "" }) {
				defer sayLocal(d)
			}
			return tellUsers(d, all, o.dry)
		},
	}
}

func usersOf(p *console.Console, file string) ([]userlist.Line, error) {
	if file == "-" {
		return userlist.Read(p.Stdin)
	}
	f, err := os.Open(file) // the administrator names it
	if err != nil {
		return nil, fmt.Errorf("opening the list: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	return userlist.Read(f)
}

// userOutcomes converts the outcomes for the output.
func userOutcomes(all []userlist.Outcome) []userOutcome {
	return console.Each(all, func(o userlist.Outcome) userOutcome {
		out := userOutcome{
			Line: o.Line, User: o.User, Outcome: o.Outcome, Link: o.Link, Expires: console.JSONTime(o.Expires),
		}
		if o.Error != nil {
			out.Error = o.Error.Error()
		}
		return out
	})
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
