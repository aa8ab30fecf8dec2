package service_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/delivery"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/ical"
)

// at is a moment on the tenth of March, or later.
func at(day, hour int) ical.Time {
	return ical.Instant(time.Date(2026, 3, day, hour, 0, 0, 0, time.UTC))
}

// wish is another time for the meeting.
func wish(day, hour int) delivery.ProposedTime {
	return delivery.ProposedTime{
		Times: edit.Times{Start: edit.To(at(day, hour)), End: edit.To(at(day, hour+2))}, Comment: "I fly that day",
	}
}

// propose has bob propose a time for the meeting, and says who was told.
func (g *guests) propose(w delivery.ProposedTime) string {
	g.t.Helper()
	p := g.people["bob"]
	told, err := g.Propose(g.ctx, p.Caller, p.cal, "meeting", w)
	g.must(err)
	return toldNames(told)
}

func toldNames(told []calendar.Told) string {
	var all []string
	for _, t := range told {
		all = append(all, t.To+" "+string(t.Method)+" "+t.Status)
	}
	return strings.Join(all, ", ")
}

// proposals are what waits for ann to decide.
func (g *guests) proposals() []query.Proposal {
	g.t.Helper()
	found, err := g.Proposals(g.ctx, g.people["ann"].Caller, nil)
	g.must(err)
	return found.All
}

// decide has ann decide about the one proposal that she has.
func (g *guests) decide(accept bool) (ledger.Edited, error) {
	g.t.Helper()
	all := g.proposals()
	if len(all) != 1 {
		g.t.Fatalf("ann has %d proposals, want 1", len(all))
	}
	p := g.people["ann"]
	return g.Decide(g.ctx, p.Caller, p.cal, "meeting",
		delivery.Decision{Message: all[0].Message, Proposal: all[0].Proposal, Accept: accept, Comment: "Sorry"})
}

// TestProposalForWhatIsLost: an event whose text the database has lost, or a message, keeps nobody from what is
// proposed for others.
func TestProposalForWhatIsLost(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, attendees("bob")))
		g.meet("ann", "other", replaceUID(meetingOf(organizedByAnn, attendees("bob")), "UID:other"))
		g.propose(wish(11, 14))
		p := g.people["bob"]
		_, err := g.Propose(g.ctx, p.Caller, p.cal, "other", wish(12, 14))
		g.must(err)
		if all := g.proposals(); len(all) != 2 {
			t.Fatalf("there are %d proposals", len(all))
		}
		g.must(behind(g.t, g.URL, `UPDATE objects SET data = $1 WHERE calendar_id = $2 AND uid = 'meeting'`, []byte{},
			string(g.people["ann"].cal.ID)))
		found, err := service.New(g.Middle()).Proposals(g.ctx, g.people["ann"].Caller, nil)
		g.must(err)
		if len(found.All) != 1 || found.All[0].Object.UID != "other" || found.Unread != 1 {
			t.Errorf("ann has %d proposals, and %d are unread", len(found.All), found.Unread)
		}
		g.must(behind(g.t, g.URL, `UPDATE inbox_items SET data = $1 WHERE name = $2`, []byte{},
			string(found.All[0].Message)))
		found, err = service.New(g.Middle()).Proposals(g.ctx, g.people["ann"].Caller, nil)
		g.must(err)
		if len(found.All) != 0 || found.Unread != 2 {
			t.Errorf("ann has %d proposals, and %d are unread", len(found.All), found.Unread)
		}
	})
}

