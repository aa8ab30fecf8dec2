package main

import (
	"context"
	"flag"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const setPasswordDetails = `
The old password ends at once, also on a running server. Access tokens stay valid: revoke-token ends them. The new password
is typed twice at the terminal, or is the first line of standard input with --password-stdin.
`

func setPasswordCommand() command {
	var fromStdin bool
	var user string
	return command{
		name: "set-password", operands: []string{"NAME"}, settings: settings.StoreGroup, json: true,
		summary: "give a user a new password", details: setPasswordDetails,
		flags: func(f *flag.FlagSet) {
			f.BoolVar(&fromStdin, "password-stdin", false, "read the password from standard input")
		},
		check: func(_ *desk, operands []string) (err error) {
			user, err = auth.CanonicalName(operands[0])
			return err
		},
		run: func(ctx context.Context, d *desk, _ []string) error {
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
			return d.done(map[string]string{"user": user}, "%s has a new password\n", user)
		},
	}
}
