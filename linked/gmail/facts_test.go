package gmail_test

import (
	"strings"
	"testing"

	"caldav-mcp-server/calendar/mailbox"
	"caldav-mcp-server/linked/gmail/gmailtest"
)

// TestSpamAndTrash: Gmail lists neither, unless it is asked to.
func TestSpamAndTrash(t *testing.T) {
	server := gmailtest.New()
	a := open(t, server)
	for id, label := range map[string]string{"a1": "INBOX", "a2": "SPAM", "a3": "TRASH"} {
		server.Add(id, id, "Subject: Offer\n\nOffer", label)
	}
	page, err := a.Search(t.Context(), mailbox.Query{Text: "offer", Most: 10})
	if err != nil || len(page.Found) != 1 || page.Found[0].Message != "a1" {
		t.Errorf("%+v, %v", page, err)
	}
}

// TestLargeTextIsApart: Gmail keeps a large text apart, like an attachment without a name. The mail says so.
func TestLargeTextIsApart(t *testing.T) {
	server := gmailtest.New()
	a := open(t, server)
	server.Inline = 100
	head := "Subject: Long\nMIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=b\n\n--b\n" +
		"Content-Type: text/plain\n\n" + strings.Repeat("long ", 100) + "\n--b\nContent-Type: text/html\n\n"
	server.Add("a1", "a1", head+"<p>"+strings.Repeat("long ", 100)+"</p>\n--b--\n")
	server.Add("a2", "a2", head+"<p>short</p>\n--b--\n")
	for id, want := range map[string]string{"a1": "[Gmail keeps this text of", "a2": "short"} {
		m, err := a.Message(t.Context(), id, true)
		if err != nil || !strings.HasPrefix(strings.TrimSpace(m.Body), want) {
			t.Errorf("%s: %q, %v", id, m.Body, err)
		}
	}
}
