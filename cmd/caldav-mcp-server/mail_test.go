package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	netmail "net/mail"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/store"
)

// town is some servers, each with a domain of its own, and the mail server that brings their mail to each other.
type town struct {
	*testing.T
	clock atomic.Int64
	ids   atomic.Int64
	addr  string
	log   output

	mu    sync.Mutex
	sites map[string]*site
	// outside is mail to people whose domain has no server, carried counts all of it.
	outside []string
	carried int
	// trouble is the fault of the next mail; nil for none.
	trouble func() trouble
	// carries receives each accepted mail; nil for none.
	carries func(to, text string)
}

// site is one server of a town.
type site struct {
	*town
	*app.App
	program *program
	config  settings.Config
	room    *mailroom
	domain  string
	// killed is the process that users make changes through, if it is one that is killed; otherwise they make them
	// here.
	killed *killable
}

func newTown(t *testing.T) *town {
	t.Helper()
	w := &town{T: t, sites: map[string]*site{}}
	w.clock.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Unix())
	s := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &carrier{town: w}, nil }))
	s.Domain = "town.example"
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.addr = l.Addr().String()
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	return w
}

func (w *town) now() time.Time { return time.Unix(w.clock.Load(), 0).UTC() }

// site makes a server on a database.
func (w *town) site(domain, database string) *site {
	w.Helper()
	p := &program{&console.Console{
		Stdout: io.Discard, Stderr: &w.log, Now: w.now,
		NewID: func() string { return fmt.Sprintf("%s-%d", domain, w.ids.Add(1)) },
	}}
	s := &site{town: w, program: p, domain: domain, config: settings.Config{
		DatabaseURL: database, BaseURL: &url.URL{Scheme: "https", Host: "cal." + domain},
		Service: settings.Service{Policy: calendar.Policy{NeedAcceptance: true}},
		Mail: settings.Mail{
			SMTPURL: "smtp://" + w.addr, From: "calendar@" + domain, FromDomains: []string{domain}, PerHour: 500,
			LMTPAddr: "127.0.0.1:0", AuthServer: "town.example",
		},
	}}
	log := slog.New(slog.NewTextHandler(&w.log, nil))
	var err error
	if s.App, err = app.Open(w.Context(), p.Console, s.config, store.Options{Logger: log}); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = s.Store.Close() })
	if err := s.Store.Migrate(w.Context()); err != nil {
		w.Fatal(err)
	}
	if s.room, err = p.openMailroom(w.Context(), s.config, s.App, log); err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.room.door.Serve(ctx, s.room.hatch) }()
	w.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			w.Error(err)
		}
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sites[domain] = s
	return s
}

// settle lets time pass until no one has mail left to send.
func (w *town) settle() {
	w.Helper()
	for range 20 {
		w.clock.Add(60)
		quiet := true
		for _, s := range w.sites {
			n, err := s.room.sender.Round(w.Context())
			if err != nil {
				w.Fatalf("%v\n%s", err, w.log.String())
			}
			quiet = quiet && n == 0
		}
		if quiet {
			return
		}
	}
	w.Fatalf("the servers write to each other without end\n%s", w.log.String())
}

// carrier is one session of a server with the town's mail server.
type carrier struct {
	*town
	from, to string
}

func (c *carrier) Reset()        {}
func (c *carrier) Logout() error { return nil }

func (c *carrier) Mail(from string, _ *smtp.MailOptions) error {
	c.from = from
	return nil
}

func (c *carrier) Rcpt(to string, _ *smtp.RcptOptions) error {
	c.to = to
	return nil
}

