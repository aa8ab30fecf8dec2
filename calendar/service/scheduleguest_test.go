package service_test

import (
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/ical"
)

// secondTuesday is the second instance of the series in these tests.
var secondTuesday = ical.UTC(ical.Civil{Year: 2026, Month: 3, Day: 17, Hour: 10})

// TestProgramsRewriteInvitations: a program that writes the organizer's rule in its own words, or leaves the organizer
// out, can answer. The organizer's text stays.
func TestProgramsRewriteInvitations(t *testing.T) {
	const exchanges, thunderbirds = "RRULE:FREQ=WEEKLY;UNTIL=20260630T100000Z;INTERVAL=1;BYDAY=TU;WKST=SU",
		"RRULE:FREQ=WEEKLY;UNTIL=20260630T100000Z;BYDAY=TU"
	invited(t, "ann bob", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, attendees("bob"), exchanges, `DESCRIPTION:one\Ntwo`))
		p := g.people["bob"]
		text := strings.NewReplacer(exchanges, thunderbirds, `\N`, `\n`, "\r\n"+organizedByAnn, "").
			Replace(answering(g.text("bob"), "bob", "ACCEPTED"))
		saved, err := g.Put(g.ctx, p.Caller, p.cal, calendar.Draft{Name: g.name("bob"), Data: []byte(text)})
		g.must(err)
		if !saved.Scheduled || saved.Object.ScheduleTag == "" {
			t.Errorf("the client is not told that its text was changed: %+v", saved)
		}
		g.want("the organizer has", g.answered("ann", "bob"), "ACCEPTED")
		g.want("the rule", g.line("bob", "RRULE"), exchanges)
		g.want("the text", g.line("bob", "DESCRIPTION"), `DESCRIPTION:one\Ntwo`)
		if g.line("bob", "ORGANIZER") == "nothing" {
			t.Error("the organizer is gone")
		}
	})
}

// TestProgramsDropLengths: a program that stores the starts of single dates without their lengths can answer.
func TestProgramsDropLengths(t *testing.T) {
	const full, starts = "RDATE;VALUE=PERIOD:20260311T100000Z/PT30M,20260313T100000Z/20260313T120000Z",
		"RDATE:20260311T100000Z\r\nRDATE:20260313T100000Z"
	invited(t, "ann bob", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, attendees("bob"), full))
		g.save("bob", strings.Replace(answering(g.text("bob"), "bob", "ACCEPTED"), full, starts, 1))
		g.want("the organizer has", g.answered("ann", "bob"), "ACCEPTED")
		g.want("the dates", g.line("bob", "RDATE"), full)
		p := g.people["bob"]
		moved := strings.Replace(g.text("bob"), full, strings.Replace(starts, "11T10", "11T11", 1), 1)
		if _, err := g.Put(g.ctx, p.Caller, p.cal,
			calendar.Draft{Name: g.name("bob"), Data: []byte(moved)}); calendar.ReasonOf(err) != calendar.Forbidden {
			t.Errorf("another start is %v", err)
		}
	})
}

// TestGuestWhoDeletesDaysHearsOn: neither a deleted day nor a program's own counter makes later messages stale, also
// for a copy of which an earlier version kept nothing but the journal.
func TestGuestWhoDeletesDaysHearsOn(t *testing.T) {
	for name, forget := range map[string]bool{"kept": false, "in the journal": true} {
		t.Run(name, func(t *testing.T) { guestHearsOn(t, forget) })
	}
}

func guestHearsOn(t *testing.T, forget bool) {
	invited(t, "bob", func(g *guests) {
		bob := g.people["bob"]
		g.receive(bobsMail, calendar.MethodRequest, newer(meetingOf(fromZoe, attendees("bob"), inFourWeeks), "0"))
		_, err := g.CancelObject(g.ctx, bob.Caller, bob.cal, "meeting",
			ledger.Cancellation{Target: edit.Target{Instance: secondTuesday, Scope: edit.This}})
		g.must(err)
		g.save("bob",
			newer(strings.Replace(answering(g.text("bob"), "bob", "ACCEPTED"), "SEQUENCE:0", "X-OWN:1", 1), "7"))
		if forget {
			g.must(g.Store.Update(g.ctx, func(tx calendar.Tx) error {
				return tx.PutToldEvent(g.ctx, bob.User.ID, "meeting", nil)
			}))
		}
		g.want("the counter", g.line("bob", "SEQUENCE"), "SEQUENCE:0")
		g.receive(bobsMail, calendar.MethodRequest,
			newer(meetingOf(fromZoe, attendees("bob"), inFourWeeks, "LOCATION:Attic"), "0"))
		g.want("the room", g.line("bob", "LOCATION"), "LOCATION:Attic")
		g.want("the deleted day", g.line("bob", "EXDATE"), "EXDATE:20260317T100000Z")
		g.want("the answer", g.answered("bob", "bob"), "ACCEPTED")
		g.receive(bobsMail, calendar.MethodCancel, newer(meetingOf(fromZoe, attendees("bob"), inFourWeeks), "1"))
		g.want("the end", g.line("bob", "STATUS"), "STATUS:CANCELLED")
	})
}

