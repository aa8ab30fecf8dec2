package mail

import (
	"context"
	"time"

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
