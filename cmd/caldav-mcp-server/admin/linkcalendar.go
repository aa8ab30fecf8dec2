package admin

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const linkCalendarDetails = `
The calendar at the URL (https: or webcal:, in iCalendar format) becomes a read-only calendar of the user, in every app
and assistant. The server refreshes it as often as the feed says, by default every 12 hours; --every sets another
interval, at least 15m.

The URL is stored as a secret, encrypted with the master key (MASTER_KEY, or master.key in DATA_DIR). Other users of
this machine can see a command's arguments. If the URL itself is secret, use --ics -, which reads it from the first line
of standard input, or asks for it at a terminal. Only public addresses are fetched; FETCH_ALLOW allows others.
`

// linkCalendarOptions are the flags of link-calendar.
type linkCalendarOptions struct {
	ics, name string
	every     time.Duration
	alarms    bool
}

// LinkCalendarCommand is the command link-calendar.
func LinkCalendarCommand() command.Command {
	var o linkCalendarOptions
	return command.Command{
		Name: "link-calendar", User: "`NAME` of the user who gets it",
		Settings: settings.StoreGroup | settings.LinkGroup,
		JSON:     true,
		Summary:  "link a calendar feed that is published elsewhere", Details: linkCalendarDetails,
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&o.ics, "ics", "", "`URL` of the calendar, or - for standard input (needed)")
			f.StringVar(&o.name, "name", "", "name `TEXT`; default the feed's own name")
			f.BoolVar(&o.alarms, "alarms", false, "keep the alarms of its events; otherwise they are removed")
			f.DurationVar(&o.every, "every", 0, "refresh interval `TIME`, such as 6h")
		},
		Run: func(ctx context.Context, d *command.Context, _ []string) error {
			address, err := feedAddress(ctx, d.Console, o.ics)
			if err != nil {
				return err
			}
			n := mirror.NewAccount{
				Provider: "ics", Name: o.name, Secret: mirror.Secret{URL: address, Alarms: o.alarms}, Every: o.every,
			}
			return linkNew(ctx, d, n)
		},
	}
}

// feedAddress returns the given URL, or reads it from standard input if it is "-". The URL is often the only protection
// of a feed.
func feedAddress(ctx context.Context, p *console.Console, given string) (string, error) {
	if given != "-" {
		return given, nil
	}
	if p.Interactive() {
		return p.AskSecret(ctx, "address of the calendar: ")
	}
	return p.SecretLine("address")
}

// linkNew links an account or a feed, and prints the result.
func linkNew(ctx context.Context, d *command.Context, n mirror.NewAccount) error {
	linked, arrived, err := d.Calendars.Mirrors.Link(ctx, d.Caller(), n)
	if err != nil {
		return err
	}
	account := accountJSON(ownedAccount{linked, d.Who})
	if linked.Mail {
		return d.Done(account, "tokens of %[2]s with the scope mail can now read the mail of %[1]s (account %[3]s)\n",
			console.Shown(linked.Address), d.Who.Name, linked.ID)
	}
	for _, c := range linked.Calendars {
		if !d.JSON {
			d.Say("the calendar %q of %s is linked to %s (account %s)\n", console.Shown(c.Name), d.Who.Name,
				console.Shown(linked.Address), linked.ID)
		}
	}
	for _, c := range linked.Unlinked {
		if !d.JSON {
			d.Say("the calendar %q of %s is not linked (account %s)\n", console.Shown(c.Name),
				console.Shown(linked.Address), linked.ID)
		}
	}
	return d.Done(account, "%s\n", arrivedText(arrived))
}

// arrivedText describes the changes of a refresh.
func arrivedText(a calendar.Arrived) string {
	text := fmt.Sprintf("%d new, %d changed, %d gone", a.Created, a.Modified, a.Deleted)
	if a.Refused > 0 {
		text += fmt.Sprintf(", %d skipped because they are malformed", a.Refused)
	}
	if a.Missing > 0 {
		text += fmt.Sprintf(", %d missing there, kept until a listing in ten minutes lacks them as well", a.Missing)
	}
	return text
}

