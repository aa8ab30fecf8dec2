package settings

import (
	"errors"
	"fmt"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/mail"
	"caldav-mcp-server/mail/letter"
)

// Mail holds the settings for outgoing and incoming mail. Its URLs contain passwords.
type Mail struct {
	SMTPURL, IMAPURL string
	From             string
	FromDomains      []string
	PerHour          int
	LMTPAddr         string
	AuthServer       string
}

// Sends reports whether mail is sent.
func (m Mail) Sends() bool { return m.SMTPURL != "" }

// check refuses incomplete settings.
func (m Mail) check() error {
	if m.Sends() && m.From == "" {
		return console.WrongUsage(
			"SMTP_URL is set, but MAIL_FROM is not: set it to the sender address, such as calendar@example.org")
	}
	return nil
}

// mailRows are the settings for mail.
func mailRows() []Setting {
	return []Setting{
		{
			Env: "SMTP_URL", Placeholder: "URL", Groups: MailGroup | PostGroup, secret: true,
			Set: setText(func(c *Config) *string { return &c.Mail.SMTPURL }, checkSMTP),
			About: "smtps://USER:PASSWORD@HOST or smtp://… (STARTTLS): the mail server for invitations to people " +
				"without an account; no mail is sent if not set",
		},
		{
			Env: "MAIL_FROM", Placeholder: "ADDRESS", Groups: MailGroup, Set: setMailFrom,
			About: "sender address, which also gets bounces, such as calendar@example.org; needed with SMTP_URL",
		},
		{
			Env: "MAIL_FROM_DOMAINS", Placeholder: "LIST", Groups: MailGroup, Set: setMailDomains,
			About: "domains that the server of SMTP_URL signs for: mail may have users' own addresses there as the " +
				"sender",
		},
		{
			Env: "MAIL_PER_HOUR", Placeholder: "N", Fallback: "500", Groups: MailGroup,
			About: "mails that one user may send per hour; further mails wait",
			Set:   setNumber(1, 1_000_000, func(c *Config) *int { return &c.Mail.PerHour }),
		},
		{
			Env: "IMAP_URL", Placeholder: "URL", Groups: MailGroup, secret: true,
			Set: setText(func(c *Config) *string { return &c.Mail.IMAPURL }, checkIMAP),
			About: "imaps://USER:PASSWORD@HOST/FOLDER or imap://… (STARTTLS): the mailbox for incoming responses and " +
				"invitations",
		},
		{
			Env: "LMTP_ADDR", Placeholder: "ADDR", Groups: MailGroup,
			Set:   setText(func(c *Config) *string { return &c.Mail.LMTPAddr }, mail.CheckDoor),
			About: "HOST:PORT or unix:PATH on this machine, for incoming mail by LMTP",
		},
		{
			Env: "MAIL_AUTHSERV_ID", Placeholder: "NAME", Groups: MailGroup,
			Set: setText(func(c *Config) *string { return &c.Mail.AuthServer }, checkAuthServer),
			About: "your mail server's name in its Authentication-Results headers, which are then trusted; without " +
				"it, the server checks DKIM signatures itself",
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

func setMailFrom(c *Config, value string) error {
	address, err := letter.Address(value)
	if err != nil || !hostName.MatchString(letter.Domain(address)) {
		return errors.New("is not a mail address such as calendar@example.org")
	}
	c.Mail.From = string(address)
	return nil
}

func setMailDomains(c *Config, value string) error {
	for domain := range strings.SplitSeq(value, ",") {
		domain = strings.ToLower(strings.TrimSpace(domain))
		if domain == "" {
			continue
		}
		if !hostName.MatchString(domain) || !strings.Contains(domain, ".") {
			return fmt.Errorf("contains %q, which is not a domain such as example.org", domain)
		}
		c.Mail.FromDomains = append(c.Mail.FromDomains, domain)
	}
	return nil
}

func checkAuthServer(value string) error {
	if strings.ContainsAny(value, " ;\"()") {
		return errors.New("is not a name such as mx.example.org")
	}
	return nil
}

// Post holds the sender addresses for outgoing mail.
func (m Mail) Post() letter.Post {
	return letter.Post{From: calendar.MailAddress(m.From), Domains: m.FromDomains}
}
