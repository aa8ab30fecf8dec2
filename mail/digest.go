package mail

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/mail/letter"
)

// DigestStore is what digests need of a Store.
type DigestStore interface {
	calendar.Digests
	UserByID(ctx context.Context, id calendar.UserID) (calendar.User, error)
}

// Digests are mails of users' days, to those who want them. The day is found when the mail leaves: what a user lost
// meanwhile is not in it.
type Digests struct {
	Store DigestStore
	// Day is what there is to say at a moment; a note without parts says nothing.
	Day func(ctx context.Context, u calendar.User, d calendar.Digest, at time.Time) (letter.Note, error)
	Key Key
	// Page is the address that a link begins with, by which such mail is ended; Settings is where it is chosen.
	Page, Settings *url.URL
	Most           calendar.OutboxLimits
	Now            func() time.Time
	NewID          func() string
	// Task is told of each that is posted; nil where nobody wants to know.
	Task calendar.Task
}

const (
	// digestLate is how late a mail may be, for whatever reason. One that would be later is left out.
	digestLate = 6 * time.Hour
	// digestsMost is how many are posted in one turn.
	digestsMost = 100
	// hoursOfDay bounds the hour at which it comes.
	hoursOfDay = 24
)

// errNothing tells that there is nothing to send.
var errNothing = errors.New("there is nothing to say")

// moment is the last time at which a user's mail was to come, and next when it comes after that.
func moment(d calendar.Digest, u calendar.User, now time.Time) (last, next time.Time) {
	y, m, day := now.In(zoneOf(u)).Date()
	at := func(days int) time.Time { return time.Date(y, m, day+days, d.Hour, 0, 0, 0, zoneOf(u)) }
	if today := at(0); !today.After(now) {
		return today, at(1)
	}
	return at(-1), at(0)
}

// Wish returns what mail of their day a user wants.
func (g *Digests) Wish(ctx context.Context, u calendar.User) (calendar.Digest, error) {
	return g.Store.Digest(ctx, u.ID)
}

// Want keeps what mail of their day a user wants from now on.
func (g *Digests) Want(ctx context.Context, u calendar.User, d calendar.Digest) error {
	switch {
	case d.Hour < 0 || d.Hour >= hoursOfDay:
		return calendar.Errorf(calendar.Invalid, "", "the hour is one from 0 to %d", hoursOfDay-1)
	case d.Wanted() && u.Email == "":
		return calendar.Errorf(calendar.Invalid, "", "%s has no mail address that is verified, so there is nowhere to send it", u.Name)
	}
	d.User, d.Posted = u.ID, ""
	_, d.Due = moment(d, u, g.Now())
	return g.Store.SetDigest(ctx, d)
}

// post puts what is due into the outbox. Only the process that sends mail does it.
func (g *Digests) post(ctx context.Context) error {
	due, err := g.Store.DueDigests(ctx, g.Now(), digestsMost)
	var failed []error
	for _, d := range due {
		if err := g.postOne(ctx, d); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(err, errors.Join(failed...))
}

// postOne posts a user's mail, unless it is too late, and has the next one wait. In another zone than at first a user's
// hour may lie ahead again.
func (g *Digests) postOne(ctx context.Context, d calendar.Digest) (err error) {
	ctx, end := g.Task.OrNone()(ctx, "digest")
	defer func() { end(err != nil) }()
	u, err := g.Store.UserByID(ctx, d.User)
	if err != nil {
		return ignoreLost(err)
	}
	now := g.Now()
	at, next := moment(d, u, now)
	posted := d.Posted
	d.Posted, d.Due = at.Format(time.DateOnly), next
	to, bad := letter.Address(u.Email)
	if bad != nil || u.Disabled || now.Sub(at) > digestLate || d.Posted <= posted {
		d.Posted = ""
		return g.Store.PostDigest(ctx, d, nil, g.Most)
	}
	err = g.Store.PostDigest(ctx, d, &calendar.Letter{
		ID: calendar.LetterID(g.NewID()), User: u.ID, From: to, To: to, Method: calendar.MethodDigest,
		UID: calendar.UID("digest-" + d.Posted), Posted: now, Due: now, Data: []byte(at.UTC().Format(time.RFC3339)),
	}, g.Most)
	if err != nil && calendar.ReasonOf(err) == calendar.TooLarge {
		return g.Store.PostDigest(ctx, d, nil, g.Most)
	}
	return err
}

// digest makes the mail of a user's day.
func (s *Sender) digest(ctx context.Context, l calendar.Letter, id string) ([]byte, error) {
	if s.Digests == nil {
		return nil, errNothing
	}
	n, err := s.Digests.note(ctx, l)
	if err != nil {
		return nil, err
	}
	n.ID = id
	return s.Post.Note(n)
}

// note is what a mail says, to a user who wants it still, at the address that is still theirs.
func (g *Digests) note(ctx context.Context, l calendar.Letter) (letter.Note, error) {
	u, err := g.Store.UserByID(ctx, l.User)
	if err != nil {
		return letter.Note{}, err
	}
	d, err := g.Store.Digest(ctx, u.ID)
	if err != nil {
		return letter.Note{}, err
	}
	to, bad := letter.Address(u.Email)
	at, torn := time.Parse(time.RFC3339, string(l.Data))
	if bad != nil || torn != nil || to != l.To || u.Disabled || !d.Wanted() {
		return letter.Note{}, errNothing
	}
	n, err := g.Day(ctx, u, d, at.In(zoneOf(u)))
	if err == nil && len(n.Parts) == 0 {
		err = errNothing
	}
	n.To, n.Name, n.At = l.To, u.Title(), l.Posted
	n.Stop, n.Settings = g.Page.JoinPath(g.Token(u.ID, l.To)).String(), g.Settings.String()
	return n, err
}

// stopClaim is the content of a link. The names in JSON are those of links that are out there.
type stopClaim struct {
	User    calendar.UserID      `json:"u"`
	Address calendar.MailAddress `json:"a"`
}

// Token is what ends such mail to an address. It is good as long as they come there.
func (g *Digests) Token(user calendar.UserID, address calendar.MailAddress) string {
	token, _ := g.Key.seal("stop", stopClaim{user, address}) // texts can always be written
	return token
}

// errStop answers a visitor whose link is not good.
var errStop = calendar.Errorf(calendar.NotFound, "", "this link is not good: it may have been cut off on its way; the settings of the account turn the mail off, too")

// Open returns the address to which a link ends the mail.
func (g *Digests) Open(token string) (calendar.MailAddress, error) {
	c, err := g.claim(token)
	return c.Address, err
}

func (g *Digests) claim(token string) (c stopClaim, err error) {
	if !g.Key.unseal("stop", token, &c) {
		err = errStop
	}
	return c, err
}

// Stop ends the mail that a link came with. To an address that is not the user's any more none comes, and a link that was
// sent there ends nothing that goes elsewhere; the visitor is told the same, and not whose address changed.
func (g *Digests) Stop(ctx context.Context, token string) (calendar.MailAddress, error) {
	c, err := g.claim(token)
	if err != nil {
		return "", err
	}
	u, err := g.Store.UserByID(ctx, c.User)
	if err != nil {
		return c.Address, ignoreLost(err)
	}
	if to, err := letter.Address(u.Email); err != nil || to != c.Address {
		return c.Address, nil //nolint:nilerr // a user without an address gets none either
	}
	if err := g.Store.SetDigest(ctx, calendar.Digest{User: c.User}); err != nil {
		return "", fmt.Errorf("ending mail of the day: %w", err)
	}
	return c.Address, nil
}
