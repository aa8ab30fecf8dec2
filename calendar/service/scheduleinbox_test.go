package service_test

import (
	"fmt"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
)

// tidy removes all that is in ann's inbox, as programs do that have shown it.
func (g *guests) tidy() {
	g.t.Helper()
	ann := g.people["ann"].Caller
	all, err := g.Messages(g.ctx, ann)
	g.must(err)
	for _, i := range all {
		if !i.Gone {
			g.must(g.Discard(g.ctx, ann, i.Name, calendar.Precondition{}))
		}
	}
	g.want("ann's inbox", g.inbox("ann"), "")
}

// TestProposalsOutliveTheInbox: a program that empties the inbox decides about nothing. A proposal stays until it is
// decided, until its guest proposes something else, or until the event has changed.
func TestProposalsOutliveTheInbox(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, attendees("bob")))
		g.propose(wish(11, 14))
		g.tidy()
		if all := g.proposals(); len(all) != 1 || all[0].Proposal.Start != at(11, 14) {
			t.Fatalf("ann has these proposals: %+v", all)
		}
		g.propose(wish(12, 14))
		g.want("a new one", g.inbox("ann"), "COUNTER")
		g.tidy()
		if all := g.proposals(); len(all) != 1 || all[0].Proposal.Start != at(12, 14) {
			t.Fatalf("after another one ann has %+v", all)
		}
		_, err := g.decide(true)
		g.must(err)
		g.want("the event", g.line("ann", "DTSTART"), "DTSTART:20260312T140000Z")
		g.want("what is left", fmt.Sprint(len(g.proposals())), "0")
		g.propose(wish(13, 14))
		g.tidy()
		_, err = g.decide(false)
		g.must(err)
		g.want("turned down", fmt.Sprint(len(g.proposals())), "0")
		g.propose(wish(13, 14))
		g.tidy()
		g.save("ann", strings.ReplaceAll(g.text("ann"), "20260312T", "20260313T"))
		g.want("for the event as it is", fmt.Sprint(len(g.proposals())), "0")
	})
}

// TestMidnightNamesAnInstance: Exchange names a day of a series by its midnight. Its change replaces that day, and its
// cancellation takes it away.
func TestMidnightNamesAnInstance(t *testing.T) {
	invited(t, "bob", func(g *guests) {
		const midnight = "RECURRENCE-ID:20260317T000000"
		g.receive(bobsMail, calendar.MethodRequest, meetingOf(fromZoe, attendees("bob"), inFourWeeks))
		moved := strings.ReplaceAll(meetingOf(fromZoe, attendees("bob"), midnight), "20260310T1", "20260317T1")
		g.receive(bobsMail, calendar.MethodRequest, newer(moved, "1"))
		g.want("the change", strings.Join(g.linesOf("bob", "meeting", "RECURRENCE-ID", ""), " "), midnight)
		g.receive(bobsMail, calendar.MethodCancel,
			newer(meetingOf(fromZoe, attendees("bob"), "RECURRENCE-ID:20260324T000000"), "2"))
		g.want("called off", g.line("bob", "EXDATE"), "EXDATE:20260324T100000Z")
		g.receive(bobsMail, calendar.MethodCancel, newer(meetingOf(fromZoe, attendees("bob"), midnight), "3"))
		g.want("the changed day", strings.Join(g.linesOf("bob", "meeting", "EXDATE", ""), " "),
			"EXDATE:20260324T100000Z EXDATE:20260317T000000")
		g.want("its override", strings.Join(g.linesOf("bob", "meeting", "RECURRENCE-ID", ""), " "), "")
	})
}

// TestCalledOffForSomebodyWhoWasNotReached: a guest to whom the invitation never came has not been told that a day is
// called off.
func TestCalledOffForSomebodyWhoWasNotReached(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		save := func(uid string, more ...string) {
			lines := append([]string{
				organizedByAnn, attendees("bob"), "RRULE:FREQ=DAILY;COUNT=5",
				"DESCRIPTION:" + strings.Repeat("y", 3<<20),
			}, more...)
			g.meet("ann", uid, replaceUID(meetingOf(lines...), "UID:"+uid))
		}
		status := func(uid, want string) {
			g.t.Helper()
			if got := g.linesOf("ann", uid, "ATTENDEE", "bob@example.com"); len(got) != 1 ||
				!strings.Contains(got[0], "SCHEDULE-STATUS="+want) {
				g.t.Errorf("of %s ann reads %v, want %s", uid, got, want)
			}
		}
		for i := range 6 {
			save(fmt.Sprint("big-", i))
		}
		status("big-5", "5.3")
		save("big-0", "EXDATE:20260311T100000Z")
		save("big-5", "EXDATE:20260311T100000Z")
		status("big-0", "1.2")
		status("big-5", "5.3")
	})
}
