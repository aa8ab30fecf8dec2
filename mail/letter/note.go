package letter

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	htmltemplate "html/template"
	"mime/multipart"
	"strings"
	"text/template"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/locale"
)

// Note is a mail of the server to one of its users, who has subscribed to it.
type Note struct {
	To calendar.MailAddress
	// Name is the recipient's name; it may be empty.
	Name, Subject string
	Parts         []NotePart
	// Stop is the one-click unsubscribe link (RFC 8058), Settings the page to change the subscription.
	Stop, Settings string
	// ID is the Message-ID without brackets.
	ID string
	At time.Time
	// Language is the language of the mail.
	Language *locale.Language
}

// T returns a text of the mail's language.
func (n Note) T(id string, pairs ...any) string { return n.Language.Text(id, pairs...) }

// NotePart is a list with a title.
type NotePart struct {
	Title string
	Lines []NoteLine
	// More counts the lines that did not fit.
	More int
	// Link leads to the page for acting on the list; Do is the link's text.
	Link, Do string
}

// NoteLine is an item of the list. Its texts come from users. Link is its page, or "".
type NoteLine struct{ When, Text, Place, Link string }

var (
	//go:embed templates/note.txt
	plainNote string
	//go:embed templates/note.html
	htmlNote string

	plainNoteTemplate = template.Must(template.New("note").Parse(plainNote))
	htmlNoteTemplate  = htmltemplate.Must(htmltemplate.New("note").Parse(htmlNote))
)

// defused returns the note with every text reduced to one line.
func (n Note) defused() Note {
	parts := make([]NotePart, len(n.Parts))
	for i, p := range n.Parts {
		p.Title = oneLine(p.Title, fieldMost)
		all := make([]NoteLine, len(p.Lines))
		for j, l := range p.Lines {
			all[j] = NoteLine{
				oneLine(l.When, nameMost), oneLine(l.Text, fieldMost), oneLine(l.Place, fieldMost), l.Link,
			}
		}
		p.Lines = all
		parts[i] = p
	}
	n.Parts = parts
	return n
}

// Note makes the mail of a note.
func (p Post) Note(n Note) ([]byte, error) {
	n = n.defused()
	var plain, html bytes.Buffer
	if err := plainNoteTemplate.Execute(&plain, n); err != nil {
		return nil, err
	}
	if err := htmlNoteTemplate.Execute(&html, n); err != nil {
		return nil, err
	}
	boundary := sha256.Sum256([]byte(n.ID))
	name := "=_n" + hex.EncodeToString(boundary[:12])
	h := p.own(n.Language, n.To, n.Name, n.Subject, n.ID, n.At)
	h.field("List-Unsubscribe", "<"+n.Stop+">")
	h.field("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")
	h.field("MIME-Version", "1.0")
	h.field("Content-Type", "multipart/alternative;", `boundary="`+name+`"`)
	h.write("\r\n")
	alternative := multipart.NewWriter(&h.Buffer)
	if err := alternative.SetBoundary(name); err != nil {
		return nil, err
	}
	if err := quotedPart(alternative, "text/plain; charset=utf-8", strings.TrimSpace(plain.String())+"\n"); err != nil {
		return nil, err
	}
	if err := quotedPart(alternative, "text/html; charset=utf-8", html.String()); err != nil {
		return nil, err
	}
	if err := alternative.Close(); err != nil {
		return nil, err
	}
	return h.Bytes(), nil
}

// own returns the header of a mail from the server itself, without the content fields.
func (p Post) own(l *locale.Language, to calendar.MailAddress, name, subject, id string, at time.Time) *header {
	h := new(header)
	h.person("From", l.Text("menu.calendar"), p.From)
	h.person("To", name, to)
	h.text("Subject", subject)
	h.field("Date", strings.Fields(at.UTC().Format(time.RFC1123Z))...)
	h.field("Message-ID", "<"+id+">")
	h.field("Auto-Submitted", "auto-generated")
	h.field("X-Auto-Response-Suppress", "All")
	return h
}
