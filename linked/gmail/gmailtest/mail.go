package gmailtest

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"caldav-mcp-server/linked/rest/resttest"
)

// message is a mail. Its text and its files come from its parts, for searches.
type message struct {
	id, thread, history, snippet, raw string
	labels                            []string
	date                              time.Time
	root                              *part
}

// part is a MIME part (RFC 2045).
type part struct {
	id, kind, name string
	header         []header
	data           []byte
	parts          []*part
}

type header struct{ name, value string }

func (p *part) get(name string) string {
	for _, h := range p.header {
		if strings.EqualFold(h.name, name) {
			return h.value
		}
	}
	return ""
}

func (p *part) each(visit func(*part)) {
	visit(p)
	for _, inner := range p.parts {
		inner.each(visit)
	}
}

// Add delivers a mail, as raw text. Mails with the same thread form a conversation.
func (s *Server) Add(id, thread, raw string, labels ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	raw = strings.ReplaceAll(strings.ReplaceAll(raw, "\r\n", "\n"), "\n", "\r\n")
	n := len(s.messages) + 1
	m := &message{
		id: id, thread: thread, history: strconv.Itoa(firstHistory + n), raw: raw, labels: labels,
		root: readPart("", raw, 0), date: time.Date(2026, 3, 1, 12, n, 0, 0, time.UTC),
	}
	if at, err := mail.ParseDate(m.root.get("Date")); err == nil {
		m.date = at
	}
	m.snippet = snippet(m.root)
	s.messages = append(s.messages, m)
}

// readPart reads a part with its inner parts. Their ids count from 0, as in "0.1".
func readPart(id, raw string, depth int) *part {
	head, body, found := strings.Cut(raw, "\r\n\r\n")
	if strings.HasPrefix(raw, "\r\n") {
		head, body, found = "", raw[2:], true
	}
	if !found {
		head = strings.TrimSuffix(raw, "\r\n")
	}
	p := &part{id: id, kind: "text/plain"}
	for line := range strings.SplitSeq(head, "\r\n") {
		name, value, ok := strings.Cut(line, ":")
		if last := len(p.header) - 1; last >= 0 && line != "" && strings.ContainsRune(" \t", rune(line[0])) {
			p.header[last].value += " " + strings.TrimSpace(line)
		} else if ok {
			p.header = append(p.header, header{name, strings.TrimSpace(value)})
		}
	}
	kind, parameters, err := mime.ParseMediaType(p.get("Content-Type"))
	if err == nil {
		p.kind = kind
	}
	_, disposition, _ := mime.ParseMediaType(p.get("Content-Disposition"))
	p.name = decoded(disposition["filename"])
	if p.name == "" {
		p.name = decoded(parameters["name"])
	}
	boundary := parameters["boundary"]
	if !strings.HasPrefix(p.kind, "multipart/") || boundary == "" || depth > 500 {
		p.data = transferred(p.get("Content-Transfer-Encoding"), body)
		return p
	}
	for i, inner := range divided(body, boundary) {
		p.parts = append(p.parts, readPart(strings.TrimPrefix(fmt.Sprint(id, ".", i), "."), inner, depth+1))
	}
	return p
}

// divided are the parts between the boundaries of a body, also if the last boundary is missing.
func divided(body, boundary string) (all []string) {
	reader := multipart.NewReader(strings.NewReader(body), boundary)
	for {
		inner, err := reader.NextRawPart()
		if err != nil {
			return all
		}
		var raw strings.Builder
		for _, name := range slices.Sorted(maps.Keys(inner.Header)) {
			for _, value := range inner.Header[name] {
				fmt.Fprintf(&raw, "%s: %s\r\n", name, value)
			}
		}
		data, _ := io.ReadAll(inner)
		all = append(all, raw.String()+"\r\n"+string(data))
	}
}

func decoded(name string) string {
	if plain, err := new(mime.WordDecoder).DecodeHeader(name); err == nil {
		return plain
	}
	return name
}

