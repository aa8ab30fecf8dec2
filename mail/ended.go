package mail

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/mail/letter"
)

// EndingStore is what endings need of a Store.
type EndingStore interface {
	UserByID(ctx context.Context, id calendar.UserID) (calendar.User, error)
	WebhooksOf(ctx context.Context, user calendar.UserID) ([]calendar.Webhook, error)
}

// Endings are mails to users whose webhooks were turned off. What became of the webhook is found when the mail leaves: of one
// that was turned on again meanwhile there is nothing to say.
type Endings struct {
	Store EndingStore
	// Host is the server's name as its people know it, Page where the webhooks are, each under its id.
	Host  string
	Page  *url.URL
	Most  calendar.OutboxLimits
	Now   func() time.Time
	NewID func() string
}

// The address of a webhook may hold what opens it, so that the mail names its host alone.
const endedText = `The calendar server %s has turned off your webhook to %s.
%s
Nothing more is sent there. On this page you turn it on again, and then it is told what changed since, or you remove it:
%s
`

// News is the letter about a webhook's end; none to a user who has no address, or is not let in.
func (e *Endings) News(ctx context.Context, w calendar.Webhook) (*calendar.News, error) {
	u, err := e.Store.UserByID(ctx, w.User)
	if err != nil {
		return nil, ignoreLost(err)
	}
	to, bad := letter.Address(u.Email)
	if bad != nil || u.Disabled {
		return nil, nil //nolint:nilnil,nilerr // there is none
	}
	now, id := e.Now(), e.NewID()
	return &calendar.News{Most: e.Most, Letter: calendar.Letter{
		ID: calendar.LetterID(id), User: u.ID, From: to, To: to, Method: calendar.MethodEnded,
		UID: calendar.UID("webhook-" + id), Posted: now, Due: now, Data: []byte(w.ID),
	}}, nil
}

// ended makes the mail about a webhook's end.
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

// plain is what the mail says, at the address that is still the user's.
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
	why := "The program there answered that it is gone (410).\n"
	if w.State == calendar.WebhookFailing {
		why = fmt.Sprintf("Nothing has arrived there since %s.\n", w.Failing.In(zoneOf(u)).Format("2 January 2006, 15:04 MST"))
	}
	return letter.Plain{
		To: l.To, Name: u.Title(), Subject: "A webhook was turned off", At: l.Posted,
		Text: fmt.Sprintf(endedText, e.Host, where.Host, why, e.Page.JoinPath(string(w.ID))),
	}, nil
}
