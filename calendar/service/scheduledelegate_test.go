package service_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
)

// TestDelegateIsInvited is RFC 5546 §3.2.2.3 and §4.2.5 between users: bob sends kim in his place, kim is invited by
// the organizer with word of whom she comes for, and her answer reaches the organizer and bob.
func TestDelegateIsInvited(t *testing.T) {
	invited(t, "ann bob kim", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, attendees("bob")))
		g.save("bob", delegating(g.text("bob"), "kim"))
		g.want("kim is asked", g.answered("kim", "kim"), "NEEDS-ACTION")
		g.want("kim's inbox", g.inbox("kim"), "REQUEST")
		// bob's line, and hers, which names him
		g.want("at the organizer's", g.answered("ann", "bob"), "DELEGATED NEEDS-ACTION")
		for _, who := range []string{"ann", "bob", "kim"} {
			if line := lineWith(g.text(who), "mailto:kim@example.com"); !strings.Contains(line,
				`DELEGATED-FROM="mailto:bob@example.com"`) {
				t.Errorf("%s has of kim: %s", who, line)
			}
		}
		if line := lineWith(g.text("ann"), ":mailto:kim@example.com"); !strings.Contains(line, "SCHEDULE-STATUS=1.2") {
			t.Errorf("what came of it: %s", line)
		}
		g.save("kim", answering(g.text("kim"), "kim", "ACCEPTED"))
		g.want("kim comes", g.answered("ann", "kim")+" "+g.answered("bob", "kim"), "ACCEPTED ACCEPTED")
		g.save("ann", strings.Replace(g.text("ann"), "DTSTART:20260310T10", "DTSTART:20260310T09", 1))
		g.want("kim hears of the next change", g.line("kim", "DTSTART"), "DTSTART:20260310T090000Z")
	})
}

// TestDelegateElsewhereIsInvited: the same where delegator and delegate are not of this server. The mail is the
// organizer's.
func TestDelegateElsewhereIsInvited(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, "ATTENDEE:mailto:zoe@elsewhere.example", attendees("bob")))
		g.letters()
		reply := meetingOf(organizedByAnn,
			`ATTENDEE;PARTSTAT=DELEGATED;DELEGATED-TO="mailto:lou@elsewhere.example":mailto:zoe@elsewhere.example`,
			`ATTENDEE;DELEGATED-FROM="mailto:zoe@elsewhere.example":mailto:lou@elsewhere.example`)
		g.must(g.Receive(g.ctx, mailed("zoe@elsewhere.example", "ann@example.com", calendar.MethodReply, reply)))
		g.want("letters", g.letters(), "REQUEST lou@elsewhere.example")
		if line := lineWith(g.text("bob"), "mailto:lou@elsewhere.example"); line == "" {
			t.Error("bob does not see who comes")
		}
		yes := meetingOf(organizedByAnn,
			`ATTENDEE;PARTSTAT=ACCEPTED;DELEGATED-FROM="mailto:zoe@elsewhere.example":mailto:lou@elsewhere.example`)
		g.must(g.Receive(g.ctx, mailed("lou@elsewhere.example", "ann@example.com", calendar.MethodReply, yes)))
		if line := lineWith(g.text("ann"), ":mailto:lou@elsewhere.example"); !strings.Contains(line,
			"PARTSTAT=ACCEPTED") {
			t.Errorf("lou has %s", line)
		}
	})
}

// TestOneDelegateInAllOfASeries: a guest sends the same one to each day, and nobody brings in a crowd day by day.
func TestOneDelegateInAllOfASeries(t *testing.T) {
	invited(t, "ann", func(g *guests) {
		zoe := "ATTENDEE:mailto:zoe@elsewhere.example"
		g.save("ann", meetingOf(organizedByAnn, zoe, "RRULE:FREQ=DAILY;COUNT=5"))
		g.letters()
		day := func(day, delegate string) string {
			text := strings.ReplaceAll(meetingOf(organizedByAnn, "RECURRENCE-ID:"+day+"T100000Z",
				`ATTENDEE;PARTSTAT=DELEGATED;DELEGATED-TO="mailto:`+delegate+
					`@elsewhere.example":mailto:zoe@elsewhere.example`,
				`ATTENDEE;DELEGATED-FROM="mailto:zoe@elsewhere.example":mailto:`+delegate+`@elsewhere.example`),
				"20260310", day)
			return text[strings.Index(text, "BEGIN:VEVENT"):strings.Index(text, "END:VCALENDAR")]
		}
		send := func(first, second string) error {
			text := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\n" + day("20260311", first) +
				day("20260312", second) + "END:VCALENDAR\r\n"
			return g.Receive(g.ctx, mailed("zoe@elsewhere.example", "ann@example.com", calendar.MethodReply, text))
		}
		g.refused(send("lou", "max"), calendar.Forbidden, "", "one delegate")
		g.want("letters", g.letters(), "")
		g.must(send("lou", "lou"))
		g.want("letters", g.letters(), "REQUEST lou@elsewhere.example")
	})
}