func transferred(encoding, body string) []byte {
	switch strings.ToLower(encoding) {
	case "base64":
		data, _ := io.ReadAll(base64.NewDecoder(base64.StdEncoding, strings.NewReader(body)))
		return data
	case "quoted-printable":
		data, _ := io.ReadAll(quotedprintable.NewReader(strings.NewReader(body)))
		return data
	}
	return []byte(body)
}

var tags = regexp.MustCompile(`(?s)<[^>]*>`)

// latin reads text that is not UTF-8 as ISO-8859-1.
func latin(data []byte) string {
	if utf8.Valid(data) {
		return string(data)
	}
	runes := make([]rune, len(data))
	for i, b := range data {
		runes[i] = rune(b)
	}
	return string(runes)
}

// snippet is the beginning of a mail's text, escaped as HTML.
func snippet(root *part) string {
	found := ""
	root.each(func(p *part) {
		if found == "" && strings.HasPrefix(p.kind, "text/") && p.name == "" {
			found = latin(p.data[:min(len(p.data), 2000)])
			if p.kind == "text/html" {
				found = html.UnescapeString(tags.ReplaceAllString(found, " "))
			}
		}
	})
	words := []rune(strings.Join(strings.Fields(found), " "))
	return html.EscapeString(string(words[:min(len(words), 200)]))
}

// view is a message in a format.
// https://developers.google.com/workspace/gmail/api/reference/rest/v1/Format
func (s *Server) view(m *message, c *resttest.Call) map[string]any {
	v := map[string]any{
		"id": m.id, "threadId": m.thread, "historyId": m.history, "snippet": m.snippet, "sizeEstimate": len(m.raw),
		"internalDate": strconv.FormatInt(m.date.UnixMilli(), 10),
	}
	if len(m.labels) > 0 {
		v["labelIds"] = m.labels
	}
	switch c.Query.Get("format") {
	case "minimal":
	case "raw":
		v["raw"] = base64.URLEncoding.EncodeToString([]byte(m.raw))
	case "metadata":
		payload := map[string]any{"mimeType": m.root.kind}
		if all := headers(m.root, c.Query["metadataHeaders"]); len(all) > 0 {
			payload["headers"] = all
		}
		v["payload"] = payload
	default:
		v["payload"] = s.payload(m, m.root)
	}
	return v
}

func headers(p *part, wanted []string) (all []any) {
	for _, h := range p.header {
		named := func(name string) bool { return strings.EqualFold(name, h.name) }
		if len(wanted) == 0 || slices.ContainsFunc(wanted, named) {
			all = append(all, map[string]any{"name": h.name, "value": h.value})
		}
	}
	return all
}

// payload is a part with its body, or with the id of its body.
// https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.messages#MessagePart
func (s *Server) payload(m *message, p *part) map[string]any {
	body := map[string]any{"size": len(p.data)}
	inline := strings.HasPrefix(p.kind, "text/") && (s.Inline == 0 || len(p.data) <= s.Inline)
	switch {
	case strings.HasPrefix(p.kind, "multipart/"), len(p.data) == 0:
	case p.name == "" && inline:
		body["data"] = base64.URLEncoding.EncodeToString(p.data)
	default:
		body["attachmentId"] = attachmentID(m, p)
	}
	v := map[string]any{"partId": p.id, "mimeType": p.kind, "filename": p.name, "body": body}
	if all := headers(p, nil); len(all) > 0 {
		v["headers"] = all
	}
	var parts []any
	for _, inner := range p.parts {
		parts = append(parts, s.payload(m, inner))
	}
	if parts != nil {
		v["parts"] = parts
	}
	return v
}

func attachmentID(m *message, p *part) string {
	return "ANGjdJ" + base64.RawURLEncoding.EncodeToString([]byte(m.id+" "+p.id))
}

