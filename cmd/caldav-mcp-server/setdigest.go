package main

import (
	"context"
	"flag"
	"fmt"

	"caldav-mcp-server/calendar"
)

const setDigestDetails = `
The mail comes once a day, at an hour of the user's own zone, to their main mail address: what is on tomorrow, and what
assistants changed, with links to take that back. A day on which there is nothing to say has none. What is not named is
not wanted; each mail has a link that ends it.

  caldav-mcp-server set-digest alice --agenda --changes --hour 18
  caldav-mcp-server set-digest alice --off
`

func setDigestCommand() command {
	d, off, json := calendar.Digest{}, false, false
	return command{
		name: "set-digest", operands: []string{"NAME"}, settings: storeSettings | mailSettings | addressSettings,
		summary: "have a user get mail of their day, or no more of it", details: setDigestDetails,
		flags: func(f *flag.FlagSet) {
			f.BoolVar(&d.Agenda, "agenda", false, "what is on tomorrow")
			f.BoolVar(&d.Changes, "changes", false, "what assistants changed")
			f.IntVar(&d.Hour, "hour", 18, "the `HOUR` of their day, from 0 to 23")
			f.BoolVar(&off, "off", false, "no such mail")
			asJSON(f, &json)
		},
		run: func(ctx context.Context, p *program, c config, operands []string) error {
			if off == d.Wanted() {
				return wrongUsage("set-digest needs --agenda, --changes or both, or else --off (see %s set-digest --help)", name)
			}
			return p.withHouse(ctx, c, func(h *house) error { return p.setDigest(ctx, c, h, operands[0], d, json) })
		},
	}
}

func (p *program) setDigest(ctx context.Context, c config, h *house, name string, d calendar.Digest, json bool) error {
	u, err := h.auth.User(ctx, name)
	if err != nil {
		return err
	}
	digests, err := p.digests(ctx, c, h)
	switch {
	case err != nil:
		return err
	case digests == nil && d.Wanted():
		return wrongUsage("mail of the day needs SMTP_URL, MAIL_FROM and BASE_URL, which the server that sends it must have, too")
	case digests == nil:
		err = h.store.SetDigest(ctx, calendar.Digest{User: u.ID})
	default:
		err = digests.Want(ctx, u, d)
	}
	if err != nil {
		return err
	}
	if json {
		return p.printJSON(struct {
			User    string `json:"user"`
			Agenda  bool   `json:"agenda"`
			Changes bool   `json:"changes"`
			Hour    int    `json:"hour"`
		}{u.Name, d.Agenda, d.Changes, d.Hour})
	}
	said := fmt.Sprintf("%s gets mail of the day at %02d:00", u.Name, d.Hour)
	if !d.Wanted() {
		said = u.Name + " gets no mail of the day"
	}
	_, err = fmt.Fprintln(p.stdout, said)
	return err
}
