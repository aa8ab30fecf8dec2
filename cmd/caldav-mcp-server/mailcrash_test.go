package main

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/store"
)

// hangingRelay gets mails and accepts none until it is told to.
type hangingRelay struct {
	got    chan string
	accept chan struct{}
}

func (hangingRelay) Reset()                               {}
func (hangingRelay) Logout() error                        { return nil }
func (hangingRelay) Mail(string, *smtp.MailOptions) error { return nil }
func (hangingRelay) Rcpt(string, *smtp.RcptOptions) error { return nil }

func (h hangingRelay) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	h.got <- messageID.FindString(string(text))
	<-h.accept
	return nil
}

// TestKillWhileMailing: a server that is killed while it sends a mail sends it again right after the restart, and not
// after a quarter of an hour. While it lives, no other process sends it, however long the relay takes.
func TestKillWhileMailing(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, slowtest.Crash, "kills servers, whose leases are waited for")
	each(t, func(t *testing.T, database string) {
		h := hangingRelay{make(chan string, 10), make(chan struct{})}
		relay := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return h, nil }))
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = relay.Serve(l) }()
		t.Cleanup(func() { _ = relay.Close() })
		env := append(on(database), "BASE_URL=https://cal.example.org", "MAIL_FROM=calendar@example.org",
			"SMTP_URL=smtp://"+l.Addr().String())
		servers := []*running{serve(t, env)}
		s, err := store.Open(t.Context(), database, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		u, err := s.UserByName(t.Context(), "admin")
		if err != nil {
			t.Fatal(err)
		}
		err = s.Update(t.Context(), func(tx calendar.Tx) error {
			return tx.Post(t.Context(), u.ID, []calendar.Letter{{
				ID: "letter", User: u.ID, From: "admin@example.org", To: "guest@example.com", UID: "u",
				Method: calendar.MethodRequest, First: true, Posted: time.Now(), Due: time.Now(), Data: []byte(
					"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nUID:u\r\n" +
						"DTSTAMP:20260101T000000Z\r\nDTSTART:20300301T090000Z\r\nSUMMARY:Lunch\r\n" +
						"ORGANIZER:mailto:admin@example.org\r\nATTENDEE:mailto:guest@example.com\r\n" +
						"END:VEVENT\r\nEND:VCALENDAR\r\n"),
			}}, calendar.DefaultLimits().Outbox)
		})
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(database, "postgres") {
			servers = append(servers, serve(t, env))
		}
		sent := func(while time.Duration) string {
			t.Helper()
			select {
			case id := <-h.got:
				return id
			case <-time.After(while):
				return ""
			}
		}
		id := sent(patience)
		if again := sent(12 * time.Second); id == "" || again != "" {
			t.Fatalf("the mail %q is sent again while it is on its way: %q", id, again)
		}
		for _, r := range servers {
			if err := r.kill(); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		serve(t, env)
		if again := sent(patience); again != id {
			t.Fatalf("the mail %q is sent again as %q", id, again)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("the mail is sent again after %v", took)
		}
		close(h.accept)
		until(t, "the mail leaves the outbox", func() bool {
			n, _, err := s.WaitingLetters(t.Context())
			return n == 0 && err == nil
		})
	})
}
