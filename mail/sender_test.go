package mail_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http/httptest"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/lease"
	"caldav-mcp-server/internal/testdb"
	mailroom "caldav-mcp-server/mail"
	"caldav-mcp-server/store"
)

func header(t *testing.T, s sent, name string) string {
	t.Helper()
	t.Helper()
	m, err := mail.ReadMessage(strings.NewReader(s.text))
	if err != nil {
		t.Fatal(err)
	}
	return m.Header.Get(name)
}

func TestLetterIsMailedOnce(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		s, other := h.sender(), mailroom.NewSender(h.config(h.open()))
		h.post(h.letter(calendar.MethodRequest, "u", "guest@example.com"))
		if h.round(s) != 1 || h.round(s) != 0 || h.round(other) != 0 {
			t.Error("not one letter for one sender")
		}
		mails := h.relay.all()
		if len(mails) != 1 || mails[0].from != "calendar@example.org" || mails[0].to != "guest@example.com" {
			t.Fatalf("mailed: %v", mails)
		}
		if diff := cmp.Diff([]string{"guest@example.com REQUEST 1.1"}, h.delivered); diff != "" {
			t.Errorf("what the middle hears (-want +got):\n%s", diff)
		}
		told, err := h.Told(t.Context(), "alice", "guest@example.com", "u")
		if err != nil || len(told) != 1 || told[0].Status != "1.1" {
			t.Errorf("told: %v %v", told, err)
		}
		h.pass(time.Hour)
		h.post(h.letter(calendar.MethodCancel, "u", "guest@example.com"))
		h.round(s)
		mails = h.relay.all()
		if len(mails) != 1 {
			t.Errorf("one who was told of nothing, as the letter says, gets %d mails", len(mails))
		}
		cancel := h.letter(calendar.MethodCancel, "u", "guest@example.com")
		cancel.First = false
		h.post(cancel)
		h.round(s)
		mails = h.relay.all()
		if len(mails) != 2 || header(t, mails[0], "References") != header(t, mails[1], "References") ||
			header(t, mails[0], "Message-Id") == header(t, mails[1], "Message-Id") {
			t.Errorf("the second mail is not part of the talk")
		}
		if strings.Contains(h.log.String(), "Secret plan") || strings.Contains(h.log.String(), "guest@") {
			t.Error("the log tells what was written, or to whom")
		}
	})
}

// answers are what a mail server may say at each stage, and what comes of it.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stage string
		code  int
		extra smtp.EnhancedCode
		want  string // "" for: tries again
		down  bool
	}{
		{"RCPT", 550, smtp.EnhancedCode{5, 1, 1}, "3.7", false},
		{"RCPT", 550, smtp.EnhancedCode{5, 7, 1}, "5.1", false},
		{"RCPT", 450, smtp.EnhancedCode{4, 2, 0}, "", false},
		{"DATA", 554, smtp.EnhancedCode{5, 6, 0}, "5.3", false},
		{"DATA", 451, smtp.EnhancedCode{4, 3, 0}, "", false},
		{"MAIL", 550, smtp.EnhancedCode{5, 7, 1}, "", true},
		{"MAIL", 452, smtp.EnhancedCode{4, 3, 1}, "", true},
	} {
		t.Run(fmt.Sprint(c.stage, c.code, c.extra), func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, testdb.SQLite(t))
			h.relay.refuse = func(stage, address string) error {
				if stage == c.stage && (stage == "MAIL" || address == "bad@example.com") {
					return &smtp.SMTPError{Code: c.code, EnhancedCode: c.extra, Message: "no"}
				}
				return nil
			}
			s := h.sender()
			h.post(h.letter(calendar.MethodRequest, "u", "bad@example.com"),
				h.letter(calendar.MethodRequest, "u", "good@example.com"))
			_, err := s.Round(t.Context())
			if (err != nil) != c.down {
				t.Errorf("the round ends with %v", err)
			}
			want := []string{"bad@example.com REQUEST " + c.want, "good@example.com REQUEST 1.1"}
			if c.want == "" {
				want = want[1:]
			}
			if c.down {
				want = nil
			}
			if diff := cmp.Diff(want, h.delivered); diff != "" {
				t.Errorf("what the middle hears (-want +got):\n%s", diff)
			}
			h.relay.refuse = nil
			for range 4 {
				h.pass(time.Minute)
				if _, err := s.Round(t.Context()); err != nil {
					t.Error(err)
				}
			}
			mails := 2
			if c.want != "" {
				mails = 1
			}
			if got := len(h.relay.all()); got != mails {
				t.Errorf("in the end %d mails are sent, want %d", got, mails)
			}
		})
	}
}

