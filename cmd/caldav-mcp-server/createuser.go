package main

import (
	"context"
	"flag"
	"fmt"

	"caldav-mcp-server/auth"
)

const createUserDetails = `
The password is asked for twice on the terminal, or is the first line of standard input with
--password-stdin. The user gets a calendar "Personal" and a task list "Tasks".
`

func createUserCommand() command {
	var user auth.NewUser
	var fromStdin, json bool
	return command{
		name: "create-user", operands: []string{"NAME"}, settings: storeSettings,
		summary: "make a user, with a calendar and a task list", details: createUserDetails,
		flags: func(f *flag.FlagSet) {
			f.StringVar(&user.DisplayName, "display-name", "", "`NAME` that others see")
			f.StringVar(&user.Email, "email", "", "`ADDRESS` for invitations")
			f.StringVar(&user.Timezone, "timezone", "", "the user's `ZONE`, such as Europe/Berlin")
			f.BoolVar(&fromStdin, "password-stdin", false, "read the password from standard input")
			f.BoolVar(&user.Admin, "admin", false, "the user looks after the others")
			asJSON(f, &json)
		},
		run: func(ctx context.Context, p *program, c config, operands []string) error {
			var err error
			if user.Name, err = auth.CanonicalName(operands[0]); err != nil {
				return usageError{err}
			}
			return p.withNewHouse(ctx, c, func(h *house) error {
				if _, err := h.auth.User(ctx, user.Name); err == nil {
					return fmt.Errorf("there is a user %q already", user.Name) // before a password is asked for
				}
				if user.Password, err = p.newPassword(ctx, fromStdin); err != nil {
					return err
				}
				made, err := h.createUser(ctx, user)
				if err != nil {
					return err
				}
				if json {
					return p.printJSON(userJSON(made))
				}
				_, err = fmt.Fprintf(p.stdout, "created the user %s\n", made.Name)
				return err
			})
		},
	}
}
