package gmailtest

import (
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	netmail "net/mail"
	"net/textproto"
	"slices"
	"strings"
	"time"
)

// written is a mail in the API's form: parsed, with its transfer encodings decoded.
func (s *Server) written(m mail, format string) map[string]any {
	parsed, err := netmail.ReadMessage(strings.NewReader(m.raw))
	out := map[string]any{
		"id": m.id, "threadId": m.thread, "labelIds": anyOf(m.labels), "snippet": m.snippet(), "historyId": "1",
		"sizeEstimate": len(m.raw),
		"internalDate": fmt.Sprint(time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC).UnixMilli()),
	}
	if err != nil || format == "minimal" {
		return out
	}
	head, body, _ := strings.Cut(m.raw, "\r\n\r\n")
	payload := s.part("", textproto.MIMEHeader(parsed.Header), headersOf(head), []byte(body))
	if format == "metadata" {
		payload = map[string]any{"mimeType": payload["mimeType"], "headers": payload["headers"]}
	}
	out["payload"] = payload
	return out
}

func anyOf(list []string) []any {
	all := []any{}
	for _, s := range list {
		all = append(all, s)
	}
	return all
}

// headersOf returns the header fields of a text in order.
func headersOf(text string) []any {
	var all []any
	for line := range strings.SplitSeq(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n ", " "), "\r\n\t", " "),
		"\r\n") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			all = append(all, map[string]any{"name": name, "value": strings.TrimSpace(value)})
		}
	}
	return all
}

// part converts a part and its children. A file gets a different id on every request.
func (s *Server) part(id string, header textproto.MIMEHeader, headers []any, body []byte) map[string]any {
	kind, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		kind = "text/plain"
	}
	_, disposition, _ := mime.ParseMediaType(header.Get("Content-Disposition"))
	name := disposition["filename"]
	if name == "" {
		name = params["name"]
	}
	out := map[string]any{
		"partId": id, "mimeType": kind, "filename": name, "headers": headers, "body": map[string]any{"size": 0},
	}
	if strings.HasPrefix(kind, "multipart/") {
		out["parts"] = s.parts(id, params["boundary"], body)
		return out
	}
	body = decoded(header.Get("Content-Transfer-Encoding"), body)
	if name != "" || s.Inline > 0 && len(body) > s.Inline {
		s.serial++
		out["body"] = map[string]any{"size": len(body), "attachmentId": fmt.Sprintf("ANGjdJ%d", s.serial)}
		return out
	}
	out["body"] = map[string]any{"size": len(body), "data": base64.URLEncoding.EncodeToString(body)}
	return out
}

func (s *Server) parts(id, boundary string, body []byte) []any {
	all := []any{}
	reader := multipart.NewReader(strings.NewReader(string(body)), boundary)
	for {
		p, err := reader.NextRawPart()
		if err != nil {
			return all
		}
		text, _ := io.ReadAll(p)
		var headers []any
		for name, values := range p.Header {
			headers = append(headers, map[string]any{"name": name, "value": values[0]})
		}
		slices.SortFunc(headers, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		all = append(all, s.part(strings.TrimPrefix(fmt.Sprintf("%s.%d", id, len(all)), "."), p.Header, headers, text))
	}
}

func decoded(encoding string, body []byte) []byte {
	var in io.Reader
	switch strings.ToLower(encoding) {
	case "base64":
		in = base64.NewDecoder(base64.StdEncoding,
			strings.NewReader(strings.NewReplacer("\r", "", "\n", "").Replace(string(body))))
	case "quoted-printable":
		in = quotedprintable.NewReader(strings.NewReader(string(body)))
	default:
		return body
	}
	text, _ := io.ReadAll(in) // ignore a broken encoding after the readable part
	return text
}

// snippet returns the beginning of the text, as HTML.
func (m mail) snippet() string {
	_, body, _ := strings.Cut(m.raw, "\r\n\r\n")
	words := strings.Fields(body)
	return html.EscapeString(strings.Join(words[:min(len(words), 12)], " "))
}
