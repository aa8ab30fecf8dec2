package letter_test

import (
	"bytes"
	"io"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/locale"
	"caldav-mcp-server/mail/letter"
)

// TestPlain: a mail of the server's own is one text to one person, whatever the person is called.
func TestPlain(t *testing.T) {
	t.Parallel()
	for _, name := range append(hostile, "") {
		data, err := post().Plain(letter.Plain{
			Language: locale.Match(),
			To:       "ann@example.org", Name: name, Subject: name,
			Text: "Hello,\n\nüber " + strings.Repeat("long ", 100),
			ID:   "1@example.org", At: time.Unix(0, 0),
		})
		if err != nil {
			t.Fatal(err)
		}
		m, err := mail.ReadMessage(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		to, err := m.Header.AddressList("To")
		if err != nil || len(to) != 1 || to[0].Address != "ann@example.org" || len(m.Header) > 10 {
			t.Errorf("to %v (%v), with %v", to, err, m.Header)
		}
		body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
		if err != nil || !strings.HasPrefix(string(body), "Hello,\r\n\r\nüber long long") {
			t.Errorf("%v: %q", err, body)
		}
		for line := range strings.SplitSeq(string(data), "\r\n") {
			if len(line) > 78 || strings.Contains(line, "\n") {
				t.Errorf("a line of %d bytes: %.100q", len(line), line)
			}
		}
	}
}