// TestSplitAsksNobody: the second half of a series has the answers that its days had, and each guest hears of it once.
func TestSplitAsksNobody(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		ann := g.people["ann"]
		g.save("ann", meetingOf(organizedByAnn, attendees("bob"), zoeComes, inFourWeeks))
		alarm := "BEGIN:VALARM\r\nACTION:DISPLAY\r\nDESCRIPTION:x\r\nTRIGGER:-PT5M\r\nEND:VALARM\r\nEND:VEVENT"
		g.save("bob", strings.Replace(answering(g.text("bob"), "bob", "ACCEPTED"), "END:VEVENT", alarm, 1))
		g.posted("REQUEST", "ann@example.com", "zoe@elsewhere.example")
		change := edit.Change{
			Target: edit.Target{Instance: secondTuesday, Scope: edit.Following},
			Fields: edit.Fields{Summary: edit.To("Ideas")},
		}
		done, err := g.EditObject(g.ctx, ann.Caller, ann.cal, "meeting", ledger.Edit{Change: change})
		g.must(err)
		if len(done.Told) != 4 {
			t.Errorf("each guest hears of each half once: %+v", done.Told)
		}
		g.want("bob's answer to the first half", g.answered("ann", "bob"), "ACCEPTED")
		g.want("ann's second half",
			strings.Join(g.linesOf("ann", string(done.Split.Object.UID), "ATTENDEE", "mailto:bob"), " "),
			"ATTENDEE;PARTSTAT=ACCEPTED;SCHEDULE-STATUS=1.2:mailto:bob@example.com")
		g.want("bob's second half",
			strings.Join(g.linesOf("bob", string(done.Split.Object.UID), "ATTENDEE", "mailto:bob"), " "),
			"ATTENDEE;PARTSTAT=ACCEPTED:mailto:bob@example.com")
		if len(g.linesOf("bob", string(done.Split.Object.UID), "TRIGGER", "PT5M")) != 1 {
			t.Error("bob's alarm does not go along")
		}
		before, _ := g.has("bob")
		_, err = g.Undo(g.ctx, ann.Caller, calendar.ChangeID{Calendar: ann.cal.ID, Version: done.Split.Object.Version})
		g.must(err)
		after, _ := g.has("bob")
		if after.Version == before.Version {
			t.Error("bob hears nothing of the undo")
		}
		g.want("after the undo", g.answered("ann", "bob"), "ACCEPTED")
		g.want("and bob", g.answered("bob", "bob"), "ACCEPTED")
	})
}

// TestUndoOfAMoveRestoresAnswers: they were given to the time that the event has again.
func TestUndoOfAMoveRestoresAnswers(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		ann := g.people["ann"]
		g.save("ann", meetingOf(organizedByAnn, attendees("bob")))
		g.must(g.answer("ACCEPTED"))
		moved := g.save("ann",
			strings.NewReplacer("T100000Z", "T120000Z", "T110000Z", "T130000Z").
				Replace(meetingOf(organizedByAnn, attendees("bob"))))
		g.want("after the move", g.answered("bob", "bob"), "NEEDS-ACTION")
		_, err := g.Undo(g.ctx, ann.Caller, calendar.ChangeID{Calendar: ann.cal.ID, Version: moved.Object.Version})
		g.must(err)
		g.want("ann", g.answered("ann", "bob"), "ACCEPTED")
		g.want("bob", g.answered("bob", "bob"), "ACCEPTED")
	})
}

// TestOpenDayIsOpenAgain: an attendee who deletes a day that they had not answered, and takes that back, has not
// declined it.
func TestOpenDayIsOpenAgain(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, attendees("bob"), inFourWeeks))
		bob := g.people["bob"]
		_, err := g.CancelObject(g.ctx, bob.Caller, bob.cal, "meeting",
			ledger.Cancellation{Target: edit.Target{Instance: secondTuesday, Scope: edit.This}})
		g.must(err)
		g.want("ann has of the day", strings.Join(g.linesOf("ann", "meeting", "ATTENDEE", "DECLINED"), " "),
			"ATTENDEE;SCHEDULE-STATUS=2.0;PARTSTAT=DECLINED:mailto:bob@example.com")
		_, err = g.Undo(g.ctx, bob.Caller,
			calendar.ChangeID{Calendar: bob.cal.ID, Version: g.fresh(bob.Caller, bob.cal).Version})
		g.must(err)
		if declined := g.linesOf("ann", "meeting", "ATTENDEE", "DECLINED"); len(declined) > 0 {
			t.Errorf("ann still has %v", declined)
		}
	})
}