// delegatedTo is an answer by which somebody sends somebody else, who came for a third.
func delegatedTo(who, to, from string) string {
	mine := `ATTENDEE;PARTSTAT=DELEGATED;DELEGATED-TO="mailto:` + to + `@elsewhere.example"`
	if from != "" {
		mine += `;DELEGATED-FROM="mailto:` + from + `@elsewhere.example"`
	}
	return meetingOf(organizedByAnn, mine+":mailto:"+who+"@elsewhere.example",
		`ATTENDEE;DELEGATED-FROM="mailto:`+who+`@elsewhere.example":mailto:`+to+"@elsewhere.example")
}

// TestChainsOfDelegatesEnd: whom a guest sends may send somebody else, and that one again, and no more; neither by mail
// nor by a program.
func TestChainsOfDelegatesEnd(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, "ATTENDEE:mailto:zoe@elsewhere.example"))
		g.letters()
		send := func(who, to, from string) error {
			return g.Receive(g.ctx,
				mailed(who+"@elsewhere.example", annsMail, calendar.MethodReply, delegatedTo(who, to, from)))
		}
		g.must(send("zoe", "lou", ""))
		g.must(send("lou", "max", "zoe"))
		g.must(send("max", "ida", "lou"))
		g.letters()
		g.refused(send("ida", "jon", "max"), calendar.Forbidden, "", "3 times at most")
		g.refused(send("ida", "jon", ""), calendar.Forbidden, "", "3 times at most")
		g.want("letters", g.letters(), "")
		if line := lineWith(g.text("ann"), "mailto:jon@"); line != "" {
			t.Errorf("jon has %s", line)
		}
		// bob is the last of three, and a user.
		chain := []string{organizedByAnn, "ATTENDEE:mailto:a@elsewhere.example", attendees("bob")}
		for i, name := range []string{"b", "c"} {
			chain = append(chain,
				fmt.Sprintf(`ATTENDEE;DELEGATED-FROM="mailto:%c@elsewhere.example":mailto:%s@elsewhere.example`, 'a'+i,
					name))
		}
		chain[2] = `ATTENDEE;DELEGATED-FROM="mailto:c@elsewhere.example":mailto:bob@example.com`
		g.save("ann", meetingOf(chain...))
		text := strings.Replace(g.text("bob"), "SUMMARY",
			`ATTENDEE;DELEGATED-FROM="mailto:bob@example.com":mailto:kim@example.com`+"\r\nSUMMARY", 1)
		bob := g.people["bob"]
		_, err := g.Put(g.ctx, bob.Caller, bob.cal, calendar.Draft{Name: g.name("bob"), Data: []byte(text)})
		g.refused(err, calendar.Forbidden, calendar.RuleAttendeeChange, "3 times at most")
	})
}

// TestDelegatesStayWhoseTheyAre: a delegate who says that they come for somebody else does not make room for the next
// one.
func TestDelegatesStayWhoseTheyAre(t *testing.T) {
	invited(t, "ann", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, "ATTENDEE:mailto:zoe@elsewhere.example"))
		send := func(who, reply string) error {
			return g.Receive(g.ctx, mailed(who+"@elsewhere.example", annsMail, calendar.MethodReply, reply))
		}
		g.must(send("zoe", delegatedTo("zoe", "lou", "")))
		g.must(send("lou", meetingOf(organizedByAnn, `ATTENDEE;PARTSTAT=ACCEPTED;`+
			`DELEGATED-FROM="mailto:max@elsewhere.example":mailto:lou@elsewhere.example`)))
		if line := lineWith(g.text("ann"), ":mailto:lou@"); !strings.Contains(line, "PARTSTAT=ACCEPTED") ||
			!strings.Contains(line, `DELEGATED-FROM="mailto:zoe@`) {
			t.Errorf("lou has %s", line)
		}
		g.refused(send("zoe", delegatedTo("zoe", "max", "")), calendar.Forbidden, "", "one delegate")
	})
}

