package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mirror"
)

const linkCalendarDetails = `
The calendar at the address (https: or webcal:, in the format iCalendar) becomes one of the user's own calendars, which
every app and assistant of theirs shows. It is only read. The server looks there for what is new as often as the feed
says, else every 12 hours; --every says otherwise, 15m at least.

The address is kept as a secret, sealed with the master key (MASTER_KEY, or master.key in DATA_DIR). Others on this
machine can see the arguments of a command: an address that is secret itself is better given by --ics -, which reads it
from the first line of standard input, or asks for it at a terminal. Only addresses in the internet are asked; FETCH_ALLOW names networks that may be asked as well.
`

// linkCalendarOptions are the flags of link-calendar.
type linkCalendarOptions struct {
	ics, name string
	every     time.Duration
}

func linkCalendarCommand() command {
	var o linkCalendarOptions
	return command{
		name: "link-calendar", user: "`NAME` of the user who gets it", settings: storeSettings | linkSettings, json: true,
		summary: "show a calendar that is published elsewhere", details: linkCalendarDetails,
		flags: func(f *flag.FlagSet) {
			f.StringVar(&o.ics, "ics", "", "`URL` of the calendar, or - for standard input (needed)")
			f.StringVar(&o.name, "name", "", "`TEXT` that it is to be called; what it calls itself if not given")
			f.DurationVar(&o.every, "every", 0, "`TIME` between two looks, such as 6h")
		},
		run: func(ctx context.Context, d *desk, _ []string) error {
			address, err := d.feedAddress(ctx, o.ics)
			if err != nil {
				return err
			}
			n := mirror.NewAccount{Provider: "ics", Name: o.name, Secret: mirror.Secret{URL: address}, Every: o.every}
			return d.linkNew(ctx, n)
		},
	}
}

// feedAddress returns the given URL, or reads it from standard input if it is "-". The URL is often the only protection
// of a feed.
func (p *program) feedAddress(ctx context.Context, given string) (string, error) {
	if given != "-" {
		return given, nil
	}
	if p.interactive() {
		return p.askSecret(ctx, "address of the calendar: ")
	}
	return p.secretLine("address")
}

// linkNew links an account or a feed, and prints the result.
func (d *desk) linkNew(ctx context.Context, n mirror.NewAccount) error {
	linked, arrived, err := d.calendars.Mirrors.Link(ctx, d.caller(), n)
	if err != nil {
		return err
	}
	account := accountJSON(ownedAccount{linked, d.who})
	if linked.Mail {
		return d.done(account, "the mail of %s can be read with tokens of %s that have the scope mail (account %s)\n", shown(linked.Address), d.who.Name, linked.ID)
	}
	for _, c := range linked.Calendars {
		if !d.json {
			d.say("the calendar %q of %s shows what is at %s (account %s)\n", shown(c.Name), d.who.Name, shown(linked.Address), linked.ID)
		}
	}
	return d.done(account, "%s\n", arrivedText(arrived))
}

// arrivedText describes the changes of a refresh.
func arrivedText(a calendar.Arrived) string {
	text := fmt.Sprintf("%d new, %d changed, %d gone", a.Created, a.Modified, a.Deleted)
	if a.Refused > 0 {
		text += fmt.Sprintf(", %d kept out since they are broken", a.Refused)
	}
	return text
}

const refreshDetails = `
A server that runs does that by itself, see list-accounts. ACCOUNT is an id from there, of which the first eight
characters will do; without one all of the user's are looked at.
`

func refreshCommand() command {
	return command{
		name: "refresh", user: "`NAME` of whose they are", optional: []string{"ACCOUNT"}, settings: storeSettings | linkSettings, json: true,
		summary: "look now for what is new in linked accounts", details: refreshDetails,
		run: func(ctx context.Context, d *desk, operands []string) error {
			accounts, err := d.pickAccounts(ctx, operands)
			if err != nil {
				return err
			}
			var all calendar.Arrived
			for _, a := range accounts {
				arrived, err := d.calendars.Mirrors.Refresh(ctx, caller(a.user), a.ID)
				if all.Add(arrived); err != nil {
					return err
				}
			}
			return d.done(all, "%d looked at: %s\n", len(accounts), arrivedText(all))
		},
	}
}

const unlinkDetails = `
The account's secret is forgotten. With --keep its calendars stay as they are, and are the user's own from then on; with
--drop they go to the trash. Nothing is changed where they are from. ACCOUNT is an id from list-accounts, of which the
first eight characters will do.
`

func unlinkAccountCommand() command {
	var keep, drop bool
	return command{
		name: "unlink-account", user: "`NAME` of whose it is", operands: []string{"ACCOUNT"}, settings: storeSettings | linkSettings, json: true,
		summary: "forget a linked account or feed", details: unlinkDetails,
		flags: func(f *flag.FlagSet) {
			f.BoolVar(&keep, "keep", false, "keep its calendars")
			f.BoolVar(&drop, "drop", false, "move its calendars to the trash")
		},
		check: func(*desk, []string) error {
			if keep == drop {
				return errors.New("it needs one of --keep and --drop")
			}
			return nil
		},
		run: func(ctx context.Context, d *desk, operands []string) error {
			accounts, err := d.pickAccounts(ctx, operands)
			if err != nil {
				return err
			}
			a := accounts[0]
			if err := d.calendars.Mirrors.Unlink(ctx, caller(a.user), a.ID, keep); err != nil {
				return err
			}
			return d.done(map[string]string{"id": string(a.ID)}, "%s is linked no more\n", shown(a.Name))
		},
	}
}

// pickAccounts finds an account by its id or its short id. Without one it returns all accounts of the user.
func (d *desk) pickAccounts(ctx context.Context, operands []string) ([]ownedAccount, error) {
	all, err := d.linkedOf(ctx, d.user)
	if err != nil || len(operands) == 0 {
		return all, err
	}
	for _, a := range all {
		if string(a.ID) == operands[0] || briefID(a.ID) == operands[0] {
			return []ownedAccount{a}, nil
		}
	}
	return nil, fmt.Errorf("%s has linked no account %q: see list-accounts", d.who.Name, operands[0])
}

const rotateKeyDetails = `
Where MASTER_KEY is set, put a new key before the old one there, with a comma between them, restart the server, and call
this: all secrets are then sealed with the new one, and the old one can go. Where it is not set, the file master.key in
DATA_DIR gets a new key, and the old one is taken out of it at the end; a server that runs reads it by itself.
`

func rotateKeyCommand() command {
	return command{
		name: "rotate-key", settings: storeSettings | linkSettings, json: true,
		summary: "seal the secrets of linked accounts with a new master key", details: rotateKeyDetails,
		run: func(ctx context.Context, d *desk, _ []string) error {
			n, err := rotate(ctx, d.config, d.house)
			if err != nil {
				return err
			}
			return d.done(map[string]int{"resealed": n}, "%d secrets are sealed with the new key\n", n)
		},
	}
}
