package mail_test

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/emersion/go-smtp"
	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mail"
)

// open lets a door take mail in, and returns a mail server's line to it.
func (h *house) lmtp(d *mail.Door) *smtp.Client {
	h.Helper()
	l, err := d.Listen(h.Context())
	if err != nil {
		h.Fatal(err)
	}
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(h.Context())
	go func() { ended <- d.Serve(ctx, l) }()
	h.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			h.Error(err)
		}
	})
	conn, err := new(net.Dialer).DialContext(h.Context(), l.Addr().Network(), l.Addr().String())
	if err != nil {
		h.Fatal(err)
	}
	c := smtp.NewClientLMTP(conn)
	h.Cleanup(func() { _ = c.Close() })
	return c
}

func TestLMTP(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"127.0.0.1:0", "unix:SOCKET"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			h, s := newHouse(t, testdb.SQLite(t)), newSigning("example.com")
			socket := filepath.Join(t.TempDir(), "lmtp")
			c := h.lmtp(&mail.Door{
				Addr: strings.Replace(where, "SOCKET", socket, 1), Receiver: h.receiver(s, ""), Logger: h.logger(),
			})
			send := func(text string, to ...string) error {
				return c.SendMail("anybody@example.net", to, strings.NewReader(text))
			}
			if err := send(s.sign(t, reply()), "alice@example.org", "ALICE@example.org"); err != nil {
				t.Error(err)
			}
			want := []calendar.MailAddress{"alice@example.org", "alice@example.org"}
			if len(h.received) != 1 || !cmp.Equal(h.received[0].To, want) {
				t.Errorf("the middle gets %v", h.received)
			}
			// What is not followed is taken: it would go back to whomever a stranger named.
			if err := send(reply(), "alice@example.org"); err != nil {
				t.Errorf("a mail that proves nothing: %v", err)
			}
			h.refuse = func(calendar.Inbound) error { return calendar.Errorf(calendar.Unavailable, "", "no") }
			if err := send(s.sign(t, reply()), "alice@example.org"); err == nil ||
				!strings.Contains(err.Error(), "451") {
				t.Errorf("with the store away: %v", err)
			}
			if err := send(strings.Repeat("x", mail.MailMost+100), "alice@example.org"); err == nil {
				t.Error("a mail without end is taken")
			}
			if strings.HasPrefix(where, "unix") {
				if _, err := (&mail.Door{Addr: "unix:" + socket}).Listen(t.Context()); err == nil {
					t.Error("two listen at one socket")
				}
			}
		})
	}
}

func TestCheckDoor(t *testing.T) {
	t.Parallel()
	for addr, good := range map[string]bool{
		"127.0.0.1:24": true, "localhost:24": true, "[::1]:24": true, "unix:/run/lmtp": true, "0.0.0.0:24": false,
		":24": false, "192.0.2.1:24": false,
		"unix:lmtp": false, "unix:": false, "lmtp": false,
	} {
		if err := mail.CheckDoor(addr); (err == nil) != good {
			t.Errorf("%s: %v", addr, err)
		}
	}
}
