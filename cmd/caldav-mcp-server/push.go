package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/caldav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/push"
	"caldav-mcp-server/trace"
	"caldav-mcp-server/webpush"
)

// pushKeys returns the keys for signing messages and deriving topics. All processes on the store share them.
func pushKeys(ctx context.Context, h *app.App) (key webpush.Key, topics calendar.TopicKey, err error) {
	secret, err := h.Store.Secret(ctx, "web push")
	if err != nil {
		return key, nil, err
	}
	if key, err = webpush.NewKey(secret); err != nil {
		return key, nil, err
	}
	topics, err = h.Store.Secret(ctx, "push topics")
	return key, topics, err
}

// davPush configures push for the CalDAV listener; nil if push is off.
func davPush(ctx context.Context, h *app.App, c settings.Config) (*caldav.Push, error) {
	if !c.Push || c.BaseURL == nil {
		return nil, nil // push is off
	}
	key, topics, err := pushKeys(ctx, h)
	return &caldav.Push{
		Key: key.Public(), Topics: topics,
		Parse: func(endpoint, key, auth string) (calendar.PushSubscription, error) {
			s, err := webpush.Parse(endpoint, key, auth)
			return calendar.PushSubscription{Endpoint: s.Endpoint, Key: s.Key, Auth: s.Auth}, err
		},
	}, err
}

// newCourier returns the sender of push messages; nil if push is off.
func (p *program) newCourier(ctx context.Context, c settings.Config, h *app.App,
	log *slog.Logger,
) (*push.Courier, error) {
	if !c.Push {
		return nil, nil // push is off
	}
	key, topics, err := pushKeys(ctx, h)
	if err != nil {
		return nil, fmt.Errorf("the keys of push messages: %w", err)
	}
	secret, err := h.WebhookKey(ctx)
	if err != nil {
		return nil, fmt.Errorf("the key of webhooks: %w", err)
	}
	from := webpush.Sender{Key: key}
	if c.BaseURL != nil && c.BaseURL.Scheme == "https" {
		from.Subject = c.BaseURL.String()
	} else if c.Mail.From != "" {
		from.Subject = "mailto:" + c.Mail.From
	}
	messages := app.NewMessages(p.Console, c)
	var ending func(context.Context, calendar.Webhook) (*calendar.News, error)
	if endings := app.EndingsOf(p.Console, c, h); endings != nil {
		ending = endings.News
	}
	return push.NewCourier(push.Config{
		Ending: ending,
		Store:  h.Store, Calendar: h.Calendars.Calendar,
		Program: func(ctx context.Context, id calendar.UserID, token calendar.TokenID) (calendar.Caller, bool, error) {
			return programOf(ctx, h, id, token)
		},
		Owner: func(ctx context.Context, id calendar.UserID) (calendar.Caller, bool, error) {
			return ownerOf(ctx, h, id)
		},
		Send: func(r *http.Request) (push.Answer, error) {
			answer, err := messages.Send(r)
			return push.Answer(answer), err
		},
		From: from, Topics: topics, Secret: secret, Now: p.Now, NewID: p.NewID, Logger: log, Task: trace.Task,
	}), nil
}

// programOf returns the current caller for a user's password or token. The result is false if it was revoked.
func programOf(ctx context.Context, h *app.App, id calendar.UserID,
	token calendar.TokenID,
) (calendar.Caller, bool, error) {
	user, err := h.Store.UserByID(ctx, id)
	if err == nil {
		var c calendar.Caller
		if c, err = h.Auth.Standing(ctx, user, token); err == nil {
			return c, true, nil
		}
	}
	if errors.Is(err, auth.ErrUnauthorized) || calendar.ReasonOf(err) == calendar.NotFound {
		return calendar.Caller{}, false, nil
	}
	return calendar.Caller{}, false, err
}

// ownerOf returns a user as their own caller.
func ownerOf(ctx context.Context, h *app.App, id calendar.UserID) (calendar.Caller, bool, error) {
	user, err := h.Store.UserByID(ctx, id)
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		return calendar.Caller{}, false, nil
	}
	return calendar.Caller{User: user, Scopes: calendar.ScopeAll}, err == nil && !user.Disabled, err
}
