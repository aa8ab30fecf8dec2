package mail_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-msgauth/dkim"
	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mail"
)

// signing is the key with which a domain signs its mail, and the DNS that tells of it.
type signing struct {
	key    ed25519.PrivateKey
	domain string
	err    error
}

func newSigning(domain string) *signing {
	return &signing{key: ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize)), domain: domain}
}

func (s *signing) lookup(_ context.Context, name string) ([]string, error) {
	if s.err != nil {
		return nil, s.err
	}
	if name != "sel._domainkey."+s.domain {
		return nil, &net.DNSError{Name: name, IsNotFound: true}
	}
	return []string{"v=DKIM1; k=ed25519; p=" + base64.StdEncoding.EncodeToString(s.key.Public().(ed25519.PublicKey))},
		nil
}

func (s *signing) sign(t *testing.T, text string) string {
	t.Helper()
	out, ok := s.trySign(text)
	if !ok {
		t.Fatal("it cannot be signed")
	}
	return out
}

// trySign signs what can be signed: there is no signature for what is no mail.
func (s *signing) trySign(text string) (string, bool) {
	var out bytes.Buffer
	err := dkim.Sign(&out, strings.NewReader(text), &dkim.SignOptions{
		Domain: s.domain, Selector: "sel", Signer: s.key, HeaderCanonicalization: "relaxed",
		BodyCanonicalization: "relaxed", HeaderKeys: []string{"From", "Subject"},
	})
	return out.String(), err == nil
}

// receiver trusts those whose domains sign, or the word of a server.
func (h *house) receiver(s *signing, server string) *mail.Receiver {
	return &mail.Receiver{
		Store: h.Store, Middle: h.middle, Key: h.key(), Trust: mail.Trust{Server: server, LookupTXT: s.lookup},
		Now: h.now, Logger: h.logger(),
	}
}

// reply is a mail from a guest with their answer. With says what is otherwise.
func reply(with ...string) string {
	text := crlf(`From: Guest <guest@example.com>
To: alice@example.org
Subject: Accepted
Message-ID: <1@example.com>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=outer

--outer
Content-Type: multipart/alternative; boundary=inner

--inner
Content-Type: text/plain

I come.
--inner
Content-Type: text/calendar; charset=utf-8; method=REPLY
Content-Transfer-Encoding: 8bit

CALENDAR
--inner--
--outer
Content-Type: application/ics; name=invite.ics
Content-Transfer-Encoding: base64

AAAA
--outer--
`)
	text = strings.Replace(text, "CALENDAR", replyData, 1)
	return strings.NewReplacer(with...).Replace(text)
}

var replyData = strings.NewReplacer("PARTSTAT=NEEDS-ACTION;RSVP=TRUE", "PARTSTAT=ACCEPTED").
	Replace(message(calendar.MethodReply, "u", "guest@example.com"))

func crlf(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }

