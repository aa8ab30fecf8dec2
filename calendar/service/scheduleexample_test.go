package service_test

import (
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
)

// The examples of the standards as conversations between users of this server and people elsewhere: what is said in the
// sections' own order, in words of ours. Both engines store the same in the other tests.

const (
	fromZoe     = "ORGANIZER:mailto:zoe@elsewhere.example"
	zoeComes    = "ATTENDEE:mailto:zoe@elsewhere.example"
	inFourWeeks = "RRULE:FREQ=WEEKLY;COUNT=4"
	inWeekTwo   = "RECURRENCE-ID:20260317T100000Z"
	zoesMail    = "zoe@elsewhere.example"
	bobsMail    = "bob@example.com"
	annsMail    = "ann@example.com"
	calledOff   = "STATUS:CANCELLED"
)

// receive has a message of zoe's arrive.
func (g *guests) receive(to string, method calendar.Method, text string) {
	g.t.Helper()
	g.must(g.Receive(g.ctx, mailed(zoesMail, to, method, text)))
}

// onSecond is an event of the second week.
func onSecond(lines ...string) string {
	return strings.ReplaceAll(meetingOf(append(lines, inWeekTwo)...), "20260310", "20260317")
}

// newer is a later version of a text.
func newer(text, sequence string) string {
	return strings.Replace(text, "SUMMARY", "SEQUENCE:"+sequence+"\r\nSUMMARY", 1)
}

