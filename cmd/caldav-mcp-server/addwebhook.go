package main

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/watch"
)

const addWebhookDetails = `
URL is sent a message (POST, JSON) soon after something changes in a calendar that the user reads: which calendar, what
kind of change, and the UIDs. Titles are told only with --titles. Messages are signed as Standard Webhooks has it, with
the secret that is printed; set-webhook --rotate makes another.

  caldav-mcp-server add-webhook --user alice --url https://automation.example.org/hooks/calendar --kinds "created deleted"
`

// addWebhookOptions are the flags of add-webhook.
type addWebhookOptions struct {
	user, url, kinds string
	titles, json     bool
}

func addWebhookCommand() command {
	var o addWebhookOptions
	return command{
		name: "add-webhook", settings: storeSettings,
		summary: "tell a program elsewhere of what changes in a user's calendars", details: addWebhookDetails,
		flags: func(f *flag.FlagSet) {
			f.StringVar(&o.user, "user", "", "`NAME` of the user whose calendars are meant (needed)")
			f.StringVar(&o.url, "url", "", "https address, `URL`, that is told (needed)")
			f.StringVar(&o.kinds, "kinds", "", "`LIST` of created, modified and deleted; all if not given")
			f.BoolVar(&o.titles, "titles", false, "tell the titles of what changed as well")
			asJSON(f, &o.json)
		},
		run: func(ctx context.Context, p *program, c config, _ []string) error {
			if o.user == "" || o.url == "" {
				return wrongUsage("add-webhook needs --user and --url (see %s add-webhook --help)", name)
			}
			return p.withHouse(ctx, c, func(h *house) error { return p.addWebhook(ctx, h, o) })
		},
	}
}

func (p *program) addWebhook(ctx context.Context, h *house, o addWebhookOptions) error {
	user, err := h.auth.User(ctx, o.user)
	if err != nil {
		return err
	}
	spec := watch.WebhookSpec{URL: o.url, Content: o.titles}
	for _, word := range strings.FieldsFunc(o.kinds, func(r rune) bool { return r == ' ' || r == ',' }) {
		spec.Kinds = append(spec.Kinds, calendar.ChangeKind(word))
	}
	w, err := h.calendars.AddWebhook(ctx, caller(user), spec)
	if err != nil {
		return err
	}
	return p.printWebhookSecret(ctx, h, user, w, o.json)
}

// printWebhookSecret shows what the program that is told must know.
func (p *program) printWebhookSecret(ctx context.Context, h *house, u calendar.User, w calendar.Webhook, json bool) error {
	secret, err := h.webhookSecret(ctx, w)
	if err != nil {
		return err
	}
	if json {
		return p.printJSON(struct {
			listedWebhook
			Secret string `json:"secret"`
		}{webhookJSON(hookOf{u, w}), secret})
	}
	_, err = fmt.Fprintf(p.stdout, "The webhook of %s to %s\n\n  id      %s\n  secret  %s\n", u.Name, shown(w.URL), w.ID, secret)
	return err
}