// TestProposalIsTakenUp: a guest proposes another time, the organizer sees it with what it says, agrees, and everybody
// else is asked anew for the new time.
func TestProposalIsTakenUp(t *testing.T) {
	invited(t, "ann bob eve", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, attendees("bob", "eve"), "ATTENDEE:mailto:zoe@elsewhere.example"))
		g.must(g.answer("ACCEPTED"))
		g.letters()
		g.want("told", g.propose(wish(11, 14)), "ann@example.com COUNTER 1.2")
		g.want("bob's answer", g.answered("ann", "bob"), "ACCEPTED")
		g.want("the event", g.line("ann", "DTSTART"), "DTSTART:20260310T100000Z")
		all := g.proposals()
		if len(all) != 1 || all[0].From != "mailto:bob@example.com" || all[0].Start != at(11, 14) ||
			all[0].End != at(11, 16) || all[0].Comment != "I fly that day" {
			t.Fatalf("ann sees %+v", all)
		}
		g.propose(wish(12, 14)) // which takes the place of the first
		edited, err := g.decide(true)
		g.must(err)
		if told := toldNames(edited.Told); !strings.Contains(told, "bob@example.com REQUEST 1.2") ||
			!strings.Contains(told, "zoe@elsewhere.example REQUEST 1.0") {
			t.Errorf("told of the new time: %s", told)
		}
		for _, who := range []string{"ann", "bob", "eve"} {
			g.want(who+"'s start", g.line(who, "DTSTART"), "DTSTART:20260312T140000Z")
			g.want(who+"'s end", g.line(who, "DTEND"), "DTEND:20260312T160000Z")
		}
		g.want("bob, whose time it is", g.answered("ann", "bob"), "ACCEPTED")
		g.want("eve is asked anew", g.answered("ann", "eve"), "NEEDS-ACTION")
		g.want("letters", g.letters(), "REQUEST zoe@elsewhere.example")
		g.want("ann's inbox", g.inbox("ann"), "REPLY")
		if left := g.proposals(); len(left) > 0 {
			t.Errorf("still proposed: %+v", left)
		}
	})
}

// TestProposalIsTurnedDown: the guest alone hears that the event stays, which it does.
func TestProposalIsTurnedDown(t *testing.T) {
	invited(t, "ann bob eve", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, attendees("bob", "eve"), "RRULE:FREQ=DAILY;COUNT=4"))
		w := wish(11, 14)
		w.Instance = at(11, 10)
		g.propose(w)
		g.save("eve", answering(g.text("eve"), "eve", "ACCEPTED")) // an answer of somebody else settles nothing
		if all := g.proposals(); len(all) != 1 || all[0].Which != at(11, 10) {
			t.Fatalf("ann sees %+v", all)
		}
		before := g.text("ann")
		edited, err := g.decide(false)
		g.must(err)
		g.want("told", toldNames(edited.Told), "bob@example.com DECLINECOUNTER 1.2")
		g.want("the event", g.text("ann"), before)
		g.want("bob's inbox", g.inbox("bob"), "REQUEST DECLINECOUNTER")
		g.want("eve's inbox", g.inbox("eve"), "REQUEST")
		g.want("ann's inbox", g.inbox("ann"), "REPLY")
	})
}

// text is somebody's copy of the meeting.
func (g *guests) text(who string) string {
	o, _ := g.has(who)
	return string(o.Data)
}

