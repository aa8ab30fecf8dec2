package mail_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/mutatetest"
	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mail"
	"caldav-mcp-server/mail/letter"
)

// words are what a hostile mail is made of, beside bytes.
var words = []string{
	"\r\n", "\r\n\r\n", "--inner\r\n", "--outer\r\n", "--inner--", "From: alice@example.org\r\n", "BEGIN:VEVENT\r\n",
	"END:VEVENT\r\n", "BEGIN:VCALENDAR\r\n",
	"METHOD:CANCEL\r\n", "METHOD:REQUEST\r\n", "UID:v\r\n", "ORGANIZER:mailto:guest@example.com\r\n",
	"ATTENDEE:mailto:guest@example.com\r\n",
	`;SENT-BY="mailto:guest@example.com"`, "mailto:guest@example.com", "RECURRENCE-ID:20260310T090000Z\r\n",
	"RRULE:FREQ=SECONDLY\r\n", "Content-Type: text/calendar\r\n",
	"Content-Transfer-Encoding: base64\r\n", "charset=utf-7", "=?utf-8?q?", "\x00", "\xff\xfe", "%0d%0a",
	";method=CANCEL", "multipart/report; report-type=delivery-status",
	"message/delivery-status", strings.Repeat("(", 500), strings.Repeat("A:B\r\n ", 200),
	"DTSTART:99999999T999999Z\r\n", "X-LONG:" + strings.Repeat("x", 5000) + "\r\n",
}

func mutate(r *rand.Rand, text []byte) []byte { return mutatetest.Mutate(r, text, words) }

// TestHostileMail: of thousands of mails that were made wrong, what reaches the middle is a message of somebody who
// proved to be its author, about one thing, for what it says. The rest changes nothing, and nothing of what was written
// is logged.
func TestHostileMail(t *testing.T) {
	t.Parallel()
	n := slowtest.Rounds(t, slowtest.Random, 3000, 50_000)
	h, s := newHouse(t, testdb.SQLite(t)), newSigning("example.com")
	trusting := h.receiver(s, "")
	vouched := h.receiver(s, "mx.example.org")
	random := rand.New(rand.NewPCG(1, 2))
	verdicts := map[mail.Verdict]int{}
	for i := range n {
		h.pass(time.Hour)
		h.received = nil
		text := mutate(random, []byte(reply()))
		r, proof := trusting, i%3
		switch proof {
		case 0: // changed after it was signed
			text = mutate(random, []byte(s.sign(t, reply())))
		case 1: // signed as it is by the domain of its author
			if signed, ok := s.trySign(string(text)); ok {
				text = []byte(signed)
			}
		case 2: // vouched for, for another domain
			r, text = vouched,
				append([]byte("Authentication-Results: mx.example.org; dmarc=pass header.from=example.net\r\n"),
					text...)
		}
		v, err := r.Take(t.Context(), text, nil)
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		verdicts[v]++
		if len(h.received) > 0 != (v == mail.Done) || len(h.received) > 1 || proof == 2 && v == mail.Done {
			t.Fatalf("%d: %q, and the middle gets %d", i, v, len(h.received))
		}
		for _, in := range h.received {
			h.checkInbound(in)
		}
	}
	t.Log(verdicts)
	if verdicts[mail.Done] == 0 || verdicts[mail.Bad] == 0 || verdicts[mail.Foreign] == 0 ||
		verdicts[mail.Unproven] == 0 {
		t.Errorf("not every kind of mail was there: %v", verdicts)
	}
	if log := h.log.String(); strings.Contains(log, "Secret plan") || strings.Contains(log, "I come") {
		t.Error("the log tells what was written")
	}
}

// checkInbound wants of what reaches the middle what it relies on.
func (h *house) checkInbound(in calendar.Inbound) {
	h.Helper()
	if letter.Domain(in.From) != "example.com" {
		h.Errorf("a message of %s, for whom nobody signed", in.From)
	}
	if !bytes.Contains(in.Data, []byte(string(in.From))) &&
		!bytes.Contains(bytes.ToLower(in.Data), []byte("example.com")) {
		h.Errorf("%s is not in the message:\n%s", in.From, in.Data)
	}
	if !strings.Contains(strings.ToUpper(string(in.Data)), string(in.Method)) {
		h.Errorf("it is no %s:\n%s", in.Method, in.Data)
	}
}

// TestBombs: what is small in a mail and large once it is read does not get large.
func TestBombs(t *testing.T) {
	t.Parallel()
	h, s := newHouse(t, testdb.SQLite(t)), newSigning("example.com")
	r := h.receiver(s, "")
	deep := "Content-Type: multipart/mixed; boundary=b0\r\n\r\n"
	for i := range 2000 {
		deep += "--b" + strings.Repeat("x", i%7) + "\r\nContent-Type: multipart/mixed; boundary=b" +
			strings.Repeat("x", i%7) + "\r\n\r\n"
	}
	for name, text := range map[string]string{
		"deep":            "From: guest@example.com\r\n" + deep,
		"a long header":   "From: guest@example.com\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n\r\n",
		"many fields":     "From: guest@example.com\r\n" + strings.Repeat("X: y\r\n", 200_000) + "\r\n",
		"a large file":    reply("SUMMARY:Secret plan", "SUMMARY:"+strings.Repeat("x", 2<<20)),
		"many properties": reply("SUMMARY:Secret plan", strings.Repeat("X-A:b\r\n", 50_000)+"X-A:b"),
		"many components": reply("END:VEVENT", "END:VEVENT\r\n"+
			strings.Repeat("BEGIN:VALARM\r\nEND:VALARM\r\n", 40_000)+"BEGIN:VEVENT\r\nUID:u\r\nEND:VEVENT"),
		"deep components": reply("END:VEVENT", strings.Repeat("BEGIN:VALARM\r\n", 1000)+"END:VEVENT"),
		"many attendees": reply("ATTENDEE;CN=Guest", strings.Repeat("ATTENDEE:mailto:x@example.com\r\n", 30_000)+
			"ATTENDEE;CN=Guest"),
		"too large": reply() + strings.Repeat("x", mail.MailMost),
		"endless boundary": "From: guest@example.com\r\nContent-Type: multipart/mixed; boundary=" +
			strings.Repeat("b", 100_000) + "\r\n\r\n",
	} {
		before := time.Now()
		v, err := r.Take(t.Context(), []byte(text), nil)
		if v == mail.Done || err != nil {
			t.Errorf("%s: %q, %v", name, v, err)
		}
		if took := time.Since(before); took > 20*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
	if len(h.received) > 0 {
		t.Errorf("the middle gets %d", len(h.received))
	}
}
