package mail_test

import (
	"context"
	"io"
	"log"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-imap/v2/imapserver/imapmemserver"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mail"
)

// folder is a mailbox on a server in memory.
type folder struct {
	addr string
	user *imapmemserver.User
}

func newFolder(t *testing.T, caps imap.CapSet) *folder {
	t.Helper()
	t.Helper()
	memory := imapmemserver.New()
	user := imapmemserver.NewUser("calendar", "pass word")
	if err := user.Create("INBOX", nil); err != nil {
		t.Fatal(err)
	}
	memory.AddUser(user)
	server := imapserver.New(&imapserver.Options{
		NewSession: func(*imapserver.Conn) (imapserver.Session, *imapserver.GreetingData, error) {
			return memory.NewSession(), nil, nil
		},
		Caps: caps, InsecureAuth: true, Logger: log.New(io.Discard, "", 0),
	})
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return &folder{l.Addr().String(), user}
}

// add puts a mail into the folder.
func (f *folder) add(t *testing.T, text string, at time.Time) {
	t.Helper()
	t.Helper()
	r := strings.NewReader(text)
	if _, err := f.user.Append("INBOX", literal{r, int64(r.Len())}, &imap.AppendOptions{Time: at}); err != nil {
		t.Fatal(err)
	}
}

type literal struct {
	io.Reader
	size int64
}

func (l literal) Size() int64 { return l.size }

func (h *house) mailbox(f *folder, s *signing) *mail.Mailbox {
	h.Helper()
	m, err := mail.ParseMailbox("imap://calendar:pass%20word@" + f.addr)
	if err != nil {
		h.Fatal(err)
	}
	m.Receiver, m.Store, m.Now, m.NewID, m.Logger = h.receiver(s, ""), h.Store, h.now, h.newID, h.logger()
	return m
}

// visit reads the mailbox once.
func (h *house) visit(m *mail.Mailbox) {
	h.Helper()
	if err := m.Visit(h.Context(), func() bool { return false }); err != nil {
		h.Error(err)
	}
}

func capabilities(names ...imap.Cap) imap.CapSet {
	set := imap.CapSet{}
	for _, name := range names {
		set[name] = struct{}{}
	}
	return set
}

// TestMailbox: what comes is taken in once, what cannot be decided comes again, and what is old is left alone.
func TestMailbox(t *testing.T) {
	t.Parallel()
	h, s := newHouse(t, testdb.SQLite(t)), newSigning("example.com")
	f := newFolder(t, capabilities(imap.CapIMAP4rev1, imap.CapIMAP4rev2))
	f.add(t, s.sign(t, reply()), h.now().AddDate(0, -1, 0))
	f.add(t, s.sign(t, reply()), h.now())
	f.add(t, "Subject: no mail at all", h.now())
	m := h.mailbox(f, s)
	s.err = &net.DNSError{IsTemporary: true, IsTimeout: true}
	h.visit(m)
	s.err = nil
	h.visit(m)
	if len(h.received) != 0 {
		t.Error("it is looked at again at once")
	}
	h.pass(time.Hour)
	h.visit(m)
	h.visit(m)
	h.visit(h.mailbox(f, s))
	if len(h.received) != 1 {
		t.Errorf("the middle gets %d messages, want the one that is new", len(h.received))
	}
	f.add(t, s.sign(t, reply("UID:u", "UID:v")), h.now())
	h.visit(m)
	if len(h.received) != 2 {
		t.Errorf("the middle gets %d messages, want two", len(h.received))
	}
}

// tellUntil waits for something to arrive, long before the folder would be looked at untold. Of a mail that comes just
// before somebody begins to listen this server tells nothing, other than RFC 2177 wants, until the next one.
func (f *folder) tellUntil(t *testing.T, arrived <-chan struct{}, late func()) {
	t.Helper()
	for range 30 {
		select {
		case <-arrived:
			return
		case <-time.After(time.Second):
			f.add(t, "Subject: no mail at all", time.Now())
		}
	}
	late()
}

// TestMailboxIsTold: where the server can tell news, it is not waited for.
func TestMailboxIsTold(t *testing.T) {
	t.Parallel()
	h, s := newHouse(t, testdb.SQLite(t)), newSigning("example.com")
	f := newFolder(t, capabilities(imap.CapIMAP4rev1, imap.CapIMAP4rev2, imap.CapIdle))
	arrived := make(chan struct{}, 10)
	h.refuse = func(calendar.Inbound) error {
		arrived <- struct{}{}
		return nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	m := h.mailbox(f, s)
	go func() {
		m.Run(ctx)
		close(ended)
	}()
	for _, uid := range []string{"a", "b", "c"} {
		f.add(t, s.sign(t, reply("UID:u", "UID:"+uid)), h.now())
		f.tellUntil(t, arrived, func() { t.Fatalf("%s does not arrive\n%s", uid, h.log.String()) })
	}
	cancel()
	<-ended
	if mine, err := h.Lease(t.Context(), "mail in", "another", h.now(), h.now().Add(time.Hour)); !mine || err != nil {
		t.Error("who stopped has the lease still", err)
	}
}

// TestMailboxNeedsTLS: no password goes over the network in the open.
func TestMailboxNeedsTLS(t *testing.T) {
	t.Parallel()
	h, s := newHouse(t, testdb.SQLite(t)), newSigning("example.com")
	f := newFolder(t, capabilities(imap.CapIMAP4rev1))
	m := h.mailbox(f, s)
	m.Plain = false
	err := m.Visit(t.Context(), func() bool { return false })
	if err == nil || !strings.Contains(err.Error(), "begins no TLS") {
		t.Errorf("got %v", err)
	}
}

func TestParseMailbox(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"imaps://u:p@mail.example.org": {"mail.example.org:993", "INBOX"}, "imap://u:p@mail.example.org/Calendar/In": {
			"mail.example.org:143", "Calendar/In",
		},
		"imaps://mail.example.org": nil, "smtp://u:p@mail.example.org": nil,
	} {
		m, err := mail.ParseMailbox(text)
		if (err == nil) != (want != nil) || err == nil && !slices.Equal([]string{m.Addr, m.Folder}, want) {
			t.Errorf("%s: %v, %v", text, m, err)
		}
	}
}
