package admin

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"time"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const linkAccountDetails = `
Each calendar of the account becomes one of the user's own calendars here, unless --choose is given. Changes on the
other server appear here within minutes. Changes made here are written there first: if the other server does not
respond, nothing changes. URL is the name of the server, or the provider's URL for CalDAV; only HTTPS is used. Use an
app password if the provider has them (iCloud, Fastmail, Nextcloud).

The password is asked for, or is the first line of standard input with --password-stdin. It is encrypted with the master
key (MASTER_KEY, or master.key in DATA_DIR).

Accounts at Google and Microsoft (--provider google, --provider microsoft) have no password here, nor has the mail of
Gmail accounts (--provider gmail), which assistants with the scope mail can read. The command prints a URL, where the
account's owner signs in and agrees. The browser then shows an error page, whose URL begins with
` + app.AgreedAt + `. Paste that whole URL into the command, within ten
minutes. docs/linked-providers.md explains how to enable these providers.
`

// linkAccountOptions are the flags of link-account.
type linkAccountOptions struct {
	provider, url, username, name string
	every                         time.Duration
	fromStdin, choose             bool
}

func (o *linkAccountOptions) declare(f *flag.FlagSet) {
	f.StringVar(&o.provider, "provider", "caldav", "`KIND` of account: caldav, google, gmail or microsoft")
	f.StringVar(&o.url, "url", "", "`URL` or name of the other server (needed for caldav)")
	f.StringVar(&o.username, "username", "", "`NAME` of the account there (needed for caldav)")
	f.BoolVar(&o.fromStdin, "password-stdin", false, "read the password for that server from standard input")
	f.StringVar(&o.name, "name", "", "name `TEXT` for the account")
	f.BoolVar(&o.choose, "choose", false, "link no calendar yet if there are several; choose-calendars does")
	f.DurationVar(&o.every, "every", 0, "refresh interval `TIME`, such as 30m")
}

// check validates the flags for the kind of account.
func (o *linkAccountOptions) check(*command.Context, []string) error {
	switch {
	case slices.Contains([]string{"google", "gmail", "microsoft"}, o.provider):
		return nil
	case o.provider != "caldav":
		return fmt.Errorf("--provider must be %q, google, gmail or microsoft, not %q; for a published feed use "+
			"link-calendar", "caldav", o.provider)
	case o.url == "" || o.username == "":
		return errors.New("it needs --user, --url and --username")
	}
	return nil
}

// LinkAccountCommand is the command link-account.
func LinkAccountCommand() command.Command {
	var o linkAccountOptions
	return command.Command{
		Name: "link-account", User: "`NAME` of the user who gets its calendars",
		Settings: settings.StoreGroup | settings.LinkGroup, JSON: true,
		Summary: "link the calendars of an account on another server, in both directions", Details: linkAccountDetails,
		Flags: o.declare, Check: o.check,
		Run: func(ctx context.Context, d *command.Context, _ []string) error {
			if o.provider != "caldav" {
				return linkByConsent(ctx, d, o)
			}
			password, err := d.OldPassword(ctx, o.fromStdin, "password of "+o.username+" on the other server: ")
			if err != nil {
				return err
			}
			return linkNew(ctx, d, mirror.NewAccount{
				Provider: o.provider, Name: o.name, Every: o.every, Choose: o.choose,
				Secret: mirror.Secret{URL: o.url, Username: o.username, Password: password},
			})
		},
	}
}

const chooseDetails = `
Exactly the given calendars of the account are linked afterwards. Others that were linked move to the trash; a calendar
from there returns with its name and shares. Nothing changes on the other server. list-accounts --json lists both kinds.
A running server fetches new ones by itself; refresh does it at once. ACCOUNT is an id from list-accounts, or its first
eight characters.
`

// ChooseCalendarsCommand is the command choose-calendars.
func ChooseCalendarsCommand() command.Command {
	var names []string
	var all, none, later bool
	return command.Command{
		Name: "choose-calendars", User: "`NAME` of the account's owner", Operands: []string{"ACCOUNT"},
		Settings: settings.StoreGroup | settings.LinkGroup, JSON: true,
		Summary: "choose the calendars of a linked account that are linked", Details: chooseDetails,
		Flags: func(f *flag.FlagSet) {
			f.Func("calendar", "`NAME` of a calendar of the account, or its id there; repeat for several",
				func(name string) error {
					names = append(names, name)
					return nil
				})
			f.BoolVar(&all, "all", false, "link all calendars")
			f.BoolVar(&none, "none", false, "link no calendar")
			f.BoolVar(&later, "new", false, "link calendars that are added there later, too")
		},
		Check: func(*command.Context, []string) error {
			chosen := 0
			for _, is := range []bool{all, none, len(names) > 0} {
				if is {
					chosen++
				}
			}
			if chosen != 1 {
				return errors.New("it needs --calendar, --all or --none")
			}
			return nil
		},
		Run: func(ctx context.Context, d *command.Context, operands []string) error {
			accounts, err := pickAccounts(ctx, d, operands)
			if err != nil {
				return err
			}
			a := accounts[0]
			choice := mirror.Choice{New: later}
			if choice.Remotes, err = remotesOf(a.Linked, names, all); err != nil {
				return err
			}
			linked, err := d.Calendars.Mirrors.Choose(ctx, app.Caller(a.user), a.ID, choice)
			if err != nil {
				return err
			}
			return d.Done(accountJSON(ownedAccount{linked, a.user}), "linked are %d calendars of %s, not linked %d\n",
				len(linked.Calendars), console.Shown(a.Name), len(linked.Unlinked))
		},
	}
}

// remotesOf finds calendars of an account by the id or the name that they have there.
func remotesOf(l mirror.Linked, names []string, all bool) ([]string, error) {
	var ids []string
	known := map[string]string{} // names by id
	for _, c := range l.Calendars {
		known[c.State.Remote] = c.State.RemoteName
	}
	for _, c := range l.Unlinked {
		known[c.Remote] = c.Name
	}
	for id, name := range known {
		if all || slices.Contains(names, id) || slices.Contains(names, name) {
			ids = append(ids, id)
		}
	}
	for _, wanted := range names {
		found := 0
		for id, name := range known {
			if id == wanted || name == wanted {
				found++
			}
		}
		if found == 0 {
			return nil, fmt.Errorf("the account has no calendar %q: see list-accounts --json", wanted)
		}
		if found > 1 {
			return nil, fmt.Errorf("the account has %d calendars %q: use an id from list-accounts --json", found,
				wanted)
		}
	}
	slices.Sort(ids)
	return ids, nil
}
