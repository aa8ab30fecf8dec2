package mail

import (
	"context"
	"errors"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/locale"
	"caldav-mcp-server/mail/letter"
)

// Bookings mails the links of booking pages.
type Bookings struct {
	Relay Relay
	Post  letter.Post
	Now   func() time.Time
	NewID func() string
}

// Address returns a mail address in its usual form, or an error.
func (b *Bookings) Address(written string) (string, error) {
	to, err := letter.Address(written)
	return string(to), err
}

// Send sends a mail while its sender waits.
func (b *Bookings) Send(ctx context.Context, to, name, subject, text string, l *locale.Language) error {
	address, err := letter.Address(to)
	if err != nil {
		return err
	}
	return sendPlain(ctx, b.Relay, b.Post, letter.Plain{
		To: address, Name: name, Subject: subject, Text: text, Language: l,
		ID: b.NewID() + "@" + letter.Domain(b.Post.From), At: b.Now(),
	})
}

// poll writes the mail that asks a person to answer a poll.
func (s *Sender) poll(ctx context.Context, l calendar.Letter, id string) ([]byte, error) {
	if s.Polls == nil {
		return nil, errNothing
	}
	m, err := s.Polls(ctx, l)
	if calendar.ReasonOf(err) == calendar.NotFound {
		return nil, errNothing
	}
	if err != nil {
		return nil, errors.Join(errAway, err)
	}
	return s.Post.Plain(letter.Plain{
		To: l.To, Name: m.Name, Subject: m.Subject, Text: m.Text, At: l.Posted, ID: id,
		Language: locale.Match(m.Language),
	})
}
