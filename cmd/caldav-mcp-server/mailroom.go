package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"

	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/mail"
	"caldav-mcp-server/trace"
	"caldav-mcp-server/web/booking"
)

// mailroom sends and receives mail in the background. Parts that the settings do not enable are nil.
type mailroom struct {
	sender  *mail.Sender
	mailbox *mail.Mailbox
	door    *mail.Door
	// bookings ends the holds of booking pages that are not confirmed by mail.
	bookings *booking.Service
	// hatch is the LMTP listener.
	hatch net.Listener
	log   *slog.Logger
}

// receiver processes incoming mail.
func (p *program) receiver(ctx context.Context, c settings.Config, h *app.App,
	log *slog.Logger,
) (*mail.Receiver, error) {
	key, err := h.MailKey(ctx)
	return &mail.Receiver{
		Store: h.Store, Middle: h.Calendars, Key: key, Trust: mail.Trust{Server: c.Mail.AuthServer}, Now: p.Now,
		Logger: log, Task: trace.Task,
	}, err
}

// openMailroom creates the parts that the settings enable.
func (p *program) openMailroom(ctx context.Context, c settings.Config, h *app.App,
	log *slog.Logger,
) (*mailroom, error) {
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
	if room.bookings, err = app.BookingsOf(p.Console, c, h, log); err != nil {
		return nil, err
	}
	if c.Mail.IMAPURL != "" {
		m, err := mail.ParseMailbox(c.Mail.IMAPURL)
		if err != nil {
			return nil, fmt.Errorf("IMAP_URL: %w", err)
		}
		m.Receiver, m.Store, m.Now, m.NewID, m.Logger = receiver, h.Store, p.Now, p.NewID, log
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

func (p *program) newSender(ctx context.Context, c settings.Config, h *app.App,
	log *slog.Logger,
) (*mail.Sender, error) {
	relay, err := mail.ParseRelay(c.Mail.SMTPURL)
	if err != nil {
		return nil, err
	}
	key, err := h.MailKey(ctx)
	if err != nil {
		return nil, err
	}
	answers, err := app.AnswersOf(ctx, p.Console, c, h)
	if err != nil {
		return nil, err
	}
	if answers == nil {
		log.WarnContext(ctx, "mails have no links for responding, because BASE_URL is not set")
	}
	digests, err := app.DigestsOf(ctx, p.Console, c, h)
	if err != nil {
		return nil, err
	}
	limits := mail.DefaultLimits()
	limits.User = c.Mail.PerHour
	return mail.NewSender(mail.Config{
		Store: h.Store, Middle: h.Calendars, Relay: relay, Post: c.Mail.Post(), Key: key, Answers: answers,
		Digests: digests, Polls: app.PollsOf(p.Console, c, h).Mail,
		Endings: app.EndingsOf(p.Console, c, h), Offers: app.OffersOf(p.Console, c, h),
		Limits: limits, Now: p.Now, NewID: p.NewID, Logger: log, Task: trace.Task,
	}), nil
}

// run works until the context ends.
func (r *mailroom) run(ctx context.Context) {
	var all sync.WaitGroup
	if r.sender != nil {
		all.Go(func() { r.sender.Run(ctx) })
	}
	if r.bookings != nil {
		all.Go(func() { r.bookings.Run(ctx) })
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
