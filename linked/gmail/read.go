package gmail

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar/mailbox"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/linked/htmltext"
	"caldav-mcp-server/linked/rest"
)

const (
	// smallAnswer limits a response without texts, wholeAnswer one with the texts of a mail, threadAnswer one with
	// the texts of a conversation. Gmail returns attachments only through another method, which is never called.
	smallAnswer  = 1 << 19
	wholeAnswer  = 2 << 20
	threadAnswer = 4 << 20
	// messagesMost limits the messages returned for a conversation.
	messagesMost = 50
	// bodyMost limits the characters of a mail's text, bodiesMost the sum for a conversation.
	bodyMost, bodiesMost = 20_000, 50_000
	// depthMost limits the nesting of a mail's parts.
	depthMost = 8
)

// message is a mail in the API's form.
type message struct {
	ID       string   `json:"id"`
	Thread   string   `json:"threadId"`
	Labels   []string `json:"labelIds"`
	Snippet  string   `json:"snippet"`
	Received string   `json:"internalDate"` // milliseconds
	Payload  part     `json:"payload"`
}

// part is a part of a mail.
type part struct {
	ID       string  `json:"partId"`
	MIMEType string  `json:"mimeType"`
	Filename string  `json:"filename"`
	Headers  []field `json:"headers"`
	Body     struct {
		Attachment string `json:"attachmentId"`
		Size       int    `json:"size"`
		Data       string `json:"data"` // base64url, with the transfer encoding decoded
	} `json:"body"`
	Parts []part `json:"parts"`
}

type field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// outline requests a mail's headers and the structure of its parts, without their texts (a partial response). It omits
// the parts' headers, and parts nested deeper than depthMost.
func outline() string {
	parts := "partId,mimeType,filename,body(attachmentId,size)"
	for range depthMost {
		parts = "partId,mimeType,filename,body(attachmentId,size),parts(" + parts + ")"
	}
	return "id,threadId,labelIds,snippet,internalDate,payload(headers," + parts + ")"
}

func (a *Account) get(ctx context.Context, most int64, path string, query url.Values, into any) error {
	c := a.client
	c.Most = most
	err := c.Do(ctx, rest.Request{Method: http.MethodGet, Path: path, Query: query}, into)
	if rest.Is(err, http.StatusNotFound, http.StatusGone) {
		return mirror.ErrGone
	}
	return err
}

// Search implements [mailbox.Source].
func (a *Account) Search(ctx context.Context, q mailbox.Query) (mailbox.Page, error) {
	var page struct {
		Messages []struct {
			ID     string `json:"id"`
			Thread string `json:"threadId"`
		} `json:"messages"`
		Next string `json:"nextPageToken"`
	}
	if err := a.get(ctx, smallAnswer, "/users/me/messages", listing(q), &page); err != nil {
		return mailbox.Page{}, err
	}
	found := mailbox.Page{Next: page.Next}
	for _, m := range page.Messages {
		found.Found = append(found.Found, mailbox.Found{Message: m.ID, Thread: m.Thread})
	}
	return found, nil
}

// Threads implements [mailbox.Source].
func (a *Account) Threads(ctx context.Context, q mailbox.Query) (mailbox.Page, error) {
	var page struct {
		Threads []struct {
			ID      string `json:"id"`
			Snippet string `json:"snippet"`
		} `json:"threads"`
		Next string `json:"nextPageToken"`
	}
	if err := a.get(ctx, smallAnswer, "/users/me/threads", listing(q), &page); err != nil {
		return mailbox.Page{}, err
	}
	found := mailbox.Page{Next: page.Next}
	for _, t := range page.Threads {
		found.Found = append(found.Found, mailbox.Found{Thread: t.ID, Snippet: snippet(t.Snippet)})
	}
	return found, nil
}

func listing(q mailbox.Query) url.Values {
	query := url.Values{"maxResults": {strconv.Itoa(q.Most)}}
	if q.Text != "" {
		query.Set("q", q.Text)
	}
	if q.Token != "" {
		query.Set("pageToken", q.Token)
	}
	return query
}

// Message implements [mailbox.Source].
func (a *Account) Message(ctx context.Context, id string, whole bool) (mailbox.Message, error) {
	query, most, body := url.Values{"format": {"full"}, "fields": {outline()}}, int64(smallAnswer), 0
	if whole {
		query, most, body = url.Values{"format": {"full"}}, wholeAnswer, bodyMost
	}
	var m message
	if err := a.get(ctx, most, "/users/me/messages/"+url.PathEscape(id), query, &m); err != nil {
		return mailbox.Message{}, err
	}
	return m.read(body), nil
}

// Thread implements [mailbox.Source].
func (a *Account) Thread(ctx context.Context, id string, whole bool) (mailbox.Thread, error) {
	query, most := url.Values{"format": {"full"}, "fields": {"id,messages(" + outline() + ")"}}, int64(2*smallAnswer)
	if whole {
		query, most = url.Values{"format": {"full"}}, threadAnswer
	}
	var t struct {
		ID       string    `json:"id"`
		Messages []message `json:"messages"`
	}
	if err := a.get(ctx, most, "/users/me/threads/"+url.PathEscape(id), query, &t); err != nil {
		return mailbox.Thread{}, err
	}
	all := mailbox.Thread{ID: t.ID, Left: max(0, len(t.Messages)-messagesMost)}
	t.Messages = t.Messages[all.Left:]
	body := 0
	if whole {
		body = min(bodyMost, bodiesMost/max(1, len(t.Messages)))
	}
	for _, m := range t.Messages {
		all.Messages = append(all.Messages, m.read(body))
	}
	return all, nil
}

// read converts a mail, with at most so many characters of its text.
func (m message) read(body int) mailbox.Message {
	out := mailbox.Message{
		ID: m.ID, Thread: m.Thread, Snippet: snippet(m.Snippet), Labels: m.Labels[:min(len(m.Labels), labelsMost)],
	}
	for _, f := range m.Payload.Headers {
		for _, known := range [...]struct {
			name string
			into *string
		}{{"From", &out.From}, {"To", &out.To}, {"Cc", &out.Cc}, {"Subject", &out.Subject}, {"Date", &out.Date}} {
			if strings.EqualFold(f.Name, known.name) && *known.into == "" {
				*known.into = header(f.Value)
			}
		}
	}
	if ms, err := strconv.ParseInt(m.Received, 10, 64); err == nil && ms > 0 && ms < latest {
		out.Received = time.UnixMilli(ms).UTC()
	}
	files := m.Payload.files(nil, 0)
	out.Attachments, out.Left = files[:min(len(files), mailbox.AttachmentsMost)],
		max(0, len(files)-mailbox.AttachmentsMost)
	if body > 0 {
		out.Body, out.Cut = cutTo(htmltext.Tidy(m.Payload.text(0)), body)
	}
	return out
}

const (
	// labelsMost limits the labels of a mail.
	labelsMost = 50
	// latest is the latest accepted time, in milliseconds: the year 9999.
	latest = 253_402_300_800_000
)
