package mail_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/mail"
	"caldav-mcp-server/mail/letter"
	"caldav-mcp-server/store"
)

// house is a store with a user, a middle that remembers what it is told, and a mail server.
type house struct {
	*testing.T
	*store.Store
	*middle
	relay *relay
	user  calendar.User
	url   string
	clock atomic.Int64
	ids   atomic.Int64
	log   strings.Builder
	logs  sync.Mutex
	tasks housetest.TaskLog
}

func newHouse(t *testing.T, url string) *house {
	t.Helper()
	h := &house{T: t, url: url, middle: new(middle), relay: newRelay(t, nil)}
	h.clock.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Unix())
	h.Store = h.open()
	if err := h.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.user = calendar.User{
		ID: "alice", Name: "alice", DisplayName: "Alice Example", Email: "alice@example.org", Timezone: "Europe/Berlin",
		Created: h.now(),
	}
	if err := h.InsertUser(t.Context(), h.user, "hash"); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *house) open() *store.Store {
	h.Helper()
	housetest.Furnish(h, h.url)
	s, err := store.Open(h.Context(), h.url, store.Options{Now: h.now})
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { _ = s.Close() })
	return s
}

func (h *house) now() time.Time       { return time.Unix(h.clock.Load(), 0).UTC() }
func (h *house) pass(d time.Duration) { h.clock.Add(int64(d / time.Second)) }
func (h *house) newID() string        { return fmt.Sprintf("id-%d", h.ids.Add(1)) }
func (h *house) key() mail.Key        { return mail.Key("a key for tests") }
func (h *house) logger() *slog.Logger { return slog.New(slog.NewTextHandler(h, nil)) }
func (h *house) page() *url.URL {
	return &url.URL{Scheme: "https", Host: "example.org", Path: "/account/answer"}
}

// noEvents has no user's events.
type noEvents struct{}

func (noEvents) OwnByUID(_ context.Context, _ calendar.Caller, uid calendar.UID) (calendar.Object, error) {
	return calendar.Object{}, calendar.ErrNoUID(uid)
}

func (h *house) answers() *mail.Answers {
	return &mail.Answers{Store: h.Store, Middle: h.middle, Events: noEvents{}, Key: h.key(), Page: h.page(), Now: h.now}
}

// Write takes the log.
func (h *house) Write(line []byte) (int, error) {
	h.logs.Lock()
	defer h.logs.Unlock()
	return h.log.Write(line)
}

// logged is the log so far.
func (h *house) logged() string {
	h.logs.Lock()
	defer h.logs.Unlock()
	return h.log.String()
}

func (h *house) config(s mail.Store) mail.Config {
	return mail.Config{
		Store: s, Middle: h.middle, Relay: h.relay.settings(h.T),
		Post: letter.Post{From: "calendar@example.org", Domains: []string{"example.org"}},
		Key:  h.key(), Answers: h.answers(), Limits: mail.DefaultLimits(), Now: h.now, NewID: h.newID,
		Logger: h.logger(), Task: h.tasks.Task,
	}
}

func (h *house) sender() *mail.Sender { return mail.NewSender(h.config(h.Store)) }

// round lets a sender work once.
func (h *house) round(s *mail.Sender) int {
	h.Helper()
	n, err := s.Round(h.Context())
	if err != nil {
		h.Fatal(err)
	}
	return n
}

// sentBy returns the mails that a new sender with a configuration sends. All of them go to alice.
func (h *house) sentBy(c mail.Config) []string {
	h.Helper()
	before := len(h.relay.all())
	h.pass(20 * time.Minute) // another one's lease is over
	h.round(mail.NewSender(c))
	var texts []string
	for _, m := range h.relay.all()[before:] {
		if m.to != "alice@example.org" {
			h.Errorf("sent to %s", m.to)
		}
		texts = append(texts, strings.ReplaceAll(m.text, "=\r\n", ""))
	}
	return texts
}

func (h *house) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

const event = `BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//caldav-mcp-server//EN
METHOD:METHOD
BEGIN:VEVENT
UID:UID
DTSTAMP:20260301T120000Z
SEQUENCE:0
DTSTART;TZID=Europe/Berlin:20260310T100000
DTEND;TZID=Europe/Berlin:20260310T110000
SUMMARY:Secret plan
ORGANIZER;CN=Alice Example:mailto:alice@example.org
ATTENDEE;CN=Guest;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:GUEST
END:VEVENT
END:VCALENDAR
`