// lineWith is the first line that contains something, without folds.
func lineWith(text, part string) string {
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n ", ""), "\r\n") {
		if strings.Contains(line, part) {
			return line
		}
	}
	return ""
}

// TestOneCancelForSeveralDates is RFC 5546 §3.2.5: each component of a message calls off one instance, and the rest
// stays.
func TestOneCancelForSeveralDates(t *testing.T) {
	invited(t, "bob", func(g *guests) {
		zoe := "ORGANIZER:mailto:zoe@elsewhere.example"
		g.must(g.Receive(g.ctx,
			mailed("zoe@elsewhere.example", "bob@example.com", calendar.MethodRequest,
				meetingOf(zoe, attendees("bob"), "RRULE:FREQ=DAILY;COUNT=5"))))
		g.must(g.answer("ACCEPTED"))
		off := func(day string) string {
			text := strings.ReplaceAll(meetingOf(zoe, attendees("bob"), "SEQUENCE:1", "STATUS:CANCELLED",
				"RECURRENCE-ID:"+day+"T100000Z"), "20260310", day)
			begin, end := strings.Index(text, "BEGIN:VEVENT"), strings.Index(text, "END:VCALENDAR")
			return text[begin:end]
		}
		all := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\n" + off("20260311") + off("20260313") +
			"END:VCALENDAR\r\n"
		g.must(g.Receive(g.ctx, mailed("zoe@elsewhere.example", "bob@example.com", calendar.MethodCancel, all)))
		text := g.text("bob")
		for _, want := range []string{"20260311T100000Z", "20260313T100000Z"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s is not left out:\n%s", want, text)
			}
		}
		if strings.Contains(text, "STATUS:CANCELLED") || strings.Count(text, "EXDATE") != 2 {
			t.Errorf("more is called off than two days:\n%s", text)
		}
		g.want("the answer stays", g.answered("bob", "bob"), "ACCEPTED")
	})
}

// TestSeveralDatesAreCalledOffAtOnce: guests here hear of them in one message, those elsewhere in a mail for each, as
// their programs want it; so does somebody elsewhere who is invited to some dates alone.
func TestSeveralDatesAreCalledOffAtOnce(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		series := meetingOf(organizedByAnn, attendees("bob"), zoeComes, "RRULE:FREQ=DAILY;COUNT=5")
		g.save("ann", series)
		g.must(g.answer("ACCEPTED"))
		g.letters()
		saved := g.save("ann",
			strings.Replace(g.text("ann"), "RRULE:", "EXDATE:20260311T100000Z,20260313T100000Z\r\nRRULE:", 1))
		g.want("told", toldNames(saved.Told), "bob@example.com CANCEL 1.2, zoe@elsewhere.example CANCEL 1.0")
		g.want("bob's inbox", g.inbox("bob"), "REQUEST CANCEL")
		all, err := g.Messages(g.ctx, g.people["bob"].Caller)
		g.must(err)
		if text := string(all[1].Data); strings.Count(text, "BEGIN:VEVENT") != 2 ||
			strings.Count(text, "STATUS:CANCELLED") != 2 || strings.Count(text, "SEQUENCE:1") != 2 {
			t.Errorf("bob is told:\n%s", text)
		}
		if text := g.text("bob"); strings.Count(text, "EXDATE") != 2 {
			t.Errorf("bob has:\n%s", text)
		}
		g.want("bob's answer", g.answered("ann", "bob"), "ACCEPTED")
		g.want("mail", g.dates(), "CANCEL 20260311T100000Z, CANCEL 20260313T100000Z")

		on := func(day string) string {
			text := strings.ReplaceAll(meetingOf(organizedByAnn, attendees("bob"),
				"ATTENDEE:mailto:lou@elsewhere.example", "RECURRENCE-ID:20260310T100000Z"), "20260310", day)
			return text[strings.Index(text, "BEGIN:VEVENT"):strings.Index(text, "END:VCALENDAR")]
		}
		plain := g.text("ann")
		g.save("ann", strings.Replace(plain, "END:VCALENDAR", on("20260312")+on("20260314")+"END:VCALENDAR", 1))
		g.save("ann", strings.Replace(plain, "END:VCALENDAR", on("20260312")+"END:VCALENDAR", 1))
		g.want("mail to lou", g.dates("lou@elsewhere.example"), "REQUEST 20260312T100000Z")

		// Of three days one is another one now, and one more comes: of the other two there is nothing to tell.
		g.save("ann", strings.Replace(plain, "END:VCALENDAR", on("20260312")+on("20260314")+"END:VCALENDAR", 1))
		g.want("the second day", g.dates("lou@elsewhere.example"), "REQUEST 20260314T100000Z")
		later := strings.Replace(on("20260314"), "SUMMARY:Plans", "SUMMARY:Plans, at length", 1)
		g.save("ann", strings.Replace(plain, "END:VCALENDAR", on("20260310")+on("20260312")+later+"END:VCALENDAR", 1))
		g.want("what is new", g.dates("lou@elsewhere.example"), "REQUEST 20260310T100000Z, REQUEST 20260314T100000Z")
		g.save("ann",
			strings.Replace(plain, "END:VCALENDAR",
				on("20260310")+on("20260312")+strings.Replace(later, "LENGTH", "", 1)+"END:VCALENDAR", 1))
		g.want("nothing is new", g.dates("lou@elsewhere.example"), "")
	})
}

