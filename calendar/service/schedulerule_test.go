package service_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/ledger"
)

// alias gives somebody one more address, which is theirs beyond doubt.
func (g *guests) alias(who, address string) {
	g.t.Helper()
	u := g.people[who].User
	g.must(g.Store.InsertAddress(g.ctx, u.ID, auth.Address{Text: address, Created: g.Now()}))
	g.must(g.Store.VerifyAddress(g.ctx, u.ID, address, g.Now()))
}

// shares lets somebody write in another's calendar, and returns it as they see it.
func (g *guests) shares(whose, with string) calendar.Calendar {
	g.t.Helper()
	of, to := g.people[whose], g.people[with]
	g.must(g.give(of.cal.ID, to.User.ID, calendar.WriteAccess))
	return g.fresh(to.Caller, of.cal)
}

// TestEveryAddressIsTheirs: people are known by each of their addresses, however that is written. A program that writes
// one and then the other, as long as it likes, asks nobody again.
func TestEveryAddressIsTheirs(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		g.alias("bob", "b@example.net")
		g.alias("ann", "a@example.net")
		g.save("ann", meetingOf("ORGANIZER:MAILTO:A@Example.net", "ATTENDEE:MAILTO:B@example.NET"))
		g.want("bob's inbox", g.inbox("bob"), "REQUEST")
		o, _ := g.has("bob")
		g.save("bob",
			strings.Replace(string(o.Data), lineOf(string(o.Data), "ATTENDEE"),
				"ATTENDEE;PARTSTAT=ACCEPTED:mailto:b%40example.net", 1))
		if line := g.line("ann", "ATTENDEE"); !strings.Contains(line, "PARTSTAT=ACCEPTED") {
			t.Errorf("ann reads of bob: %s", line)
		}
		for i := range 4 {
			address := []string{"bob@example.com", "B@example.net"}[i%2]
			text := strings.ReplaceAll(g.text("ann"), "\r\n ", "")
			g.save("ann", strings.Replace(text, lineOf(text, "ATTENDEE"), "ATTENDEE:mailto:"+address, 1))
		}
		g.want("bob's inbox", g.inbox("bob"), "REQUEST")
		g.want("letters", g.letters(), "")
		if line := g.line("ann", "ATTENDEE"); !strings.Contains(line, "PARTSTAT=ACCEPTED") {
			t.Errorf("his answer is lost: %s", line)
		}
	})
}

// TestADeputyAnswersForTheOwner: who may write in a guest's calendar answers for the guest, and says so; the mail is
// the guest's.
func TestADeputyAnswersForTheOwner(t *testing.T) {
	invited(t, "ann bob eve", func(g *guests) {
		shared := g.shares("bob", "eve")
		put := func(uid, text string) {
			o, err := g.Store.ObjectByUID(g.ctx, shared.ID, calendar.UID(uid))
			g.must(err)
			_, err = g.Put(g.ctx, g.people["eve"].Caller, shared, calendar.Draft{Name: o.Name, Data: []byte(text)})
			g.must(err)
		}
		g.save("ann", meetingOf(organizedByAnn, attendees("bob")))
		put("meeting", answering(g.text("bob"), "bob", "ACCEPTED"))
		g.want("bob comes", g.answered("ann", "bob"), "ACCEPTED")
		in, err := g.Store.Inbox(g.ctx, g.people["ann"].User.ID)
		g.must(err)
		if line := lineOf(string(in.Items[0].Data), "ATTENDEE"); !strings.Contains(line,
			`SENT-BY="mailto:eve@example.com"`) {
			t.Errorf("the answer does not say who gave it: %s", line)
		}
		theirs := replaceUID(meetingOf(fromZoe, attendees("bob")), "UID:theirs")
		g.receive(bobsMail, calendar.MethodRequest, theirs)
		put("theirs", answering(theirs, "bob", "ACCEPTED"))
		g.posted("REPLY", "bob@example.com", "zoe@elsewhere.example")
	})
}

// posted sees that one letter waits, of this kind, and from whom it is.
func (g *guests) posted(method calendar.Method, from, to calendar.MailAddress) {
	g.t.Helper()
	all, err := g.Store.TakeLetters(g.ctx, g.Now().AddDate(1, 0, 0), g.Now().AddDate(1, 0, 1), 9)
	g.must(err)
	if len(all) != 1 || all[0].Method != method || all[0].From != from || all[0].To != to {
		g.t.Errorf("letters: %+v", all)
	}
}

// TestMailIsTheOwners: what a deputy of the organizer writes to guests elsewhere leaves as the organizer's, whose
// address the mail server knows.
func TestMailIsTheOwners(t *testing.T) {
	invited(t, "ann eve", func(g *guests) {
		shared := g.shares("ann", "eve")
		_, err := g.Put(g.ctx, g.people["eve"].Caller, shared,
			calendar.Draft{Name: "meeting.ics", Data: []byte(meetingOf(organizedByAnn, zoeComes))})
		g.must(err)
		g.posted("REQUEST", "ann@example.com", "zoe@elsewhere.example")
	})
}

