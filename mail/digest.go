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

// DigestStore is the part of a Store that Digests use.
type DigestStore interface {
	calendar.Digests
	UserByID(ctx context.Context, id calendar.UserID) (calendar.User, error)
}

// Digests sends users a daily mail if they want one. The content is read when the mail leaves, so it never shows data
// that the user has lost access to.
type Digests struct {
	Store DigestStore
	// Day returns the content for a moment; a note without parts means that there is nothing to send.
	Day func(ctx context.Context, u calendar.User, d calendar.Digest, at time.Time) (letter.Note, error)
	Key Key
	// Page is the prefix of the unsubscribe links; Settings is the page with the digest's settings.
	Page, Settings *url.URL
	Most           calendar.OutboxLimits
	Now            func() time.Time
	NewID          func() string
	// Task traces each queued mail; nil turns that off.
	Task calendar.Task
}

const (
	// digestLate is the maximum delay of a digest. A later one is dropped.
	digestLate = 6 * time.Hour
	// digestsMost limits the digests queued per round.
	digestsMost = 100
	// hoursOfDay is the limit for the digest's hour.
	hoursOfDay = 24
)

// errNothing means that there is nothing to send.
var errNothing = errors.New("there is nothing to say")

// moment returns the last scheduled time of a user's digest and the next one.
func moment(d calendar.Digest, u calendar.User, now time.Time) (last, next time.Time) {
	y, m, day := now.In(zoneOf(u)).Date()
	at := func(days int) time.Time { return time.Date(y, m, day+days, d.Hour, 0, 0, 0, zoneOf(u)) }
	if today := at(0); !today.After(now) {
		return today, at(1)
	}
	return at(-1), at(0)
}

// Setting returns a user's digest setting.
func (g *Digests) Setting(ctx context.Context, u calendar.User) (calendar.Digest, error) {
	return g.Store.Digest(ctx, u.ID)
}

// Want stores a user's digest setting.
func (g *Digests) Want(ctx context.Context, u calendar.User, d calendar.Digest) error {
	switch {
	case d.Hour < 0 || d.Hour >= hoursOfDay:
		return calendar.Errorf(calendar.Invalid, "", "the hour is one from 0 to %d", hoursOfDay-1)
	case d.Wanted() && u.Email == "":
		return calendar.Errorf(calendar.Invalid, "",
			"%s has no mail address that is verified, so there is nowhere to send it", u.Name)
	}
	d.User, d.Posted = u.ID, ""
	_, d.Due = moment(d, u, g.Now())
	return g.Store.SetDigest(ctx, d)
}

// post queues the due digests. Only the process that sends mail calls it.
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

// due counts the digests that are due, up to one.
func (g *Digests) due(ctx context.Context) (int, error) {
	due, err := g.Store.DueDigests(ctx, g.Now(), 1)
	return len(due), err
}

// postOne queues a user's digest, unless it is too late, and schedules the next one. If the user has moved to another
// time zone, the hour may be in the future again.
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

// digest composes a user's digest.
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

// note returns the content of a digest, if the user still wants it and still has the address.
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
	n.To, n.Name, n.At, n.Language = l.To, u.Title(), l.Posted, languageOf(u)
	n.Stop, n.Settings = g.Page.JoinPath(g.Token(u.ID, l.To)).String(), g.Settings.String()
	return n, err
}

// stopClaim is the content of an unsubscribe link. The JSON names must stay, because links in sent mails use them.
type stopClaim struct {
	User    calendar.UserID      `json:"u"`
	Address calendar.MailAddress `json:"a"`
}

// Token returns the token of an unsubscribe link. It stays valid as long as digests go to the address.
func (g *Digests) Token(user calendar.UserID, address calendar.MailAddress) string {
	token, _ := g.Key.seal("stop", stopClaim{user, address}) // strings always marshal
	return token
}

// errStop is the error for any invalid link.
var errStop = calendar.Errorf(calendar.NotFound, "",
	"this link is not valid: it may have been cut off on its way; the settings of the account turn the mail off, too")

// Open returns the address that a link unsubscribes.
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

// Stop unsubscribes the address of a link. If it is no longer the user's address, nothing changes: no digest goes
// there, and the link must not stop digests to another address. The visitor gets the same response, so they do not
// learn of the change.
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
