// Package admin has the commands for the content of the store: users, groups, rooms, tokens, calendars, shares, links,
// linked accounts, webhooks, and the settings of the service.
package admin

import (
	"context"
	"flag"
	"fmt"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const createUserDetails = `
The password is typed twice at the terminal, or is the first line of standard input with --password-stdin. The user gets
a calendar "Personal" and a task list "Tasks".
`

// CreateUserCommand is the command create-user.
func CreateUserCommand() command.Command {
	var user auth.NewUser
	var fromStdin bool
	return command.Command{
		Name: "create-user", Operands: []string{"NAME"}, Settings: settings.StoreGroup, JSON: true, Begins: true,
		Summary: "create a user, with a calendar and a task list", Details: createUserDetails,
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&user.DisplayName, "display-name", "", "display `NAME`")
			f.StringVar(&user.Email, "email", "", "`ADDRESS` for invitations")
			f.StringVar(&user.Timezone, "timezone", "", "the user's `ZONE`, such as Europe/Berlin")
			f.BoolVar(&fromStdin, "password-stdin", false, "read the password from standard input")
			f.BoolVar(&user.Admin, "admin", false, "make the user an administrator")
		},
		Check: func(_ *command.Context, operands []string) (err error) {
			user.Name, err = auth.CanonicalName(operands[0])
			return err
		},
		Run: func(ctx context.Context, d *command.Context, _ []string) (err error) {
			if _, err := d.Auth.User(ctx, user.Name); err == nil {
				return fmt.Errorf("there is a user %q already", user.Name) // no need to ask for a password
			}
			if user.Password, err = d.NewPassword(ctx, fromStdin); err != nil {
				return err
			}
			made, err := d.CreateUser(ctx, user)
			if err != nil {
				return err
			}
			return d.Done(userJSON(made), "created the user %s\n", made.Name)
		},
	}
}
