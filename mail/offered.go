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

// OfferStore is the part of a Store that Offers use.
type OfferStore interface {
	calendar.OfferMails
	UserByID(ctx context.Context, id calendar.UserID) (calendar.User, error)
	Offers(ctx context.Context, user calendar.UserID) ([]calendar.Offer, error)
}

// Offers are mails that ask users to accept a share. Each mail is written from the share's state when it leaves. No
// mail leaves if the share was answered or withdrawn before.
type Offers struct {
	Store OfferStore
	// Host is the server's public name. Page is the address of the pages of offers; each has its id below it.
	Host  string
	Page  *url.URL
	Most  calendar.OutboxLimits
	Now   func() time.Time
	NewID func() string
}

const (
	// offersMost limits the letters of one round, offersSince the age of a share.
	offersMost  = 100
	offersSince = 24 * time.Hour
)

// post puts letters about pending shares into the outbox. Only the process that sends mail calls it.
func (o *Offers) post(ctx context.Context) error {
	now := o.Now()
	waiting, err := o.Store.UnmailedOffers(ctx, now.Add(-offersSince), offersMost)
	for _, s := range waiting {
		l := o.letter(s, now)
		failed := o.Store.MailOffer(ctx, s, l, o.Most)
		if failed != nil && calendar.ReasonOf(failed) == calendar.TooLarge {
			failed = o.Store.MailOffer(ctx, s, nil, o.Most) // the outbox is full; Home shows the share
		}
		err = errors.Join(err, failed)
	}
	return err
}

// due counts the shares without a mail, up to one.
func (o *Offers) due(ctx context.Context) (int, error) {
	waiting, err := o.Store.UnmailedOffers(ctx, o.Now().Add(-offersSince), 1)
	return len(waiting), err
}

// letter returns nil if the user has no address or is disabled.
func (o *Offers) letter(s calendar.Share, now time.Time) *calendar.Letter {
	to, err := letter.Address(s.User.Email)
	if err != nil || s.User.Disabled {
		return nil
	}
	return &calendar.Letter{
		ID: calendar.LetterID(o.NewID()), User: s.User.ID, From: to, To: to, Method: calendar.MethodOffered,
		UID: calendar.UID("offer-" + s.Invitation()), Posted: now, Due: now, Data: []byte(s.Calendar),
	}
}

// offered writes the mail about a share.
func (s *Sender) offered(ctx context.Context, l calendar.Letter, id string) ([]byte, error) {
	if s.Offers == nil {
		return nil, errNothing
	}
	m, err := s.Offers.plain(ctx, l)
	if err != nil {
		return nil, err
	}
	m.ID = id
	return s.Post.Plain(m)
}

// plain returns the mail's text. It fails with errNothing if the share was answered or withdrawn, or the user's address
// has changed.
func (o *Offers) plain(ctx context.Context, l calendar.Letter) (letter.Plain, error) {
	u, err := o.Store.UserByID(ctx, l.User)
	if err != nil {
		return letter.Plain{}, err
	}
	all, err := o.Store.Offers(ctx, u.ID)
	if err != nil {
		return letter.Plain{}, errors.Join(errAway, err)
	}
	to, bad := letter.Address(u.Email)
	i := slices.IndexFunc(all, func(one calendar.Offer) bool {
		return string(one.Calendar) == string(l.Data) && one.Status == calendar.SharePending
	})
	if bad != nil || to != l.To || u.Disabled || i < 0 {
		return letter.Plain{}, errNothing
	}
	in := languageOf(u)
	return letter.Plain{
		To: l.To, Name: u.Title(), Subject: in.Text("mail.offer.subject"), At: l.Posted, Language: in,
		Text: in.Text("mail.offer.text", "who", all[i].From.OwnerName, "host", o.Host) + "\n  " +
			in.Text("mail.quoted", "text", letter.OneLine(all[i].Name())) + "\n\n" + in.Text("mail.offer.link") + "\n" +
			o.Page.JoinPath(string(all[i].Invitation())).String() + "\n",
	}, nil
}
