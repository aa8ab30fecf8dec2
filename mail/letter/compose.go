package letter

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"mime/multipart"
	"mime/quotedprintable"
	"net/textproto"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/locale"
)

// Post holds the sender settings of our mails.
type Post struct {
	// From is our own address. Mails come from it unless Domains has the sender's domain, and bounces go to it.
	From calendar.MailAddress
	// Domains are the domains that the relay signs for; mails may come from their users' addresses.
	Domains []string
}

// Envelope is the input for a mail.
type Envelope struct {
	calendar.Letter
	// Told are the letters that the recipient got before, about the whole event and about instances.
	Told []calendar.Letter
	// Sender is the account owner's name, Zone their time zone.
	Sender string
	Zone   *time.Location
	// ID is the Message-ID without brackets, Thread the one that all mails about the event refer to.
	ID, Thread string
	// Answer is the link to answer; empty for none.
	Answer string
	// Language is the language of the mail.
	Language *locale.Language
}

// Mail is a composed mail.
type Mail struct {
	// Data is the whole mail, with short lines that end in CRLF.
	Data []byte
}

// Compose makes the mail of a letter.
func (p Post) Compose(e Envelope) (Mail, error) {
	now, err := read(e.Data, e.Zone, e.Language)
	if err != nil {
		return Mail{}, err
	}
	w := e.words(now)
	plain, html, err := w.render()
	if err != nil {
		return Mail{}, err
	}
	h := p.headers(e, w)
	boundary := sha256.Sum256([]byte(e.ID))
	outer, inner := "=_m"+hex.EncodeToString(boundary[:12]), "=_a"+hex.EncodeToString(boundary[12:24])
	h.field("MIME-Version", "1.0")
	h.field("Content-Type", "multipart/mixed;", `boundary="`+outer+`"`)
	h.write("\r\n")
	mixed := multipart.NewWriter(&h.Buffer)
	if err := mixed.SetBoundary(outer); err != nil {
		return Mail{}, err
	}
	part, err := mixed.CreatePart(textproto.MIMEHeader{
		"Content-Type": {`multipart/alternative; boundary="` + inner + `"`},
	})
	if err != nil {
		return Mail{}, err
	}
	alternative := multipart.NewWriter(part)
	if err := alternative.SetBoundary(inner); err != nil {
		return Mail{}, err
	}
	kind := now.main().Name()
	data := crlf(e.Data)
	for _, write := range []func() error{
		func() error { return quotedPart(alternative, "text/plain; charset=utf-8", plain) },
		func() error { return quotedPart(alternative, "text/html; charset=utf-8", html) },
		// Mail programs prefer the last part. A Content-Disposition would hide their buttons for answering.
		func() error {
			return base64Part(alternative,
				fmt.Sprintf("text/calendar; charset=utf-8; method=%s; component=%s", e.Method, kind), "", data)
		},
		alternative.Close,
		func() error {
			return base64Part(mixed, `application/ics; name="event.ics"`, `attachment; filename="event.ics"`, data)
		},
		mixed.Close,
	} {
		if err := write(); err != nil {
			return Mail{}, err
		}
	}
	return Mail{h.Bytes()}, nil
}

// headers returns the header fields of the mail.
func (p Post) headers(e Envelope, w words) *header {
	h := new(header)
	if slices.Contains(p.Domains, Domain(e.From)) {
		h.person("From", e.Sender, e.From)
	} else {
		h.person("From", w.T("mail.via", "name", e.Sender), p.From)
		h.person("Reply-To", e.Sender, e.From)
	}
	h.person("To", w.recipient(e.To), e.To)
	h.text("Subject", w.Subject)
	h.field("Date", strings.Fields(e.Posted.UTC().Format(time.RFC1123Z))...)
	h.field("Message-ID", "<"+e.ID+">")
	if e.Thread != "" {
		h.field("References", "<"+e.Thread+">")
	}
	// RFC 3834: no automatic replies, please. Exchange has its own field for it.
	h.field("Auto-Submitted", "auto-generated")
	h.field("X-Auto-Response-Suppress", "All")
	return h
}

// quotedPart writes a text part for people.
func quotedPart(w *multipart.Writer, kind, text string) error {
	part, err := w.CreatePart(textproto.MIMEHeader{
		"Content-Type": {kind}, "Content-Transfer-Encoding": {"quoted-printable"},
	})
	if err != nil {
		return err
	}
	q := quotedprintable.NewWriter(part)
	if _, err := q.Write(crlf([]byte(text))); err != nil {
		return err
	}
	return q.Close()
}

// base64Line is the length of a base64 line (RFC 2045 §6.8).
const base64Line = 76

// base64Part writes data that must arrive unchanged.
func base64Part(w *multipart.Writer, kind, disposition string, data []byte) error {
	h := textproto.MIMEHeader{"Content-Type": {kind}, "Content-Transfer-Encoding": {"base64"}}
	if disposition != "" {
		h.Set("Content-Disposition", disposition)
	}
	part, err := w.CreatePart(h)
	if err != nil {
		return err
	}
	text := []byte(base64.StdEncoding.EncodeToString(data))
	for line := range slices.Chunk(text, base64Line) {
		if _, err := part.Write(append(slices.Clip(line), '\r', '\n')); err != nil {
			return err
		}
	}
	return nil
}

// crlf converts all line endings to CRLF.
func crlf(text []byte) []byte {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
}
