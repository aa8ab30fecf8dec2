package main

import (
	"caldav-mcp-server/cmd/caldav-mcp-server/console"

	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"

	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/digest"
	"caldav-mcp-server/mail"
	"caldav-mcp-server/mail/letter"
	"caldav-mcp-server/trace"
	"caldav-mcp-server/web"
)

// mailroom sends and receives mail in the background. Parts that the settings do not enable are nil.
type mailroom struct {
	sender  *mail.Sender
	mailbox *mail.Mailbox
	door    *mail.Door
	// hatch is the LMTP listener.
	hatch net.Listener
	log   *slog.Logger
}

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

// receiver processes incoming mail.
func (p *program) receiver(ctx context.Context, c settings.Config, h *house, log *slog.Logger) (*mail.Receiver, error) {
	key, err := h.mailKey(ctx)
	return &mail.Receiver{
		Store: h.store, Middle: h.calendars, Key: key, Trust: mail.Trust{Server: c.Mail.AuthServer}, Now: p.Now, Logger: log, Task: trace.Task,
	}, err
}

// openMailroom creates the parts that the settings enable.
func (p *program) openMailroom(ctx context.Context, c settings.Config, h *house, log *slog.Logger) (*mailroom, error) {
	room := &mailroom{log: log}
	receiver, err := p.receiver(ctx, c, h, log)
	if err != nil {
		return nil, fmt.Errorf("the mail: %w", err)
	}
	if c.Mail.Sends() {
		if room.sender, err = p.newSender(ctx, c, h, log); err != nil {
			return nil, fmt.Errorf("the mail: %w", err)
		}
	}
	if c.Mail.IMAPURL != "" {
		m, err := mail.ParseMailbox(c.Mail.IMAPURL)
		if err != nil {
			return nil, fmt.Errorf("IMAP_URL: %w", err)
		}
		m.Receiver, m.Store, m.Now, m.NewID, m.Logger = receiver, h.store, p.Now, p.NewID, log
		room.mailbox = m
	}
	if c.Mail.LMTPAddr != "" {
		room.door = &mail.Door{Addr: c.Mail.LMTPAddr, Receiver: receiver, Logger: log}
		if room.hatch, err = room.door.Listen(ctx); err != nil {
			return nil, fmt.Errorf("LMTP_ADDR: %w", err)
		}
		log.InfoContext(ctx, "listening", "door", "lmtp", "addr", room.hatch.Addr().String())
	}
	return room, nil
}

func (p *program) newSender(ctx context.Context, c settings.Config, h *house, log *slog.Logger) (*mail.Sender, error) {
	relay, err := mail.ParseRelay(c.Mail.SMTPURL)
	if err != nil {
		return nil, err
	}
	key, err := h.mailKey(ctx)
	if err != nil {
		return nil, err
	}
	answers, err := answersOf(ctx, p.Console, c, h)
	if err != nil {
		return nil, err
	}
	if answers == nil {
		log.WarnContext(ctx, "mails have no links for responding, because BASE_URL is not set")
	}
	digests, err := digestsOf(ctx, p.Console, c, h)
	if err != nil {
		return nil, err
	}
	limits := mail.DefaultLimits()
	limits.User = c.Mail.PerHour
	return mail.NewSender(mail.Config{
		Store: h.store, Middle: h.calendars, Relay: relay, Post: c.Mail.Post(), Key: key, Answers: answers, Digests: digests, Endings: endingsOf(p.Console, c, h), Offers: offersOf(p.Console, c, h),
		Limits: limits, Now: p.Now, NewID: p.NewID, Logger: log, Task: trace.Task,
	}), nil
}

// run works until the context ends.
func (r *mailroom) run(ctx context.Context) {
	var all sync.WaitGroup
	if r.sender != nil {
		all.Go(func() { r.sender.Run(ctx) })
	}
	if r.mailbox != nil {
		all.Go(func() { r.mailbox.Run(ctx) })
	}
	if r.door != nil {
		all.Go(func() {
			if err := r.door.Serve(ctx, r.hatch); err != nil {
				r.log.ErrorContext(ctx, "incoming mail by LMTP has stopped", "error", err)
			}
		})
	}
	all.Wait()
}
