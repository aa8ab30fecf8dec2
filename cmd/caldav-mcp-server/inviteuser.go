package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

const inviteUserDetails = `
It makes a user without a password, and prints a link by which they choose one, within a week and once. The link is shown
only now; a new one takes its place.

--reset makes a link for a user that there is, by which they choose another password within a day: they are then signed
out everywhere. --no-second-factor also takes their passkeys and codes away, for who has lost the device.

  caldav-mcp-server invite-user alice --email alice@example.org
  caldav-mcp-server invite-user alice --reset
`

// inviteOptions are the flags of invite-user.
type inviteOptions struct {
	user                        auth.NewUser
	reset, noSecondFactor, json bool
}

// invitedJSON is what the command prints for programs.
type invitedJSON struct {
	User    string           `json:"user"`
	Kind    auth.VoucherKind `json:"kind"`
	Link    string           `json:"link"`
	Expires *time.Time       `json:"expires"`
}

func inviteUserCommand() command {
	o := inviteOptions{user: auth.NewUser{Invited: true}}
	return command{
		name: "invite-user", operands: []string{"NAME"}, settings: storeSettings | addressSettings,
		summary: "make a link by which somebody chooses their password", details: inviteUserDetails, flags: o.declare,
		run: func(ctx context.Context, p *program, c config, operands []string) error {
			var err error
			if o.user.Name, err = auth.CanonicalName(operands[0]); err != nil {
				return usageError{err}
			}
			if o.noSecondFactor && !o.reset {
				return wrongUsage("--no-second-factor goes with --reset: a new user has none")
			}
			return p.withNewHouse(ctx, c, func(h *house) error { return p.inviteUser(ctx, c, h, o) })
		},
	}
}

func (o *inviteOptions) declare(f *flag.FlagSet) {
	f.StringVar(&o.user.DisplayName, "display-name", "", "`NAME` that others see")
	f.StringVar(&o.user.Email, "email", "", "`ADDRESS` for invitations")
	f.StringVar(&o.user.Timezone, "timezone", "", "the user's `ZONE`, such as Europe/Berlin")
	f.BoolVar(&o.user.Admin, "admin", false, "the user looks after the others")
	f.BoolVar(&o.reset, "reset", false, "for a user that there is")
	f.BoolVar(&o.noSecondFactor, "no-second-factor", false, "with --reset: take passkeys and codes away")
	asJSON(f, &o.json)
}

func (p *program) inviteUser(ctx context.Context, c config, h *house, o inviteOptions) error {
	kind := auth.Invitation
	if o.reset {
		kind = auth.Reset
	}
	if err := h.makeInvited(ctx, o); err != nil {
		return err
	}
	v, secret, err := h.auth.Vouch(ctx, o.user.Name, kind)
	if err != nil {
		return err
	}
	link := c.pagesURL() + "key/" + string(secret)
	if o.json {
		return p.printJSON(invitedJSON{v.User.Name, v.Kind, link, jsonTime(v.Expires)})
	}
	_, err = fmt.Fprintf(p.stdout, "%s chooses a password at this address, once and until %s:\n%s\n", v.User.Name, shownTime(v.Expires), link)
	return err
}

// makeInvited makes the invited user, or looks for the user who resets.
func (h *house) makeInvited(ctx context.Context, o inviteOptions) error {
	if o.noSecondFactor {
		return h.auth.DropFactors(ctx, o.user.Name)
	}
	if o.reset {
		return nil
	}
	_, err := h.createUser(ctx, o.user)
	if err != nil && calendar.ReasonOf(err) == calendar.Exists {
		return fmt.Errorf("%w; --reset makes a link by which they choose another password", err)
	}
	return err
}