// attachment returns the body of a part.
// https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.messages.attachments/get
func (s *Server) attachment(c *resttest.Call) (any, *resttest.Problem) {
	m := s.find(c.Path["messageId"])
	if m == nil {
		return nil, missing()
	}
	var found map[string]any
	m.root.each(func(p *part) {
		if attachmentID(m, p) == c.Path["id"] {
			found = map[string]any{"size": len(p.data), "data": base64.URLEncoding.EncodeToString(p.data)}
		}
	})
	if found == nil {
		return nil, resttest.Invalid("id", "Invalid attachment token")
	}
	return found, nil
}

// query is a part of the query language of Gmail's search box: terms that all match, "or" between two of them,
// excluded terms, and the operators of operators.
// https://support.google.com/mail/answer/7190
type query struct {
	all        [][]string // alternatives
	everywhere bool
}

var terms = regexp.MustCompile(`-?(?:\w+:)?(?:"[^"]*"|\([^)]*\)|\S+)`)

func readQuery(text string) (q query) {
	joined := false
	for _, term := range terms.FindAllString(text, -1) {
		term = strings.ToLower(strings.NewReplacer(`"`, "", "(", "", ")", "").Replace(term))
		if slices.Contains([]string{"in:anywhere", "in:spam", "in:trash"}, term) {
			q.everywhere = true
		}
		switch last := len(q.all) - 1; {
		case term == "or" && last >= 0:
			joined = true
		case joined:
			q.all[last], joined = append(q.all[last], term), false
		default:
			q.all = append(q.all, []string{term})
		}
	}
	return q
}

func (q query) matches(m *message) bool {
	for _, alternatives := range q.all {
		if !slices.ContainsFunc(alternatives, func(term string) bool {
			plain, excluded := strings.CutPrefix(term, "-")
			return m.has(plain) != excluded
		}) {
			return false
		}
	}
	return true
}

// operators are the searches for a value.
var operators = map[string]func(m *message, value string) bool{
	"from":    func(m *message, value string) bool { return m.mentions(value, "From") },
	"to":      func(m *message, value string) bool { return m.mentions(value, "To") },
	"cc":      func(m *message, value string) bool { return m.mentions(value, "Cc") },
	"subject": func(m *message, value string) bool { return m.mentions(value, "Subject") },
	"rfc822msgid": func(m *message, value string) bool {
		return strings.Trim(strings.ToLower(m.root.get("Message-ID")), "<>") == strings.Trim(value, "<>")
	},
	"label": (*message).labelled, "is": (*message).labelled, "in": (*message).labelled,
	"has": func(m *message, value string) bool { return value == "attachment" && m.files() != "" },
	"filename": func(m *message, value string) bool {
		return strings.Contains(strings.ToLower(m.files()), value)
	},
	"after":  func(m *message, value string) bool { return !m.date.Before(day(value)) },
	"before": func(m *message, value string) bool { return m.date.Before(day(value)) },
}

// day is a date such as 2026/03/01, or seconds since 1970.
func day(value string) time.Time {
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		return time.Unix(n, 0)
	}
	at, _ := time.Parse("2006/1/2", strings.ReplaceAll(value, "-", "/"))
	return at
}

func (m *message) labelled(value string) bool {
	switch value {
	case "anywhere":
		return true
	case "read":
		return !slices.Contains(m.labels, "UNREAD")
	}
	return slices.ContainsFunc(m.labels, func(id string) bool { return strings.EqualFold(id, value) })
}

func (m *message) files() (names string) {
	m.root.each(func(p *part) { names += p.name + "\n" })
	return strings.TrimSpace(names)
}

func (m *message) mentions(value string, names ...string) bool {
	for _, name := range names {
		if strings.Contains(strings.ToLower(decoded(m.root.get(name))), value) {
			return true
		}
	}
	return false
}

func (m *message) has(term string) bool {
	name, value, _ := strings.Cut(term, ":")
	if operator := operators[name]; operator != nil && value != "" {
		return operator(m, value)
	}
	found := m.mentions(term, "From", "To", "Cc", "Subject")
	m.root.each(func(p *part) {
		found = found || strings.HasPrefix(p.kind, "text/") && bytes.Contains(bytes.ToLower(p.data), []byte(term))
	})
	return found
}