// TestGivesUp: anyone who cannot be reached is tried less and less often, and in the end the sender is told.
func TestGivesUp(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	tries := 0
	h.relay.refuse = func(stage, _ string) error {
		if stage != "RCPT" {
			return nil
		}
		tries++
		return &smtp.SMTPError{Code: 450, EnhancedCode: smtp.EnhancedCode{4, 2, 0}, Message: "later"}
	}
	s := h.sender()
	h.post(h.letter(calendar.MethodRequest, "u", "guest@example.com"))
	for range 5 * 24 * 60 {
		h.round(s)
		h.pass(time.Minute)
	}
	if diff := cmp.Diff([]string{"guest@example.com REQUEST 5.1"}, h.delivered); diff != "" || tries < 20 ||
		tries > 50 {
		t.Errorf("after %d tries (-want +got):\n%s", tries, diff)
	}
	n, _, err := h.WaitingLetters(t.Context())
	if n != 0 || err != nil {
		t.Errorf("%d letters wait still, %v", n, err)
	}
}

// TestNothingToSend: without mail, a sender writes nothing, not even its lease.
func TestNothingToSend(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		s := h.sender()
		h.round(s)
		free, err := h.Store.Lease(t.Context(), "mail out", "another", h.now(), h.now().Add(lease.Term))
		if err != nil || !free {
			t.Errorf("the lease is free: %v, %v", free, err)
		}
		h.post(h.letter(calendar.MethodRequest, "u", "guest@example.com"))
		if h.round(s) != 0 {
			t.Error("it sends while another has the lease")
		}
		h.pass(lease.Term)
		if h.round(s) != 1 {
			t.Error("it does not send what waits")
		}
	})
}

// forgetful is a store whose process dies before what became of a letter is written.
type forgetful struct {
	*store.Store
	deaths int
}

var errKilled = errors.New("killed")

func (f *forgetful) SettleLetter(ctx context.Context, l calendar.Letter) error {
	if f.deaths > 0 {
		f.deaths--
		return errKilled
	}
	return f.Store.SettleLetter(ctx, l)
}

// TestKilledBetweenSendAndMark: what may have been sent is sent once more, by the same name and byte for byte.
func TestKilledBetweenSendAndMark(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.post(h.letter(calendar.MethodRequest, "u", "guest@example.com"))
		if _, err := mailroom.NewSender(h.config(&forgetful{h.Store, 1})).Round(t.Context()); !errors.Is(err,
			errKilled) {
			t.Fatalf("it was not killed: %v", err)
		}
		next := h.sender()
		if h.round(next) != 0 {
			t.Error("another sends what may be under way")
		}
		h.pass(lease.Term)
		h.round(next)
		h.pass(time.Hour)
		h.round(next)
		mails := h.relay.all()
		if len(mails) != 2 || mails[0].text != mails[1].text || header(t, mails[0], "Message-Id") == "" {
			t.Errorf("%d mails, which are not the same", len(mails))
		}
		if len(h.delivered) != 1 {
			t.Errorf("the middle hears %v", h.delivered)
		}
	})
}