// Data carries a mail, and says of it that its author's domain stands for it.
func (c *carrier) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	m, err := netmail.ReadMessage(bytes.NewReader(text))
	if err != nil {
		return err
	}
	from, err := m.Header.AddressList("From")
	if err != nil {
		return err
	}
	_, domain, _ := strings.Cut(from[0].Address, "@")
	_, target, _ := strings.Cut(c.to, "@")
	wrong := trouble("")
	c.mu.Lock()
	if c.trouble != nil {
		wrong = c.trouble()
	}
	if wrong == refused {
		c.mu.Unlock()
		return errRefused
	}
	c.carried++
	if c.carries != nil {
		c.carries(c.to, string(text))
	}
	there := c.sites[target]
	if there == nil {
		c.outside = append(c.outside, string(text))
	}
	c.mu.Unlock()
	if there == nil {
		return nil
	}
	proof := "Authentication-Results: town.example; dmarc=pass header.from=" + domain + "\r\n"
	err = there.handIn(c.from, c.to, proof+string(text))
	if err == nil && wrong == twice {
		err = there.handIn(c.from, c.to, proof+string(text))
	}
	if err == nil && wrong == lost {
		return errRefused
	}
	return err
}

// handIn brings a mail to a site's door.
func (s *site) handIn(from, to, text string) error {
	conn, err := new(net.Dialer).DialContext(s.Context(), "tcp", s.room.hatch.Addr().String())
	if err != nil {
		return err
	}
	line := smtp.NewClientLMTP(conn)
	defer func() { _ = line.Close() }()
	return line.SendMail(from, []string{to}, strings.NewReader(text))
}

// person is a user of a site, with a calendar.
type person struct {
	*site
	user calendar.User
	cal  calendar.Calendar
}

func (s *site) person(name string) *person {
	s.Helper()
	u, err := s.CreateUser(s.Context(), auth.NewUser{
		Name: name, Password: "correct horse battery", Email: name + "@" + s.domain, Timezone: "Europe/Berlin",
	})
	if err != nil {
		s.Fatal(err)
	}
	all, err := s.OwnCalendars(s.Context(), u)
	if err != nil {
		s.Fatal(err)
	}
	for _, cal := range all {
		if slices.Contains(cal.Kinds, calendar.Event) {
			return &person{s, u, cal}
		}
	}
	s.Fatal("no calendar")
	return nil
}

// event is a person's copy of an event; empty where there is none.
func (p *person) event(uid string) string {
	p.Helper()
	o, err := p.Calendars.ObjectByUID(p.Context(), nil, app.Caller(p.user), p.cal, calendar.UID(uid))
	if calendar.ReasonOf(err) == calendar.NotFound && err != nil {
		return ""
	}
	if err != nil {
		p.Fatal(err)
	}
	return strings.ReplaceAll(strings.ReplaceAll(string(o.Data), "\r\n ", ""), "\r\n", "\n")
}

// put writes a person's copy of an event, wherever it lies.
func (p *person) put(uid, text string) {
	p.Helper()
	if p.killed != nil {
		p.killed.put(p, uid, text)
		return
	}
	name := calendar.ObjectName(uid + ".ics")
	if o, err := p.Calendars.ObjectByUID(p.Context(), nil, app.Caller(p.user), p.cal, calendar.UID(uid)); err == nil {
		name = o.Name
	}
	_, err := p.Calendars.Put(p.Context(), app.Caller(p.user), p.cal, calendar.Draft{
		Name: name, Data: []byte(strings.ReplaceAll(text, "\n", "\r\n")),
	})
	if err != nil {
		p.Fatal(err)
	}
}

// status is an attendee's response in a person's copy.
func (p *person) status(uid, who string) string {
	p.Helper()
	for line := range strings.Lines(p.event(uid)) {
		if strings.HasPrefix(line, "ATTENDEE") && strings.Contains(line, "mailto:"+who) {
			_, rest, _ := strings.Cut(line, "PARTSTAT=")
			end := strings.IndexAny(rest, ";:")
			if end < 0 {
				return "NEEDS-ACTION"
			}
			return rest[:end]
		}
	}
	return ""
}