func TestExamplesOfTheStandards(t *testing.T) {
	t.Parallel()
	for name, talk := range map[string]func(g *guests){
		"RFC 5546 4.1 published events are invitations to nobody": func(g *guests) {
			g.refused(g.Receive(g.ctx, mailed(zoesMail, bobsMail, "PUBLISH", meetingOf(fromZoe))), calendar.Forbidden,
				"", "")
			g.want("bob has", g.line("bob", "UID"), "nothing")
		},
		"RFC 5546 4.2.1, 4.2.2 a request and its replies": func(g *guests) {
			g.save("ann", meetingOf(organizedByAnn, attendees("ann", "bob", "eve"), zoeComes))
			g.want("by mail", g.letters(), "REQUEST "+zoesMail)
			g.must(g.answer("ACCEPTED"))
			g.save("eve", answering(g.text("eve"), "eve", "DECLINED"))
			g.receive(annsMail, calendar.MethodReply,
				meetingOf(organizedByAnn, "ATTENDEE;PARTSTAT=TENTATIVE:mailto:zoe@elsewhere.example"))
			for _, who := range []string{"ann", "bob"} {
				g.want(who+" knows", g.answered(who, "bob")+" "+g.answered(who, "eve"), "ACCEPTED DECLINED")
			}
			if said := lineWith(g.text("ann"), ":mailto:zoe@"); !strings.Contains(said, "PARTSTAT=TENTATIVE") {
				g.t.Errorf("zoe has %s", said)
			}
		},
		"RFC 5546 4.2.3 an update": func(g *guests) {
			g.save("ann", meetingOf(organizedByAnn, attendees("bob")))
			g.must(g.answer("ACCEPTED"))
			g.save("ann", strings.Replace(g.text("ann"), "T110000Z", "T120000Z", 1))
			g.want("bob's end", g.line("bob", "DTEND"), "DTEND:20260310T120000Z")
			g.want("its number", g.line("bob", "SEQUENCE"), "SEQUENCE:1")
			g.want("asked anew", g.answered("bob", "bob"), "NEEDS-ACTION")
		},
		"RFC 5546 4.2.4 a proposal that is taken up, and one that is not": func(g *guests) {
			g.save("ann", meetingOf(organizedByAnn, attendees("bob")))
			g.propose(wish(11, 9))
			_, err := g.decide(true)
			g.must(err)
			g.want("moved", g.line("bob", "DTSTART"), "DTSTART:20260311T090000Z")
			g.propose(wish(12, 9))
			_, err = g.decide(false)
			g.must(err)
			g.want("not moved", g.line("bob", "DTSTART"), "DTSTART:20260311T090000Z")
		},
		"RFC 5546 4.2.5, 4.2.6, 4.2.7 a delegate who comes, and then does not": func(g *guests) {
			g.save("ann", meetingOf(organizedByAnn, attendees("bob")))
			g.save("bob", delegating(g.text("bob"), "eve"))
			for _, said := range []string{"ACCEPTED", "DECLINED"} {
				text := strings.ReplaceAll(g.text("eve"), "\r\n ", "")
				g.save("eve",
					strings.Replace(text, lineWith(text, ":mailto:eve@"),
						`ATTENDEE;DELEGATED-FROM="mailto:bob@example.com";PARTSTAT=`+said+":mailto:eve@example.com", 1))
				g.want("the organizer knows", g.answered("ann", "eve"), said)
				g.want("and who sent her", g.answered("bob", "eve"), said)
			}
		},
		"RFC 5546 4.2.8 somebody to whom it was forwarded": func(g *guests) {
			g.save("ann", meetingOf(organizedByAnn, attendees("bob")))
			g.receive(annsMail, calendar.MethodReply,
				meetingOf(organizedByAnn, "ATTENDEE;PARTSTAT=ACCEPTED:mailto:zoe@elsewhere.example"))
			if strings.Contains(g.text("ann"), "zoe") {
				g.t.Error("zoe comes by herself")
			}
			g.want("held for ann", g.inbox("ann"), "REPLY")
		},
		"RFC 5546 4.2.9 called off": func(g *guests) {
			g.receive(bobsMail, calendar.MethodRequest, meetingOf(fromZoe, attendees("bob")))
			g.receive(bobsMail, calendar.MethodCancel, newer(meetingOf(fromZoe, attendees("bob"), calledOff), "1"))
			g.want("bob sees it", g.line("bob", "STATUS"), calledOff)
		},
		"RFC 5546 4.2.10 a guest is taken off": func(g *guests) {
			g.save("ann", meetingOf(organizedByAnn, attendees("bob", "eve")))
			text := strings.ReplaceAll(g.text("ann"), "\r\n ", "")
			g.save("ann", strings.Replace(text, lineWith(text, ":mailto:eve@")+"\r\n", "", 1))
			g.want("eve", g.line("eve", "STATUS"), calledOff)
			g.want("bob", g.line("bob", "STATUS"), "")
		},
		"RFC 5546 4.2.11 another organizer": func(g *guests) {
			g.save("ann", meetingOf(organizedByAnn, attendees("bob", "ann")))
			p := g.people["ann"]
			_, err := g.Put(g.ctx, p.Caller, p.cal, calendar.Draft{
				Name: g.name("ann"),
				Data: []byte(strings.ReplaceAll(g.text("ann"), "ORGANIZER:mailto:ann", "ORGANIZER:mailto:eve")),
			})
			g.refused(err, calendar.Forbidden, calendar.RuleOrganizerChange, "ann@example.com")
			g.refused(g.Receive(g.ctx,
				mailed(zoesMail, bobsMail, calendar.MethodCancel, meetingOf(fromZoe, attendees("bob")))),
				calendar.Forbidden, "", "")
			g.want("bob still has ann's", g.line("bob", "ORGANIZER"), "ORGANIZER:mailto:ann@example.com")
		},
		"RFC 5546 4.3, RFC 6638 B.5 busy times": func(g *guests) {
			g.save("bob", meetingOf())
			question := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nMETHOD:REQUEST\r\n" +
				"BEGIN:VFREEBUSY\r\nUID:q\r\nDTSTAMP:20260301T080000Z\r\n" +
				"DTSTART:20260310T000000Z\r\nDTEND:20260311T000000Z\r\n" + organizedByAnn + "\r\n" +
				attendees("bob", "nobody") + "\r\nEND:VFREEBUSY\r\nEND:VCALENDAR\r\n"
			m := g.Meter(g.ctx, g.people["ann"].Caller)
			defer m.Close()
			answers, err := g.AskBusy(g.ctx, g.people["ann"].Caller, m, []byte(question))
			g.must(err)
			if len(answers) != 2 || !strings.HasPrefix(answers[0].Status, "2.0") ||
				!strings.Contains(string(answers[0].Data), "20260310T100000Z/") ||
				!strings.HasPrefix(answers[1].Status, "3.7") {
				g.t.Errorf("%+v", answers)
			}
		},
		"RFC 5546 4.4.1, 4.4.2 a series, and one of its dates elsewhere": func(g *guests) {
			g.receive(bobsMail, calendar.MethodRequest, meetingOf(fromZoe, attendees("bob"), inFourWeeks))
			g.must(g.answer("ACCEPTED"))
			g.receive(bobsMail, calendar.MethodRequest,
				newer(onSecond(fromZoe, attendees("bob"), "LOCATION:Garden"), "1"))
			g.want("the series stays", g.line("bob", "RRULE"), inFourWeeks)
			g.want("the date", g.line("bob", "LOCATION"), "LOCATION:Garden")
			g.want("the answers", g.answered("bob", "bob"), "ACCEPTED ACCEPTED")
		},
		"RFC 5546 4.4.3, 4.4.4 one date called off, then all": func(g *guests) {
			g.receive(bobsMail, calendar.MethodRequest, meetingOf(fromZoe, attendees("bob"), inFourWeeks))
			g.receive(bobsMail, calendar.MethodCancel, newer(onSecond(fromZoe, attendees("bob"), calledOff), "1"))
			g.want("left out", g.line("bob", "EXDATE"), "EXDATE:20260317T100000Z")
			g.want("the others stay", g.line("bob", "STATUS"), "")
			g.receive(bobsMail, calendar.MethodCancel, newer(meetingOf(fromZoe, attendees("bob"), calledOff), "2"))
			g.want("all", g.line("bob", "STATUS"), calledOff)
		},
		"RFC 5546 4.4.5 all future instances": func(g *guests) {
			g.receive(bobsMail, calendar.MethodRequest, meetingOf(fromZoe, attendees("bob"), inFourWeeks))
			g.receive(bobsMail, calendar.MethodRequest,
				newer(meetingOf(fromZoe, attendees("bob"), "RRULE:FREQ=WEEKLY;UNTIL=20260316T000000Z"), "1"))
			g.receive(bobsMail, calendar.MethodRequest,
				strings.ReplaceAll(replaceUID(meetingOf(fromZoe, attendees("bob"), inFourWeeks), "UID:later"),
					"20260310T1", "20260317T0"))
			g.want("the old ones end", g.line("bob", "RRULE"), "RRULE:FREQ=WEEKLY;UNTIL=20260316T000000Z")
			if got := g.linesOf("bob", "later", "DTSTART", ""); len(got) != 1 || got[0] != "DTSTART:20260317T000000Z" {
				g.t.Errorf("the new ones begin %v", got)
			}
		},
		"RFC 5546 4.4.6, 4.4.7 dates that are added": func(g *guests) {
			g.receive(bobsMail, calendar.MethodRequest, meetingOf(fromZoe, attendees("bob"), inFourWeeks))
			g.receive(bobsMail, calendar.MethodAdd,
				newer(strings.ReplaceAll(meetingOf(fromZoe, attendees("bob")), "20260310", "20260312"), "1"))
			g.want("one more", g.line("bob", "RDATE"), "RDATE:20260312T100000Z")
			g.want("beside the rule", g.line("bob", "RRULE"), inFourWeeks)
		},
		"RFC 5546 4.4.8, 4.7.1 the latest version, for whoever lost track": func(g *guests) {
			g.save("ann", meetingOf(organizedByAnn, attendees("bob"), zoeComes, inFourWeeks))
			g.letters()
			g.receive(annsMail, calendar.MethodRefresh, meetingOf(organizedByAnn, zoeComes))
			g.want("sent anew", g.letters(), "REQUEST "+zoesMail)
		},
		"RFC 5546 4.4.9 another time for one date": func(g *guests) {
			g.save("ann", meetingOf(organizedByAnn, attendees("bob"), zoeComes, inFourWeeks))
			g.receive(annsMail, calendar.MethodCounter,
				strings.Replace(onSecond(organizedByAnn, zoeComes), "DTSTART:20260317T10", "DTSTART:20260317T08", 1))
			_, err := g.decide(true)
			g.must(err)
			for _, who := range []string{"ann", "bob"} {
				if !strings.Contains(g.text(who), "DTSTART:20260317T080000Z") || g.line(who, "RRULE") != inFourWeeks {
					g.t.Errorf("%s has\n%s", who, g.text(who))
				}
			}
		},
		"RFC 5546 4.5.1, 4.5.2 a task, and how far its guest is": func(g *guests) {
			task := strings.NewReplacer("VEVENT", "VTODO", "DTEND", "DUE").
				Replace(meetingOf(organizedByAnn, attendees("bob")))
			g.save("ann", task)
			text := strings.Replace(g.text("bob"), "SUMMARY", "STATUS:IN-PROCESS\r\nPERCENT-COMPLETE:40\r\nSUMMARY", 1)
			g.save("bob", text)
			if said := lineWith(g.text("ann"), ":mailto:bob@"); !strings.Contains(said, "PARTSTAT=IN-PROCESS") ||
				!strings.Contains(said, "X-PERCENT-COMPLETE=40") {
				g.t.Errorf("the organizer has %s", said)
			}
		},
		"RFC 5546 4.7.2 a date that the series does not have": func(g *guests) {
			g.receive(bobsMail, calendar.MethodRequest, meetingOf(fromZoe, attendees("bob"), inFourWeeks))
			before := g.text("bob")
			err := g.Receive(g.ctx,
				mailed(zoesMail, bobsMail, calendar.MethodCancel,
					newer(strings.ReplaceAll(onSecond(fromZoe, attendees("bob"), calledOff), "20260317", "20260318"),
						"1")))
			if err != nil && calendar.ReasonOf(err) == calendar.Internal {
				g.t.Error(err)
			}
			g.want("nothing is lost", g.text("bob"), before)
		},
		"RFC 6638 B.1, B.2, B.3, B.4 an organizer, two guests, an answer": func(g *guests) {
			saved := g.save("ann",
				meetingOf(organizedByAnn, "ATTENDEE;PARTSTAT=ACCEPTED:mailto:ann@example.com", attendees("bob", "eve")))
			if saved.Object.ScheduleTag == "" ||
				!strings.Contains(lineWith(g.text("ann"), ":mailto:bob@"), "SCHEDULE-STATUS=1.2") {
				g.t.Errorf("%+v\n%s", saved, g.text("ann"))
			}
			g.want("in both inboxes", g.inbox("bob")+" "+g.inbox("eve"), "REQUEST REQUEST")
			g.must(g.answer("ACCEPTED"))
			if status := lineWith(g.text("bob"), "ORGANIZER"); !strings.Contains(status, "SCHEDULE-STATUS=1.2") {
				g.t.Errorf("what came of the answer: %s", status)
			}
			g.want("the organizer is told", g.inbox("ann"), "REPLY")
			if line := lineWith(g.text("ann"), ":mailto:bob@"); !strings.Contains(line, "PARTSTAT=ACCEPTED") ||
				!strings.Contains(line, "SCHEDULE-STATUS=2.0") {
				g.t.Errorf("of bob: %s", line)
			}
			if now, _ := g.has("ann"); now.ScheduleTag != saved.Object.ScheduleTag {
				g.t.Error("an answer has moved the organizer's schedule tag")
			}
		},
		"RFC 6638 B.6 an invitation in somebody else's name": func(g *guests) {
			g.save("bob", meetingOf(organizedByAnn, attendees("eve")))
			g.want("eve has", g.line("eve", "UID"), "nothing")
			g.want("ann has", g.line("ann", "UID"), "nothing")
		},
		"RFC 6638 B.7, B.8 one date declined, another removed": func(g *guests) {
			g.save("ann", meetingOf(organizedByAnn, attendees("bob"), inFourWeeks))
			g.must(g.answer("ACCEPTED"))
			part := onSecond(organizedByAnn, "ATTENDEE;PARTSTAT=DECLINED:mailto:bob@example.com")
			part = part[strings.Index(part, "BEGIN:VEVENT"):strings.Index(part, "END:VCALENDAR")]
			g.save("bob", strings.Replace(g.text("bob"), "END:VCALENDAR", part+"END:VCALENDAR", 1))
			g.want("the organizer knows", g.answered("ann", "bob"), "ACCEPTED DECLINED")
			g.save("bob", strings.Replace(g.text("bob"), "SUMMARY", "EXDATE:20260324T100000Z\r\nSUMMARY", 1))
			g.want("and of the removed one", g.answered("ann", "bob"), "ACCEPTED DECLINED DECLINED")
		},
	} {
		t.Run(name, func(t *testing.T) { talking(t, talk) })
	}
}

// talking runs a conversation of three users on a server of their own.
func talking(t *testing.T, talk func(g *guests)) {
	t.Parallel()
	h := &house{
		t: t, ctx: t.Context(),
		House: housetest.Open(t, testdb.SQLite(t), housetest.At(time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC))),
	}
	h.config = h.Middle()
	h.config.Mailed = true
	h.Service = service.New(h.config)
	g := &guests{h, map[string]guest{}}
	for _, who := range []string{"ann", "bob", "eve"} {
		g.join(who)
	}
	talk(g)
}
