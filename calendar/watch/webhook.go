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
	// maxWebhooks is how many a user may have, maxWebhookURL how long an address may be.
	maxWebhooks   = 20
	maxWebhookURL = 1024
)

// webhookKinds are the changes that a webhook can choose among.
var webhookKinds = []calendar.ChangeKind{calendar.Created, calendar.Modified, calendar.Deleted}

// WebhookSpec is what is said of a new webhook.
type WebhookSpec struct {
	URL string
	// Kinds are those of the changes to tell of; none for all.
	Kinds []calendar.ChangeKind
	// Content has titles told as well.
	Content bool
}

// AddWebhook has a program elsewhere told of what changes in the calendars that the caller reads.
func (s *Hub) AddWebhook(ctx context.Context, c calendar.Caller, spec WebhookSpec) (calendar.Webhook, error) {
	now := s.now().UTC().Truncate(time.Second)
	w := calendar.Webhook{
		ID: calendar.WebhookID(s.newID()), User: c.User.ID, URL: strings.TrimSpace(spec.URL), Kinds: spec.Kinds, Content: spec.Content,
		Number: 1, Rotated: now, State: calendar.WebhookOn, Created: now, Maker: c.Maker(),
	}
	u, err := url.Parse(w.URL)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" || len(w.URL) > maxWebhookURL {
		return w, calendar.Errorf(calendar.Invalid, "", "a webhook is an https address without a user or a fragment, of at most %d bytes", maxWebhookURL)
	}
	for _, k := range spec.Kinds {
		if !slices.Contains(webhookKinds, k) {
			return w, calendar.Errorf(calendar.Invalid, "", "%q is no kind of change: there are created, modified and deleted", string(k))
		}
	}
	if err := c.MayOwn(calendar.ShareCalendar); err != nil {
		return w, err
	}
	return w, s.store.AddWebhook(ctx, w, maxWebhooks)
}

// Webhooks returns the caller's.
func (s *Hub) Webhooks(ctx context.Context, c calendar.Caller) ([]calendar.Webhook, error) {
	if err := c.MayOwn(calendar.ReadObjects); err != nil {
		return nil, err
	}
	return s.store.WebhooksOf(ctx, c.User.ID)
}

// webhook finds one of the caller's, for a caller who may change it.
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

// WebhookDeliveries returns the latest messages to one of the caller's.
func (s *Hub) WebhookDeliveries(ctx context.Context, c calendar.Caller, id calendar.WebhookID, most int) ([]calendar.Delivery, error) {
	if _, err := s.webhook(ctx, c, id); err != nil {
		return nil, err
	}
	return s.store.Deliveries(ctx, id, most)
}

// RotateWebhook gives one of the caller's another secret, and returns it as it then is.
func (s *Hub) RotateWebhook(ctx context.Context, c calendar.Caller, id calendar.WebhookID) (calendar.Webhook, error) {
	if _, err := s.webhook(ctx, c, id); err != nil {
		return calendar.Webhook{}, err
	}
	if err := s.store.RotateWebhook(ctx, c.User.ID, id, s.now()); err != nil {
		return calendar.Webhook{}, err
	}
	return s.webhook(ctx, c, id)
}

// ResumeWebhook has one of the caller's told again that was turned off: of what changed since then.
func (s *Hub) ResumeWebhook(ctx context.Context, c calendar.Caller, id calendar.WebhookID) error {
	if _, err := s.webhook(ctx, c, id); err != nil {
		return err
	}
	return s.store.ResumeWebhook(ctx, c.User.ID, id)
}

// RemoveWebhook ends one of the caller's.
func (s *Hub) RemoveWebhook(ctx context.Context, c calendar.Caller, id calendar.WebhookID) error {
	if _, err := s.webhook(ctx, c, id); err != nil {
		return err
	}
	return s.store.RemoveWebhook(ctx, c.User.ID, id)
}

// TestWebhook sends one of the caller's a message that tells of nothing, signed as all are.
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
