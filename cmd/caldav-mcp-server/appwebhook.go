package main

import (
	"context"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/push"
)

// webhookKey is the key that webhook secrets are derived from.
func (h *house) webhookKey(ctx context.Context) ([]byte, error) {
	return h.store.Secret(ctx, "webhooks")
}

// webhookSecret is the key that signs messages to a webhook.
func (h *house) webhookSecret(ctx context.Context, w calendar.Webhook) (string, error) {
	key, err := h.webhookKey(ctx)
	if err != nil {
		return "", err
	}
	return push.WebhookSecret(key, w)
}