// TestTake: what is followed, and what is not.
func TestTake(t *testing.T) {
	t.Parallel()
	s := newSigning("example.com")
	foreign := newSigning("example.net")
	request := []string{"METHOD:REPLY", "METHOD:REQUEST", "method=REPLY", "method=REQUEST"}
	for _, c := range []struct {
		name string
		mail string
		by   *signing
		want mail.Verdict
		from calendar.MailAddress
	}{
		{"an answer", reply(), s, mail.Done, "guest@example.com"},
		{"not signed", reply(), nil, mail.Unproven, ""},
		{"signed by another domain", reply(), foreign, mail.Unproven, ""},
		{"signed by a domain above", reply("<guest@example.com>", "<guest@mail.example.com>",
			"mailto:guest@example.com", "mailto:guest@mail.example.com"), s, mail.Done, "guest@mail.example.com"},
		{"a lookalike domain", reply("<guest@example.com>", "<guest@badexample.com>", "mailto:guest@example.com",
			"mailto:guest@badexample.com"), s, mail.Unproven, ""},
		{"a stranger's answer", reply("<guest@example.com>", "<other@example.com>"), s, mail.Foreign, ""},
		{"an assistant's answer", reply("<guest@example.com>", "<boss@example.com>", "ATTENDEE;",
			`ATTENDEE;SENT-BY="MAILTO:Boss@example.com";`), s, mail.Done, "guest@example.com"},
		{"somebody's who says they may", reply("<guest@example.com>", "<boss@example.com>", "ATTENDEE;CN=Guest;",
			`ATTENDEE;SENT-BY="mailto:boss@example.com";`, "mailto:guest@example.com",
			"mailto:guest@elsewhere.example"), s, mail.Foreign, ""},
		{"an invitation by its organizer", reply(append(request, "mailto:alice@example.org",
			"mailto:guest@example.com")...), s, mail.Done, "guest@example.com"},
		{"an invitation by a guest", reply(request...), s, mail.Foreign, ""},
		{"no METHOD in the part", reply("; method=REPLY", ""), s, mail.Done, "guest@example.com"},
		{"no METHOD in the file", reply("METHOD:REPLY\r\n", ""), s, mail.Bad, ""},
		{"a METHOD that lies", reply("method=REPLY", "method=REQUEST"), s, mail.Bad, ""},
		{"two METHODs", reply("METHOD:REPLY", "METHOD:REPLY\r\nMETHOD:REQUEST"), s, mail.Bad, ""},
		{"PUBLISH", reply("METHOD:REPLY", "METHOD:PUBLISH", "; method=REPLY", ""), s, mail.Bad, ""},
		{"two events", reply("END:VEVENT",
			"END:VEVENT\r\nBEGIN:VEVENT\r\nUID:v\r\nATTENDEE:mailto:guest@example.com\r\nEND:VEVENT"), s, mail.Bad, ""},
		{"two organizers", reply(append(request, "ORGANIZER;",
			"ORGANIZER:mailto:guest@example.com\r\nORGANIZER;")...), s, mail.Foreign, ""},
		{"two From fields", reply("From: Guest", "From: <alice@example.org>\r\nFrom: Guest"), nil, mail.Bad, ""},
		{"two in From", reply("From: Guest <guest@example.com>",
			"From: guest@example.com, alice@example.org"), s, mail.Bad, ""},
		{"a group in From", reply("From: Guest <guest@example.com>",
			"From: us: guest@example.com, alice@example.org;"), s, mail.Bad, ""},
		{"no From", reply("From: Guest <guest@example.com>", "X-From: x"), nil, mail.Bad, ""},
		{"no calendar file", reply("text/calendar", "text/plain", "application/ics",
			"text/plain"), s, mail.Nothing, ""},
		{"as an attachment alone", reply("text/calendar", "application/ics"), s, mail.Done, "guest@example.com"},
		{"a broken file", reply("END:VCALENDAR\r\n", ""), s, mail.Bad, ""},
		{"no mail", "hello", nil, mail.Bad, ""},
		{"many parts", reply("--outer--", strings.Repeat("--outer\r\n\r\n\r\n", 200)+"--outer--"), s, mail.Bad, ""},
		{"many servers", strings.Repeat("Received: from x\r\n", 50) + reply(), nil, mail.Bad, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, testdb.SQLite(t))
			text := c.mail
			if c.by != nil {
				text = c.by.sign(t, text)
			}
			got, err := h.receiver(s, "").Take(t.Context(), []byte(text), nil)
			if got != c.want || err != nil {
				t.Errorf("the verdict is %q (%v), want %q\n%s", got, err, c.want, h.log.String())
			}
			var from calendar.MailAddress
			for _, in := range h.received {
				from = in.From
			}
			if from != c.from || len(h.received) > 1 {
				t.Errorf("the middle gets one from %q, want %q", from, c.from)
			}
			for _, word := range []string{"Secret plan", "I come", "guest@", "pass word"} {
				if strings.Contains(h.log.String(), word) {
					t.Errorf("the log has %q", word)
				}
			}
		})
	}
}

// TestRefusedMailIsShown: the middle is told of a mail that was not followed, why, and whether its sender is proven.
// The mail server gets the same answer whatever comes of that.
func TestRefusedMailIsShown(t *testing.T) {
	t.Parallel()
	s := newSigning("example.com")
	request := []string{"METHOD:REPLY", "METHOD:REQUEST", "method=REPLY", "method=REQUEST"}
	for name, c := range map[string]struct {
		mail string
		by   *signing
		want string
	}{
		"another's, proven": {
			reply(request...), s,
			"REQUEST of guest@example.com to [bob@example.org], [alice@example.org]: organizer, true",
		},
		"another's, not proven": {
			reply(request...), nil,
			"REQUEST of guest@example.com to [bob@example.org], [alice@example.org]: organizer, false",
		},
		"the organizer's": {
			reply(append(request, "mailto:alice@example.org", "mailto:guest@example.com")...),
			newSigning("example.net"),
			"REQUEST of guest@example.com to [bob@example.org], [alice@example.org]: proof, false",
		},
		"followed": {reply(append(request, "mailto:alice@example.org", "mailto:guest@example.com")...), s, ""},
		"broken":   {reply("END:VCALENDAR\r\n", ""), s, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, testdb.SQLite(t))
			text := c.mail
			if c.by != nil {
				text = c.by.sign(t, text)
			}
			if _, err := h.receiver(s, "").Take(t.Context(), []byte(text),
				[]calendar.MailAddress{"bob@example.org"}); err != nil {
				t.Errorf("the mail is to come again: %v", err)
			}
			if got := strings.Join(h.refused, "; "); got != c.want {
				t.Errorf("the middle is told %q, want %q", got, c.want)
			}
		})
	}
}

