package service_test

import (
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/ical"
)

// inFiveDays is the rule of the series in these tests.
const inFiveDays = "RRULE:FREQ=DAILY;COUNT=5"

// cancel takes a day of the meeting out of somebody's calendar.
func (g *guests) cancel(who string, day ical.Time) calendar.Saved {
	g.t.Helper()
	p := g.people[who]
	done, err := g.CancelObject(g.ctx, p.Caller, p.cal, "meeting",
		ledger.Cancellation{Target: edit.Target{Instance: day, Scope: edit.This}})
	g.must(err)
	return done.Saved
}

// retime moves the third day of the meeting to the afternoon.
func (g *guests) retime() calendar.Saved {
	g.t.Helper()
	ann := g.people["ann"]
	later := ical.UTC(ical.Civil{Year: 2026, Month: 3, Day: 12, Hour: 15})
	change := edit.Change{
		Target: edit.Target{Instance: third, Scope: edit.This}, Times: edit.Times{Start: edit.To(later)},
	}
	done, err := g.EditObject(g.ctx, ann.Caller, ann.cal, "meeting", ledger.Edit{Change: change})
	g.must(err)
	return done.Saved
}

// TestUndoOfARemovalRestoresAnswers: an attendee who comes back has the answers to the series and to single days that
// they had, and the days that they deleted stay deleted.
func TestUndoOfARemovalRestoresAnswers(t *testing.T) {
	invited(t, "ann bob eve", func(g *guests) {
		g.save("ann", meetingOf(inFiveDays, organizedByAnn, attendees("bob", "eve")))
		g.respond("ACCEPTED", ical.Time{})
		g.respond("TENTATIVE", fifth)
		g.cancel("bob", third)
		days, before := g.days("ann"), g.copies("bob", "eve")
		went := g.change(edit.Target{}, listOf("eve"))
		g.takeBack("ann", went.Saved)
		g.want("ann has", g.days("ann"), days)
		g.want("the others have", g.copies("bob", "eve"), before)
	})
}

// TestUndoGivesADayItsOwnAnswers: a day that is called off or moved, and comes back by an undo, has the answers that
// were given to it. An answer to the series that came meanwhile was none to that day.
func TestUndoGivesADayItsOwnAnswers(t *testing.T) {
	for name, change := range map[string]func(g *guests) calendar.Saved{
		"called off": func(g *guests) calendar.Saved { return g.cancel("ann", third) },
		"moved":      (*guests).retime,
	} {
		t.Run(name, func(t *testing.T) {
			invited(t, "ann bob", func(g *guests) {
				g.save("ann", meetingOf(inFiveDays, organizedByAnn, attendees("bob")))
				changed := change(g)
				g.respond("ACCEPTED", ical.Time{})
				g.takeBack("ann", changed)
				for _, who := range []string{"ann", "bob"} {
					g.want(who+" has", g.days(who), "all bob=ACCEPTED, 12 bob=NEEDS-ACTION")
				}
			})
		})
	}
}

// TestUndoShowsADayAgain: a day that its organizer called off, and calls off no longer, shows again also to attendees
// who had declined it, unless they had deleted it themselves.
func TestUndoShowsADayAgain(t *testing.T) {
	for name, decline := range map[string]func(g *guests){
		"declined with the series": func(g *guests) { g.respond("DECLINED", ical.Time{}) },
		"declined alone":           func(g *guests) { g.respond("DECLINED", third) },
		"deleted":                  func(g *guests) { g.cancel("bob", third) },
	} {
		t.Run(name, func(t *testing.T) {
			invited(t, "ann bob", func(g *guests) {
				g.save("ann", meetingOf(inFiveDays, organizedByAnn, attendees("bob")))
				decline(g)
				before := g.days("ann") + "; " + g.days("bob")
				off := g.cancel("ann", third)
				g.takeBack("ann", off)
				g.want("they have", g.days("ann")+"; "+g.days("bob"), before)
			})
		})
	}
}

// TestLateReplyToASeries: a reply to the series that was written before a day moved does not answer that day (RFC 5546
// §2.1.5).
func TestLateReplyToASeries(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		g.save("ann", meetingOf(inFiveDays, organizedByAnn, attendees("bob"), zoeComes))
		g.retime()
		g.receive(annsMail, calendar.MethodReply,
			newer(meetingOf(inFiveDays, organizedByAnn, "ATTENDEE;PARTSTAT=ACCEPTED:mailto:zoe@elsewhere.example"),
				"0"))
		for _, who := range []string{"ann", "bob"} {
			g.want(who+" has", g.days(who),
				"all bob=NEEDS-ACTION zoe@elsewhere.example=ACCEPTED, 12 bob=NEEDS-ACTION "+
					"zoe@elsewhere.example=NEEDS-ACTION")
		}
	})
}

// TestOvertakenReplyToASeries: a reply to the series that arrives after a later one to a day leaves the answer to that
// day.
func TestOvertakenReplyToASeries(t *testing.T) {
	invited(t, "ann", func(g *guests) {
		g.save("ann", meetingOf(inFiveDays, organizedByAnn, zoeComes))
		zoe := func(said, stamp string, lines ...string) {
			text := meetingOf(append(lines, organizedByAnn,
				"ATTENDEE;PARTSTAT="+said+":mailto:zoe@elsewhere.example")...)
			g.receive(annsMail, calendar.MethodReply,
				strings.Replace(text, "DTSTAMP:20260301T080000Z", "DTSTAMP:"+stamp, 1))
		}
		zoe("ACCEPTED", "20260301T080100Z", inFiveDays)
		zoe("ACCEPTED", "20260301T080300Z", "RECURRENCE-ID:20260312T100000Z")
		zoe("DECLINED", "20260301T080200Z", inFiveDays)
		g.want("ann has", g.days("ann"), "all zoe@elsewhere.example=DECLINED, 12 zoe@elsewhere.example=ACCEPTED")
	})
}

