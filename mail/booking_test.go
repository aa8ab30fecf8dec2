package mail_test

import (
	"io"
	"mime/quotedprintable"
	"strings"
	"testing"

	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/locale"
	"caldav-mcp-server/mail"
	"caldav-mcp-server/mail/letter"
)

// TestBookings: the mail of a booking page reaches its address whole, and no other.
func TestBookings(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	b := &mail.Bookings{
		Relay: h.relay.settings(t), Post: letter.Post{From: "calendar@example.org"}, Now: h.now, NewID: h.newID,
	}
	link := "https://calendar.example.org/book/r/" + strings.Repeat("aB3-", 20)
	err := b.Send(t.Context(), "eve@example.com", "", "Confirm\r\nBcc: x@example.com", "Hello\n"+link+"\n",
		locale.Match("de"))
	if err != nil {
		t.Fatal(err)
	}
	m := h.relay.all()
	if len(m) != 1 || m[0].to != "eve@example.com" {
		t.Fatalf("sent %+v", m)
	}
	decoded, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(m[0].text)))
	if err != nil {
		t.Fatal(err)
	}
	if text := string(decoded); !strings.Contains(text, "\r\n"+link+"\r\n") || strings.Contains(text, "\r\nBcc:") {
		t.Error(text)
	}
	for _, bad := range []string{"eve", "eve@example.com\r\nBcc: x@example.com", "a@b,c@d", ""} {
		if _, err := b.Address(bad); err == nil {
			t.Errorf("%q is an address", bad)
		}
		if b.Send(t.Context(), bad, "", "Hello", "Hello", locale.Match()) == nil {
			t.Errorf("a mail was sent to %q", bad)
		}
	}
}