// TestDelegationIsKept: an organizer's program that knows nothing of who comes for whom does not make it forgotten.
func TestDelegationIsKept(t *testing.T) {
	invited(t, "ann bob kim", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, attendees("bob")))
		g.save("bob", delegating(g.text("bob"), "kim"))
		g.save("kim", answering(g.text("kim"), "kim", "ACCEPTED"))
		g.save("ann", meetingOf(organizedByAnn, attendees("bob", "kim"), "LOCATION:here"))
		for _, who := range []string{"ann", "bob", "kim"} {
			if line := lineWith(g.text(who), ":mailto:kim@example.com"); !strings.Contains(line,
				`DELEGATED-FROM="mailto:bob@example.com"`) || !strings.Contains(line, "PARTSTAT=ACCEPTED") {
				t.Errorf("%s has of kim: %s", who, line)
			}
			if line := lineWith(g.text(who), ":mailto:bob@example.com"); !strings.Contains(line, "PARTSTAT=DELEGATED") {
				t.Errorf("%s has of bob: %s", who, line)
			}
		}
	})
}

// TestADelegatorIsFree: whoever has sent somebody else has the time for other things, and the delegate has not.
func TestADelegatorIsFree(t *testing.T) {
	invited(t, "ann bob kim", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, attendees("bob")))
		g.save("bob", delegating(g.text("bob"), "kim"))
		g.save("kim", answering(g.text("kim"), "kim", "ACCEPTED"))
		question := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nMETHOD:REQUEST\r\nBEGIN:VFREEBUSY\r\n" +
			"UID:q\r\nDTSTAMP:20260301T080000Z\r\n" +
			"DTSTART:20260310T000000Z\r\nDTEND:20260311T000000Z\r\n" + organizedByAnn + "\r\n" +
			attendees("bob", "kim") + "\r\nEND:VFREEBUSY\r\nEND:VCALENDAR\r\n"
		ann := g.people["ann"].Caller
		m := g.Meter(g.ctx, ann)
		defer m.Close()
		answers, err := g.AskBusy(g.ctx, ann, m, []byte(question))
		g.must(err)
		for i, busy := range []bool{false, true} {
			if text := string(answers[i].Data); strings.Contains(text, "20260310T100000Z/") != busy {
				t.Errorf("%s, where it is %v that they are busy:\n%s", answers[i].Status, busy, text)
			}
		}
	})
}

// TestAnAnswerForOneDayInvitesNobody: the organizer's program stores what an answer for one day has made of the series,
// and writes it down in another order; nobody has news of that.
func TestAnAnswerForOneDayInvitesNobody(t *testing.T) {
	invited(t, "ann bob eve", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, attendees("bob", "eve"), zoeComes, inFourWeeks))
		g.letters()
		part := onSecond(organizedByAnn, "ATTENDEE;PARTSTAT=DECLINED:mailto:zoe@elsewhere.example")
		g.receive(annsMail, calendar.MethodReply, part)
		if strings.Count(g.text("ann"), "BEGIN:VEVENT") != 2 {
			t.Fatalf("no day is apart:\n%s", g.text("ann"))
		}
		before := g.inbox("bob") + "; " + g.inbox("eve")
		saved := g.save("ann", strings.Replace(g.text("ann"), "SUMMARY", "X-NOTE:mine\r\nSUMMARY", 1))
		g.want("told", fmt.Sprint(len(saved.Told)), "0")
		g.want("letters", g.letters(), "")
		g.want("inboxes", g.inbox("bob")+"; "+g.inbox("eve"), before)
	})
}

// TestManyEditsAreOneLetter: whoever saves again and again sends a guest elsewhere one mail.
func TestManyEditsAreOneLetter(t *testing.T) {
	invited(t, "ann", func(g *guests) {
		ann := g.people["ann"]
		for i := range 5 {
			g.save("ann", meetingOf(organizedByAnn, zoeComes, fmt.Sprint("LOCATION:Room ", i)))
		}
		g.want("five edits", g.letters(), "REQUEST zoe@elsewhere.example")
		g.save("ann", meetingOf(organizedByAnn, zoeComes, "LOCATION:Room 10"))
		g.must(g.Delete(g.ctx, ann.Caller, ann.cal, "meeting.ics", calendar.Precondition{}))
		g.want("changed, and called off", g.letters(), "CANCEL zoe@elsewhere.example")
	})
}