const refreshDetails = `
A running server does this by itself; see list-accounts. ACCOUNT is an id from there, or its first eight characters.
Without it, all accounts of the user are refreshed.
`

// RefreshCommand is the command refresh.
func RefreshCommand() command.Command {
	return command.Command{
		Name: "refresh", User: "`NAME` of the accounts' owner", Optional: []string{"ACCOUNT"},
		Settings: settings.StoreGroup | settings.LinkGroup, JSON: true,
		Summary: "refresh linked accounts now", Details: refreshDetails,
		Run: func(ctx context.Context, d *command.Context, operands []string) error {
			accounts, err := pickAccounts(ctx, d, operands)
			if err != nil {
				return err
			}
			var all calendar.Arrived
			for _, a := range accounts {
				arrived, err := d.Calendars.Mirrors.Refresh(ctx, app.Caller(a.user), a.ID)
				if all.Add(arrived); err != nil {
					return err
				}
			}
			return d.Done(all, "refreshed %d: %s\n", len(accounts), arrivedText(all))
		},
	}
}

const unlinkDetails = `
The account's secret is deleted. With --keep its calendars stay, and become the user's own. With --drop they move to the
trash. Nothing changes on the other server. ACCOUNT is an id from list-accounts, or its first eight characters.
`

// UnlinkAccountCommand is the command unlink-account.
func UnlinkAccountCommand() command.Command {
	var keep, drop bool
	return command.Command{
		Name: "unlink-account", User: "`NAME` of the account's owner", Operands: []string{"ACCOUNT"},
		Settings: settings.StoreGroup | settings.LinkGroup, JSON: true,
		Summary: "unlink an account or feed", Details: unlinkDetails,
		Flags: func(f *flag.FlagSet) {
			f.BoolVar(&keep, "keep", false, "keep its calendars")
			f.BoolVar(&drop, "drop", false, "move its calendars to the trash")
		},
		Check: func(*command.Context, []string) error {
			if keep == drop {
				return errors.New("it needs one of --keep and --drop")
			}
			return nil
		},
		Run: func(ctx context.Context, d *command.Context, operands []string) error {
			accounts, err := pickAccounts(ctx, d, operands)
			if err != nil {
				return err
			}
			a := accounts[0]
			if err := d.Calendars.Mirrors.Unlink(ctx, app.Caller(a.user), a.ID, keep); err != nil {
				return err
			}
			return d.Done(map[string]string{"id": string(a.ID)}, "unlinked %s\n", console.Shown(a.Name))
		},
	}
}

// pickAccounts finds an account by its id or its short id. Without one it returns all accounts of the user.
func pickAccounts(ctx context.Context, d *command.Context, operands []string) ([]ownedAccount, error) {
	all, err := linkedOf(ctx, d.App, d.User)
	if err != nil || len(operands) == 0 {
		return all, err
	}
	for _, a := range all {
		if string(a.ID) == operands[0] || console.BriefID(a.ID) == operands[0] {
			return []ownedAccount{a}, nil
		}
	}
	return nil, fmt.Errorf("%s has linked no account %q: see list-accounts", d.Who.Name, operands[0])
}

const rotateKeyDetails = `
If MASTER_KEY is set: put a new key before the old one, separated by a comma, restart the server, and run this command.
All secrets are then encrypted with the new key, and you can remove the old one. If it is not set: the file master.key
in DATA_DIR gets a new key, and the old one is removed at the end. A running server reads the new key by itself.
`

// RotateKeyCommand is the command rotate-key.
func RotateKeyCommand() command.Command {
	return command.Command{
		Name: "rotate-key", Settings: settings.StoreGroup | settings.LinkGroup, JSON: true,
		Summary: "encrypt the secrets of linked accounts with a new master key", Details: rotateKeyDetails,
		Run: func(ctx context.Context, d *command.Context, _ []string) error {
			n, err := rotate(ctx, d.Config, d.App)
			if err != nil {
				return err
			}
			return d.Done(map[string]int{"resealed": n}, "encrypted %d secrets with the new key\n", n)
		},
	}
}
