package admin

import (
	"context"
	"errors"
	"flag"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

// hookOf is a webhook with its owner.
type hookOf struct {
	owner calendar.User
	calendar.Webhook
}

// webhooksOf returns the webhooks of one user, or of all.
func webhooksOf(ctx context.Context, h *app.App, user string) ([]hookOf, error) {
	users, err := h.Auth.Users(ctx)
	if user != "" {
		var one calendar.User
		if one, err = h.Auth.User(ctx, user); err == nil {
			users = []calendar.User{one}
		}
	}
	if err != nil {
		return nil, err
	}
	var all []hookOf
	for _, u := range users {
		theirs, err := h.Calendars.Webhooks(ctx, app.Caller(u))
		if err != nil {
			return nil, err
		}
		for _, w := range theirs {
			all = append(all, hookOf{u, w})
		}
	}
	return all, nil
}

// findWebhook finds a webhook by its id or a prefix of it.
func findWebhook(ctx context.Context, h *app.App, word string) (hookOf, error) {
	all, err := webhooksOf(ctx, h, "")
	if err != nil {
		return hookOf{}, err
	}
	return console.ByID(all, func(w hookOf) string { return string(w.ID) }, "webhook", word)
}

// listedWebhook is a webhook in JSON.
type listedWebhook struct {
	ID      calendar.WebhookID    `json:"id"`
	User    string                `json:"user"`
	URL     string                `json:"url"`
	Kinds   []calendar.ChangeKind `json:"kinds"`
	Titles  bool                  `json:"titles"`
	State   calendar.WebhookState `json:"state"`
	Failing *time.Time            `json:"failing_since"`
	Created *time.Time            `json:"created"`
	// MadeBy is the name of the token that added it; "" for the user.
	MadeBy string `json:"made_by"`
}

func webhookJSON(w hookOf) listedWebhook {
	return listedWebhook{
		w.ID, w.owner.Name, w.URL, w.Kinds, w.Content, w.State, console.JSONTime(w.Failing),
		console.JSONTime(w.Created), w.Maker.Agent,
	}
}

// ListWebhooksCommand is the command list-webhooks.
func ListWebhooksCommand() command.Command {
	var user string
	return command.Listing[hookOf, listedWebhook]{
		Command: command.Command{
			Name: "list-webhooks", Summary: "list webhooks, never their secrets",
			Flags: func(f *flag.FlagSet) { f.StringVar(&user, "user", "", "only webhooks of the user `NAME`") },
		},
		Find:  func(ctx context.Context, h *app.App) ([]hookOf, error) { return webhooksOf(ctx, h, user) },
		JSON:  webhookJSON,
		Heads: []string{"ID", "USER", "URL", "KINDS", "STATE", "FAILING SINCE", "MADE BY"},
		Row: func(w hookOf, _ time.Time) []string {
			kinds := "all"
			if len(w.Kinds) > 0 {
				kinds = strings.Join(console.Each(w.Kinds, func(k calendar.ChangeKind) string { return string(k) }),
					" ")
			}
			return []string{
				console.BriefID(w.ID), w.owner.Name, w.URL, kinds, string(w.State), console.ShownTime(w.Failing),
				w.Maker.Agent,
			}
		},
	}.AsCommand()
}

// deliveriesShown limits the messages that list-deliveries shows.
const deliveriesShown = 50

// listedDelivery is a message in JSON.
type listedDelivery struct {
	ID       calendar.DeliveryID    `json:"id"`
	Calendar calendar.CalendarID    `json:"calendar_id"`
	State    calendar.DeliveryState `json:"state"`
	Tries    int64                  `json:"tries"`
	Answer   string                 `json:"answer"`
	Made     *time.Time             `json:"made"`
	Next     *time.Time             `json:"next_try"`
	Ended    *time.Time             `json:"ended"`
}

func deliveryJSON(d calendar.Delivery) listedDelivery {
	if d.State != calendar.DeliveryWaiting {
		d.Due = time.Time{}
	}
	return listedDelivery{
		d.ID, d.Calendar, d.State, d.Tries, d.Answer, console.JSONTime(d.Made), console.JSONTime(d.Due),
		console.JSONTime(d.Ended),
	}
}

// ListDeliveriesCommand is the command list-deliveries.
func ListDeliveriesCommand() command.Command {
	var word string
	return command.Listing[calendar.Delivery, listedDelivery]{
		Command: command.Command{
			Name: "list-deliveries", Summary: "list the latest messages to a webhook, and their results",
			Flags: func(f *flag.FlagSet) {
				f.StringVar(&word, "webhook", "", "`ID` of the webhook, or a prefix of it (needed)")
			},
		},
		Find: func(ctx context.Context, h *app.App) ([]calendar.Delivery, error) {
			w, err := findWebhook(ctx, h, word)
			if err != nil {
				return nil, err
			}
			return h.Calendars.WebhookDeliveries(ctx, app.Caller(w.owner), w.ID, deliveriesShown)
		},
		JSON:  deliveryJSON,
		Heads: []string{"ID", "CALENDAR", "MADE", "STATE", "TRIES", "ANSWER", "NEXT TRY"},
		Row: func(d calendar.Delivery, _ time.Time) []string {
			next := ""
			if d.State == calendar.DeliveryWaiting {
				next = console.ShownTime(d.Due)
			}
			return []string{
				string(d.ID), console.BriefID(d.Calendar), console.ShownTime(d.Made), string(d.State),
				strconv.FormatInt(d.Tries, 10), d.Answer, next,
			}
		},
	}.AsCommand()
}

const setWebhookDetails = `
ID is the id in list-webhooks, or a prefix of it. --rotate creates a new secret and prints it; for a day, messages are
signed with both. --resume turns a webhook on again that was turned off, and sends it the changes since then. --test
sends an empty message; list-deliveries shows the result.
`

// SetWebhookCommand is the command set-webhook.
func SetWebhookCommand() command.Command {
	var rotate, resume, test bool
	return command.Command{
		Name: "set-webhook", Operands: []string{"ID"}, Settings: settings.StoreGroup, JSON: true,
		Summary: "rotate the secret of a webhook, turn it on again, or test it", Details: setWebhookDetails,
		Flags: func(f *flag.FlagSet) {
			f.BoolVar(&rotate, "rotate", false, "create a new secret")
			f.BoolVar(&resume, "resume", false, "turn it on again")
			f.BoolVar(&test, "test", false, "send it an empty message")
		},
		Check: func(*command.Context, []string) error {
			if given := []bool{rotate, resume, test}; len(slices.DeleteFunc(given, func(b bool) bool { return !b })) !=
				1 {
				return errors.New("it needs one of --rotate and --resume, or else --test")
			}
			return nil
		},
		Run: func(ctx context.Context, d *command.Context, operands []string) error {
			w, err := findWebhook(ctx, d.App, operands[0])
			if err != nil {
				return err
			}
			if rotate {
				if w.Webhook, err = d.Calendars.RotateWebhook(ctx, app.Caller(w.owner), w.ID); err != nil {
					return err
				}
				return printWebhookSecret(ctx, d, w.owner, w.Webhook)
			}
			if test {
				if err := d.Calendars.TestWebhook(ctx, app.Caller(w.owner), w.ID); err != nil {
					return err
				}
				return webhookDone(d, "tested", w)
			}
			if err := d.Calendars.ResumeWebhook(ctx, app.Caller(w.owner), w.ID); err != nil {
				return err
			}
			return webhookDone(d, "resumed", w)
		},
	}
}

// webhookDone prints the action on a webhook.
func webhookDone(d *command.Context, done string, w hookOf) error {
	return d.Done(map[string]calendar.WebhookID{done: w.ID}, "%s the webhook %s of %s to %s\n", done,
		console.BriefID(w.ID), w.owner.Name, console.Shown(w.URL))
}

// RemoveWebhookCommand is the command remove-webhook.
func RemoveWebhookCommand() command.Command {
	return command.Command{
		Name: "remove-webhook", Operands: []string{"ID"}, Settings: settings.StoreGroup, JSON: true,
		Summary: "delete a webhook",
		Details: "\nID is the id in list-webhooks, or a prefix of it. Pending messages are not sent.\n",
		Run: func(ctx context.Context, d *command.Context, operands []string) error {
			w, err := findWebhook(ctx, d.App, operands[0])
			if err != nil {
				return err
			}
			if err := d.Calendars.RemoveWebhook(ctx, app.Caller(w.owner), w.ID); err != nil {
				return err
			}
			return webhookDone(d, "removed", w)
		},
	}
}
