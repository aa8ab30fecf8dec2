package mail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"
	"unicode/utf8"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/locale"
	"caldav-mcp-server/mail/letter"
)

// Answers lets people without a calendar app answer an invitation through a link. A link is for one attendee and one
// event or instance. It expires after the event.
type Answers struct {
	Store  Store
	Middle calendar.Correspondence
	// Events finds the organizer's event, which has the present answer.
	Events Events
	Key    Key
	// Page is the prefix of the links.
	Page *url.URL
	Now  func() time.Time

	links shared
}

// Events finds the events of a user.
type Events interface {
	// OwnByUID returns an event in one of the caller's own calendars.
	OwnByUID(ctx context.Context, c calendar.Caller, uid calendar.UID) (calendar.Object, error)
}

var _ calendar.Answers = (*Answers)(nil)

// grace is how long after the event its link still works. lasting is the validity, from the sending, of a link to an
// event without an end.
const (
	grace   = 24 * time.Hour
	lasting = 400 * 24 * time.Hour
)

// claim is the content of a link: attendee and event. The JSON names must stay, because links in sent mails use them.
type claim struct {
	User       calendar.UserID      `json:"u"`
	To         calendar.MailAddress `json:"t"`
	UID        calendar.UID         `json:"e"`
	Recurrence string               `json:"i,omitempty"`
	Until      int64                `json:"x"`
}

// Link returns the link to answer a letter.
func (a *Answers) Link(l calendar.Letter, local *time.Location) string {
	until := l.Posted.Add(lasting)
	if s, err := letter.SummaryOf(l, local, locale.Match()); err == nil && !s.End.IsZero() {
		until = s.End.Add(grace)
	}
	token, err := a.Key.seal("answer", claim{l.User, l.To, l.UID, l.Recurrence, until.Unix()})
	if err != nil {
		return ""
	}
	return a.Page.JoinPath(token).String()
}

// errLink is the error for any invalid link.
var errLink = calendar.Errorf(calendar.NotFound, "", "this link is not valid: the event may be over, there may be a "+
	"newer mail about it, or the link was cut off on its way")

// Open implements [calendar.Answers].
func (a *Answers) Open(ctx context.Context, token, language string) (calendar.Asked, error) {
	_, asked, err := a.open(ctx, token, language)
	return asked, err
}

// open finds the letter of a link, and the details to show.
func (a *Answers) open(ctx context.Context, token, language string) (calendar.Letter, calendar.Asked, error) {
	c, err := a.claim(token)
	if err != nil {
		return calendar.Letter{}, calendar.Asked{}, err
	}
	told, err := a.Store.Told(ctx, c.User, c.To, c.UID)
	if err != nil {
		return calendar.Letter{}, calendar.Asked{}, err
	}
	// When the whole event is sent again, the letter about an instance is gone; the new mail has its own link.
	i := slices.IndexFunc(told, func(l calendar.Letter) bool { return l.Recurrence == c.Recurrence })
	if i < 0 {
		return calendar.Letter{}, calendar.Asked{}, errLink
	}
	if gone, err := a.calledOff(ctx, c); gone || err != nil {
		return calendar.Letter{}, calendar.Asked{}, cmp.Or(err, error(errLink))
	}
	user, err := a.Store.UserByID(ctx, c.User)
	if err != nil {
		return calendar.Letter{}, calendar.Asked{}, err
	}
	s, err := letter.SummaryOf(told[i], zoneOf(user), locale.Match(language))
	if err != nil {
		return calendar.Letter{}, calendar.Asked{}, errors.Join(errLink, err)
	}
	at, err := letter.TimesOf(told[i])
	if err != nil {
		at = letter.Times{} // the event can be answered, but no other time proposed
	}
	event, err := a.Events.OwnByUID(ctx, calendar.Caller{User: user, Scopes: calendar.ScopeRead}, c.UID)
	if err != nil && calendar.ReasonOf(err) != calendar.NotFound {
		return calendar.Letter{}, calendar.Asked{}, err
	}
	return told[i], calendar.Asked{
		Start: at.Start, End: at.End, Zone: at.Zone, Days: at.Days,
		Title: s.Title, When: s.When, Repeats: s.Repeats, Where: s.Where, Description: s.Description,
		Organizer: cmp.Or(s.Organizer.Name, user.Title(), string(told[i].From)), Recipient: c.To,
		Status:    cmp.Or(letter.AnswerIn(event.Data, told[i]), s.Status),
		Cancelled: told[i].Method == calendar.MethodCancel,
	}, nil
}

