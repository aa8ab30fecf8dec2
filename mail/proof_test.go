package mail_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mail"
	"caldav-mcp-server/mail/letter"
)

// TestProof: anyone who reads the mail has the link; a link is for one user and one address, for a day.
func TestProof(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	p := &mail.Proofs{
		Relay: h.relay.settings(t), Post: letter.Post{From: "calendar@example.org"}, Key: h.key(), Now: h.now,
		NewID: h.newID,
		Page:  &url.URL{Scheme: "https", Host: "example.org", Path: "/account/prove"},
	}
	if err := p.Send(t.Context(), h.user, " Alice@Example.com"); err != nil {
		t.Fatal(err)
	}
	m := h.relay.all()[0]
	if m.to != "alice@example.com" || m.from != "calendar@example.org" {
		t.Errorf("the mail goes to %s from %s", m.to, m.from)
	}
	text := strings.ReplaceAll(strings.ReplaceAll(m.text, "=\r\n", ""), "=3D", "=")
	_, rest, _ := strings.Cut(text, "https://example.org/account/prove/")
	token, _, _ := strings.Cut(rest, "\r\n")
	user, address, err := p.Open(token)
	if user != h.user.ID || address != "alice@example.com" || err != nil {
		t.Errorf("it proves %q of %q, %v", address, user, err)
	}
	refused := func(what, token string) {
		t.Helper()
		if _, _, err := p.Open(token); calendar.ReasonOf(err) != calendar.NotFound {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i := range token {
		refused("one letter changed", token[:i]+"~"+token[i+1:])
	}
	refused("nothing", "")
	// A link for an answer is none for this.
	h.post(h.letter(calendar.MethodRequest, "u", "guest@example.com"))
	h.round(h.sender())
	refused("another kind of link", h.link("guest@example.com"))
	h.pass(24*time.Hour + time.Second)
	refused("after a day", token)
}

// TestProofIsNotSent: what a person can help is told, and nobody is flooded.
func TestProofIsNotSent(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	p := &mail.Proofs{
		Relay: h.relay.settings(t), Post: letter.Post{From: "calendar@example.org"}, Key: h.key(), Now: h.now,
		NewID: h.newID,
		Page:  &url.URL{Scheme: "https", Host: "example.org", Path: "/account/prove"},
	}
	wants := func(address string, reason calendar.Reason) {
		t.Helper()
		if err := p.Send(t.Context(), h.user, address); err == nil || calendar.ReasonOf(err) != reason ||
			strings.Contains(err.Error(), "SMTP") {
			t.Errorf("%s: %v (%v)", address, err, calendar.ReasonOf(err))
		}
	}
	wants("nobody", calendar.Invalid)
	h.relay.refuse = func(stage, address string) error {
		switch {
		case stage == "RCPT" && address == "none@example.com":
			return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no"}
		case stage == "RCPT" && address == "full@example.com":
			return &smtp.SMTPError{Code: 452, EnhancedCode: smtp.EnhancedCode{4, 2, 2}, Message: "no"}
		}
		return nil
	}
	wants("none@example.com", calendar.Invalid)
	wants("full@example.com", calendar.Unavailable)
	h.relay.refuse = nil
	for range 10 {
		_ = p.Send(t.Context(), h.user, "alice@example.com")
	}
	if got := len(h.relay.all()); got != 3 {
		t.Errorf("%d mails in an hour", got)
	}
}