// TestDeputyIsNamed: the middle is told who sent a message in another's place, and believes it or not.
func TestDeputyIsNamed(t *testing.T) {
	t.Parallel()
	h, s := newHouse(t, testdb.SQLite(t)), newSigning("example.com")
	by := reply("<guest@example.com>", "<helper@example.com>", "ATTENDEE;",
		`ATTENDEE;SENT-BY="mailto:helper@example.com";`)
	for _, text := range []string{by, reply()} {
		if got, err := h.receiver(s, "").Take(t.Context(), []byte(s.sign(t, text)), nil); got != mail.Done ||
			err != nil {
			t.Fatalf("%q, %v", got, err)
		}
	}
	for i, want := range []calendar.MailAddress{"helper@example.com", ""} {
		if in := h.received[i]; in.From != "guest@example.com" || in.By != want {
			t.Errorf("%d: from %q by %q, want %q", i, in.From, in.By, want)
		}
	}
}

// TestTakeAsItIs: the middle gets the message as it was written, with what it says.
func TestTakeAsItIs(t *testing.T) {
	t.Parallel()
	h, s := newHouse(t, testdb.SQLite(t)), newSigning("example.com")
	to := []calendar.MailAddress{"alice@example.org"}
	if _, err := h.receiver(s, "").Take(t.Context(), []byte(s.sign(t, reply())), to); err != nil {
		t.Fatal(err)
	}
	want := []calendar.Inbound{
		{From: "guest@example.com", To: to, Header: to, Method: calendar.MethodReply, Data: []byte(replyData)},
	}
	if diff := cmp.Diff(want, h.received); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestComesAgain: what cannot be decided or done now is no verdict.
func TestComesAgain(t *testing.T) {
	t.Parallel()
	h, s := newHouse(t, testdb.SQLite(t)), newSigning("example.com")
	r := h.receiver(s, "")
	text := []byte(s.sign(t, reply()))
	s.err = &net.DNSError{IsTemporary: true, IsTimeout: true}
	if _, err := r.Take(t.Context(), text, nil); err == nil {
		t.Error("without a DNS it is decided")
	}
	s.err = nil
	h.refuse = func(calendar.Inbound) error { return calendar.Errorf(calendar.Unavailable, "", "no") }
	if _, err := r.Take(t.Context(), text, nil); err == nil {
		t.Error("without a store it is done")
	}
	h.refuse = func(calendar.Inbound) error { return calendar.Errorf(calendar.Stale, "", "Secret plan is older") }
	if v, err := r.Take(t.Context(), text, nil); v != mail.Refused || err != nil {
		t.Errorf("what is stale is %q, %v", v, err)
	}
	h.refuse = nil
	if v, err := r.Take(t.Context(), text, nil); v != mail.Done || err != nil {
		t.Errorf("in the end it is %q, %v", v, err)
	}
}

// TestAuthenticationResults: the word of our own mail server counts, and nothing that was written in its name.
func TestAuthenticationResults(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]mail.Verdict{
		"mx.example.org; dmarc=pass header.from=example.com":                                          mail.Done,
		"MX.example.org 1; dmarc=pass (p=none dis=none) header.from=example.com":                      mail.Done,
		"mx.example.org; spf=pass smtp.mailfrom=x@y.z; dkim=pass header.d=example.com header.s=a":     mail.Done,
		"mx.example.org; dkim=pass header.d=example.net; dmarc=fail header.from=example.com":          mail.Unproven,
		"mx.example.org; dmarc=pass header.from=example.net":                                          mail.Unproven,
		"mx.example.org; spf=pass smtp.mailfrom=guest@example.com":                                    mail.Unproven,
		"mx.example.net; dmarc=pass header.from=example.com":                                          mail.Unproven,
		`mx.example.org; spf=pass smtp.mailfrom="x; dmarc=pass header.from=example.com"@y.z`:          mail.Unproven,
		`mx.example.org; dmarc=fail (; dmarc=pass header.from=example.com) header.from=example.com`:   mail.Unproven,
		`mx.example.org; dmarc=fail (\); dmarc=pass header.from=example.com) header.from=example.com`: mail.Unproven,
		"mx.example.org; none": mail.Unproven,
		"mx.example.org; dmarc=fail header.from=example.com\nAuthentication-Results: mx.example.org; dmarc=pass " +
			"header.from=example.com": mail.Unproven,
		"": mail.Unproven,
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, testdb.SQLite(t))
			s := newSigning("example.com")
			text := s.sign(t, reply())
			if field != "" {
				text = crlf("Authentication-Results: "+field+"\n") + text
			}
			if got, err := h.receiver(s, "mx.example.org").Take(t.Context(), []byte(text), nil); got != want ||
				err != nil {
				t.Errorf("the verdict is %q (%v), want %q", got, err, want)
			}
		})
	}
}

