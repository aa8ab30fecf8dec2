package admin

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const inviteUserDetails = `
It creates a user without a password, and prints an invite link for choosing one. The link works once, within a week. It
is printed once; a new link replaces it.

--reset creates a reset link for an existing user. It works once, within a day, and signs the user out everywhere.
--no-second-factor also removes passkeys and one-time codes, for a user who has lost the device.
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
	User    string                `json:"user"`
	Kind    auth.PasswordLinkKind `json:"kind"`
	Link    string                `json:"link"`
	Expires *time.Time            `json:"expires"`
}

// InviteUserCommand is the command invite-user.
func InviteUserCommand() command.Command {
	o := inviteOptions{user: auth.NewUser{Invited: true}}
	return command.Command{
		Name: "invite-user", Operands: []string{"NAME"}, Settings: settings.StoreGroup | settings.AddressGroup,
		JSON:    true,
		Begins:  true,
		Summary: "create a link for a user to choose a password", Details: inviteUserDetails, Flags: o.declare,
		Check: func(_ *command.Context, operands []string) (err error) {
			if o.noSecondFactor && !o.reset {
				return errors.New("--no-second-factor needs --reset: a new user has none")
			}
			o.user.Name, err = auth.CanonicalName(operands[0])
			return err
		},
		Run: func(ctx context.Context, d *command.Context, _ []string) error { return inviteUser(ctx, d, o) },
	}
}

func (o *inviteOptions) declare(f *flag.FlagSet) {
	f.StringVar(&o.user.DisplayName, "display-name", "", "display `NAME`")
	f.StringVar(&o.user.Email, "email", "", "`ADDRESS` for invitations")
	f.StringVar(&o.user.Timezone, "timezone", "", "the user's `ZONE`, such as Europe/Berlin")
	f.BoolVar(&o.user.Admin, "admin", false, "make the user an administrator")
	f.BoolVar(&o.reset, "reset", false, "for an existing user")
	f.BoolVar(&o.noSecondFactor, "no-second-factor", false, "with --reset: remove passkeys and one-time codes")
}

func inviteUser(ctx context.Context, d *command.Context, o inviteOptions) error {
	kind := auth.Invitation
	if o.reset {
		kind = auth.Reset
	}
	if err := makeInvited(ctx, d.App, o); err != nil {
		return err
	}
	v, secret, err := d.Auth.CreatePasswordLink(ctx, o.user.Name, kind)
	if err != nil {
		return err
	}
	link := d.Config.PagesURL() + "key/" + string(secret)
	defer sayLocal(d)
	return d.Done(invitedJSON{v.User.Name, v.Kind, link, console.JSONTime(v.Expires)},
		"with this link %s can choose a password, once and until %s:\n%s\n", v.User.Name, console.ShownTime(v.Expires),
		link)
}

// makeInvited creates the invited user. For a reset, it only removes second factors if asked to.
func makeInvited(ctx context.Context, h *app.App, o inviteOptions) error {
	if o.noSecondFactor {
		return h.Auth.DropFactors(ctx, o.user.Name)
	}
	if o.reset {
		return nil
	}
	_, err := h.CreateUser(ctx, o.user)
	if err != nil && calendar.ReasonOf(err) == calendar.Exists {
		return fmt.Errorf("%w; --reset creates a link to choose another password", err)
	}
	return err
}
