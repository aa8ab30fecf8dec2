package mail

import (
	"context"
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
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

const (
	invitationText = `An administrator of the calendar server %s has made the account %q for you.

Choose your password on this page. The link is good once, and until %s:
%s

If you do not know what this is about, there is nothing to do: without a password nobody uses the account.
`
	resetText = "An administrator of the calendar server %s has made a link for the account %q, by which you choose " +
		`another password.

Open this page. The link is good once, and until %s:
%s

If you have not asked for it, tell the administrator: whoever has the link can take the account.
`
	forgottenText = `On the sign-in page of the calendar server %s, a new password was requested for the account %q.

Choose it on this page. The link works once, and until %s:
%s

If you did not request it, you need not do anything: the password stays as it is.
`
)

// Send mails a link to the user's main address. reset is set if they have had a password before.
func (p *Passlinks) Send(ctx context.Context, u calendar.User, reset bool, link string, until time.Time) error {
	if reset {
		return p.send(ctx, u, "Choose another password", resetText, link, until)
	}
	return p.send(ctx, u, "Your calendar account", invitationText, link, until)
}

// SendForgotten mails a link to a user who has forgotten the password.
func (p *Passlinks) SendForgotten(ctx context.Context, u calendar.User, link string, until time.Time) error {
	return p.send(ctx, u, "Choose a new password", forgottenText, link, until)
}

func (p *Passlinks) send(ctx context.Context, u calendar.User, subject, text, link string, until time.Time) error {
	to, err := letter.Address(u.Email)
	if err != nil {
		return calendar.Errorf(calendar.Invalid, "", "%.100q is no mail address", u.Email)
	}
	return sendPlain(ctx, p.Relay, p.Post, letter.Plain{
		To: to, Name: u.Title(), Subject: subject, ID: p.NewID() + "@" + letter.Domain(p.Post.From), At: p.Now(),
		Text: fmt.Sprintf(text, p.Host, u.Name, until.In(zoneOf(u)).Format("2 January 2006, 15:04 MST"), link),
	})
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
