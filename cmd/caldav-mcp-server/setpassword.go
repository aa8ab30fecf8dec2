package main

import (
	"context"
	"flag"

	"caldav-mcp-server/auth"
)

const setPasswordDetails = `
The old password ends at once, also on a server that runs. Access tokens stay good: revoke-token
ends those. The new password is asked for twice on the terminal, or is the first line of standard
input with --password-stdin.
`

func setPasswordCommand() command {
	var fromStdin, json bool
	return command{
		name: "set-password", operands: []string{"NAME"}, settings: storeSettings,
		summary: "give a user a new password", details: setPasswordDetails,
		flags: func(f *flag.FlagSet) {
			f.BoolVar(&fromStdin, "password-stdin", false, "read the password from standard input")
			asJSON(f, &json)
		},
		run: func(ctx context.Context, p *program, c config, operands []string) error {
			user, err := auth.CanonicalName(operands[0])
			if err != nil {
				return usageError{err}
			}
			return p.withHouse(ctx, c, func(h *house) error {
				if _, err := h.auth.User(ctx, user); err != nil {
					return err
				}
				password, err := p.newPassword(ctx, fromStdin)
				if err != nil {
					return err
				}
				if err := h.auth.SetPassword(ctx, user, password); err != nil {
					return err
				}
				return p.done(json, map[string]string{"user": user}, "%s has a new password\n", user)
			})
		},
	}
}