// TestMadeAnewAfterItsEnd: a program that changes an event by deleting it and making it again has guests called off and
// asked anew. What they are asked is newer than what called it off, by mail and here, so that no copy stays called off.
func TestMadeAnewAfterItsEnd(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		ann := g.people["ann"]
		g.save("ann", meetingOf(organizedByAnn, attendees("bob"), zoeComes, "SEQUENCE:3"))
		g.letters()
		g.must(g.answer("ACCEPTED"))
		g.must(g.Delete(g.ctx, ann.Caller, ann.cal, "meeting.ics", calendar.Precondition{}))
		ended := g.line("bob", "SEQUENCE")
		g.want("bob's is called off", g.line("bob", "STATUS")+" "+ended, "STATUS:CANCELLED SEQUENCE:4")
		g.save("ann", meetingOf(organizedByAnn, attendees("bob"), zoeComes, "LOCATION:elsewhere"))
		g.want("the count goes on", g.line("ann", "SEQUENCE"), "SEQUENCE:5")
		g.want("bob has it again", g.line("bob", "STATUS")+g.line("bob", "LOCATION"), "LOCATION:elsewhere")
		g.want("and is asked", g.answered("bob", "bob")+" "+g.answered("ann", "bob"), "NEEDS-ACTION NEEDS-ACTION")
		g.want("zoe hears first", g.letters(), "CANCEL zoe@elsewhere.example")
		g.want("and then", g.letters(), "REQUEST zoe@elsewhere.example")
		stranger := replaceUID(meetingOf(organizedByAnn, zoeComes), "UID:new")
		_, err := g.Put(g.ctx, ann.Caller, ann.cal, calendar.Draft{Name: "new.ics", Data: []byte(stranger)})
		g.must(err)
		o, err := g.Store.ObjectByUID(g.ctx, ann.cal.ID, "new")
		g.must(err)
		g.want("one of which nothing was called off", lineOf(string(o.Data), "SEQUENCE"), "")
	})
}

// TestWhoHearsItFirst: of one change the new guest is invited, and the others have an update.
func TestWhoHearsItFirst(t *testing.T) {
	invited(t, "ann", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, zoeComes))
		g.letters()
		g.save("ann",
			meetingOf(organizedByAnn, zoeComes, "ATTENDEE:mailto:lou@elsewhere.example", "LOCATION:elsewhere"))
		all, err := g.Store.TakeLetters(g.ctx, g.Now().AddDate(1, 0, 0), g.Now().AddDate(1, 0, 1), 9)
		g.must(err)
		if len(all) != 2 {
			t.Fatalf("letters: %+v", all)
		}
		for _, l := range all {
			if l.First != (l.To == "lou@elsewhere.example") {
				t.Errorf("first for %s: %v", l.To, l.First)
			}
		}
	})
}

// TestUndoOfANameAndAText: an event that gets back its name and its text at once is told of as one that gets back its
// text alone: nobody hears of a colour, of a place they hear as of an update, and what they have answered meanwhile
// stays.
func TestUndoOfANameAndAText(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		ann := g.people["ann"]
		g.save("ann", meetingOf(organizedByAnn, attendees("bob"), zoeComes))
		g.must(g.answer("ACCEPTED"))
		g.letters()
		for line, heard := range map[string]string{
			"COLOR:red": "", "LOCATION:elsewhere": "REQUEST zoe@elsewhere.example",
		} {
			g.Pass(time.Minute)
			start := g.Now()
			_, err := g.Move(g.ctx, ann.Caller,
				ledger.Transfer{From: ann.cal, Name: "meeting.ics", To: ann.cal, As: "other.ics"})
			g.must(err)
			g.save("ann", strings.Replace(g.text("ann"), "SUMMARY", line+"\r\nSUMMARY", 1))
			g.letters()
			before := g.inbox("bob")
			_, err = g.UndoSince(g.ctx, ann.Caller, calendar.UndoSince{Anybody: true, Calendar: ann.cal.ID, At: start})
			g.must(err)
			g.want("the name", string(g.name("ann")), "meeting.ics")
			g.want("the text", g.line("ann", line), "")
			g.want("bob's answer", g.answered("ann", "bob")+" "+g.answered("bob", "bob"), "ACCEPTED ACCEPTED")
			g.want("the count", g.line("ann", "SEQUENCE"), "")
			g.want("letters", g.letters(), heard)
			if news := g.inbox("bob") != before; news != (heard != "") {
				t.Errorf("of %s bob hears: %v", line, news)
			}
		}
	})
}

// TestWhatIsOverIsNotMailed: nobody gets mail about the past, and it is theirs to answer while any of a series is to
// come.
func TestWhatIsOverIsNotMailed(t *testing.T) {
	invited(t, "ann", func(g *guests) {
		past := strings.NewReplacer("20260310", "20250310").Replace
		g.save("ann", past(meetingOf(organizedByAnn, zoeComes)))
		g.save("ann", past(meetingOf(organizedByAnn, zoeComes, "LOCATION:elsewhere")))
		g.want("of what is over", g.letters(), "")
		g.save("ann", past(meetingOf(organizedByAnn, zoeComes, "RRULE:FREQ=MONTHLY;COUNT=24")))
		g.want("of a series that goes on", g.letters(), "REQUEST zoe@elsewhere.example")
	})
}
