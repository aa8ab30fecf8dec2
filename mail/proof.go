package mail

import (
	"context"
	"net/url"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/mail/letter"
)

// Proofs mails links that verify a mail address: only its reader can open the link.
type Proofs struct {
	Relay Relay
	Post  letter.Post
	Key   Key
	// Page is the prefix of the links.
	Page  *url.URL
	Now   func() time.Time
	NewID func() string

	sent shared
}

const (
	// proofLasts is the validity of a link.
	proofLasts = 24 * time.Hour
	// proofsMost limits a user's verification mails per hour: they go to unverified addresses.
	proofsMost = 5
	// pagePatience is how long the user waits for the page after submitting the form.
	pagePatience = 20 * time.Second
)

// proofClaim is the content of a link: an address and its user. The JSON names must stay, because links in sent mails
// use them.
type proofClaim struct {
	User    calendar.UserID      `json:"u"`
	Address calendar.MailAddress `json:"a"`
	Until   int64                `json:"x"`
}

// Send sends a link to an unverified address of a user.
func (p *Proofs) Send(ctx context.Context, u calendar.User, text string) error {
	to, err := letter.Address(text)
	if err != nil {
		return calendar.Errorf(calendar.Invalid, "", "%.100q is no mail address", text)
	}
	if !p.sent.allows(proofsMost, string(u.ID), p.Now()) {
		return calendar.Errorf(calendar.Unavailable, "", "%d links were sent within an hour; wait for the next hour",
			proofsMost)
	}
	link, err := p.link(u.ID, to)
	if err != nil {
		return err
	}
	l := languageOf(u)
	return sendPlain(ctx, p.Relay, p.Post, letter.Plain{
		To: to, Name: u.Title(), Subject: l.Text("mail.proof.subject"), Language: l,
		Text: l.Text("mail.proof.text", "name", u.Name, "host", p.Page.Host) + "\n\n" +
			l.Text("mail.proof.link") + "\n" + link + "\n\n" + l.Text("mail.proof.unasked") + "\n",
		ID: p.NewID() + "@" + letter.Domain(p.Post.From), At: p.Now(),
	})
}

// unsent returns the error of a failed mail, with a text for people and the cause for the log.
func unsent(err error) error {
	told := calendar.Errorf(calendar.Unavailable, "", "the mail could not be sent just now; try again in a while")
	if status, _ := outcome(err); status != "" {
		told = calendar.Errorf(calendar.Invalid, "",
			"the mail server takes no mail to this address; is it written as it should be?")
	}
	told.Cause = err
	return told
}

func (p *Proofs) link(user calendar.UserID, address calendar.MailAddress) (string, error) {
	token, err := p.Key.seal("proof", proofClaim{user, address, p.Now().Add(proofLasts).Unix()})
	return p.Page.JoinPath(token).String(), err
}

// errProof is the error for any invalid link.
var errProof = calendar.Errorf(calendar.NotFound, "",
	"this link is not valid: it may be older than a day, or was cut off on its way; the settings send another one")

// Open returns the user and address of a link. Its bearer has read mail at this address.
func (p *Proofs) Open(token string) (calendar.UserID, calendar.MailAddress, error) {
	var c proofClaim
	if !p.Key.unseal("proof", token, &c) || p.Now().After(time.Unix(c.Until, 0)) {
		return "", "", errProof
	}
	return c.User, c.Address, nil
}