// TestARuleWithoutADayCallsItOff: a guest of single days does not have the rule, and hears that a day is no longer in
// it.
func TestARuleWithoutADayCallsItOff(t *testing.T) {
	invited(t, "ann bob eve", func(g *guests) {
		_, day, _ := strings.Cut(onSecond(organizedByAnn, attendees("bob", "eve"), zoeComes), "BEGIN:VEVENT")
		other := strings.ReplaceAll(day, "20260317", "20260324")
		series := meetingOf(organizedByAnn, attendees("bob"), inFourWeeks)
		g.save("ann",
			strings.Replace(series, "END:VCALENDAR",
				"BEGIN:VEVENT"+strings.Replace(day, "END:VCALENDAR", "BEGIN:VEVENT"+other, 1), 1))
		g.want("one mail for each day", g.letters()+", "+g.letters(),
			"REQUEST zoe@elsewhere.example, REQUEST zoe@elsewhere.example")
		before := g.inbox("eve")
		g.save("ann",
			strings.Replace(strings.Replace(series, "COUNT=4", "COUNT=2", 1), "END:VCALENDAR", "BEGIN:VEVENT"+day, 1))
		g.want("eve hears", strings.TrimPrefix(g.inbox("eve"), before), " CANCEL")
		g.want("eve's days", strings.Join(g.linesOf("eve", "meeting", "RECURRENCE-ID", ""), " "),
			"RECURRENCE-ID:20260317T100000Z")
		g.want("zoe hears", g.letters(), "CANCEL zoe@elsewhere.example")
	})
}

// TestADayTakenBack: an attendee's program takes out the EXDATE of a day that the organizer changed. The attendee has
// the day as the organizer has it, and a guest of that day alone sees the answer.
func TestADayTakenBack(t *testing.T) {
	invited(t, "ann bob eve", func(g *guests) {
		_, day, _ := strings.Cut(onSecond(organizedByAnn, attendees("bob", "eve"), "LOCATION:Attic"), "BEGIN:VEVENT")
		g.save("ann",
			strings.Replace(meetingOf(organizedByAnn, attendees("bob"), inFourWeeks), "END:VCALENDAR",
				"BEGIN:VEVENT"+day, 1))
		series, _, _ := strings.Cut(g.text("bob"), "BEGIN:VEVENT\r\n")
		_, first, _ := strings.Cut(g.text("bob"), "BEGIN:VEVENT\r\n")
		first, _, _ = strings.Cut(first, "END:VEVENT")
		series += "BEGIN:VEVENT\r\n" + first + "END:VEVENT\r\nEND:VCALENDAR\r\n"
		g.save("bob", strings.Replace(series, "RRULE", "EXDATE:20260317T100000Z\r\nRRULE", 1))
		g.want("eve sees of bob", g.answered("eve", "bob"), "DECLINED")
		g.save("bob", series)
		g.want("eve sees of bob then", g.answered("eve", "bob"), "NEEDS-ACTION")
		g.want("bob's day", strings.Join(g.linesOf("bob", "meeting", "LOCATION", ""), " "), "LOCATION:Attic")
	})
}

// TestATaskKeepsItsPeople: Apple's Reminders loses ORGANIZER and ATTENDEE where it completes a task, the organizer's
// and the guest's.
func TestATaskKeepsItsPeople(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		task := strings.NewReplacer("VEVENT", "VTODO", "DTEND", "DUE")
		g.save("ann", task.Replace(meetingOf(organizedByAnn, attendees("bob"))))
		g.save("ann", task.Replace(meetingOf("COMPLETED:20260310T120000Z")))
		g.want("ann has bob", g.answered("ann", "bob"), "NEEDS-ACTION")
		g.want("bob's copy", g.line("bob", "STATUS"), "")
		g.save("bob", task.Replace(meetingOf("COMPLETED:20260310T130000Z")))
		g.want("bob's organizer", g.line("bob", "ORGANIZER")[:len("ORGANIZER")], "ORGANIZER")
		g.want("ann sees", g.answered("ann", "bob"), "COMPLETED")
	})
}
