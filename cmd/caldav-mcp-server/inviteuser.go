package main

import (
	"context"
	"errors"
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
	user                  auth.NewUser
	reset, noSecondFactor bool
}

// invitedJSON is the JSON output of invite-user.
type invitedJSON struct {
	User    string           `json:"user"`
	Kind    auth.VoucherKind `json:"kind"`
	Link    string           `json:"link"`
	Expires *time.Time       `json:"expires"`
}

func inviteUserCommand() command {
	o := inviteOptions{user: auth.NewUser{Invited: true}}
	return command{
		name: "invite-user", operands: []string{"NAME"}, settings: storeSettings | addressSettings, json: true, begins: true,
		summary: "make a link by which somebody chooses their password", details: inviteUserDetails, flags: o.declare,
		check: func(_ *desk, operands []string) (err error) {
			if o.noSecondFactor && !o.reset {
				return errors.New("--no-second-factor goes with --reset: a new user has none")
			}
			o.user.Name, err = auth.CanonicalName(operands[0])
			return err
		},
		run: func(ctx context.Context, d *desk, _ []string) error { return d.inviteUser(ctx, o) },
	}
}

func (o *inviteOptions) declare(f *flag.FlagSet) {
	f.StringVar(&o.user.DisplayName, "display-name", "", "`NAME` that others see")
	f.StringVar(&o.user.Email, "email", "", "`ADDRESS` for invitations")
	f.StringVar(&o.user.Timezone, "timezone", "", "the user's `ZONE`, such as Europe/Berlin")
	f.BoolVar(&o.user.Admin, "admin", false, "the user looks after the others")
	f.BoolVar(&o.reset, "reset", false, "for a user that there is")
	f.BoolVar(&o.noSecondFactor, "no-second-factor", false, "with --reset: take passkeys and codes away")
}

func (d *desk) inviteUser(ctx context.Context, o inviteOptions) error {
	kind := auth.Invitation
	if o.reset {
		kind = auth.Reset
	}
	if err := d.makeInvited(ctx, o); err != nil {
		return err
	}
	v, secret, err := d.auth.Vouch(ctx, o.user.Name, kind)
	if err != nil {
		return err
	}
	link := d.config.pagesURL() + "key/" + string(secret)
	return d.done(invitedJSON{v.User.Name, v.Kind, link, jsonTime(v.Expires)},
		"%s chooses a password at this address, once and until %s:\n%s\n", v.User.Name, shownTime(v.Expires), link)
}

// makeInvited creates the invited user. For a reset, it only removes second factors if asked to.
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