// TestMailsOfSeveralDatesAreWeighed: the zones of an event are in each of the mails that its dates make, and all of
// them are text that is written for one change.
func TestMailsOfSeveralDatesAreWeighed(t *testing.T) {
	invited(t, "ann", func(g *guests) {
		zone := "BEGIN:VTIMEZONE\r\nTZID:Here\r\nX-NOTE:" + strings.Repeat("z", 100<<10) +
			"\r\nBEGIN:STANDARD\r\nDTSTART:19700101T000000\r\nTZOFFSETFROM:+0000\r\nTZOFFSETTO:+0000\r\n" +
			"END:STANDARD\r\nEND:VTIMEZONE\r\n"
		series := strings.Replace(meetingOf(organizedByAnn, zoeComes, "RRULE:FREQ=DAILY;COUNT=2000"), "BEGIN:VEVENT",
			zone+"BEGIN:VEVENT", 1)
		g.save("ann", series)
		g.letters()
		days := make([]string, 1500)
		for i := range days {
			days[i] = time.Date(2026, 3, 11+i, 10, 0, 0, 0, time.UTC).Format("20060102T150405Z")
		}
		p := g.people["ann"]
		_, err := g.Put(g.ctx, p.Caller, p.cal, calendar.Draft{
			Name: g.name("ann"),
			Data: []byte(strings.Replace(g.large("ann"), "RRULE:", "EXDATE:"+strings.Join(days, ",")+"\r\nRRULE:", 1)),
		})
		g.refused(err, calendar.TooLarge, calendar.RuleMaxSize, "too large for so many attendees")
	})
}

// dates are what waits to be mailed to somebody, or to anybody, each with the one date that it is about.
func (g *guests) dates(to ...calendar.MailAddress) string {
	g.t.Helper()
	var list []string
	for { // one of each recipient's at a time
		all, err := g.Store.TakeLetters(g.ctx, g.Now().AddDate(1, 0, 0), g.Now().AddDate(1, 0, 1), 100)
		g.must(err)
		if len(all) == 0 {
			break
		}
		for _, l := range all {
			g.must(g.Store.ConcludeLetter(g.ctx, l, true, g.Now(), 1<<20))
			if len(to) > 0 && !slices.Contains(to, l.To) {
				continue
			}
			if text := string(l.Data); strings.Count(text, "BEGIN:VEVENT") != 1 ||
				!strings.Contains(text, "RECURRENCE-ID:"+l.Recurrence) {
				g.t.Errorf("a mail about %q has\n%s", l.Recurrence, text)
			}
			list = append(list, string(l.Method)+" "+l.Recurrence)
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}