// TestDroppedExceptionRaisesSequence: a series without an exception that it had is newer than the exception, so that
// programs which compare SEQUENCE drop it as well. Its undo is newer than both.
func TestDroppedExceptionRaisesSequence(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		series := meetingOf(inFiveDays, organizedByAnn, attendees("bob"))
		other := strings.NewReplacer("20260310T", "20260312T", "SUMMARY:Plans",
			"SUMMARY:Ideas\r\nRECURRENCE-ID:20260312T100000Z\r\nSEQUENCE:3").Replace(
			meetingOf(organizedByAnn, attendees("bob")))
		_, event, _ := strings.Cut(other, "BEGIN:VEVENT")
		g.save("ann", strings.Replace(series, "END:VCALENDAR", "BEGIN:VEVENT"+event, 1))
		before := g.copies("ann", "bob")
		saved := g.save("ann", series)
		for _, who := range []string{"ann", "bob"} {
			g.want(who+" has", strings.Join(g.linesOf(who, "meeting", "S", ""), " "), "SUMMARY:Plans SEQUENCE:4")
		}
		g.takeBack("ann", saved)
		g.want("taken back", g.copies("ann", "bob"), before)
		for _, who := range []string{"ann", "bob"} {
			g.want(who+" counts", strings.Join(g.linesOf(who, "meeting", "SEQUENCE", ""), " "), "SEQUENCE:4 SEQUENCE:4")
		}
	})
}

// TestSplitAtTheLastDate: the second half is a series of one date if the date is an exception, since an exception needs
// a series. The answers stay, and the undo is exact.
func TestSplitAtTheLastDate(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		g.save("ann", meetingOf(inFiveDays, organizedByAnn, attendees("bob")))
		g.respond("ACCEPTED", fifth)
		before := g.days("ann") + "; " + g.days("bob")
		done := g.change(edit.Target{Instance: fifth, Scope: edit.Following}, edit.Fields{Summary: edit.To("Ideas")})
		second := string(done.Split.Object.UID)
		for _, who := range []string{"ann", "bob"} {
			g.want(who+"'s rule", strings.Join(g.linesOf(who, second, "RRULE", ""), " "), "RRULE:FREQ=DAILY;COUNT=1")
			g.want(who+"'s exception", strings.Join(g.linesOf(who, second, "RECURRENCE-ID", ""), " "),
				"RECURRENCE-ID:20260314T100000Z")
			if len(g.linesOf(who, second, "ATTENDEE", "ACCEPTED")) != 1 {
				t.Errorf("%s: %s", who, g.linesOf(who, second, "ATTENDEE", ""))
			}
		}
		g.takeBack("ann", *done.Split)
		g.want("taken back", g.days("ann")+"; "+g.days("bob"), before)
	})
}

// TestSplitOfDatesBeforeTheRule: a series that keeps nothing but an extra date before its start has no instance at its
// start.
func TestSplitOfDatesBeforeTheRule(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		g.save("ann", meetingOf(inFiveDays, "RDATE:20260309T100000Z", organizedByAnn, attendees("bob")))
		before := g.copies("ann", "bob")
		first := ical.UTC(ical.Civil{Year: 2026, Month: 3, Day: 10, Hour: 10})
		done := g.change(edit.Target{Instance: first, Scope: edit.Following}, edit.Fields{Summary: edit.To("Ideas")})
		for _, who := range []string{"ann", "bob"} {
			lines := g.linesOf(who, "meeting", "", "DATE:")
			g.want(who+" has", strings.Join(lines, " ")+g.line(who, "RRULE"),
				"RDATE:20260309T100000Z EXDATE:20260310T100000Z")
			g.want(who+"'s second half", strings.Join(g.linesOf(who, string(done.Split.Object.UID), "RRULE", ""), " "),
				inFiveDays)
		}
		g.takeBack("ann", *done.Split)
		g.want("taken back", g.copies("ann", "bob"), before)
	})
}

// TestGuestsLeaveTheRest: a guest who deletes a day and all later ones declines each of them, also if all of them have
// a component of their own.
func TestGuestsLeaveTheRest(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		g.save("ann", meetingOf(inFiveDays, organizedByAnn, attendees("bob")))
		g.respond("ACCEPTED", ical.Time{})
		g.respond("TENTATIVE", fifth)
		bob := g.people["bob"]
		_, err := g.CancelObject(g.ctx, bob.Caller, bob.cal, "meeting",
			ledger.Cancellation{Target: edit.Target{Instance: fifth, Scope: edit.Following}})
		g.must(err)
		g.want("bob's rule", g.line("bob", "RRULE"), inFiveDays)
		g.want("bob left", g.line("bob", "EXDATE"), "EXDATE:20260314T100000Z")
		g.want("ann sees", g.days("ann"), "all bob=ACCEPTED, 14 bob=DECLINED")
	})
}
