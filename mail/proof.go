package mail

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/mail/letter"
)

// Proofs are mails with a link, by which people show that a mail address is theirs: only its reader can open the link.
type Proofs struct {
	Relay Relay
	Post  letter.Post
	Key   Key
	// Page is the address that a link begins with.
	Page  *url.URL
	Now   func() time.Time
	NewID func() string

	sent shared
}

const (
	// proofLasts is how long a link is good.
	proofLasts = 24 * time.Hour
	// proofsMost is how many a user sends in an hour: they go to addresses that nobody has proven yet.
	proofsMost = 5
	// pagePatience is how long somebody waits for the page after the form.
	pagePatience = 20 * time.Second
)

// proofClaim is the content of a link: an address and its user. The names in JSON are those of links that are out there.
type proofClaim struct {
	User    calendar.UserID      `json:"u"`
	Address calendar.MailAddress `json:"a"`
	Until   int64                `json:"x"`
}

const proofText = `The account %q of the calendar server %s says that this mail address is its own.

If that is so, open this page, where you are asked to confirm it. The link is good for a day:
%s

If it is not, there is nothing to do: without the link nobody gets invitations to your address.
`

// Send sends a link to an address that a user says is theirs.
func (p *Proofs) Send(ctx context.Context, u calendar.User, text string) error {
	to, err := letter.Address(text)
	if err != nil {
		return calendar.Errorf(calendar.Invalid, "", "%.100q is no mail address", text)
	}
	if !p.sent.allows(proofsMost, string(u.ID), p.Now()) {
		return calendar.Errorf(calendar.Unavailable, "", "%d links were sent within an hour; wait for the next hour", proofsMost)
	}
	link, err := p.link(u.ID, to)
	if err != nil {
		return err
	}
	return sendPlain(ctx, p.Relay, p.Post, letter.Plain{
		To: to, Name: u.Title(), Subject: "Is this your mail address?", Text: fmt.Sprintf(proofText, u.Name, p.Page.Host, link),
		ID: p.NewID() + "@" + letter.Domain(p.Post.From), At: p.Now(),
	})
}

// unsent says why a mail could not be sent: to a person, and to the log.
func unsent(err error) error {
	told := calendar.Errorf(calendar.Unavailable, "", "the mail could not be sent just now; try again in a while")
	if status, _ := outcome(err); status != "" {
		told = calendar.Errorf(calendar.Invalid, "", "the mail server takes no mail to this address; is it written as it should be?")
	}
	told.Cause = err
	return told
}

func (p *Proofs) link(user calendar.UserID, address calendar.MailAddress) (string, error) {
	token, err := p.Key.seal("proof", proofClaim{user, address, p.Now().Add(proofLasts).Unix()})
	return p.Page.JoinPath(token).String(), err
}

// errProof answers a visitor whose link is not good.
var errProof = calendar.Errorf(calendar.NotFound, "", "this link is not good: it may be older than a day, or was cut off on its way; the settings send another one")

// Open returns what a link proves: its bearer reads the mail of an address that a user says is theirs.
func (p *Proofs) Open(token string) (calendar.UserID, calendar.MailAddress, error) {
	var c proofClaim
	if !p.Key.unseal("proof", token, &c) || p.Now().After(time.Unix(c.Until, 0)) {
		return "", "", errProof
	}
	return c.User, c.Address, nil
}
