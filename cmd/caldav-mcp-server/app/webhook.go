package app

import (
	"context"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/push"
)

// WebhookKey is the key that webhook secrets are derived from.
func (h *App) WebhookKey(ctx context.Context) ([]byte, error) {
	return h.Store.Secret(ctx, "webhooks")
}

// WebhookSecret is the key that signs messages to a webhook.
func (h *App) WebhookSecret(ctx context.Context, w calendar.Webhook) (string, error) {
	key, err := h.WebhookKey(ctx)
	if err != nil {
		return "", err
	}
	return push.WebhookSecret(key, w)
}
