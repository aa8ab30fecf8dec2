package mail

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/locale"
	"caldav-mcp-server/mail/letter"
)

// Passlinks mails invite and reset links.
type Passlinks struct {
	Relay Relay
	Post  letter.Post
	// Host is the server's public name.
	Host  string
	Now   func() time.Time
	NewID func() string
}

// Send mails a link to the user's main address. reset is set if they have had a password before.
func (p *Passlinks) Send(ctx context.Context, u calendar.User, reset bool, link string, until time.Time) error {
	if reset {
		return p.send(ctx, u, "mail.password-reset.", link, until)
	}
	return p.send(ctx, u, "mail.password-invited.", link, until)
}

// SendForgotten mails a link to a user who has forgotten the password.
func (p *Passlinks) SendForgotten(ctx context.Context, u calendar.User, link string, until time.Time) error {
	return p.send(ctx, u, "mail.password-forgotten.", link, until)
}

// send sends the mail with the texts whose ids begin with a prefix.
func (p *Passlinks) send(ctx context.Context, u calendar.User, texts, link string, until time.Time) error {
	to, err := letter.Address(u.Email)
	if err != nil {
		return calendar.Errorf(calendar.Invalid, "", "%.100q is no mail address", u.Email)
	}
	l := languageOf(u)
	text := l.Text(texts+"text", "host", p.Host, "name", u.Name) + "\n\n" +
		l.Text("mail.password-link", "until", inFull(l, until.In(zoneOf(u)))) + "\n" + link + "\n\n" +
		l.Text(texts+"unasked") + "\n"
	return sendPlain(ctx, p.Relay, p.Post, letter.Plain{
		To: to, Name: u.Title(), Subject: l.Text(texts + "subject"), Text: text, Language: l,
		ID: p.NewID() + "@" + letter.Domain(p.Post.From), At: p.Now(),
	})
}

// inFull formats a moment with its time zone.
func inFull(l *locale.Language, t time.Time) string {
	return l.Text("mail.day-time", "day", l.Date(t), "time", l.Time(t, "")) + t.Format(" MST")
}

// sendPlain sends a mail from the server itself while the user waits for the page.
func sendPlain(ctx context.Context, relay Relay, post letter.Post, m letter.Plain) error {
	data, err := post.Plain(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, pagePatience)
	defer cancel()
	if err := relay.Send(ctx, post.From, m.To, m.ID, data); err != nil {
		return unsent(err)
	}
	return nil
}
