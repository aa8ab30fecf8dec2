package service_test

import (
	"fmt"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
)

// What other servers got wrong, by what their users wrote of it, beside the traps that have tests of their own.
func TestTrapsOfOtherServers(t *testing.T) {
	t.Parallel()
	for name, talk := range map[string]func(g *guests){
		"a cancellation that does not name who gets it": func(g *guests) {
			g.receive(bobsMail, calendar.MethodRequest, meetingOf(fromZoe, attendees("bob")))
			g.receive(bobsMail, calendar.MethodCancel,
				newer(meetingOf(fromZoe, "ATTENDEE:mailto:lou@elsewhere.example", calledOff), "1"))
			g.want("bob sees it", g.line("bob", "STATUS"), calledOff)
		},
		"an answer without an organizer": func(g *guests) {
			g.save("ann", meetingOf(organizedByAnn, zoeComes))
			g.receive(annsMail, calendar.MethodReply,
				meetingOf("ATTENDEE;PARTSTAT=ACCEPTED:mailto:zoe@elsewhere.example"))
			if said := lineWith(g.text("ann"), ":mailto:zoe@"); !strings.Contains(said, "PARTSTAT=ACCEPTED") {
				g.t.Errorf("zoe has %s", said)
			}
		},
		"an answer that carries the whole series, with others' lines": func(g *guests) {
			g.save("ann", meetingOf(organizedByAnn, attendees("bob"), zoeComes, inFourWeeks))
			g.must(g.answer("ACCEPTED"))
			yes := "ATTENDEE;PARTSTAT=ACCEPTED:mailto:zoe@elsewhere.example"
			no := "ATTENDEE;PARTSTAT=DECLINED:mailto:bob@example.com"
			part := onSecond(organizedByAnn, yes, no, "LOCATION:Nowhere")
			part = part[strings.Index(part, "BEGIN:VEVENT"):strings.Index(part, "END:VCALENDAR")]
			whole := strings.Replace(meetingOf(organizedByAnn, yes, no, inFourWeeks, "LOCATION:Nowhere"),
				"END:VCALENDAR", part+"END:VCALENDAR", 1)
			g.receive(annsMail, calendar.MethodReply, whole)
			if text := g.text("ann"); strings.Contains(text, "Nowhere") || strings.Contains(text, "PARTSTAT=DECLINED") {
				g.t.Errorf("an answer has changed what is not its sender's:\n%s", text)
			}
			if said := lineWith(g.text("ann"), ":mailto:zoe@"); !strings.Contains(said, "PARTSTAT=ACCEPTED") {
				g.t.Errorf("zoe has %s", said)
			}
		},
		"a change of one date that must not take the others": func(g *guests) {
			g.receive(bobsMail, calendar.MethodRequest, meetingOf(fromZoe, attendees("bob"), inFourWeeks))
			for range 2 {
				g.receive(bobsMail, calendar.MethodRequest,
					newer(onSecond(fromZoe, attendees("bob"), "LOCATION:Garden"), "1"))
			}
			g.want("the series", g.line("bob", "RRULE"), inFourWeeks)
			if n := strings.Count(g.text("bob"), "BEGIN:VEVENT"); n != 2 {
				g.t.Errorf("%d parts", n)
			}
		},
		"a new colour, an alarm and a note of an event with 150 guests": func(g *guests) {
			lines := []string{organizedByAnn}
			for i := range 150 {
				lines = append(lines, fmt.Sprintf("ATTENDEE:mailto:guest%d@elsewhere.example", i))
			}
			g.save("ann", meetingOf(lines...))
			for g.letters() != "" {
				continue
			}
			saved := g.save("ann",
				strings.Replace(g.text("ann"), "SUMMARY", "COLOR:teal\r\nX-NOTE:mine\r\nTRANSP:TRANSPARENT\r\nSUMMARY",
					1))
			g.want("letters", g.letters(), "")
			if len(saved.Told) > 0 {
				g.t.Errorf("%d are told", len(saved.Told))
			}
		},
		"an organizer who is added once more with each save": func(g *guests) {
			me := "ATTENDEE;PARTSTAT=ACCEPTED:mailto:ann@example.com"
			g.save("ann", meetingOf(organizedByAnn, me, attendees("bob")))
			g.save("ann",
				strings.Replace(g.text("ann"), "SUMMARY", me+"\r\nATTENDEE:MAILTO:Ann@Example.com\r\nSUMMARY", 1))
			if n := strings.Count(strings.ToLower(strings.ReplaceAll(g.text("ann"), "\r\n ", "")), "\nattendee"); n !=
				2 {
				g.t.Errorf("%d lines of guests:\n%s", n, g.text("ann"))
			}
			g.want("ann is sent nothing", g.inbox("ann"), "")
		},
		"a lower number that comes late": func(g *guests) {
			first := meetingOf(fromZoe, attendees("bob"))
			g.receive(bobsMail, calendar.MethodRequest,
				newer(strings.Replace(first, "DTSTART:20260310T10", "DTSTART:20260310T09", 1), "2"))
			g.refused(g.Receive(g.ctx, mailed(zoesMail, bobsMail, calendar.MethodRequest, newer(first, "1"))),
				calendar.Stale, "", "")
			g.want("the newer one stays", g.line("bob", "DTSTART"), "DTSTART:20260310T090000Z")
		},
	} {
		t.Run(name, func(t *testing.T) { talking(t, talk) })
	}
}
