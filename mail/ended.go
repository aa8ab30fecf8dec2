package mail

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/mail/letter"
)

// EndingStore is the part of a Store that Endings use.
type EndingStore interface {
	UserByID(ctx context.Context, id calendar.UserID) (calendar.User, error)
	WebhooksOf(ctx context.Context, user calendar.UserID) ([]calendar.Webhook, error)
}

// Endings sends mails to users whose webhooks were turned off. It reads the webhook when the mail leaves: if it is on
// again by then, no mail is sent.
type Endings struct {
	Store EndingStore
	// Host is the server's public name. Page is the address of the webhooks' pages; each has its id below it.
	Host  string
	Page  *url.URL
	Most  calendar.OutboxLimits
	Now   func() time.Time
	NewID func() string
}

// News returns the letter about a disabled webhook, or nil if the user has no address or cannot sign in.
func (e *Endings) News(ctx context.Context, w calendar.Webhook) (*calendar.News, error) {
	u, err := e.Store.UserByID(ctx, w.User)
	if err != nil {
		return nil, ignoreLost(err)
	}
	to, bad := letter.Address(u.Email)
	if bad != nil || u.Disabled {
		return nil, nil //nolint:nilerr // there is none
	}
	now, id := e.Now(), e.NewID()
	return &calendar.News{Most: e.Most, Letter: calendar.Letter{
		ID: calendar.LetterID(id), User: u.ID, From: to, To: to, Method: calendar.MethodEnded,
		UID: calendar.UID("webhook-" + id), Posted: now, Due: now, Data: []byte(w.ID),
	}}, nil
}

// ended composes the mail about a disabled webhook.
func (s *Sender) ended(ctx context.Context, l calendar.Letter, id string) ([]byte, error) {
	if s.Endings == nil {
		return nil, errNothing
	}
	m, err := s.Endings.plain(ctx, l)
	if err != nil {
		return nil, err
	}
	m.ID = id
	return s.Post.Plain(m)
}

// plain returns the mail's text, if the address is still the user's.
func (e *Endings) plain(ctx context.Context, l calendar.Letter) (letter.Plain, error) {
	u, err := e.Store.UserByID(ctx, l.User)
	if err != nil {
		return letter.Plain{}, err
	}
	all, err := e.Store.WebhooksOf(ctx, u.ID)
	if err != nil {
		return letter.Plain{}, errors.Join(errAway, err)
	}
	to, bad := letter.Address(u.Email)
	i := slices.IndexFunc(all, func(w calendar.Webhook) bool {
		return string(w.ID) == string(l.Data) && w.State != calendar.WebhookOn
	})
	if bad != nil || to != l.To || u.Disabled || i < 0 {
		return letter.Plain{}, errNothing
	}
	w := all[i]
	where, err := url.Parse(w.URL)
	if err != nil {
		return letter.Plain{}, err
	}
	in := languageOf(u)
	why := in.Text("mail.webhook.gone")
	if w.State == calendar.WebhookFailing {
		why = in.Text("mail.webhook.failing", "since", inFull(in, w.Failing.In(zoneOf(u))))
	}
	return letter.Plain{
		To: l.To, Name: u.Title(), Subject: in.Text("mail.webhook.subject"), At: l.Posted, Language: in,
		// The mail names only the host: the address of a webhook may contain credentials.
		Text: in.Text("mail.webhook.text", "host", e.Host, "where", where.Host) + "\n" + why + "\n\n" +
			in.Text("mail.webhook.link") + "\n" + e.Page.JoinPath(string(w.ID)).String() + "\n",
	}, nil
}
