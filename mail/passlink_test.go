package mail_test

import (
	"io"
	"mime/quotedprintable"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mail"
	"caldav-mcp-server/mail/letter"
)

// TestPasslinks: anyone who is to choose a password has the link in their mail, whole, with until when it is good in
// their own zone; what the server of their mail refuses is told.
func TestPasslinks(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	p := &mail.Passlinks{
		Relay: h.relay.settings(t), Post: letter.Post{From: "calendar@example.org"}, Host: "calendar.example.org",
		Now: h.now, NewID: h.newID,
	}
	u := calendar.User{Name: "ann", DisplayName: "Ann\u00a0Lee", Email: "ann@example.com", Timezone: "Europe/Berlin"}
	link, until := "https://calendar.example.org/account/key/"+
		strings.Repeat("aB3-", 20), time.Date(2026, 7, 1, 22, 30, 0, 0, time.UTC)
	for i, test := range []struct {
		reset             bool
		language, subject string
		until             string
	}{
		{false, "", "Your calendar account", "2 July 2026, 00:30 CEST"},
		{true, "", "Choose a new password", "2 July 2026, 00:30 CEST"},
		{false, "de", "Dein Kalenderkonto", "2. Juli 2026, 00:30 CEST"},
	} {
		u.BrowserLanguage = test.language
		if err := p.Send(t.Context(), u, test.reset, link, until); err != nil {
			t.Fatal(err)
		}
		m := h.relay.all()[i]
		decoded, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(m.text)))
		if err != nil {
			t.Fatal(err)
		}
		text := string(decoded)
		if m.to != "ann@example.com" || m.from != "calendar@example.org" {
			t.Errorf("it goes to %s from %s", m.to, m.from)
		}
		for _, part := range []string{
			"Subject: " + test.subject + "\r\n", link + "\r\n", "ann", test.until, "calendar.example.org",
		} {
			if !strings.Contains(text, part) {
				t.Errorf("the mail lacks %q:\n%s", part, text)
			}
		}
	}
	h.relay.refuse = func(stage, _ string) error {
		if stage != "RCPT" {
			return nil
		}
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no"}
	}
	if err := p.Send(t.Context(), u, false, link, until); calendar.ReasonOf(err) != calendar.Invalid ||
		strings.Contains(err.Error(), "550") {
		t.Errorf("refused: %v", err)
	}
	u.Email = "not an address"
	if err := p.Send(t.Context(), u, false, link, until); calendar.ReasonOf(err) != calendar.Invalid {
		t.Errorf("no address: %v", err)
	}
}
