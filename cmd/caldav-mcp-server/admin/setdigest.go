package admin

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const setDigestDetails = `
The mail is sent once a day, at an hour in the user's time zone, to their main mail address. It lists tomorrow's events
and the changes by assistants, with links to undo them. An empty mail is not sent. Parts that are not named are turned
off. Each mail has a link to unsubscribe.
  caldav-mcp-server set-digest alice --agenda --changes --hour 18
  caldav-mcp-server set-digest alice --off
`

// SetDigestCommand is the command set-digest.
func SetDigestCommand() command.Command {
	day, off := calendar.Digest{}, false
	return command.Command{
		Name: "set-digest", Operands: []string{"NAME"},
		Settings: settings.StoreGroup | settings.MailGroup | settings.AddressGroup, JSON: true,
		Summary: "turn a user's daily mail on or off", Details: setDigestDetails,
		Flags: func(f *flag.FlagSet) {
			f.BoolVar(&day.Agenda, "agenda", false, "tomorrow's events")
			f.BoolVar(&day.Changes, "changes", false, "changes by assistants")
			f.IntVar(&day.Hour, "hour", 18, "the `HOUR` in their time zone, from 0 to 23")
			f.BoolVar(&off, "off", false, "turn the mail off")
		},
		Check: func(*command.Context, []string) error {
			if off == day.Wanted() {
				return errors.New("it needs --agenda, --changes or both, or else --off")
			}
			return nil
		},
		Run: func(ctx context.Context, d *command.Context, operands []string) error {
			return SetDigest(ctx, d, operands[0], day)
		},
	}
}

// SetDigest turns a user's daily mail on or off.
func SetDigest(ctx context.Context, d *command.Context, name string, day calendar.Digest) error {
	u, err := d.Auth.User(ctx, name)
	if err != nil {
		return err
	}
	digests, err := app.DigestsOf(ctx, d.Console, d.Config, d.App)
	switch {
	case err != nil:
		return err
	case digests == nil && day.Wanted():
		return console.WrongUsage(
			"the daily mail needs SMTP_URL, MAIL_FROM and BASE_URL, for this command and for the server")
	case digests == nil:
		err = d.Store.SetDigest(ctx, calendar.Digest{User: u.ID})
	default:
		err = digests.Want(ctx, u, day)
	}
	if err != nil {
		return err
	}
	said := fmt.Sprintf("%s gets a daily mail at %02d:00", u.Name, day.Hour)
	if !day.Wanted() {
		said = u.Name + " gets no daily mail"
	}
	return d.Done(struct {
		User    string `json:"user"`
		Agenda  bool   `json:"agenda"`
		Changes bool   `json:"changes"`
		Hour    int    `json:"hour"`
	}{u.Name, day.Agenda, day.Changes, day.Hour}, "%s\n", said)
}