// TestProposalsByMail: what comes from elsewhere is held for the organizer, and followed only where a guest has sent
// it; a proposal to somebody elsewhere leaves by mail, and so does the word that nothing comes of one.
func TestProposalsByMail(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		zoe := "ATTENDEE:mailto:zoe@elsewhere.example"
		g.save("ann", meetingOf(organizedByAnn, attendees("bob"), zoe))
		g.letters()
		counter := strings.NewReplacer("20260310T10", "20260310T16", "20260310T11", "20260310T18").
			Replace(meetingOf(organizedByAnn, attendees("bob"), zoe, "COMMENT:Later?"))
		g.must(g.Receive(g.ctx, mailed("zoe@elsewhere.example", "ann@example.com", calendar.MethodCounter, counter)))
		g.must(g.Receive(g.ctx, mailed("zoe@elsewhere.example", "ann@example.com", calendar.MethodCounter, counter)))
		g.want("the event", g.line("ann", "DTSTART"), "DTSTART:20260310T100000Z")
		if all := g.proposals(); len(all) != 1 || all[0].From != "mailto:zoe@elsewhere.example" ||
			all[0].Start != at(10, 16) || all[0].Comment != "Later?" {
			t.Fatalf("ann sees %+v", all)
		}
		stranger := strings.Replace(counter, "COMMENT",
			"ATTENDEE:mailto:max@elsewhere.example\r\nX-SENDER:mailto:bob@example.com\r\nCOMMENT", 1)
		g.refused(g.Receive(g.ctx,
			mailed("max@elsewhere.example", "ann@example.com", calendar.MethodCounter, stranger)), calendar.Forbidden,
			"", "does not invite")
		g.want("held for ann", g.inbox("ann"), "COUNTER")
		edited, err := g.decide(false)
		g.must(err)
		g.want("told", toldNames(edited.Told), "zoe@elsewhere.example DECLINECOUNTER 1.0")
		g.want("letters", g.letters(), "DECLINECOUNTER zoe@elsewhere.example")
		g.refused(g.Receive(g.ctx, mailed("zoe@elsewhere.example", "bob@example.com", calendar.MethodCounter, counter)),
			calendar.Forbidden, "", "does not organize")

		theirs := replaceUID(meetingOf("ORGANIZER:mailto:zoe@elsewhere.example", attendees("bob")), "UID:theirs")
		g.must(g.Receive(g.ctx, mailed("zoe@elsewhere.example", "bob@example.com", calendar.MethodRequest, theirs)))
		bob := g.people["bob"]
		told, err := g.Propose(g.ctx, bob.Caller, bob.cal, "theirs", wish(12, 9))
		g.must(err)
		g.want("told", toldNames(told), "zoe@elsewhere.example COUNTER 1.0")
		letters, err := g.Store.TakeLetters(g.ctx, g.Now().AddDate(1, 0, 0), g.Now().AddDate(1, 0, 1), 9)
		g.must(err)
		text := string(letters[0].Data)
		for _, want := range []string{
			"METHOD:COUNTER", "DTSTART:20260312T090000Z", "DTEND:20260312T110000Z", "COMMENT:I fly that day",
			"mailto:bob@example.com", "ORGANIZER:mailto:zoe@elsewhere.example",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("the letter has no %s:\n%s", want, text)
			}
		}
		if strings.Contains(text, "X-SENDER") {
			t.Errorf("the letter has what is ours alone:\n%s", text)
		}
		no := replaceUID(meetingOf("ORGANIZER:mailto:zoe@elsewhere.example", attendees("bob")), "UID:theirs")
		g.refused(g.Receive(g.ctx,
			mailed("max@elsewhere.example", "bob@example.com", calendar.MethodDecline,
				strings.ReplaceAll(no, "zoe@", "max@"))), calendar.Forbidden, "", "not of the event's organizer")
		g.must(g.Receive(g.ctx, mailed("zoe@elsewhere.example", "bob@example.com", calendar.MethodDecline, no)))
		g.want("bob's inbox", g.inbox("bob"), "REQUEST REQUEST DECLINECOUNTER")
	})
}

// TestWhatCannotBeProposed: nothing changes and nobody hears of it.
func TestWhatCannotBeProposed(t *testing.T) {
	invited(t, "ann bob eve", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, attendees("bob")))
		of := func(who string, w delivery.ProposedTime) error {
			p := g.people[who]
			_, err := g.Propose(g.ctx, p.Caller, p.cal, "meeting", w)
			return err
		}
		same := delivery.ProposedTime{Times: edit.Times{Start: edit.To(at(10, 10)), End: edit.To(at(10, 11))}}
		g.refused(of("bob", same), calendar.Invalid, "", "propose another time")
		g.refused(of("ann", wish(11, 9)), calendar.Invalid, "", "not an attendee")
		g.refused(of("eve", wish(11, 9)), calendar.NotFound, "", "")
		// eve makes up an event of ann's that has her in it.
		forged := replaceUID(meetingOf(organizedByAnn, attendees("eve")), "UID:forged")
		p := g.people["eve"]
		_, err := g.Put(g.ctx, p.Caller, p.cal, calendar.Draft{Name: "forged.ics", Data: []byte(forged)})
		g.must(err)
		told, err := g.Propose(g.ctx, p.Caller, p.cal, "forged", wish(11, 9))
		g.must(err)
		g.want("told", toldNames(told), "ann@example.com COUNTER 3.8")
		quiet := g.people["bob"].Caller
		quiet.Scopes &^= calendar.ScopeInvite
		_, err = g.Propose(g.ctx, quiet, g.people["bob"].cal, "meeting", wish(11, 9))
		g.refused(err, calendar.Forbidden, calendar.RulePrivileges, "invite")
		g.propose(wish(11, 9))
		g.save("ann", strings.Replace(g.text("ann"), "DTSTART:20260310T10", "DTSTART:20260310T09", 1))
		if left := g.proposals(); len(left) > 0 {
			t.Errorf("the event has moved since, and this is still proposed: %+v", left)
		}
		g.want("ann's inbox", g.inbox("ann"), "COUNTER")
	})
}

