package mail

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/emersion/go-smtp"

	"caldav-mcp-server/calendar"
)

// submission is a mail with its envelope.
type submission struct {
	from, to calendar.MailAddress
	// id is the envelope id for delivery reports.
	id   string
	data []byte
}

// session sends mails over one connection, which it opens for the first mail.
type session struct {
	Relay
	client *smtp.Client
}

// send sends a mail. After an SMTP refusal the connection stays open for the next mail; any other error closes it.
func (s *session) send(ctx context.Context, p submission) error {
	if s.client == nil {
		c, err := s.open(ctx)
		if err != nil {
			return refusedError{atRelay, err}
		}
		s.client = c
	}
	err := s.submit(p)
	if err == nil {
		return nil
	}
	if _, answered := errors.AsType[*smtp.SMTPError](err); !answered || s.client.Reset() != nil {
		s.close()
	}
	return err
}

func (s *session) submit(p submission) error {
	dsn, _ := s.client.Extension("DSN")
	options, recipient := &smtp.MailOptions{Size: int64(len(p.data)), UTF8: !ascii(p.to) || !ascii(p.from)},
		&smtp.RcptOptions{}
	if able, _ := s.client.Extension("SMTPUTF8"); options.UTF8 && !able {
		return refusedError{
			atRecipient, &smtp.SMTPError{
				Code: 553, EnhancedCode: smtp.EnhancedCode{5, 6, 7},
				Message: "the mail server takes ASCII addresses alone",
			},
		}
	}
	if dsn {
		options.Return, options.EnvelopeID = smtp.DSNReturnHeaders, p.id
		recipient.Notify = []smtp.DSNNotify{smtp.DSNNotifyFailure}
	}
	if err := s.client.Mail(string(p.from), options); err != nil {
		return refusedError{
			atRelay, fmt.Errorf("the mail server %s does not take mail from %s: %w", s.Addr, p.from, err),
		}
	}
	if err := s.client.Rcpt(string(p.to), recipient); err != nil {
		return refusedError{atRecipient, err}
	}
	w, err := s.client.Data()
	if err != nil {
		return refusedError{atContent, err}
	}
	if _, err := w.Write(p.data); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return refusedError{atContent, err}
	}
	return nil
}

func ascii(a calendar.MailAddress) bool {
	return !strings.ContainsFunc(string(a), func(r rune) bool { return r > '~' })
}

// quit ends the session properly; close cuts the connection.
func (s *session) quit() {
	if s.client != nil {
		_ = s.client.Quit()
		s.close()
	}
}

func (s *session) close() {
	_ = s.client.Close()
	s.client = nil
}
