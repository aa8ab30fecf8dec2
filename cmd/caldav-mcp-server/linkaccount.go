package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"time"

	"caldav-mcp-server/calendar/mirror"
)

const linkAccountDetails = `
Each calendar of the account on the other server becomes one of the user's own calendars here. What is changed there
shows here within minutes, and what is written here is written there first: if the account does not answer, nothing is
changed. URL is the name of the server, or the address that its provider tells for CalDAV; it is asked by HTTPS alone.
Take a password for apps where the provider has such (iCloud, Fastmail, Nextcloud).

The password is asked for, or is the first line of standard input with --password-stdin. It is sealed with the master
key (MASTER_KEY, or master.key in DATA_DIR).

Accounts at Google and Microsoft (--provider google, --provider microsoft), and the mail of Gmail accounts, which assistants
may read that have a token with the scope mail (--provider gmail), have no password here: the command prints an
address, at which the account's owner signs in and agrees. The browser then ends up at an address that begins with
` + agreedAt + ` and shows that nothing is there; that whole address is pasted into the command, within ten
minutes. docs/linked-providers.md says what it takes to offer them.
`

// linkAccountOptions are the flags of link-account.
type linkAccountOptions struct {
	provider, url, username, name string
	every                         time.Duration
	fromStdin                     bool
}

func (o *linkAccountOptions) declare(f *flag.FlagSet) {
	f.StringVar(&o.provider, "provider", "caldav", "`KIND` of account: caldav, google, gmail or microsoft")
	f.StringVar(&o.url, "url", "", "`URL` or name of the other server (needed for caldav)")
	f.StringVar(&o.username, "username", "", "`NAME` of the account there (needed for caldav)")
	f.BoolVar(&o.fromStdin, "password-stdin", false, "read the password for there from standard input")
	f.StringVar(&o.name, "name", "", "`TEXT` that the account is to be called")
	f.DurationVar(&o.every, "every", 0, "`TIME` between two looks, such as 30m")
}

// check validates the flags for the kind of account.
func (o *linkAccountOptions) check(*desk, []string) error {
	switch {
	case slices.Contains([]string{"google", "gmail", "microsoft"}, o.provider):
		return nil
	case o.provider != "caldav":
		return fmt.Errorf("--provider: there are %q, google, gmail and microsoft, not %q; link-calendar links what is published at an address", "caldav", o.provider)
	case o.url == "" || o.username == "":
		return errors.New("it needs --user, --url and --username")
	}
	return nil
}

func linkAccountCommand() command {
	var o linkAccountOptions
	return command{
		name: "link-account", user: "`NAME` of the user who gets its calendars", settings: storeSettings | linkSettings, json: true,
		summary: "show the calendars of an account on another server, both ways", details: linkAccountDetails,
		flags: o.declare, check: o.check,
		run: func(ctx context.Context, d *desk, _ []string) error {
			if o.provider != "caldav" {
				return d.linkByConsent(ctx, o)
			}
			password, err := d.oldPassword(ctx, o.fromStdin, "password of "+o.username+" on the other server: ")
			if err != nil {
				return err
			}
			return d.linkNew(ctx, mirror.NewAccount{
				Provider: o.provider, Name: o.name, Every: o.every, Secret: mirror.Secret{URL: o.url, Username: o.username, Password: password},
			})
		},
	}
}