// TestProposalsForNothing: what no organizer can decide is not kept, and what is kept of it from before keeps nobody
// from the others.
func TestProposalsForNothing(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		zoe := "ATTENDEE:mailto:zoe@elsewhere.example"
		g.save("ann", meetingOf(organizedByAnn, attendees("bob"), zoe, "RRULE:FREQ=DAILY;COUNT=4"))
		w := wish(11, 14)
		w.Instance = at(11, 10)
		g.propose(w)
		counter := func(id string) string {
			return strings.NewReplacer("20260310T10", "20260311T16", "20260310T11", "20260311T18").
				Replace(meetingOf(organizedByAnn, zoe, "RECURRENCE-ID"+id))
		}
		send := func(id string) error {
			return g.Receive(g.ctx,
				mailed("zoe@elsewhere.example", "ann@example.com", calendar.MethodCounter, counter(id)))
		}
		g.refused(send(":x"), calendar.Invalid, calendar.RuleValidObject, "cannot be understood")
		g.refused(send(";TZID=Nowhere:20260311T100000"), calendar.Invalid, calendar.RuleValidObject,
			"cannot be understood")
		g.refused(send(":20260311T120000Z"), calendar.NotFound, "", "no such instance")
		g.want("ann's inbox", g.inbox("ann"), "COUNTER")
		for _, id := range []string{":20260311T100000Z", ";TZID=Europe/Berlin:20260311T110000"} {
			g.must(send(id))
		}
		g.want("one for each guest and instance", g.inbox("ann"), "COUNTER COUNTER")

		old := strings.Replace(counter(":x"), "VERSION:2.0",
			"VERSION:2.0\r\nMETHOD:COUNTER\r\nX-SENDER:mailto:zoe@elsewhere.example", 1)
		g.must(g.Store.Update(g.ctx, func(tx calendar.Tx) error {
			item := calendar.InboxItem{Name: "old", Method: calendar.MethodCounter, Created: g.Now(), Data: []byte(old)}
			return tx.PutInboxItems(g.ctx, []calendar.InboxEntry{{To: g.people["ann"].User.ID, InboxItem: item}})
		}))
		if all := g.proposals(); len(all) != 2 {
			t.Errorf("ann sees %d proposals, want 2: %+v", len(all), all)
		}
	})
}

// TestProposalsAreLookedForAlone: what else is in the inbox is not read for them, and what is read is counted.
func TestProposalsAreLookedForAlone(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, attendees("bob")))
		g.propose(wish(11, 14))
		put := func(name calendar.ObjectName, method calendar.Method) {
			text := meetingOf(organizedByAnn, attendees("bob"), "DESCRIPTION:"+strings.Repeat("x", 1<<20))
			text = strings.Replace(text, "VERSION:2.0", "VERSION:2.0\r\nMETHOD:COUNTER", 1)
			g.must(g.Store.Update(g.ctx, func(tx calendar.Tx) error {
				item := calendar.InboxItem{Name: name, Method: method, Created: g.Now(), Data: []byte(text)}
				return tx.PutInboxItems(g.ctx, []calendar.InboxEntry{{To: g.people["ann"].User.ID, InboxItem: item}})
			}))
		}
		seen := func() query.Proposals {
			pool := meter.NewPool(meter.Config{
				Bytes: 4 << 20, Limits: meter.Limits{Held: 2 << 20, Steps: 20_000}, Turns: 1,
			})
			m := pool.Meter(g.ctx, "ann")
			defer m.Close()
			found, err := g.Proposals(g.ctx, g.people["ann"].Caller, m)
			g.must(err)
			return found
		}
		put("reply", calendar.MethodReply)
		put("large", calendar.MethodCounter)
		found := seen()
		if len(found.All) != 1 || found.All[0].From != "mailto:bob@example.com" || found.Unread != 1 {
			t.Errorf("beside one that takes seven megabytes, where two may be held, ann sees %+v", found)
		}
	})
}

