package letter

import (
	"mime/quotedprintable"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/locale"
)

// Plain is a text-only mail from the server itself.
type Plain struct {
	To calendar.MailAddress
	// Name is the recipient's name; it may be empty.
	Name, Subject, Text string
	// ID is the Message-ID without brackets.
	ID string
	At time.Time
	// Language is the language of the text.
	Language *locale.Language
}

// Plain composes a text-only mail.
func (p Post) Plain(m Plain) ([]byte, error) {
	h := p.own(m.Language, m.To, m.Name, m.Subject, m.ID, m.At)
	h.field("MIME-Version", "1.0")
	h.field("Content-Type", "text/plain;", "charset=utf-8")
	h.field("Content-Transfer-Encoding", "quoted-printable")
	h.write("\r\n")
	q := quotedprintable.NewWriter(&h.Buffer)
	if _, err := q.Write(crlf([]byte(m.Text))); err != nil {
		return nil, err
	}
	if err := q.Close(); err != nil {
		return nil, err
	}
	h.write("\r\n")
	return h.Bytes(), nil
}
