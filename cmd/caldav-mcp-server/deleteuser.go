package main

import (
	"context"
	"flag"
	"fmt"
)

const deleteUserDetails = `
All that is the user's goes with them: calendars with everything in them, tokens, shares. It cannot
be taken back. The name has to be typed again, unless --yes says that it is meant.
`

func deleteUserCommand() command {
	var yes bool
	return command{
		name: "delete-user", operands: []string{"NAME"}, settings: storeSettings,
		summary: "remove a user and all that is theirs", details: deleteUserDetails,
		flags: func(f *flag.FlagSet) { f.BoolVar(&yes, "yes", false, "do not ask") },
		run: func(ctx context.Context, p *program, c config, operands []string) error {
			return p.withHouse(ctx, c, func(h *house) error {
				return p.deleteUser(ctx, h, operands[0], yes)
			})
		},
	}
}

func (p *program) deleteUser(ctx context.Context, h *house, name string, yes bool) error {
	user, err := h.auth.User(ctx, name)
	if err != nil {
		return err
	}
	if !yes {
		owned, err := h.ownCalendars(ctx, user)
		if err != nil {
			return err
		}
		question := fmt.Sprintf("this removes the user %s, %d calendars and everything in them, for good", user.Name, len(owned))
		if err := p.confirm(question, user.Name); err != nil {
			return err
		}
	}
	if err := h.auth.DeleteUser(ctx, user.Name); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "removed the user %s\n", user.Name)
	return err
}
