package mail_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// link is the link in the latest mail to somebody.
func (h *house) link(to string) string {
	h.Helper()
	for _, m := range h.relay.all() {
		if m.to != to {
			continue
		}
		text := strings.ReplaceAll(strings.ReplaceAll(m.text, "=\r\n", ""), "=3D", "=")
		_, rest, ok := strings.Cut(text, h.page().String()+"/")
		if !ok {
			h.Fatalf("no link in the mail:\n%s", m.text)
		}
		token, _, _ := strings.Cut(rest, "\r\n")
		return token
	}
	h.Fatalf("no mail to %s", to)
	return ""
}

func TestAnswerByLink(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.post(h.letter(calendar.MethodRequest, "u", "guest@example.com"))
	h.round(h.sender())
	token, a := h.link("guest@example.com"), h.answers()
	asked, err := a.Open(t.Context(), token, "")
	want := calendar.Asked{
		Title: "Secret plan", When: "Tuesday 10 March 2026, 10:00 – 11:00 (Europe/Berlin, UTC+01:00)",
		Organizer: "Alice Example", Recipient: "guest@example.com", Status: "NEEDS-ACTION",
		Start: "2026-03-10T10:00", End: "2026-03-10T11:00", Zone: "Europe/Berlin",
	}
	if diff := cmp.Diff(want, asked); diff != "" || err != nil {
		t.Errorf("asked (-want +got), %v:\n%s", err, diff)
	}
	if len(h.received) != 0 {
		t.Error("to look at it is an answer")
	}
	if _, err := a.Give(t.Context(), token, "", "ACCEPTED", "I come\r\nATTENDEE:mailto:x@example.net"); err != nil {
		t.Fatal(err)
	}
	in := h.received[0]
	if in.From != "guest@example.com" || in.Method != calendar.MethodReply ||
		!cmp.Equal(in.To, []calendar.MailAddress{"alice@example.org"}) {
		t.Errorf("the middle gets %+v", in)
	}
	wantReply := strings.ReplaceAll(`BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//caldav-mcp-server//EN
METHOD:REPLY
BEGIN:VEVENT
UID:u
SEQUENCE:0
DTSTART;TZID=Europe/Berlin:20260310T100000
DTEND;TZID=Europe/Berlin:20260310T110000
SUMMARY:Secret plan
ORGANIZER;CN=Alice Example:mailto:alice@example.org
DTSTAMP:20260301T120000Z
ATTENDEE;CN=Guest;PARTSTAT=ACCEPTED:mailto:guest@example.com
COMMENT:I come\nATTENDEE:mailto:x@example.net
END:VEVENT
END:VCALENDAR
`, "\n", "\r\n")
	if diff := cmp.Diff(wantReply, string(in.Data)); diff != "" {
		t.Errorf("reply (-want +got):\n%s", diff)
	}
}

// TestLinkIsForOne: a link opens what it is for, as long as it may, and nothing else.
func TestLinkIsForOne(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.post(h.letter(calendar.MethodRequest, "u", "guest@example.com"),
		h.letter(calendar.MethodRequest, "u", "other@example.com"))
	s := h.sender()
	h.round(s)
	token, others, a := h.link("guest@example.com"), h.link("other@example.com"), h.answers()
	refused := func(what, token string) {
		t.Helper()
		if _, err := a.Give(t.Context(), token, "", "ACCEPTED", ""); calendar.ReasonOf(err) != calendar.NotFound {
			t.Errorf("%s: %v", what, err)
		}
	}
	body, mac, _ := strings.Cut(token, ".")
	otherBody, otherMac, _ := strings.Cut(others, ".")
	refused("another's code", body+"."+otherMac)
	refused("another's words", otherBody+"."+mac)
	refused("no code", body)
	refused("nothing", "")
	refused("much", strings.Repeat("a", 1<<20))
	for i := range token {
		refused("one letter changed", token[:i]+"~"+token[i+1:])
	}
	strange := h.answers()
	strange.Key = []byte("another key")
	if _, err := strange.Open(t.Context(), token, ""); calendar.ReasonOf(err) != calendar.NotFound {
		t.Errorf("with another key: %v", err)
	}
	if _, err := a.Give(t.Context(), token, "", "DELEGATED", ""); calendar.ReasonOf(err) != calendar.Invalid {
		t.Errorf("an answer that is none: %v", err)
	}
	h.pass(10 * 24 * time.Hour)
	refused("after the event", token)
	h.pass(-10 * 24 * time.Hour)
	cancel := h.letter(calendar.MethodCancel, "u", "guest@example.com")
	cancel.First = false
	h.post(cancel)
	refused("what is called off by a mail that has not left yet", token)
	h.round(s)
	if _, err := a.Give(t.Context(), token, "", "ACCEPTED", ""); calendar.ReasonOf(err) != calendar.Stale {
		t.Errorf("what was called off: %v", err)
	}
	if len(h.received) != 0 {
		t.Errorf("%d answers were given", len(h.received))
	}
	if err := h.DeleteUser(t.Context(), h.user.ID); err != nil {
		t.Fatal(err)
	}
	refused("of a user who is gone", others)
}

// TestLinksOutliveADeclinedProposal: a guest to whose proposal the organizer says no may still answer, and a later mail
// is about a change of what they know.
func TestLinksOutliveADeclinedProposal(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	s, a := h.sender(), h.answers()
	moved := h.letter(calendar.MethodRequest, "u", "guest@example.com")
	moved.Recurrence = "RECURRENCE-ID:20260311T090000Z"
	h.post(h.letter(calendar.MethodRequest, "u", "guest@example.com"), moved)
	h.round(s)
	h.round(s)
	series, instance := a.Link(h.letter(calendar.MethodRequest, "u", "guest@example.com"), time.UTC), a.Link(moved,
		time.UTC)
	h.post(h.letter(calendar.MethodDecline, "u", "guest@example.com"))
	h.round(s)
	for _, link := range []string{series, instance} {
		_, token, _ := strings.Cut(link, h.page().String()+"/")
		if _, err := a.Give(t.Context(), token, "", "ACCEPTED", ""); err != nil {
			t.Error(err)
		}
	}
	again := h.letter(calendar.MethodRequest, "u", "guest@example.com")
	h.post(again)
	h.round(s)
	mails := h.relay.all()
	if len(mails) != 4 {
		t.Fatalf("%d mails", len(mails))
	}
	if got := header(t, mails[3], "Subject"); !strings.HasPrefix(got, "Updated") {
		t.Errorf("the mail after that is %q", got)
	}
}
