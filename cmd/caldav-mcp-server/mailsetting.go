package main

import (
	"errors"
	"fmt"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/mail"
	"caldav-mcp-server/mail/letter"
)

// mailConfig holds the settings for outgoing and incoming mail. Its URLs contain passwords.
type mailConfig struct {
	smtpURL, imapURL string
	from             string
	fromDomains      []string
	perHour          int
	lmtpAddr         string
	authServer       string
}

// sends reports whether mail is sent.
func (m mailConfig) sends() bool { return m.smtpURL != "" }

// check refuses incomplete settings.
func (m mailConfig) check() error {
	if m.sends() && m.from == "" {
		return console.WrongUsage("SMTP_URL is set, but MAIL_FROM is not: set it to the sender address, such as calendar@example.org")
	}
	return nil
}

// mailRows are the settings for mail.
func mailRows() []setting {
	return []setting{
		{ //nolint:gosec // a URL pattern without a real password
			env: "SMTP_URL", placeholder: "URL", groups: mailSettings | postSettings, secret: true, set: setText(func(c *config) *string { return &c.mail.smtpURL }, checkSMTP),
			about: "smtps://USER:PASSWORD@HOST or smtp://… (STARTTLS): the mail server for invitations to people without an account; no mail is sent if not set",
		},
		{
			env: "MAIL_FROM", placeholder: "ADDRESS", groups: mailSettings, set: setMailFrom,
			about: "sender address, which also gets bounces, such as calendar@example.org; needed with SMTP_URL",
		},
		{
			env: "MAIL_FROM_DOMAINS", placeholder: "LIST", groups: mailSettings, set: setMailDomains,
			about: "domains that the server of SMTP_URL signs for: mail may have users' own addresses there as the sender",
		},
		{
			env: "MAIL_PER_HOUR", placeholder: "N", fallback: "500", groups: mailSettings,
			about: "mails that one user may send per hour; further mails wait", set: setNumber(1, 1_000_000, func(c *config) *int { return &c.mail.perHour }),
		},
		{ //nolint:gosec // a URL pattern without a real password
			env: "IMAP_URL", placeholder: "URL", groups: mailSettings, secret: true, set: setText(func(c *config) *string { return &c.mail.imapURL }, checkIMAP),
			about: "imaps://USER:PASSWORD@HOST/FOLDER or imap://… (STARTTLS): the mailbox for incoming responses and invitations",
		},
		{
			env: "LMTP_ADDR", placeholder: "ADDR", groups: mailSettings, set: setText(func(c *config) *string { return &c.mail.lmtpAddr }, mail.CheckDoor),
			about: "HOST:PORT or unix:PATH on this machine, for incoming mail by LMTP",
		},
		{
			env: "MAIL_AUTHSERV_ID", placeholder: "NAME", groups: mailSettings, set: setText(func(c *config) *string { return &c.mail.authServer }, checkAuthServer),
			about: "your mail server's name in its Authentication-Results headers, which are then trusted; without it, the server checks DKIM signatures itself",
		},
	}
}

func checkSMTP(value string) error {
	_, err := mail.ParseRelay(value)
	return err
}

func checkIMAP(value string) error {
	_, err := mail.ParseMailbox(value)
	return err
}

func setMailFrom(c *config, value string) error {
	address, err := letter.Address(value)
	if err != nil || !hostName.MatchString(letter.Domain(address)) {
		return errors.New("is not a mail address such as calendar@example.org")
	}
	c.mail.from = string(address)
	return nil
}

func setMailDomains(c *config, value string) error {
	for domain := range strings.SplitSeq(value, ",") {
		domain = strings.ToLower(strings.TrimSpace(domain))
		if domain == "" {
			continue
		}
		if !hostName.MatchString(domain) || !strings.Contains(domain, ".") {
			return fmt.Errorf("contains %q, which is not a domain such as example.org", domain)
		}
		c.mail.fromDomains = append(c.mail.fromDomains, domain)
	}
	return nil
}

func checkAuthServer(value string) error {
	if strings.ContainsAny(value, " ;\"()") {
		return errors.New("is not a name such as mx.example.org")
	}
	return nil
}

// post holds the sender addresses for outgoing mail.
func (m mailConfig) post() letter.Post {
	return letter.Post{From: calendar.MailAddress(m.from), Domains: m.fromDomains}
}
