package admin

import (
	"context"

	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const endAccessDetails = `
It signs the user out of all browsers and ends their app passwords, access tokens, OAuth access of assistants, and links
for choosing a password, also on a running server. Calendars, shares and public links stay. The password stays too:
set-password or invite-user --reset changes it, and set-user --disabled true locks the account.
  caldav-mcp-server end-access alice
`

// EndAccessCommand is the command end-access.
func EndAccessCommand() command.Command {
	return command.Command{
		Name: "end-access", Operands: []string{"NAME"}, Settings: settings.StoreGroup, JSON: true,
		Summary: "end all sessions, tokens and app passwords of a user", Details: endAccessDetails,
		Run: func(ctx context.Context, d *command.Context, operands []string) error {
			user, err := d.Auth.User(ctx, operands[0])
			if err != nil {
				return err
			}
			if err := d.Auth.EndAccess(ctx, user); err != nil {
				return err
			}
			return d.Done(map[string]string{"user": user.Name}, "ended all access of %s except the password\n",
				user.Name)
		},
	}
}
