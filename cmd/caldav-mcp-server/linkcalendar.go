package main

import (
	"context"
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

// linkOptions are the flags of link-calendar.
type linkCalendarOptions struct {
	user, ics, name string
	every           time.Duration
	json            bool
}

func linkCalendarCommand() command {
	var o linkCalendarOptions
	return command{
		name: "link-calendar", settings: storeSettings | linkSettings,
		summary: "show a calendar that is published elsewhere", details: linkCalendarDetails,
		flags: func(f *flag.FlagSet) {
			f.StringVar(&o.user, "user", "", "`NAME` of the user who gets it (needed)")
			f.StringVar(&o.ics, "ics", "", "`URL` of the calendar, or - for standard input (needed)")
			f.StringVar(&o.name, "name", "", "`TEXT` that it is to be called; what it calls itself if not given")
			f.DurationVar(&o.every, "every", 0, "`TIME` between two looks, such as 6h")
			asJSON(f, &o.json)
		},
		run: func(ctx context.Context, p *program, c config, _ []string) error {
			if o.user == "" || o.ics == "" {
				return wrongUsage("link-calendar needs --user and --ics (see %s link-calendar --help)", name)
			}
			address, err := p.feedAddress(ctx, o.ics)
			if err != nil {
				return err
			}
			n := mirror.NewAccount{Provider: "ics", Name: o.name, Secret: mirror.Secret{URL: address}, Every: o.every}
			return p.withHouse(ctx, c, func(h *house) error { return p.linkNew(ctx, h, o.user, n, o.json) })
		},
	}
}

// feedAddress is the address that was given, or what stands for - on standard input: many a feed is protected by its address
// alone.
func (p *program) feedAddress(ctx context.Context, given string) (string, error) {
	if given != "-" {
		return given, nil
	}
	if p.interactive() {
		return p.askSecret(ctx, "address of the calendar: ")
	}
	return p.secretLine("address")
}

// linkNew links an account or a feed, and says what came of it.
func (p *program) linkNew(ctx context.Context, h *house, user string, n mirror.NewAccount, json bool) error {
	u, err := h.auth.User(ctx, user)
	if err != nil {
		return err
	}
	linked, arrived, err := h.calendars.Mirrors.Link(ctx, caller(u), n)
	if err != nil {
		return err
	}
	if json {
		return p.done(true, accountJSON(ownedAccount{linked, u}), "")
	}
	if linked.Mail {
		return p.done(false, nil, "the mail of %s can be read with tokens of %s that have the scope mail (account %s)\n", shown(linked.Address), u.Name, linked.ID)
	}
	for _, c := range linked.Calendars {
		p.say("%s\n", fmt.Sprintf("the calendar %q of %s shows what is at %s (account %s)", shown(c.Name), u.Name, shown(linked.Address), linked.ID))
	}
	return p.done(false, nil, "%s\n", arrivedText(arrived))
}

// arrivedText says what a look changed.
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
	var user string
	var json bool
	return command{
		name: "refresh", optional: []string{"ACCOUNT"}, settings: storeSettings | linkSettings,
		summary: "look now for what is new in linked accounts", details: refreshDetails,
		flags: func(f *flag.FlagSet) {
			f.StringVar(&user, "user", "", "`NAME` of whose they are (needed)")
			asJSON(f, &json)
		},
		run: func(ctx context.Context, p *program, c config, operands []string) error {
			if user == "" {
				return wrongUsage("refresh needs --user (see %s refresh --help)", name)
			}
			return p.withHouse(ctx, c, func(h *house) error {
				accounts, err := h.pickAccounts(ctx, user, operands)
				if err != nil {
					return err
				}
				var all calendar.Arrived
				for _, a := range accounts {
					arrived, err := h.calendars.Mirrors.Refresh(ctx, caller(a.user), a.ID)
					if all.Add(arrived); err != nil {
						return err
					}
				}
				return p.done(json, all, "%d looked at: %s\n", len(accounts), arrivedText(all))
			})
		},
	}
}

const unlinkDetails = `
The account's secret is forgotten. With --keep its calendars stay as they are, and are the user's own from then on; with
--drop they go to the trash. Nothing is changed where they are from. ACCOUNT is an id from list-accounts, of which the
first eight characters will do.
`

func unlinkAccountCommand() command {
	var user string
	var keep, drop, json bool
	return command{
		name: "unlink-account", operands: []string{"ACCOUNT"}, settings: storeSettings | linkSettings,
		summary: "forget a linked account or feed", details: unlinkDetails,
		flags: func(f *flag.FlagSet) {
			f.StringVar(&user, "user", "", "`NAME` of whose it is (needed)")
			f.BoolVar(&keep, "keep", false, "keep its calendars")
			f.BoolVar(&drop, "drop", false, "move its calendars to the trash")
			asJSON(f, &json)
		},
		run: func(ctx context.Context, p *program, c config, operands []string) error {
			if user == "" || keep == drop {
				return wrongUsage("unlink-account needs --user, and one of --keep and --drop (see %s unlink-account --help)", name)
			}
			return p.withHouse(ctx, c, func(h *house) error {
				accounts, err := h.pickAccounts(ctx, user, operands)
				if err != nil {
					return err
				}
				a := accounts[0]
				if err := h.calendars.Mirrors.Unlink(ctx, caller(a.user), a.ID, keep); err != nil {
					return err
				}
				return p.done(json, map[string]string{"id": string(a.ID)}, "%s is linked no more\n", shown(a.Name))
			})
		},
	}
}

// pickAccounts finds the account of an id, or of its beginning; without one all of a user's.
func (h *house) pickAccounts(ctx context.Context, user string, operands []string) ([]ownedAccount, error) {
	all, err := h.linkedOf(ctx, user)
	if err != nil || len(operands) == 0 {
		return all, err
	}
	for _, a := range all {
		if string(a.ID) == operands[0] || briefID(a.ID) == operands[0] {
			return []ownedAccount{a}, nil
		}
	}
	return nil, fmt.Errorf("%s has linked no account %q: see list-accounts", user, operands[0])
}

const rotateKeyDetails = `
Where MASTER_KEY is set, put a new key before the old one there, with a comma between them, restart the server, and call
this: all secrets are then sealed with the new one, and the old one can go. Where it is not set, the file master.key in
DATA_DIR gets a new key, and the old one is taken out of it at the end; a server that runs reads it by itself.
`

func rotateKeyCommand() command {
	var json bool
	return command{
		name: "rotate-key", settings: storeSettings | linkSettings,
		summary: "seal the secrets of linked accounts with a new master key", details: rotateKeyDetails,
		flags: func(f *flag.FlagSet) { asJSON(f, &json) },
		run: func(ctx context.Context, p *program, c config, _ []string) error {
			return p.withHouse(ctx, c, func(h *house) error {
				n, err := rotate(ctx, c, h)
				if err != nil {
					return err
				}
				return p.done(json, map[string]int{"resealed": n}, "%d secrets are sealed with the new key\n", n)
			})
		},
	}
}
