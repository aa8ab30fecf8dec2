package admin

import (
	"context"
	"flag"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const setPasswordDetails = `
The old password ends at once, also on a running server. Access tokens stay valid: revoke-token ends them. The new
password is typed twice at the terminal, or is the first line of standard input with --password-stdin.
`

// SetPasswordCommand is the command set-password.
func SetPasswordCommand() command.Command {
	var fromStdin bool
	var user string
	return command.Command{
		Name: "set-password", Operands: []string{"NAME"}, Settings: settings.StoreGroup, JSON: true,
		Summary: "give a user a new password", Details: setPasswordDetails,
		Flags: func(f *flag.FlagSet) {
			f.BoolVar(&fromStdin, "password-stdin", false, "read the password from standard input")
		},
		Check: func(_ *command.Context, operands []string) (err error) {
			user, err = auth.CanonicalName(operands[0])
			return err
		},
		Run: func(ctx context.Context, d *command.Context, _ []string) error {
			if _, err := d.Auth.User(ctx, user); err != nil {
				return err
			}
			password, err := d.NewPassword(ctx, fromStdin)
			if err != nil {
				return err
			}
			if err := d.Auth.SetPassword(ctx, user, password); err != nil {
				return err
			}
			return d.Done(map[string]string{"user": user}, "%s has a new password\n", user)
		},
	}
}
