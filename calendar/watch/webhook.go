package watch

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
)

const (
	// maxWebhooks limits a user's webhooks, maxWebhookURL the length of a URL.
	maxWebhooks   = 20
	maxWebhookURL = 1024
)

// webhookKinds are the kinds of changes that a webhook can select.
var webhookKinds = []calendar.ChangeKind{calendar.Created, calendar.Modified, calendar.Deleted}

// WebhookSpec describes a new webhook.
type WebhookSpec struct {
	URL string
	// Kinds are the kinds of changes to report; none means all.
	Kinds []calendar.ChangeKind
	// Content also sends the titles of changed objects.
	Content bool
}

// AddWebhook adds a webhook for changes in the calendars that the caller can read.
func (s *Hub) AddWebhook(ctx context.Context, c calendar.Caller, spec WebhookSpec) (calendar.Webhook, error) {
	now := s.now().UTC().Truncate(time.Second)
	w := calendar.Webhook{
		ID: calendar.WebhookID(s.newID()), User: c.User.ID, URL: strings.TrimSpace(spec.URL), Kinds: spec.Kinds,
		Content: spec.Content,
		Number:  1, Rotated: now, State: calendar.WebhookOn, Created: now, Maker: c.Maker(),
	}
	u, err := url.Parse(w.URL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil ||
		u.Fragment != "" || len(w.URL) > maxWebhookURL {
		return w, calendar.Errorf(calendar.Invalid, "",
			"a webhook is an https address without a user or a fragment, of at most %d bytes", maxWebhookURL)
	}
	for _, k := range spec.Kinds {
		if !slices.Contains(webhookKinds, k) {
			return w, calendar.Errorf(calendar.Invalid, "",
				"%q is not a kind of change; use created, modified or deleted", string(k))
		}
	}
	if err := c.MayOwn(calendar.ShareCalendar); err != nil {
		return w, err
	}
	if err := s.sendable(ctx, w.URL); err != nil {
		return w, calendar.Errorf(calendar.Invalid, "", "%s", err)
	}
	return w, s.store.AddWebhook(ctx, w, maxWebhooks)
}

// Webhooks returns the caller's webhooks.
func (s *Hub) Webhooks(ctx context.Context, c calendar.Caller) ([]calendar.Webhook, error) {
	if err := c.MayOwn(calendar.ReadObjects); err != nil {
		return nil, err
	}
	return s.store.WebhooksOf(ctx, c.User.ID)
}

// webhook returns a webhook of the caller, who must be allowed to change it.
func (s *Hub) webhook(ctx context.Context, c calendar.Caller, id calendar.WebhookID) (calendar.Webhook, error) {
	if err := c.MayOwn(calendar.ShareCalendar); err != nil {
		return calendar.Webhook{}, err
	}
	all, err := s.store.WebhooksOf(ctx, c.User.ID)
	if err != nil {
		return calendar.Webhook{}, err
	}
	i := slices.IndexFunc(all, func(w calendar.Webhook) bool { return w.ID == id })
	if i < 0 {
		return calendar.Webhook{}, calendar.Errorf(calendar.NotFound, "", "there is no webhook %q", string(id))
	}
	return all[i], nil
}

// WebhookDeliveries returns the latest messages to a webhook of the caller.
func (s *Hub) WebhookDeliveries(
	ctx context.Context, c calendar.Caller, id calendar.WebhookID, most int,
) ([]calendar.Delivery, error) {
	if _, err := s.webhook(ctx, c, id); err != nil {
		return nil, err
	}
	return s.store.Deliveries(ctx, id, most)
}

// RotateWebhook gives a webhook of the caller a new secret, and returns the updated webhook.
func (s *Hub) RotateWebhook(ctx context.Context, c calendar.Caller, id calendar.WebhookID) (calendar.Webhook, error) {
	if _, err := s.webhook(ctx, c, id); err != nil {
		return calendar.Webhook{}, err
	}
	if err := s.store.RotateWebhook(ctx, c.User.ID, id, s.now()); err != nil {
		return calendar.Webhook{}, err
	}
	return s.webhook(ctx, c, id)
}

// ResumeWebhook turns on a webhook of the caller. It is then told of the changes since it was turned off.
func (s *Hub) ResumeWebhook(ctx context.Context, c calendar.Caller, id calendar.WebhookID) error {
	if _, err := s.webhook(ctx, c, id); err != nil {
		return err
	}
	return s.store.ResumeWebhook(ctx, c.User.ID, id)
}

// RemoveWebhook deletes a webhook of the caller.
func (s *Hub) RemoveWebhook(ctx context.Context, c calendar.Caller, id calendar.WebhookID) error {
	if _, err := s.webhook(ctx, c, id); err != nil {
		return err
	}
	return s.store.RemoveWebhook(ctx, c.User.ID, id)
}

// TestWebhook sends a signed test message to a webhook of the caller.
func (s *Hub) TestWebhook(ctx context.Context, c calendar.Caller, id calendar.WebhookID) error {
	w, err := s.webhook(ctx, c, id)
	if err != nil {
		return err
	}
	if w.State != calendar.WebhookOn {
		return calendar.Errorf(calendar.Invalid, "", "the webhook is turned off; turn it on first")
	}
	now := s.now().UTC().Truncate(time.Second)
	return s.store.PostDelivery(ctx, calendar.Delivery{
		ID: calendar.DeliveryID("msg_" + s.newID()), Webhook: id, Made: now, Due: now, State: calendar.DeliveryWaiting,
		Body: []byte(`{"type":"webhook.test","timestamp":"` + now.Format(time.RFC3339) + `","data":{}}`),
	}, calendar.DefaultWebhookRoom())
}
