package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/locale"
	"caldav-mcp-server/mail"
	"caldav-mcp-server/mail/letter"
)

// mailServer is the client name of the mail checks.
const mailServer = "mail"

// mailChecks are the checks of the server's mail, if the doctor has its settings.
func (x *Examination) mailChecks() []check {
	var all []check
	if x.mail.Sends() {
		all = append(all, check{mailServer, "the mail server takes the password", (*Examination).tryRelay})
	}
	if x.mail.IMAPURL != "" {
		all = append(all, check{mailServer, "the mailbox opens", (*Examination).tryMailbox})
	}
	if x.mail.Sends() && (x.mail.IMAPURL != "" || x.mailTo != "") {
		all = append(all, check{mailServer, "a mail is sent", (*Examination).sendMail})
	}
	if x.mail.Sends() && x.mail.IMAPURL != "" && x.mailTo == "" {
		all = append(all, check{mailServer, "it arrives in the mailbox", (*Examination).receiveMail})
	}
	return all
}

// checks are all checks for this server.
func (x *Examination) checks() []check {
	return slices.Concat(checks(), x.fileChecks(), x.mailChecks(), x.secondChecks())
}

func (x *Examination) tryRelay(ctx context.Context) (string, error) {
	relay, err := mail.ParseRelay(x.mail.SMTPURL)
	if err == nil {
		err = relay.Try(ctx)
	}
	return relay.Addr, withMend(err, "check SMTP_URL: host, port, user, password, and whether it is smtps:// (TLS "+
		"from the start) or smtp:// (STARTTLS)")
}

func (x *Examination) tryMailbox(ctx context.Context) (string, error) {
	box, err := mail.ParseMailbox(x.mail.IMAPURL)
	if err == nil {
		err = box.Try(ctx)
	}
	if err != nil {
		return "", withMend(err, "check IMAP_URL: host, port, user, password, the folder's name, and whether it is "+
			"imaps:// or imap:// (STARTTLS)")
	}
	return box.Folder, nil
}

const testMail = `This mail was sent by the doctor of a calendar server, to find out whether its mail arrives.

Nothing is to be done. If it lies in the spam folder, invitations will lie there too: look at SPF and DKIM of the
domain of MAIL_FROM, as docs/scheduling.md has it.
`

// sendMail sends a mail to --mail-to, or to the server's own mailbox.
func (x *Examination) sendMail(ctx context.Context) (string, error) {
	relay, err := mail.ParseRelay(x.mail.SMTPURL)
	if err != nil {
		return "", err
	}
	to := x.mailTo
	if to == "" {
		to = calendar.MailAddress(x.mail.From)
	}
	post := x.mail.Post()
	relay.Hello = letter.Domain(post.From)
	x.testMail = x.NewID() + "@" + letter.Domain(post.From)
	data, err := post.Plain(letter.Plain{
		To: to, Subject: "A test of the calendar server's mail", Text: testMail, ID: x.testMail, At: x.Now(),
		Language: locale.Match(),
	})
	if err == nil {
		err = relay.Send(ctx, post.From, to, x.testMail, data)
	}
	return "to " + string(to),
		withMend(err, "the mail server must accept mail from MAIL_FROM to any recipient, for the user in SMTP_URL")
}

// lookEvery is how often the mailbox is checked.
const lookEvery = 2 * time.Second

// receiveMail waits for the mail, and deletes it.
func (x *Examination) receiveMail(ctx context.Context) (string, error) {
	if x.testMail == "" {
		return "", skippedError{"no mail was sent"}
	}
	box, err := mail.ParseMailbox(x.mail.IMAPURL)
	if err != nil {
		return "", err
	}
	for {
		found, err := box.Remove(ctx, x.testMail)
		if found || err != nil && ctx.Err() == nil {
			return "after a moment, and is removed", err
		}
		timer := time.NewTimer(lookEvery)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return "", withMend(errors.New("the mail did not arrive in time"),
				fmt.Sprintf("is IMAP_URL the mailbox of %s, or of an address that its mail goes on to? Mail may be "+
					"slow: --timeout 10m waits longer", x.mail.From))
		}
	}
}

// withMend adds a remedy to an error.
func withMend(err error, mend string) error {
	if err == nil {
		return nil
	}
	return &checkError{err.Error(), mend}
}