// calledOff reports whether a cancellation is waiting in the outbox: a removed attendee can no longer answer, even
// before the mail arrives.
func (a *Answers) calledOff(ctx context.Context, c claim) (bool, error) {
	waiting, err := a.Store.WaitingFor(ctx, c.User, c.To, c.UID)
	off := false
	for _, l := range waiting {
		if l.Recurrence == "" || l.Recurrence == c.Recurrence {
			off = l.Method == calendar.MethodCancel
		}
	}
	return off, err
}

func (a *Answers) claim(token string) (claim, error) {
	var c claim
	if !a.Key.unseal("answer", token, &c) || a.Now().After(time.Unix(c.Until, 0)) {
		return claim{}, errLink
	}
	return c, nil
}

// commentMost limits the length of a comment.
const commentMost = 500

// given are the possible answers, by PARTSTAT.
var given = []string{"ACCEPTED", "TENTATIVE", "DECLINED"}

// givenMost limits the answers per link and hour: each is an entry in the organizer's journal.
const givenMost = 20

// Give implements [calendar.Answers]. It updates the organizer's event, like a reply by mail.
func (a *Answers) Give(ctx context.Context, token, language, status, comment string) (calendar.Asked, error) {
	l, asked, err := a.open(ctx, token, language)
	if err == nil && !asked.Cancelled && !slices.Contains(given, status) {
		err = calendar.Errorf(calendar.Invalid, "", "an answer is yes, maybe or no")
	}
	if err == nil {
		err = a.hears(l, asked, comment)
	}
	if err != nil {
		return asked, err
	}
	reply, err := letter.Reply(l, status, comment, a.Now())
	if err != nil {
		return asked, fmt.Errorf("answering: %w", err)
	}
	asked.Status = status
	in := calendar.Inbound{From: l.To, To: []calendar.MailAddress{l.From}, Method: calendar.MethodReply, Data: reply}
	return asked, a.Middle.Receive(ctx, in)
}

// hears refuses answers to a cancelled event, and comments that are too long or too frequent.
func (a *Answers) hears(l calendar.Letter, asked calendar.Asked, comment string) error {
	switch {
	case asked.Cancelled:
		return calendar.Errorf(calendar.Stale, "", "the event was called off, so there is nothing to answer")
	case utf8.RuneCountInString(comment) > commentMost:
		return calendar.Errorf(calendar.Invalid, "", "a comment may have %d characters", commentMost)
	case !a.links.allows(givenMost, string(l.ID), a.Now()):
		return calendar.Errorf(calendar.Unavailable, "",
			"you have answered very often; wait an hour, then answer again")
	}
	return nil
}

// Propose implements [calendar.Answers]. The organizer decides about the proposal as about a COUNTER by mail.
func (a *Answers) Propose(ctx context.Context, token, language, start, end, comment string) (calendar.Asked, error) {
	l, asked, err := a.open(ctx, token, language)
	if err == nil {
		err = a.hears(l, asked, comment)
	}
	if err != nil {
		return asked, err
	}
	counter, err := letter.Counter(l, letter.Times{Start: start, End: end}, comment, a.Now())
	switch {
	case errors.Is(err, letter.ErrTimes), errors.Is(err, letter.ErrOrder), errors.Is(err, letter.ErrNoNews),
		errors.Is(err, letter.ErrTask):
		return asked, calendar.Errorf(calendar.Invalid, "", "%v; propose another time", err)
	case err != nil:
		return asked, fmt.Errorf("proposing: %w", err)
	}
	in := calendar.Inbound{
		From: l.To, To: []calendar.MailAddress{l.From}, Method: calendar.MethodCounter, Data: counter,
	}
	return asked, a.Middle.Receive(ctx, in)
}
