package doctor

import (
	"context"
	"io"
	"log"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-imap/v2/imapserver/imapmemserver"
	"github.com/emersion/go-smtp"
	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

// postbox is a mail server that delivers all mail to one mailbox.
type postbox struct {
	user *imapmemserver.User
	lost bool
	imap string
	smtp string
}

func newPostbox(t *testing.T) *postbox {
	t.Helper()
	b := &postbox{user: imapmemserver.NewUser("calendar", "secret")}
	if err := b.user.Create("INBOX", nil); err != nil {
		t.Fatal(err)
	}
	memory := imapmemserver.New()
	memory.AddUser(b.user)
	boxes := imapserver.New(&imapserver.Options{
		NewSession: func(*imapserver.Conn) (imapserver.Session, *imapserver.GreetingData, error) {
			return memory.NewSession(), nil, nil
		},
		Caps: imap.CapSet{imap.CapIMAP4rev1: {}, imap.CapIMAP4rev2: {}}, InsecureAuth: true,
		Logger: log.New(io.Discard, "", 0),
	})
	mails := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return b, nil }))
	listen := func() net.Listener {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	in, out := listen(), listen()
	b.imap, b.smtp = in.Addr().String(), out.Addr().String()
	go func() { _ = boxes.Serve(in) }()
	go func() { _ = mails.Serve(out) }()
	t.Cleanup(func() { _, _ = boxes.Close(), mails.Close() })
	return b
}

func (b *postbox) Reset()                               {}
func (b *postbox) Logout() error                        { return nil }
func (b *postbox) Mail(string, *smtp.MailOptions) error { return nil }
func (b *postbox) Rcpt(string, *smtp.RcptOptions) error { return nil }

func (b *postbox) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil || b.lost {
		return err
	}
	_, err = b.user.Append("INBOX", sized{strings.NewReader(string(text))}, &imap.AppendOptions{})
	return err
}

type sized struct{ *strings.Reader }

// TestDoctorMail: a mail is sent, received and deleted; failures are reported with a remedy.
func TestDoctorMail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		edit func(*postbox, *settings.Mail)
		to   string
		want string
		mend string
	}{
		{"all well", func(*postbox, *settings.Mail) {}, "", "ok ok ok ok", ""},
		{"to somebody", func(*postbox, *settings.Mail) {}, "ann@example.net", "ok ok ok", ""},
		{"nothing set", func(_ *postbox, m *settings.Mail) { *m = settings.Mail{} }, "", "", ""},
		{
			"nobody listens", func(_ *postbox, m *settings.Mail) { m.SMTPURL = "smtp://127.0.0.1:1" }, "",
			"failed ok failed failed", "check SMTP_URL",
		},
		{
			"a wrong password", func(b *postbox, m *settings.Mail) { m.IMAPURL = "imap://calendar:wrong@" + b.imap },
			"",
			"ok failed ok failed", "check IMAP_URL",
		},
		{"the mail is lost", func(b *postbox, _ *settings.Mail) {
			b.lost = true
		}, "", "ok ok ok failed", "Mail may be slow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newPostbox(t)
			x := &Examination{Console: &console.Console{Now: time.Now, NewID: func() string { return "id" }}}
			x.mail = settings.Mail{
				SMTPURL: "smtp://" + b.smtp, IMAPURL: "imap://calendar:secret@" + b.imap,
				From: "calendar@example.org",
			}
			x.mailTo = calendar.MailAddress(c.to)
			c.edit(b, &x.mail)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			findings := x.examine(ctx, x.mailChecks())
			got := strings.Join(console.Each(findings, func(f Finding) string { return f.Result }), " ")
			if got != c.want {
				t.Errorf("got %q, want %q: %+v", got, c.want, findings)
			}
			mends := strings.Join(console.Each(findings, func(f Finding) string { return f.Mend }), " ")
			if !strings.Contains(mends, c.mend) || strings.Contains(mends+got, "secret") {
				t.Errorf("the mends are %q, want %q", mends, c.mend)
			}
			data, err := b.user.Status("INBOX", &imap.StatusOptions{NumMessages: true})
			if err != nil {
				t.Fatal(err)
			}
			left := uint32(0)
			if c.to != "" || strings.Contains(c.name, "password") {
				left = 1
			}
			if diff := cmp.Diff(left, *data.NumMessages); diff != "" {
				t.Errorf("mails left (-want +got):\n%s", diff)
			}
		})
	}
}
