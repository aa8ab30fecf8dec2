package service_test

import (
	"fmt"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
)

// TestCrowdByMail: of many guests elsewhere each gets a mail that names them alone (security F15), and their answers
// and proposals find the event. A guest here sees all of them.
func TestCrowdByMail(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		lines := []string{organizedByAnn, attendees("ann", "bob")}
		for i := range 60 {
			lines = append(lines, fmt.Sprintf("ATTENDEE;CN=Guest %d:mailto:guest%d@elsewhere.example", i, i))
		}
		g.save("ann", meetingOf(lines...))
		letters := g.mailsOf(t)
		if len(letters) != 60 {
			t.Fatalf("%d mails", len(letters))
		}
		for _, l := range letters {
			text := strings.ReplaceAll(string(l.Data), "\r\n ", "")
			if strings.Count(text, "\nATTENDEE") != 1 || !strings.Contains(text, "mailto:"+string(l.To)) ||
				!strings.Contains(text, "\nORGANIZER") || !strings.Contains(text, "\nX-OTHER-GUESTS:60\r\n") {
				t.Fatalf("the mail to %s has\n%s", l.To, text)
			}
		}
		if got := strings.Count(g.text("bob"), "\nATTENDEE"); got != 62 {
			t.Errorf("bob's copy has %d attendees", got)
		}
		answer := strings.NewReplacer("ATTENDEE;", "ATTENDEE;PARTSTAT=ACCEPTED;").Replace(
			meetingOf(organizedByAnn, "ATTENDEE;CN=Guest 7:mailto:guest7@elsewhere.example"))
		g.must(g.Receive(g.ctx, mailed("guest7@elsewhere.example", "ann@example.com", calendar.MethodReply, answer)))
		if !strings.Contains(strings.ReplaceAll(g.text("ann"), "\r\n ", ""), "PARTSTAT=ACCEPTED") {
			t.Errorf("the answer is not in\n%s", g.text("ann"))
		}
		other := strings.Replace(meetingOf(organizedByAnn, "ATTENDEE;CN=Guest 8:mailto:guest8@elsewhere.example"),
			"T100000Z", "T120000Z", 1)
		g.must(g.Receive(g.ctx, mailed("guest8@elsewhere.example", "ann@example.com", calendar.MethodCounter, other)))
		g.save("ann", strings.Replace(meetingOf(lines...), "Plans", "Other plans", 1))
		if all := g.mailsOf(t); len(all) != 60 || strings.Count(string(all[0].Data), "\nATTENDEE") != 1 {
			t.Errorf("%d mails about a change", len(all))
		}
	})
}

// mailsOf takes the waiting mails.
func (g *guests) mailsOf(t *testing.T) []calendar.Letter {
	t.Helper()
	all, err := g.Store.TakeLetters(g.ctx, g.Now().AddDate(1, 0, 0), g.Now().AddDate(1, 0, 1), 1000)
	g.must(err)
	for _, l := range all {
		g.must(g.Store.ConcludeLetter(g.ctx, l, true, g.Now(), 1<<20))
	}
	return all
}