// TestLoop: mail of our own is not followed, and anyone who writes again and again is not heard for a while.
func TestLoop(t *testing.T) {
	t.Parallel()
	h, s := newHouse(t, testdb.SQLite(t)), newSigning("example.com")
	r := h.receiver(s, "")
	h.post(h.letter(calendar.MethodRequest, "u", "guest@example.com"))
	h.round(h.sender())
	if v, err := r.Take(t.Context(), []byte(h.relay.all()[0].text), nil); v != mail.Ours || err != nil {
		t.Errorf("a mail of our own is %q, %v", v, err)
	}
	text := []byte(s.sign(t, reply()))
	done := 0
	for range 100 {
		if v, err := r.Take(t.Context(), text, nil); v == mail.Done && err == nil {
			done++
		}
	}
	if done != 60 || len(h.received) != 60 {
		t.Errorf("%d of 100 in an hour are followed", done)
	}
	h.pass(time.Hour)
	if v, _ := r.Take(t.Context(), text, nil); v != mail.Done {
		t.Errorf("an hour later it is %q", v)
	}
}

// bounce is a report about a mail of ours.
func bounce(id, action, status string) string {
	return crlf(fmt.Sprintf(`From: MAILER-DAEMON@relay.example.org
Subject: Undelivered
Content-Type: multipart/report; report-type=delivery-status; boundary=b

--b
Content-Type: text/plain

Sorry.
--b
Content-Type: message/delivery-status

Reporting-MTA: dns; relay.example.org

Final-Recipient: rfc822; guest@example.com
Action: %s
Status: %s

--b
Content-Type: text/rfc822-headers

Message-ID: %s
Subject: Invitation

--b--
`, action, status, id))
}

func TestBounce(t *testing.T) {
	t.Parallel()
	h, s := newHouse(t, testdb.SQLite(t)), newSigning("example.com")
	r := h.receiver(s, "")
	post := h.sender()
	h.post(h.letter(calendar.MethodRequest, "u", "guest@example.com"))
	h.round(post)
	id := header(t, h.relay.all()[0], "Message-Id")
	h.delivered = nil
	for _, c := range []struct {
		text, want string
		verdict    mail.Verdict
	}{
		{bounce(id, "delayed", "4.4.1"), "", mail.Nothing},
		{bounce("<x@example.org>", "failed", "5.1.1"), "", mail.Nothing},
		{bounce(strings.Replace(id, ".", ".x", 1), "failed", "5.1.1"), "", mail.Nothing},
		{bounce(id, "failed", "5.1.1"), "guest@example.com REQUEST 3.7", mail.Bounced},
		{bounce(id, "failed", "5.2.2 (mailbox full)"), "guest@example.com REQUEST 5.1", mail.Bounced},
		{bounce(id, "failed", "5.7.1"), "guest@example.com REQUEST 5.3", mail.Bounced},
	} {
		h.delivered = nil
		v, err := r.Take(t.Context(), []byte(c.text), nil)
		if got := strings.Join(h.delivered, ", "); got != c.want || v != c.verdict || err != nil {
			t.Errorf("%q, %q and %v, want %q and %q", got, v, err, c.want, c.verdict)
		}
	}
	// Something newer was sent meanwhile.
	h.post(h.letter(calendar.MethodRequest, "u", "guest@example.com"))
	h.round(post)
	h.delivered = nil
	if v, err := r.Take(t.Context(), []byte(bounce(id, "failed", "5.1.1")), nil); v != mail.Bounced || err != nil ||
		len(h.delivered) > 0 {
		t.Errorf("a report about an older mail: %q %v %v", v, err, h.delivered)
	}
}