func message(method calendar.Method, uid, guest string) string {
	return strings.NewReplacer("METHOD:METHOD", "METHOD:"+string(method), "UID:UID", "UID:"+uid, "GUEST", guest, "\n",
		"\r\n").Replace(event)
}

// letter is one that is not posted yet.
func (h *house) letter(method calendar.Method, uid, to string) calendar.Letter {
	return calendar.Letter{
		ID: calendar.LetterID(h.newID()), User: h.user.ID, From: "alice@example.org", To: calendar.MailAddress(to),
		Method: method, UID: calendar.UID(uid),
		First: true, Posted: h.now(), Due: h.now(), Data: []byte(message(method, uid, to)),
	}
}

func (h *house) post(letters ...calendar.Letter) {
	h.Helper()
	err := h.Update(h.Context(), func(tx calendar.Tx) error {
		return tx.Post(h.Context(), h.user.ID, letters, calendar.DefaultLimits().Outbox)
	})
	if err != nil {
		h.Fatal(err)
	}
}

// middle remembers what it is told, and does with messages what a test says.
type middle struct {
	mu        sync.Mutex
	delivered []string
	received  []calendar.Inbound
	refused   []string
	refuse    func(calendar.Inbound) error
}

func (m *middle) Delivered(_ context.Context, l calendar.Letter) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.delivered = append(m.delivered, fmt.Sprintf("%s %s %s", l.To, l.Method, l.Status))
	return nil
}

// Refused fails, which is to change nothing.
func (m *middle) Refused(_ context.Context, in calendar.Inbound, why calendar.Distrust, proven bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refused = append(m.refused,
		fmt.Sprintf("%s of %s to %v, %v: %s, %t", in.Method, in.From, in.To, in.Header, why, proven))
	return calendar.Errorf(calendar.Unavailable, "", "no")
}

func (m *middle) Receive(_ context.Context, in calendar.Inbound) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refuse != nil {
		if err := m.refuse(in); err != nil {
			return err
		}
	}
	m.received = append(m.received, in)
	return nil
}

// relay is a mail server.
type relay struct {
	mu    sync.Mutex
	mails []sent
	// refuse says what is not taken: at "MAIL", "RCPT" or "DATA", for an address.
	refuse func(stage, address string) error
	addr   string
	server *smtp.Server
}

// sent is a mail that the relay took.
type sent struct{ from, to, text string }

func newRelay(t *testing.T, secure *tls.Config) *relay {
	t.Helper()
	r := &relay{}
	r.server = smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) {
		return &relaySession{relay: r}, nil
	}))
	r.server.Domain, r.server.AllowInsecureAuth, r.server.EnableDSN, r.server.TLSConfig = "relay.example.org", true,
		true, secure
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.addr = l.Addr().String()
	go func() { _ = r.server.Serve(l) }()
	t.Cleanup(func() { _ = r.server.Close() })
	return r
}

func (r *relay) settings(t *testing.T) mail.Relay {
	t.Helper()
	s, err := mail.ParseRelay("smtp://user:pass%20word@" + r.addr)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (r *relay) check(stage, address string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refuse == nil {
		return nil
	}
	return r.refuse(stage, address)
}

func (r *relay) all() []sent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]sent(nil), r.mails...)
}

type relaySession struct {
	*relay
	in       bool
	from, to string
}

func (s *relaySession) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *relaySession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "user" || password != "pass word" {
			return smtp.ErrAuthFailed
		}
		s.in = true
		return nil
	}), nil
}

func (s *relaySession) Mail(from string, _ *smtp.MailOptions) error {
	if !s.in {
		return smtp.ErrAuthRequired
	}
	s.from = from
	return s.check("MAIL", from)
}

func (s *relaySession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = to
	return s.check("RCPT", to)
}

func (s *relaySession) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := s.check("DATA", s.to); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mails = append(s.mails, sent{s.from, s.to, string(text)})
	return nil
}

func (s *relaySession) Reset()        {}
func (s *relaySession) Logout() error { return nil }
