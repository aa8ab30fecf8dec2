package main

import (
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"caldav-mcp-server/internal/mutatetest"
	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/mail"
)

// An event as its calendar has it, and as mails about it say it.
const meeting = `BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//test//EN
METHODBEGIN:VEVENT
UID:UID
DTSTAMP:20260301T120000Z
SEQUENCE:1
DTSTART:20300310T090000Z
DTEND:20300310T100000Z
SUMMARY:Meeting UID
ORGANIZER:mailto:ORGANIZER
ATTENDEE;PARTSTAT=STATUS:mailto:ATTENDEE
ATTENDEE;PARTSTAT=ACCEPTED:mailto:other@outside.example
END:VEVENT
END:VCALENDAR
`

func meetingOf(uid, organizer, attendee, method, status string) string {
	if method != "" {
		method = "METHOD:" + method + "\n"
	}
	return strings.NewReplacer("METHOD", method, "UID:UID", "UID:"+uid, "Meeting UID", "Meeting "+uid,
		"mailto:ORGANIZER", "mailto:"+organizer,
		"mailto:ATTENDEE", "mailto:"+attendee, "PARTSTAT=STATUS", "PARTSTAT="+status).Replace(meeting)
}

// attack is a mail that its author's domain stands for.
func attack(from, text string) []byte {
	_, domain, _ := strings.Cut(from, "@")
	head := "Authentication-Results: town.example; dmarc=pass header.from=" + domain + "\nFrom: " + from +
		"\nSubject: x\nContent-Type: text/calendar\n\n"
	return []byte(strings.ReplaceAll(head+text, "\n", "\r\n"))
}

// attackWords are what attackers put into a message.
var attackWords = []string{
	"METHOD:CANCEL\r\n", "METHOD:REQUEST\r\n", "METHOD:REPLY\r\n", "METHOD:COUNTER\r\n", "METHOD:ADD\r\n",
	"UID:own\r\n", "UID:private\r\n", "UID:boss\r\n",
	"ORGANIZER:mailto:alice@a.example\r\n", "ORGANIZER:mailto:boss@elsewhere.example\r\n",
	"ATTENDEE:mailto:alice@a.example\r\n", "ATTENDEE;PARTSTAT=DECLINED:mailto:other@outside.example\r\n",
	"STATUS:CANCELLED\r\n", "SEQUENCE:99\r\n", "DTSTAMP:20990101T000000Z\r\n", "RECURRENCE-ID:20300310T090000Z\r\n",
	"RRULE:FREQ=DAILY\r\n", ";PARTSTAT=DECLINED",
	`;SENT-BY="mailto:guest@outside.example"`, `;DELEGATED-TO="mailto:evil@evil.example"`, "SUMMARY:changed\r\n",
	"BEGIN:VEVENT\r\n", "END:VEVENT\r\n",
	"mailto:alice@a.example", "DTSTART:20310101T000000Z\r\n",
}

// TestHostileMailChangesNothing: an authenticated sender can do only what they may: an attendee responds for
// themselves, and a stranger invites to their own events.
func TestHostileMailChangesNothing(t *testing.T) {
	t.Parallel()
	n := slowtest.Rounds(t, slowtest.Random, 400, 5000)
	each(t, func(t *testing.T, database string) {
		w := newTown(t)
		a := w.site("a.example", database)
		alice := a.person("alice")
		receiver, err := a.program.receiver(t.Context(), a.config, a.App, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		take := func(text []byte) mail.Verdict {
			w.clock.Add(3600) // nobody is slowed down
			v, err := receiver.Take(t.Context(), text, nil)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			return v
		}
		alice.put("own", meetingOf("own", "alice@a.example", "guest@outside.example", "", "NEEDS-ACTION"))
		alice.put("private", strings.NewReplacer("ORGANIZER:mailto:x@x.example\n", "",
			"ATTENDEE;PARTSTAT=ACCEPTED:mailto:x@x.example\n", "",
			"ATTENDEE;PARTSTAT=ACCEPTED:mailto:other@outside.example\n", "").
			Replace(meetingOf("private", "x@x.example", "x@x.example", "", "ACCEPTED")))
		if v := take(
			attack("boss@elsewhere.example",
				meetingOf("boss", "boss@elsewhere.example", "alice@a.example", "REQUEST", "NEEDS-ACTION")),
		); v != mail.Done {
			t.Fatalf("an invitation is %q", v)
		}
		own, private, boss := alice.event("own"), alice.event("private"), alice.event("boss")
		if own == "" || private == "" || boss == "" {
			t.Fatal("the events are not there")
		}
		random, verdicts := rand.New(rand.NewPCG(3, 4)), map[mail.Verdict]int{}
		same := func(i int, what, was, now string, text []byte) {
			t.Helper()
			if was != now {
				t.Fatalf("%d: %s was\n%s\nand is\n%s\nafter\n%s", i, what, was, now, text)
			}
		}
		for i := range n {
			from, text := "guest@outside.example", meetingOf("own", "alice@a.example", "guest@outside.example", "REPLY",
				"ACCEPTED")
			if i%2 == 1 {
				from = "evil@evil.example"
				victim := []string{"own", "private", "boss"}[random.IntN(3)]
				organizer := []string{"evil@evil.example", "alice@a.example", "boss@elsewhere.example"}[random.IntN(3)]
				method := []string{
					"REQUEST", "CANCEL", "REPLY", "COUNTER", "ADD", "REFRESH", "DECLINECOUNTER",
				}[random.IntN(7)]
				text = meetingOf(victim, organizer, "evil@evil.example", method, "DECLINED")
			}
			mutate := mutatetest.Lines
			if i%3 == 0 {
				mutate = mutatetest.Mutate
			}
			mutated := attack(from, string(mutate(random, []byte(text), attackWords)))
			verdicts[take(mutated)]++
			same(i, "an event without others", private, alice.event("private"), mutated)
			same(i, "an event of somebody else's", boss, alice.event("boss"), mutated)
			same(i, "an event of one's own, but for the guest's answer", without(own, "guest@outside.example"),
				without(alice.event("own"), "guest@outside.example"), mutated)
		}
		t.Log(verdicts)
		if verdicts[mail.Done] == 0 || verdicts[mail.Refused] == 0 || verdicts[mail.Foreign] == 0 {
			t.Errorf("not every kind of mail was there: %v", verdicts)
		}
		// Permitted actions of an attendee still work.
		_ = take(
			attack(
				"guest@outside.example",
				strings.Replace(meetingOf("own", "alice@a.example", "guest@outside.example", "REPLY", "TENTATIVE"),
					"DTSTAMP:2026", "DTSTAMP:2099", 1),
			),
		)
		if got := alice.status("own", "guest@outside.example"); got != "TENTATIVE" {
			t.Errorf("the guest's answer is %q", got)
		}
		for _, s := range w.sites {
			if n, err := s.room.sender.Round(t.Context()); err != nil || n > 20 {
				t.Errorf("%d letters leave, %v", n, err)
			}
		}
	})
}

// without removes the lines about one person, and the server's timestamps.
func without(event, who string) string {
	var kept []string
	for line := range strings.Lines(event) {
		if strings.Contains(line, "mailto:"+who) || strings.HasPrefix(line, "DTSTAMP") ||
			strings.HasPrefix(line, "LAST-MODIFIED") {
			continue
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "")
}
