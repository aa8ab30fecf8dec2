package gmail

import (
	"encoding/base64"
	"mime"
	"strings"

	"caldav-mcp-server/calendar/mailbox"
)

// textMost bounds the text that is made of a mail before it is cut, in bytes.
const textMost = 1 << 20

// isFile tells whether a part is a file, and no text of the mail. An invitation is one, whether it has a name or not, and so is a mail
// in the mail.
func (p part) isFile() bool {
	if len(p.Parts) != 0 && p.kind() != "message/rfc822" {
		return false
	}
	return p.Filename != "" || p.Body.Attachment != "" || !strings.HasPrefix(p.kind(), "text/") && !strings.HasPrefix(p.kind(), "multipart/") || p.kind() == "text/calendar"
}

func (p part) kind() string { return strings.ToLower(p.MIMEType) }

// files lists the files below a part. Of mails in the mail it lists none.
func (p part) files(to []mailbox.Attachment, depth int) []mailbox.Attachment {
	if p.isFile() {
		if p.ID == "" && p.Filename == "" && p.Body.Size == 0 {
			return to // no part at all
		}
		id := p.ID
		if id == "" {
			id = "0" // the mail is the file
		}
		return append(to, mailbox.Attachment{ID: header(id), Name: header(p.Filename), MIMEType: header(p.MIMEType), Size: max(0, p.Body.Size), Alias: p.Body.Attachment})
	}
	if depth > depthMost {
		return to
	}
	for _, sub := range p.Parts {
		to = sub.files(to, depth+1)
	}
	return to
}

// text is what a reader sees of a part: of alternatives the plain one, if it says anything.
func (p part) text(depth int) string {
	switch {
	case depth > depthMost || p.isFile():
		return ""
	case p.kind() == "text/html":
		return textOfHTML(p.decoded())
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
		if all.Len() > textMost {
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
		if sub.kind() == "text/plain" {
			return text
		}
		best = text // the last one is the richest (RFC 2046 §5.1.4)
	}
	return best
}

// decoded is the text of a part, in UTF-8. What cannot be decoded is left out.
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
	return text[:min(len(text), textMost)]
}