const planned = `BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//test//EN
BEGIN:VEVENT
UID:u
DTSTAMP:20260301T120000Z
DTSTART:20260310T090000Z
DTEND:20260310T100000Z
SUMMARY:Plan
ORGANIZER:mailto:alice@a.example
ATTENDEE;PARTSTAT=ACCEPTED:mailto:alice@a.example
ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:bob@b.example
ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:guest@outside.example
END:VEVENT
END:VCALENDAR
`

// TestTwoServersByMail: an invitation goes out, the answers come back, and all ends, though the servers know of each
// other by mail alone.
func TestTwoServersByMail(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		w := newTown(t)
		a, b := w.site("a.example", database), w.site("b.example", sqlite(t))
		alice, bob := a.person("alice"), b.person("bob")
		want := func(what, got, want string) {
			t.Helper()
			if got != want {
				t.Fatalf("%s: got %q, want %q\nalice has\n%s\nbob has\n%s\n%s", what, got, want, alice.event("u"),
					bob.event("u"), w.log.String())
			}
		}
		alice.put("u", planned)
		w.settle()
		want("bob is asked", bob.status("u", "bob@b.example"), "NEEDS-ACTION")
		want("alice knows that he was told", fmt.Sprint(strings.Count(alice.event("u"), "SCHEDULE-STATUS=1.1")), "2")

		bob.put("u", strings.Replace(bob.event("u"), "PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:bob",
			"PARTSTAT=ACCEPTED:mailto:bob", 1))
		w.settle()
		want("bob accepts", alice.status("u", "bob@b.example"), "ACCEPTED")

		answers, err := app.AnswersOf(t.Context(), a.program.Console, a.config, a.App)
		if err != nil {
			t.Fatal(err)
		}
		token := linkIn(w.outside[len(w.outside)-1], "https://cal.a.example/account/answer/")
		if _, err := answers.Give(t.Context(), token, "", "DECLINED", "I am away"); err != nil {
			t.Fatal(err)
		}
		w.settle()
		want("a guest declines on a page", alice.status("u", "guest@outside.example"), "DECLINED")
		want("and bob's answer stays", alice.status("u", "bob@b.example"), "ACCEPTED")

		moved := strings.NewReplacer("20260310T090000Z", "20260311T090000Z", "20260310T100000Z", "20260311T100000Z").
			Replace(alice.event("u"))
		alice.put("u", moved)
		w.settle()
		want("alice moves it", fmt.Sprint(strings.Contains(bob.event("u"), "DTSTART:20260311T090000Z")), "true")
		want("which asks bob again", bob.status("u", "bob@b.example"), "NEEDS-ACTION")
		last := w.outside[len(w.outside)-1]
		want("the guest reads what changed", fmt.Sprint(strings.Contains(last, "Subject: Updated: Plan") &&
			strings.Contains(last, "What changed")), "true")

		o, err := alice.Calendars.ObjectByUID(t.Context(), nil, app.Caller(alice.user), alice.cal, "u")
		if err != nil {
			t.Fatal(err)
		}
		if err := alice.Calendars.Delete(t.Context(), app.Caller(alice.user), alice.cal, o.Name,
			calendar.Precondition{}); err != nil {
			t.Fatal(err)
		}
		w.settle()
		if left := bob.event("u"); left != "" {
			want("alice calls it off", fmt.Sprint(strings.Contains(left, "STATUS:CANCELLED")), "true")
		}
		if w.carried > 12 {
			t.Errorf("%d mails were carried", w.carried)
		}
		if strings.Contains(w.log.String(), "Plan") || strings.Contains(w.log.String(), "I am away") {
			t.Error("the log tells what was written")
		}
	})
}

// linkIn finds a link in a mail.
func linkIn(mail, prefix string) string {
	text := strings.ReplaceAll(strings.ReplaceAll(mail, "=\r\n", ""), "=3D", "=")
	_, rest, _ := strings.Cut(text, prefix)
	token, _, _ := strings.Cut(rest, "\r\n")
	return token
}