// TestNobodyFillsAnInboxWithProposals: what one guest proposes in a day is bounded, by mail and from here, in number
// and in bytes. The guest hears of it, and others come through.
func TestNobodyFillsAnInboxWithProposals(t *testing.T) {
	invited(t, "ann bob eve", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, attendees("bob", "eve"), zoeComes, "RRULE:FREQ=DAILY;COUNT=100"))
		wishFor := func(i int) delivery.ProposedTime {
			w := wish(10+i, 14)
			w.Instance = at(10+i, 10)
			return w
		}
		for i := range 50 {
			g.want("told", g.propose(wishFor(i)), "ann@example.com COUNTER 1.2")
		}
		g.want("one more", g.propose(wishFor(50)), "ann@example.com COUNTER 5.3")
		counter := func(i int, more string) error {
			day := at(10+i, 0).Civil.String()[:len("2026-03-10")]
			day = strings.ReplaceAll(day, "-", "")
			text := strings.Replace(strings.ReplaceAll(meetingOf(organizedByAnn, zoeComes,
				"RECURRENCE-ID:20260310T100000Z", more), "20260310", day), "DTSTART:"+day+"T10", "DTSTART:"+day+"T09",
				1)
			return g.Receive(g.ctx, mailed(zoesMail, annsMail, calendar.MethodCounter, text))
		}
		const large = 2
		for i := range large {
			g.must(counter(i, "DESCRIPTION:"+strings.Repeat("y", 3<<20)))
		}
		g.refused(counter(10, "DESCRIPTION:"+strings.Repeat("y", 3<<20)), calendar.TooLarge, calendar.RuleQuota,
			"daily limit")
		g.must(counter(11, ""))
		found, err := g.Proposals(g.ctx, g.people["ann"].Caller, nil)
		g.must(err)
		if len(found.All) != 52 || found.Unread != large-1 {
			t.Errorf("ann sees %d proposals, and %d are too long", len(found.All), found.Unread)
		}
		g.Pass(25 * time.Hour)
		g.want("the next day", g.propose(wishFor(60)), "ann@example.com COUNTER 1.2")
	})
}

// TestFullOfProposals: no proposal makes room for another, as the organizer still decides about each. Its sender is
// told, and a mail is taken later.
func TestFullOfProposals(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, attendees("bob"), zoeComes, "RRULE:FREQ=DAILY;COUNT=9"))
		ann := g.people["ann"].User.ID
		g.must(g.Store.Update(g.ctx, func(tx calendar.Tx) error {
			var all []calendar.InboxEntry
			for i := range 8 {
				all = append(all, calendar.InboxEntry{To: ann, InboxItem: calendar.InboxItem{
					Name: calendar.ObjectName(fmt.Sprint(i)), Method: calendar.MethodCounter, Created: g.Now(),
					Data: bytes.Repeat([]byte("x"), 4<<20-10),
				}})
			}
			return tx.PutInboxItems(g.ctx, all)
		}))
		w := wish(10, 14)
		w.Instance = at(10, 10)
		g.want("a full inbox", g.propose(w), "ann@example.com COUNTER 5.3")
		mail := func() error {
			return g.Receive(g.ctx, mailed(zoesMail, annsMail, calendar.MethodCounter,
				strings.Replace(meetingOf(organizedByAnn, zoeComes, "RECURRENCE-ID:20260310T100000Z"),
					"DTSTART:20260310T10", "DTSTART:20260310T09", 1)))
		}
		g.refused(mail(), calendar.Unavailable, "", "too many undecided proposals")
		g.must(g.Store.Update(g.ctx, func(tx calendar.Tx) error { return tx.DropInboxItem(g.ctx, ann, "0", 0) }))
		g.must(mail())
		g.must(g.Store.Update(g.ctx, func(tx calendar.Tx) error {
			var all []calendar.InboxEntry
			for i := range 492 { // with the mail and seven large ones
				all = append(all, calendar.InboxEntry{To: ann, InboxItem: calendar.InboxItem{
					Name: calendar.ObjectName(fmt.Sprint("small", i)), Method: calendar.MethodCounter, Created: g.Now(),
					Data: []byte("x"),
				}})
			}
			return tx.PutInboxItems(g.ctx, all)
		}))
		g.want("five hundred", g.propose(w), "ann@example.com COUNTER 5.3")
		g.must(g.Store.Update(g.ctx, func(tx calendar.Tx) error { return tx.DropInboxItem(g.ctx, ann, "small7", 0) }))
		g.want("with room", g.propose(w), "ann@example.com COUNTER 1.2")
	})
}

