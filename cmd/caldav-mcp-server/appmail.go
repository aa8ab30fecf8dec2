package main

import (
	"caldav-mcp-server/cmd/caldav-mcp-server/console"

	"context"
	"fmt"

	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/digest"
	"caldav-mcp-server/mail"
	"caldav-mcp-server/mail/letter"
	"caldav-mcp-server/trace"
	"caldav-mcp-server/web"
)

// mailKey authenticates the server's mails and links.
func (h *house) mailKey(ctx context.Context) (mail.Key, error) {
	key, err := h.store.Secret(ctx, "mail")
	return key, err
}

// answersOf lets people respond by links in mails. It is nil unless mail is sent and BASE_URL is set.
func answersOf(ctx context.Context, p *console.Console, c settings.Config, h *house) (*mail.Answers, error) {
	if !c.Mail.Sends() || c.BaseURL == nil {
		return nil, nil
	}
	key, err := h.mailKey(ctx)
	return &mail.Answers{Store: h.store, Middle: h.calendars, Key: key, Page: c.BaseURL.JoinPath(web.AnswerPath), Now: p.Now}, err
}

// proofsOf verifies users' mail addresses, under the same conditions.
func proofsOf(ctx context.Context, p *console.Console, c settings.Config, h *house) (*mail.Proofs, error) {
	relay, ok, err := relayOf(c)
	if !ok || err != nil {
		return nil, err
	}
	key, err := h.mailKey(ctx)
	return &mail.Proofs{Relay: relay, Post: c.Mail.Post(), Key: key, Page: c.BaseURL.JoinPath(web.ProofPath), Now: p.Now, NewID: p.NewID}, err
}

// passlinksOf mails password links, under the same conditions.
func passlinksOf(p *console.Console, c settings.Config) (*mail.Passlinks, error) {
	relay, ok, err := relayOf(c)
	if !ok || err != nil {
		return nil, err
	}
	return &mail.Passlinks{Relay: relay, Post: c.Mail.Post(), Host: c.BaseURL.Host, Now: p.Now, NewID: p.NewID}, nil
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

// digestsOf sends users daily mails, under the same conditions.
func digestsOf(ctx context.Context, p *console.Console, c settings.Config, h *house) (*mail.Digests, error) {
	if !c.Mail.Sends() || c.BaseURL == nil {
		return nil, nil //nolint:nilnil // there are none
	}
	key, err := h.mailKey(ctx)
	day := &digest.Maker{Service: h.calendars, Journal: c.BaseURL.JoinPath(web.JournalPath)}
	return &mail.Digests{
		Store: h.store, Day: day.Note, Key: key, Page: c.BaseURL.JoinPath(web.StopPath), Settings: c.BaseURL.JoinPath(web.SettingsPath),
		Most: h.calendars.Limits().Outbox, Now: p.Now, NewID: p.NewID, Task: trace.Task,
	}, err
}

// endingsOf sends mails about webhooks that were turned off, under the same conditions.
func endingsOf(p *console.Console, c settings.Config, h *house) *mail.Endings {
	if !c.Mail.Sends() || c.BaseURL == nil {
		return nil
	}
	return &mail.Endings{
		Store: h.store, Host: c.BaseURL.Host, Page: c.BaseURL.JoinPath(web.WebhooksPath), Most: h.calendars.Limits().Outbox, Now: p.Now, NewID: p.NewID,
	}
}

// offersOf sends mails about pending shares, under the same conditions.
func offersOf(p *console.Console, c settings.Config, h *house) *mail.Offers {
	if !c.Mail.Sends() || c.BaseURL == nil {
		return nil
	}
	return &mail.Offers{
		Store: h.store, Host: c.BaseURL.Host, Page: c.BaseURL.JoinPath(web.OffersPath), Most: h.calendars.Limits().Outbox, Now: p.Now, NewID: p.NewID,
	}
}
