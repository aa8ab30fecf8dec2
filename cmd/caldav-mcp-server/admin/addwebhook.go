package admin

import (
	"context"
	"flag"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/watch"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const addWebhookDetails = `
After each change in a calendar that the user reads, the server posts a JSON message to URL. It contains the calendar,
the kind of change, and the UIDs; titles only with --titles. Messages are signed as in Standard Webhooks, with the
secret that is printed. set-webhook --rotate creates a new secret. URL is https. In a network that FETCH_ALLOW has, it
may be http, such as http://homeassistant.local:8123/api/webhook/ID.
  caldav-mcp-server add-webhook --user alice --url https://automation.example.org/hooks --kinds "created deleted"
`

// addWebhookOptions are the flags of add-webhook.
type addWebhookOptions struct {
	url, kinds string
	titles     bool
}

// AddWebhookCommand is the command add-webhook.
func AddWebhookCommand() command.Command {
	var o addWebhookOptions
	return command.Command{
		Name: "add-webhook", User: "`NAME` of the user whose changes are sent",
		Settings: settings.StoreGroup | settings.FetchGroup,
		JSON:     true,
		Summary:  "send a program messages about changes in a user's calendars", Details: addWebhookDetails,
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&o.url, "url", "", "`URL` that gets the messages (needed)")
			f.StringVar(&o.kinds, "kinds", "", "`LIST` of created, modified and deleted; default all")
			f.BoolVar(&o.titles, "titles", false, "include the titles of changed objects")
		},
		Run: func(ctx context.Context, d *command.Context, _ []string) error {
			return addWebhook(ctx, d, o)
		},
	}
}

func addWebhook(ctx context.Context, d *command.Context, o addWebhookOptions) error {
	spec := watch.WebhookSpec{URL: o.url, Content: o.titles}
	for _, word := range strings.FieldsFunc(o.kinds, func(r rune) bool { return r == ' ' || r == ',' }) {
		spec.Kinds = append(spec.Kinds, calendar.ChangeKind(word))
	}
	w, err := d.Calendars.AddWebhook(ctx, d.Caller(), spec)
	if err != nil {
		return err
	}
	return printWebhookSecret(ctx, d, d.Who, w)
}

// printWebhookSecret prints the secret that the receiver needs.
func printWebhookSecret(ctx context.Context, d *command.Context, u calendar.User, w calendar.Webhook) error {
	secret, err := d.WebhookSecret(ctx, w)
	if err != nil {
		return err
	}
	return d.Done(struct {
		listedWebhook
		Secret string `json:"secret"`
	}{webhookJSON(hookOf{u, w}), secret}, "The webhook of %s to %s\n\n  id      %s\n  secret  %s\n", u.Name,
		console.Shown(w.URL), w.ID, secret)
}