func TestSendersShareTheWork(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		for i := range 50 {
			h.post(h.letter(calendar.MethodRequest, fmt.Sprint(i), fmt.Sprintf("guest%d@example.com", i)))
		}
		var all sync.WaitGroup
		for range 3 {
			s := mailroom.NewSender(h.config(h.open()))
			all.Go(func() {
				for range 20 {
					if _, err := s.Round(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		got := map[string]int{}
		for _, m := range h.relay.all() {
			got[m.to]++
		}
		for to, n := range got {
			if n != 1 {
				t.Errorf("%s got %d mails", to, n)
			}
		}
		if len(got) != 50 {
			t.Errorf("%d got a mail", len(got))
		}
	})
}

func TestThrottles(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	c := h.config(h.Store)
	c.Limits.User, c.Limits.Recipient = 6, 2
	s := mailroom.NewSender(c)
	for i := range 4 {
		h.post(h.letter(calendar.MethodRequest, fmt.Sprint(i), "guest@example.com"),
			h.letter(calendar.MethodRequest, fmt.Sprint(i), fmt.Sprintf("other%d@example.com", i)))
	}
	sentBy := func() (guest, others int) {
		for range 3 {
			h.round(s)
		}
		for _, m := range h.relay.all() {
			if m.to == "guest@example.com" {
				guest++
			} else {
				others++
			}
		}
		return guest, others
	}
	if guest, others := sentBy(); guest != 2 || guest+others > 6 {
		t.Errorf("in the first hour guest got %d and others %d", guest, others)
	}
	h.pass(time.Hour)
	if guest, others := sentBy(); guest != 4 || others != 4 {
		t.Errorf("in two hours guest got %d and others %d", guest, others)
	}
}

// TestTLS: no password and no mail goes over the network in the open.
func TestTLS(t *testing.T) {
	t.Parallel()
	web := httptest.NewTLSServer(nil)
	defer web.Close()
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	secure := newRelay(t, web.TLS)
	for _, c := range []struct {
		name  string
		relay *relay
		host  string
		roots *x509.CertPool
		want  string
	}{
		{"no TLS", newRelay(t, nil), "example.com", roots, "begins no TLS"},
		{"a stranger's certificate", secure, "example.com", x509.NewCertPool(), "unknown authority"},
		{"another host's certificate", secure, "example.net", roots, "not example.net"},
		{"all well", secure, "example.com", roots, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, testdb.SQLite(t))
			h.post(h.letter(calendar.MethodRequest, "u", "guest@example.com"))
			config := h.config(h.Store)
			config.Relay.Addr, config.Relay.Host, config.Relay.Plain = c.relay.addr, c.host, false
			config.Relay.TLS = &tls.Config{RootCAs: c.roots, MinVersion: tls.VersionTLS12}
			_, err := mailroom.NewSender(config).Round(t.Context())
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if strings.Contains(h.log.String(), "pass word") ||
				err != nil && strings.Contains(err.Error(), "pass word") {
				t.Error("the password is told")
			}
			if got := len(secure.all()); c.want == "" && got != 1 {
				t.Errorf("%d mails were sent", got)
			}
		})
	}
}

func TestParseRelay(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"smtps://u:p@mail.example.org": "mail.example.org:465 implicit",
		"smtp://u:p@mail.example.org":  "mail.example.org:587",
		"smtp://mail.example.org:25":   "mail.example.org:25", "smtp://127.0.0.1:2525": "127.0.0.1:2525 plain",
		"smtp://[::1]":            "[::1]:587 plain",
		"http://mail.example.org": "", "smtp://": "", "smtp://u:p%zz@mail.example.org": "",
		"smtp://mail.example.org?x=y": "",
	} {
		r, err := mailroom.ParseRelay(text)
		got := r.Addr
		if r.Implicit {
			got += " implicit"
		}
		if r.Plain {
			got += " plain"
		}
		if err != nil {
			got = ""
		}
		if got != want {
			t.Errorf("%s is %q (%v), want %q", text, got, err, want)
		}
	}
}

// deaf is a middle that cannot note what came of one letter.
type deaf struct {
	*middle
	to calendar.MailAddress
}

func (d *deaf) Delivered(ctx context.Context, l calendar.Letter) error {
	if l.To == d.to {
		return errors.New("a fault of ours")
	}
	return d.middle.Delivered(ctx, l)
}

// TestOneHoldsUpNoOther: a letter of which the result cannot be noted is mailed once, and the others leave.
func TestOneHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	c := h.config(h.Store)
	c.Middle = &deaf{h.middle, "bad@example.com"}
	s := mailroom.NewSender(c)
	h.post(h.letter(calendar.MethodRequest, "u", "bad@example.com"),
		h.letter(calendar.MethodRequest, "u", "good@example.com"))
	for range 5 * 24 {
		h.round(s)
		h.pass(time.Hour)
	}
	if got := len(h.relay.all()); got != 2 {
		t.Errorf("%d mails were sent", got)
	}
	if diff := cmp.Diff([]string{"good@example.com REQUEST 1.1"}, h.delivered); diff != "" {
		t.Errorf("what the middle hears (-want +got):\n%s", diff)
	}
	if n, _, err := h.WaitingLetters(t.Context()); n != 0 || err != nil {
		t.Errorf("%d wait still, %v", n, err)
	}
}

// TestStops: a sender that is told to stop gives back what it has not sent, so that the next one need not wait for its
// turn.
func TestStops(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	ctx, cancel := context.WithCancel(t.Context())
	h.relay.refuse = func(stage, _ string) error {
		if stage == "DATA" {
			cancel() // while the first is on its way
		}
		return nil
	}
	for i := range 5 {
		h.post(h.letter(calendar.MethodRequest, fmt.Sprint(i), "guest@example.com"))
	}
	s := h.sender()
	_, _ = s.Round(ctx)
	h.relay.refuse = nil
	h.pass(2 * time.Minute)
	h.round(s)
	got := map[string]bool{}
	for _, m := range h.relay.all() {
		got[header(t, m, "Message-Id")] = true
	}
	if len(got) != 5 {
		t.Errorf("%d of 5 letters are sent two minutes later", len(got))
	}
}

// TestWaitingIsTold: an operator reads in the log that mail does not leave.
func TestWaitingIsTold(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.relay.refuse = func(string, string) error {
		return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "later"}
	}
	h.post(h.letter(calendar.MethodRequest, "u", "guest@example.com"))
	h.pass(7 * time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		h.sender().Run(ctx)
		close(ended)
	}()
	for !strings.Contains(h.logged(), "mail has been waiting") {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-t.Context().Done():
		}
	}
	cancel()
	<-ended
}
