package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/remind"
	"caldav-mcp-server/trace"
	"caldav-mcp-server/web"
	"caldav-mcp-server/webpush"
)

// newRinger returns the sender of reminders; nil if the server sends neither push messages nor mail.
func (p *program) newRinger(c settings.Config, h *app.App, log *slog.Logger) *remind.Ringer {
	if !c.Push && !c.Mail.Sends() {
		return nil
	}
	pages := ""
	if c.BaseURL != nil {
		pages = strings.TrimSuffix(c.BaseURL.JoinPath(web.NotificationsPath).String(), "notifications")
	}
	return remind.New(remind.Config{
		Store: h.Store, Service: h.Calendars, Zones: zone.NewDB(), Pages: pages, Mailed: c.Mail.Sends(),
		Most: h.Calendars.Limits().Outbox, Now: p.Now, NewID: p.NewID, Logger: log, Task: trace.Task,
	})
}

// notificationPages enables the page with the choices of notifications.
func (p *program) notificationPages(ctx context.Context, c settings.Config, h *app.App, pages *web.Config,
	log *slog.Logger,
) error {
	ringer := p.newRinger(c, h, log)
	if ringer == nil {
		return nil
	}
	choices := &remind.Choices{Ringer: ringer, Before: func() int64 {
		return h.Service().NewUsers.Reminder
	}, Parse: func(endpoint, key, auth string) (calendar.Browser, error) {
		s, err := webpush.Parse(endpoint, key, auth)
		return calendar.Browser{Endpoint: s.Endpoint, Key: s.Key, Auth: s.Auth}, err
	}}
	if c.Push {
		key, _, err := pushKeys(ctx, h)
		if err != nil {
			return fmt.Errorf("the keys of push messages: %w", err)
		}
		choices.PublicKey = key.Public()
	}
	pages.Notifications = choices
	return nil
}
