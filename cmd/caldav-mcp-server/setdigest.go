package main

import (
	"context"
	"errors"
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
	day, off := calendar.Digest{}, false
	return command{
		name: "set-digest", operands: []string{"NAME"}, settings: storeSettings | mailSettings | addressSettings, json: true,
		summary: "have a user get mail of their day, or no more of it", details: setDigestDetails,
		flags: func(f *flag.FlagSet) {
			f.BoolVar(&day.Agenda, "agenda", false, "what is on tomorrow")
			f.BoolVar(&day.Changes, "changes", false, "what assistants changed")
			f.IntVar(&day.Hour, "hour", 18, "the `HOUR` of their day, from 0 to 23")
			f.BoolVar(&off, "off", false, "no such mail")
		},
		check: func(*desk, []string) error {
			if off == day.Wanted() {
				return errors.New("it needs --agenda, --changes or both, or else --off")
			}
			return nil
		},
		run: func(ctx context.Context, d *desk, operands []string) error { return d.setDigest(ctx, operands[0], day) },
	}
}

func (d *desk) setDigest(ctx context.Context, name string, day calendar.Digest) error {
	u, err := d.auth.User(ctx, name)
	if err != nil {
		return err
	}
	digests, err := d.digests(ctx, d.config, d.house)
	switch {
	case err != nil:
		return err
	case digests == nil && day.Wanted():
		return wrongUsage("mail of the day needs SMTP_URL, MAIL_FROM and BASE_URL, which the server that sends it must have, too")
	case digests == nil:
		err = d.store.SetDigest(ctx, calendar.Digest{User: u.ID})
	default:
		err = digests.Want(ctx, u, day)
	}
	if err != nil {
		return err
	}
	said := fmt.Sprintf("%s gets mail of the day at %02d:00", u.Name, day.Hour)
	if !day.Wanted() {
		said = u.Name + " gets no mail of the day"
	}
	return d.done(struct {
		User    string `json:"user"`
		Agenda  bool   `json:"agenda"`
		Changes bool   `json:"changes"`
		Hour    int    `json:"hour"`
	}{u.Name, day.Agenda, day.Changes, day.Hour}, "%s\n", said)
}