// TestOneOfTwoProposals: a guest of two days of a series who proposes others for both hears of the one that was
// decided, and of nobody else; the other one waits on.
func TestOneOfTwoProposals(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		zoe := "ATTENDEE:mailto:zoe@elsewhere.example"
		part := func(day, start string, more ...string) string {
			text := strings.ReplaceAll(meetingOf(append([]string{organizedByAnn, "RECURRENCE-ID:" + day + "T100000Z"},
				more...)...), "20260310", day)
			text = strings.Replace(text, "DTSTART:"+day+"T10", "DTSTART:"+day+"T"+start, 1)
			text = strings.Replace(text, "DTEND:"+day+"T11", "DTEND:"+day+"T18", 1)
			return text[strings.Index(text, "BEGIN:VEVENT"):strings.Index(text, "END:VCALENDAR")]
		}
		series := meetingOf(organizedByAnn, attendees("bob"), "RRULE:FREQ=DAILY;COUNT=5")
		series = strings.Replace(series, "END:VCALENDAR",
			part("20260311", "10", attendees("bob"), zoe)+part("20260312", "10", attendees("bob"), zoe)+"END:VCALENDAR",
			1)
		g.save("ann", series)
		g.letters()
		g.letters() // one for each of the days
		both := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\n" + part("20260311", "16", zoe) +
			part("20260312", "16", zoe) + "END:VCALENDAR\r\n"
		g.must(g.Receive(g.ctx, mailed("zoe@elsewhere.example", "ann@example.com", calendar.MethodCounter, both)))
		all := g.proposals()
		if len(all) != 2 || all[0].Which != at(11, 10) {
			t.Fatalf("ann sees %+v", all)
		}
		p := g.people["ann"]
		_, err := g.Decide(g.ctx, p.Caller, p.cal, "meeting",
			delivery.Decision{Message: all[0].Message, Proposal: all[0].Proposal})
		g.must(err)
		letters, err := g.Store.TakeLetters(g.ctx, g.Now().AddDate(1, 0, 0), g.Now().AddDate(1, 0, 1), 9)
		g.must(err)
		text := string(letters[0].Data)
		if strings.Count(text, "BEGIN:VEVENT") != 1 || !strings.Contains(text, "RECURRENCE-ID:20260311T100000Z") ||
			strings.Contains(text, "bob") {
			t.Errorf("zoe hears:\n%s", text)
		}
		if left := g.proposals(); len(left) != 1 || left[0].Which != at(12, 10) {
			t.Errorf("what is left: %+v", left)
		}
	})
}

// TestDeclinedWhoIsGone: a guest who is no longer in the event learns nothing of it.
func TestDeclinedWhoIsGone(t *testing.T) {
	invited(t, "ann bob eve", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, attendees("bob", "eve"), "RRULE:FREQ=DAILY;COUNT=4"))
		w := wish(11, 14)
		w.Instance = at(11, 10)
		g.propose(w)
		all := g.proposals()
		g.save("ann", strings.Replace(g.text("ann"), lineWith(g.text("ann"), "mailto:bob@"), "X-NOTE:nobody", 1))
		p := g.people["ann"]
		_, err := g.Decide(g.ctx, p.Caller, p.cal, "meeting",
			delivery.Decision{Message: all[0].Message, Proposal: all[0].Proposal})
		g.refused(err, calendar.Stale, "", "no longer open")
		g.want("bob's inbox", g.inbox("bob"), "REQUEST CANCEL")
	})
}

