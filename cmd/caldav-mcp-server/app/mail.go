package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/digest"
	"caldav-mcp-server/mail"
	"caldav-mcp-server/mail/letter"
	"caldav-mcp-server/trace"
	"caldav-mcp-server/web"
	"caldav-mcp-server/web/booking"
	"caldav-mcp-server/web/poll"
)

// MailKey authenticates the server's mails and links.
func (h *App) MailKey(ctx context.Context) (mail.Key, error) {
	key, err := h.Store.Secret(ctx, "mail")
	return key, err
}

// AnswersOf lets people respond by links in mails. It is nil unless mail is sent and BASE_URL is set.
func AnswersOf(ctx context.Context, p *console.Console, c settings.Config, h *App) (*mail.Answers, error) {
	if !c.Mail.Sends() || c.BaseURL == nil {
		return nil, nil
	}
	key, err := h.MailKey(ctx)
	return &mail.Answers{
		Store: h.Store, Middle: h.Calendars, Events: h.Calendars, Key: key,
		Page: c.BaseURL.JoinPath(web.AnswerPath), Now: p.Now,
	}, err
}

// ProofsOf verifies users' mail addresses, under the same conditions.
func ProofsOf(ctx context.Context, p *console.Console, c settings.Config, h *App) (*mail.Proofs, error) {
	relay, ok, err := relayOf(c)
	if !ok || err != nil {
		return nil, err
	}
	key, err := h.MailKey(ctx)
	return &mail.Proofs{
		Relay: relay, Post: c.Mail.Post(), Key: key, Page: c.BaseURL.JoinPath(web.ProofPath), Now: p.Now,
		NewID: p.NewID,
	}, err
}

// PasslinksOf mails password links, under the same conditions.
func PasslinksOf(p *console.Console, c settings.Config) (*mail.Passlinks, error) {
	relay, ok, err := relayOf(c)
	if !ok || err != nil {
		return nil, err
	}
	return &mail.Passlinks{Relay: relay, Post: c.Mail.Post(), Host: c.BaseURL.Host, Now: p.Now, NewID: p.NewID}, nil
}

// BookingsOf runs the booking pages, under the same conditions: a visitor confirms by mail.
func BookingsOf(p *console.Console, c settings.Config, h *App, log *slog.Logger) (*booking.Service, error) {
	relay, ok, err := relayOf(c)
	if !ok || err != nil {
		return nil, err
	}
	assistants, err := url.Parse(c.MCPURL())
	if err != nil {
		return nil, err
	}
	return &booking.Service{
		Calendars: h.Calendars, Store: h.Store, Root: c.BaseURL.JoinPath(web.BookPath), MCP: assistants, Now: p.Now,
		NewID:  p.NewID,
		Mailer: &mail.Bookings{Relay: relay, Post: c.Mail.Post(), Now: p.Now, NewID: p.NewID}, Logger: log,
	}, nil
}

// PollsOf runs the polls. They need no mail; without it, their owners pass on the links.
func PollsOf(p *console.Console, c settings.Config, h *App) *poll.Service {
	s := &poll.Service{
		Calendars: h.Calendars, Store: h.Store, Outbox: h.Calendars.Limits().Outbox, Now: p.Now, NewID: p.NewID,
		Address: func(written string) (string, error) {
			to, err := letter.Address(written)
			return string(to), err
		},
	}
	if c.Mail.Sends() && c.BaseURL != nil {
		s.Root = c.BaseURL.JoinPath(web.PollPath)
	}
	return s
}

// relayOf returns the relay for the server's own mails. The result is false unless mail is sent and BASE_URL is set.
func relayOf(c settings.Config) (mail.Relay, bool, error) {
	if !c.Mail.Sends() || c.BaseURL == nil {
		return mail.Relay{}, false, nil
	}
	relay, err := mail.ParseRelay(c.Mail.SMTPURL)
	if err != nil {
		return relay, false, fmt.Errorf("the mail: %w", err)
	}
	relay.Hello = letter.Domain(c.Mail.Post().From)
	return relay, true, nil
}

// DigestsOf sends users daily mails, under the same conditions.
func DigestsOf(ctx context.Context, p *console.Console, c settings.Config, h *App) (*mail.Digests, error) {
	if !c.Mail.Sends() || c.BaseURL == nil {
		return nil, nil // there are none
	}
	key, err := h.MailKey(ctx)
	day := &digest.Maker{
		Service: h.Calendars, Journal: c.BaseURL.JoinPath(web.JournalPath),
		Suggestions: c.BaseURL.JoinPath(web.SuggestionsPath),
	}
	return &mail.Digests{
		Store: h.Store, Day: day.Note, Key: key, Page: c.BaseURL.JoinPath(web.StopPath),
		Settings: c.BaseURL.JoinPath(web.SettingsPath),
		Most:     h.Calendars.Limits().Outbox, Now: p.Now, NewID: p.NewID, Task: trace.Task,
	}, err
}

// EndingsOf sends mails about webhooks that were turned off, under the same conditions.
func EndingsOf(p *console.Console, c settings.Config, h *App) *mail.Endings {
	if !c.Mail.Sends() || c.BaseURL == nil {
		return nil
	}
	return &mail.Endings{
		Store: h.Store, Host: c.BaseURL.Host, Page: c.BaseURL.JoinPath(web.WebhooksPath),
		Most: h.Calendars.Limits().Outbox, Now: p.Now, NewID: p.NewID,
	}
}

// OffersOf sends mails about pending shares, under the same conditions.
func OffersOf(p *console.Console, c settings.Config, h *App) *mail.Offers {
	if !c.Mail.Sends() || c.BaseURL == nil {
		return nil
	}
	return &mail.Offers{
		Store: h.Store, Host: c.BaseURL.Host, Page: c.BaseURL.JoinPath(web.OffersPath),
		Most: h.Calendars.Limits().Outbox, Now: p.Now, NewID: p.NewID,
	}
}
