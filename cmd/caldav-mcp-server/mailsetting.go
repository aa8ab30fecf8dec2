package main

import (
	"errors"
	"fmt"
	"strings"

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
		return wrongUsage("SMTP_URL is set, and MAIL_FROM is not: name the address that mail comes from, such as calendar@example.org")
	}
	return nil
}

// mailRows are the settings for mail.
func mailRows() []setting {
	return []setting{
		{ //nolint:gosec // a URL pattern without a real password
			env: "SMTP_URL", placeholder: "URL", groups: mailSettings | postSettings, secret: true, set: setText(func(c *config) *string { return &c.mail.smtpURL }, checkSMTP),
			about: "smtps://USER:PASSWORD@HOST or smtp://… (STARTTLS): the server that mails invitations to people without an account; none are mailed when not set",
		},
		{
			env: "MAIL_FROM", placeholder: "ADDRESS", groups: mailSettings, set: setMailFrom,
			about: "address that mail comes from and bounces go back to, such as calendar@example.org; needed with SMTP_URL",
		},
		{
			env: "MAIL_FROM_DOMAINS", placeholder: "LIST", groups: mailSettings, set: setMailDomains,
			about: "domains whose users' own addresses mail may come from, since the server of SMTP_URL signs for them",
		},
		{
			env: "MAIL_PER_HOUR", placeholder: "N", fallback: "500", groups: mailSettings,
			about: "mails that one user may send in an hour; what is more waits", set: setNumber(1, 1_000_000, func(c *config) *int { return &c.mail.perHour }),
		},
		{ //nolint:gosec // a URL pattern without a real password
			env: "IMAP_URL", placeholder: "URL", groups: mailSettings, secret: true, set: setText(func(c *config) *string { return &c.mail.imapURL }, checkIMAP),
			about: "imaps://USER:PASSWORD@HOST/FOLDER or imap://… (STARTTLS): the mailbox that answers and invitations are read from",
		},
		{
			env: "LMTP_ADDR", placeholder: "ADDR", groups: mailSettings, set: setText(func(c *config) *string { return &c.mail.lmtpAddr }, mail.CheckDoor),
			about: "HOST:PORT of this machine, or unix:PATH, where a mail server hands them in by LMTP",
		},
		{
			env: "MAIL_AUTHSERV_ID", placeholder: "NAME", groups: mailSettings, set: setText(func(c *config) *string { return &c.mail.authServer }, checkAuthServer),
			about: "name under which your own mail server writes Authentication-Results, which are then believed; without it signatures (DKIM) are checked here",
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
		return errors.New("is no mail address, such as calendar@example.org")
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
			return fmt.Errorf("has %q in it, which is no domain such as example.org", domain)
		}
		c.mail.fromDomains = append(c.mail.fromDomains, domain)
	}
	return nil
}

func checkAuthServer(value string) error {
	if strings.ContainsAny(value, " ;\"()") {
		return errors.New("is no name such as mx.example.org")
	}
	return nil
}