// TestProposedDaysAreAsMany: of whole days that a guest proposes the last one stays, whether they say when it ends or
// not.
func TestProposedDaysAreAsMany(t *testing.T) {
	const days = ";VALUE=DATE:202603"
	for name, c := range map[string]struct{ was, wish, last, want string }{
		"with an end": {
			"DTSTART" + days + "10\r\nDTEND" + days + "13", "DTSTART" + days + "20\r\nDTEND" + days + "25",
			"2026-03-24", "DTEND" + days + "25",
		},
		"without an end": {
			"DTSTART" + days + "10\r\nDTEND" + days + "13", "DTSTART" + days + "20", "2026-03-22",
			"DTEND" + days + "23",
		},
		"of a duration": {
			"DTSTART" + days + "10\r\nDURATION:P3D", "DTSTART" + days + "20", "2026-03-22", "DURATION:P3D",
		},
		"one day": {"DTSTART" + days + "10", "DTSTART" + days + "20", "0000-00-00", "DTSTART" + days + "20"},
		"instead of times": {
			"DTSTART:20260310T100000Z\r\nDTEND:20260310T110000Z", "DTSTART" + days + "20\r\nDTEND" + days + "22",
			"2026-03-21", "DTEND" + days + "22",
		},
	} {
		t.Run(name, func(t *testing.T) {
			invited(t, "ann", func(g *guests) {
				text := strings.Replace(meetingOf(organizedByAnn, zoeComes),
					"DTSTART:20260310T100000Z\r\nDTEND:20260310T110000Z", "%", 1)
				g.save("ann", strings.Replace(text, "%", c.was, 1))
				g.must(g.Receive(g.ctx,
					mailed("zoe@elsewhere.example", annsMail, calendar.MethodCounter,
						strings.Replace(text, "%", c.wish, 1))))
				g.want("the last day", g.proposals()[0].Proposal.End.Civil.String()[:10], c.last)
				_, err := g.decide(true)
				g.must(err)
				name, _, _ := strings.Cut(c.want, "03")
				g.want("the event", lineWith(g.text("ann"), name), c.want)
			})
		})
	}
}

// hurried is a store in which something else happens right before the next change.
type hurried struct {
	calendar.Store
	before *func()
}

func (s hurried) Update(ctx context.Context, do func(calendar.Tx) error) error {
	if first := *s.before; first != nil {
		*s.before = nil
		first()
	}
	return s.Store.Update(ctx, do)
}

// TestANewerProposalIsNotDecidedUnseen: what a guest proposes between the organizer's look and word stays, and the word
// is refused whole.
func TestANewerProposalIsNotDecidedUnseen(t *testing.T) {
	for answer, accept := range map[string]bool{"accept": true, "decline": false} {
		t.Run(answer, func(t *testing.T) {
			invited(t, "ann bob", func(g *guests) {
				g.save("ann", meetingOf(organizedByAnn, attendees("bob")))
				g.propose(wish(11, 14))
				var between func()
				hasty := g.config
				hasty.Store = hurried{g.Store, &between}
				s, p, seen := service.New(hasty), g.people["ann"], g.proposals()[0]
				decide := func() error {
					_, err := s.Decide(g.ctx, p.Caller, p.cal, "meeting",
						delivery.Decision{Message: seen.Message, Proposal: seen.Proposal, Accept: accept})
					return err
				}
				between = func() { g.propose(wish(12, 9)) }
				before, inbox := g.text("ann"), g.inbox("bob")
				g.refused(decide(), calendar.Exists, "", "bob@example.com has made another proposal meanwhile")
				g.want("the event", g.text("ann"), before)
				g.want("what bob hears", g.inbox("bob"), inbox)
				if all := g.proposals(); len(all) != 1 || all[0].Start != at(12, 9) {
					t.Fatalf("left to decide: %+v", all)
				}
				seen = g.proposals()[0]
				between = func() { _, err := g.decide(false); g.must(err) } // on another device
				g.refused(decide(), calendar.Exists, "", "decided already")
				g.want("the event", g.text("ann"), before)
			})
		})
	}
}

// TestAMessageIsDiscardedAsItWasSeen: a program that takes a message out of the inbox with its tag leaves a newer one
// there.
func TestAMessageIsDiscardedAsItWasSeen(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, attendees("bob")))
		g.propose(wish(11, 14))
		var between func()
		hasty := g.config
		hasty.Store = hurried{g.Store, &between}
		s, c, name := service.New(hasty), g.people["ann"].Caller, g.proposals()[0].Message
		i, err := s.Message(g.ctx, c, name)
		g.must(err)
		between = func() { g.propose(wish(12, 9)) }
		g.refused(s.Discard(g.ctx, c, name, calendar.Precondition{Match: []calendar.ETag{calendar.ETagOf(i.Data)}}),
			calendar.Stale, "", "changed or removed meanwhile")
		g.want("ann's inbox", g.inbox("ann"), "COUNTER")
		between = func() { g.propose(wish(13, 9)) }
		g.must(s.Discard(g.ctx, c, name, calendar.Precondition{}))
		g.want("ann's inbox", g.inbox("ann"), "")
	})
}
