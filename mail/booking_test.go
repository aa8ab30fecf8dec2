package mail_test

import (
	"io"
	"mime/quotedprintable"
	"net/url"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/locale"
	"caldav-mcp-server/mail"
	"caldav-mcp-server/mail/letter"
	"caldav-mcp-server/web/poll"
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

// TestPollIsMailed: each person gets one mail with their own link, and a person who was removed or has answered gets
// none.
func TestPollIsMailed(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, database string) {
		h := newHouse(t, database)
		polls := &poll.Service{
			Store: h.Store, Root: &url.URL{Scheme: "https", Host: "cal.example.org", Path: "/poll/"}, Now: h.now,
		}
		p := calendar.Poll{
			ID: "p", Owner: h.user.ID, Link: "everyone", State: calendar.PollOpen, Created: h.now(),
			Closes: h.now().Add(time.Hour), Ends: h.now().Add(time.Hour),
			Settings: []byte(`{"title":"Walk\r\nBcc: x@example.org","zone":"Europe/Berlin","language":"de"}`),
		}
		var people []calendar.PollPerson
		var letters []calendar.Letter
		for _, name := range []string{"alice", "mia", "zoe"} {
			one := calendar.PollPerson{
				ID: calendar.PollPersonID(name), Poll: p.ID, Link: "link-of-" + name, Invited: true, Name: name,
				Address: name + "@example.org", Created: h.now(), Answers: []byte(`{}`),
			}
			if name == "zoe" {
				one.Changes = 1
			}
			to := calendar.MailAddress(one.Address)
			people, letters = append(people, one), append(letters, calendar.Letter{
				ID: calendar.LetterID(name), User: h.user.ID, From: to, To: to, Method: calendar.MethodPoll,
				UID: calendar.UID("poll-" + name), Posted: h.now(), Due: h.now(), Data: []byte(name),
			})
		}
		most := calendar.PollLimits{Polls: 1, Invited: 3, People: 3}
		h.must(h.SavePoll(t.Context(), p, people, letters, most, calendar.DefaultLimits().Outbox))
		h.must(h.DeletePollPerson(t.Context(), p.ID, "mia"))
		c := h.config(h.Store)
		c.Polls = polls.Mail
		got := h.sentBy(c)
		if len(got) != 1 {
			t.Fatalf("%d mails: %s", len(got), got)
		}
		for _, want := range []string{
			"To: \"alice\" <alice@example.org>", "Subject: Wann hast du Zeit? Walk Bcc: x@example.org",
			"https://cal.example.org/poll/link-of-alice", "Auto-Submitted: auto-generated",
		} {
			if !strings.Contains(got[0], want) {
				t.Errorf("%q is not in %s", want, got[0])
			}
		}
		header, _, _ := strings.Cut(strings.ReplaceAll(got[0], "\r", ""), "\n\n")
		if strings.Contains(header, "\nBcc") || strings.Contains(got[0], "everyone") {
			t.Errorf("mailed: %s", got[0])
		}
		if n, err := h.WaitingOf(t.Context(), h.user.ID); n > 0 || err != nil {
			t.Errorf("%d letters wait: %v", n, err)
		}
	})
}
