package gmail

import (
	"encoding/base64"
	"fmt"
	"mime"
	"strings"

	"caldav-mcp-server/calendar/mailbox"
	"caldav-mcp-server/linked/htmltext"
)

// isFile reports whether a part is a file rather than text of the mail. An invitation is a file, with or without a
// name, and so is an attached mail.
func (p part) isFile() bool {
	if len(p.Parts) != 0 && p.kind() != "message/rfc822" {
		return false
	}
	return p.Filename != "" || p.Body.Attachment != "" || !strings.HasPrefix(p.kind(), "text/") &&
		!strings.HasPrefix(p.kind(), "multipart/") || p.kind() == "text/calendar"
}

// apart reports whether a part is a text of the mail that Gmail keeps apart for its size. It is also listed as a file.
func (p part) apart() bool {
	return p.Body.Attachment != "" && p.Filename == "" && (p.kind() == "text/plain" || p.kind() == "text/html")
}

func (p part) kind() string { return strings.ToLower(p.MIMEType) }

// files lists the files in a part, without the ones in attached mails.
func (p part) files(to []mailbox.Attachment, depth int) []mailbox.Attachment {
	if p.isFile() {
		if p.ID == "" && p.Filename == "" && p.Body.Size == 0 {
			return to // an empty part
		}
		id := p.ID
		if id == "" {
			id = "0" // the whole mail is the file
		}
		return append(to, mailbox.Attachment{
			ID: header(id), Name: header(p.Filename), MIMEType: header(p.MIMEType), Size: max(0, p.Body.Size),
			Alias: p.Body.Attachment,
		})
	}
	if depth > depthMost {
		return to
	}
	for _, sub := range p.Parts {
		to = sub.files(to, depth+1)
	}
	return to
}

// text returns the readable text of a part. Of alternatives it uses the plain one, if it is not empty.
func (p part) text(depth int) string {
	switch {
	case p.apart():
		return fmt.Sprintf("[Gmail keeps this text of %d bytes apart, so it is not read here.]", p.Body.Size)
	case depth > depthMost || p.isFile():
		return ""
	case p.kind() == "text/html":
		return htmltext.Text(p.decoded())
	case len(p.Parts) == 0:
		return p.decoded()
	case p.kind() == "multipart/alternative":
		return p.choice(depth)
	}
	var all strings.Builder
	for _, sub := range p.Parts {
		text := sub.text(depth + 1)
		if strings.TrimSpace(text) == "" {
			continue
		}
		if all.Len() > 0 {
			all.WriteString("\n\n")
		}
		all.WriteString(text)
		if all.Len() > htmltext.Most {
			break
		}
	}
	return all.String()
}

func (p part) choice(depth int) string {
	best := ""
	for _, sub := range p.Parts {
		text := sub.text(depth + 1)
		if strings.TrimSpace(text) == "" {
			continue
		}
		if sub.kind() == "text/plain" && !sub.apart() {
			return text
		}
		best = text // the last one is the richest (RFC 2046 §5.1.4)
	}
	return best
}

// decoded returns the text of a part in UTF-8, without undecodable content.
func (p part) decoded() string {
	data, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(p.Body.Data, "="))
	if err != nil {
		return "[this text came damaged]"
	}
	charset := ""
	for _, f := range p.Headers {
		if strings.EqualFold(f.Name, "Content-Type") {
			if _, params, err := mime.ParseMediaType(f.Value[:min(len(f.Value), headerBytes)]); err == nil {
				charset = params["charset"]
			}
		}
	}
	text := toUTF8(data, charset)
	return text[:min(len(text), htmltext.Most)]
}
