package service_test

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
)

// doomed makes a calendar of ann's that is not her default, with a meeting of hers that bob has accepted, one that is
// over, an event of her own, and an invitation of bob's that she has accepted.
func (g *guests) doomed() calendar.Calendar {
	g.t.Helper()
	ann, bob := g.people["ann"], g.people["bob"]
	cal := g.calendar(ann.Caller, "doomed")
	g.put(ann.Caller, cal, "meeting.ics", meetingOf(organizedByAnn, attendees("bob", "zoe")))
	g.put(ann.Caller, cal, "over.ics",
		replaceUID(strings.ReplaceAll(meetingOf(organizedByAnn, attendees("bob", "zoe")), ":20260310", ":20250310"),
			"UID:over"))
	g.put(ann.Caller, cal, "own.ics", event("own", 2, "own"))
	g.must(g.answer("ACCEPTED"))
	g.chooses(ann.Caller, cal)
	g.put(bob.Caller, bob.cal, "bobs.ics",
		replaceUID(meetingOf("ORGANIZER:mailto:bob@example.com", attendees("ann")), "UID:bobs"))
	invitation, err := g.Store.ObjectByUID(g.ctx, cal.ID, "bobs")
	g.must(err)
	g.put(ann.Caller, cal, invitation.Name, answering(string(invitation.Data), "ann", "ACCEPTED"))
	g.chooses(ann.Caller, ann.cal)
	g.want("mail before", g.letters(), "REQUEST zoe@example.com")
	return cal
}

// told is what bob and ann's guests elsewhere know of what is in the calendar: the states of bob's copies, ann's answer
// to his own event, and his answer as it stands in his copy.
func (g *guests) told() string {
	g.t.Helper()
	bob := g.people["bob"]
	of := func(uid calendar.UID, begin string) string {
		o, err := g.Store.ObjectByUID(g.ctx, bob.cal.ID, uid)
		g.must(err)
		return lineOf(string(o.Data), begin)
	}
	_, answer, _ := strings.Cut(of("bobs", "ATTENDEE"), "PARTSTAT=")
	answer, _, _ = strings.Cut(answer, ";")
	answer, _, _ = strings.Cut(answer, ":")
	return fmt.Sprintf("%s|%s|%s %s", of("meeting", "STATUS"), of("over", "STATUS"), answer, g.answered("bob", "bob"))
}

// TestDeletedCalendarCancelsItsMeetings: RFC 6638 §3.2.3.2. Whoever brings the calendar back invites again.
func TestDeletedCalendarCancelsItsMeetings(t *testing.T) {
	back := map[string]func(*guests, calendar.Calendar) []calendar.Told{
		"from the trash": func(g *guests, cal calendar.Calendar) []calendar.Told {
			now, err := g.RestoreCalendar(g.ctx, g.people["ann"].Caller, cal.ID, "")
			g.must(err)
			if now.Left != 0 || now.Segment != "doomed" {
				g.t.Errorf("it came back as %+v", now)
			}
			return now.Told
		},
		"by an undo": func(g *guests, cal calendar.Calendar) []calendar.Told {
			done, err := g.Undo(g.ctx, g.people["ann"].Caller, g.latest(g.people["ann"].Caller, cal).ID())
			g.must(err)
			return done.Told
		},
	}
	for name, bring := range back {
		t.Run(name, func(t *testing.T) {
			invited(t, "ann bob", func(g *guests) {
				ann := g.people["ann"]
				cal := g.doomed()
				before := g.content(ann.Caller, cal)
				audience, err := g.DeletionAudience(g.ctx, ann.Caller, cal.ID, calendar.TellAll)
				g.must(err)
				g.want("who would be told", audience.String(), "2 people")
				g.want("which tells nobody", g.told()+g.letters(), "||ACCEPTED ACCEPTED")
				told, err := g.DeleteCalendarTelling(g.ctx, ann.Caller, cal.ID, calendar.TellAll)
				g.must(err)
				g.want("deleted", g.told(), "STATUS:CANCELLED|STATUS:CANCELLED|DECLINED ACCEPTED")
				g.want("mail of what is still to come", g.letters(), "CANCEL zoe@example.com")
				if n := calendar.People(told); n != 2 {
					g.t.Errorf("%d people were told: %+v", n, told)
				}
				trashed, err := g.TrashedCalendars(g.ctx, ann.Caller)
				g.must(err)
				if len(trashed) != 1 || trashed[0].Objects != int64(len(before)) {
					g.t.Errorf("the trash has %+v", trashed)
				}
				again := bring(g, cal)
				g.want("back", g.told(), "||ACCEPTED ACCEPTED")
				g.want("invited again", g.letters(), "REQUEST zoe@example.com")
				if n := calendar.People(again); n != 2 {
					g.t.Errorf("%d people were told: %+v", n, again)
				}
				for name := range g.content(ann.Caller, cal) {
					delete(before, name)
				}
				if len(before) > 0 {
					g.t.Errorf("it came back without %v", before)
				}
				if left := g.trash(ann.Caller, cal); len(left) > 0 {
					g.t.Errorf("left in the trash: %v", left)
				}
			})
		})
	}
}

// TestCalendarDeletionNeedsTheScopeOfItsMeetings: a token that may tell nobody cancels nothing, and loses nothing.
func TestCalendarDeletionNeedsTheScopeOfItsMeetings(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		ann := g.people["ann"]
		cal := g.doomed()
		bot := ann.Caller
		bot.Token, bot.Scopes = "t", calendar.ScopeUsual|calendar.ScopeDelete
		before := g.content(ann.Caller, cal)
		for tell, word := range map[calendar.Telling]string{
			calendar.TellAll: "lacks the scope", calendar.TellNobody: "turns notifications off",
		} {
			_, err := g.DeletionAudience(g.ctx, bot, cal.ID, tell)
			g.refused(err, calendar.Forbidden, calendar.RulePrivileges, word)
			_, err = g.DeleteCalendarTelling(g.ctx, bot, cal.ID, tell)
			g.refused(err, calendar.Forbidden, calendar.RulePrivileges, word)
			if now := g.content(ann.Caller, cal); !maps.Equal(now, before) {
				g.t.Errorf("refused, and yet there are %v", now)
			}
		}
		for _, name := range []calendar.ObjectName{"meeting.ics", "over.ics"} {
			g.must(g.Delete(g.ctx, ann.Caller, cal, name, calendar.Precondition{}))
		}
		_, err := g.DeleteCalendarTelling(g.ctx, bot, cal.ID, calendar.TellNobody)
		g.must(err)
		g.want("an invitation is thrown away without a word", g.told(),
			"STATUS:CANCELLED|STATUS:CANCELLED|ACCEPTED ACCEPTED")
	})
}

// TestLargeCalendarGoesInParts: more meetings than one transaction takes are one unit of the journal.
func TestLargeCalendarGoesInParts(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		const meetings = 120
		ann, bob := g.people["ann"], g.people["bob"]
		cal := g.calendar(ann.Caller, "doomed")
		g.chooses(ann.Caller, ann.cal)
		for n := range meetings {
			text := replaceUID(meetingOf(organizedByAnn, attendees("bob")), fmt.Sprintf("UID:m%d", n))
			g.put(ann.Caller, cal, calendar.ObjectName(fmt.Sprintf("%d.ics", n)), text)
		}
		on := func() (n int) {
			for _, text := range g.content(bob.Caller, bob.cal) {
				if lineOf(text, "STATUS:CANCELLED") == "" {
					n++
				}
			}
			return n
		}
		before := g.content(ann.Caller, cal)
		gone := func(what string) {
			g.t.Helper()
			g.must(g.DeleteCalendar(g.ctx, ann.Caller, cal.ID))
			if n := on(); n != 0 {
				g.t.Errorf("%s: %d meetings are on", what, n)
			}
			unit, err := g.Store.Unit(g.ctx, g.latest(ann.Caller, cal).ID())
			g.must(err)
			if len(unit) != meetings+1 {
				g.t.Errorf("%s: the unit has %d changes", what, len(unit))
			}
		}
		back := func(what string) {
			g.t.Helper()
			if n := on(); n != meetings {
				g.t.Errorf("%s: %d meetings are on", what, n)
			}
			if now := g.content(ann.Caller, cal); len(now) != len(before) {
				g.t.Errorf("%s: the calendar has %d of %d", what, len(now), len(before))
			}
		}
		gone("deleted")
		_, err := g.RestoreCalendar(g.ctx, ann.Caller, cal.ID, "")
		g.must(err)
		back("restored")
		gone("deleted again")
		g.undo(ann.Caller, g.latest(ann.Caller, cal).ID())
		back("undone")
	})
}

// TestMeetingThatComesLateIsCancelled: somebody puts one into the calendar after its meetings were listed.
func TestMeetingThatComesLateIsCancelled(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		ann := g.people["ann"]
		cal := g.doomed()
		late := g.config
		late.Store = &lateStore{g.Store, sync.OnceFunc(func() {
			g.put(ann.Caller, cal, "late.ics", replaceUID(meetingOf(organizedByAnn, attendees("bob")), "UID:late"))
		})}
		g.must(service.New(late).DeleteCalendar(g.ctx, ann.Caller, cal.ID))
		o, err := g.Store.ObjectByUID(g.ctx, g.people["bob"].cal.ID, "late")
		g.must(err)
		g.want("bob's", lineOf(string(o.Data), "STATUS"), "STATUS:CANCELLED")
	})
}

// TestMeetingThatIsElsewhereByNowStaysInTheTrash: the rest of its calendar comes back without it.
func TestMeetingThatIsElsewhereByNowStaysInTheTrash(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		ann := g.people["ann"]
		cal := g.doomed()
		g.must(g.DeleteCalendar(g.ctx, ann.Caller, cal.ID))
		g.put(ann.Caller, ann.cal, "again.ics", meetingOf(organizedByAnn, attendees("bob")))
		now, err := g.RestoreCalendar(g.ctx, ann.Caller, cal.ID, "other")
		g.must(err)
		if now.Left != 1 || now.Segment != "other" {
			g.t.Errorf("it came back as %+v", now)
		}
		if got := g.trash(ann.Caller, cal); len(got) != 1 || got[0] != "VEVENT Plans" {
			g.t.Errorf("the trash has %q", got)
		}
		if got := g.content(ann.Caller, cal); len(got) != 3 {
			g.t.Errorf("the calendar has %d objects", len(got))
		}
	})
}

// TestUndoneCalendarCancelsItsMeetings: whoever takes back that a calendar was made calls off what people were invited
// to.
func TestUndoneCalendarCancelsItsMeetings(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		ann := g.people["ann"]
		bot := ann.Caller
		bot.Token = "token"
		cal, err := g.CreateCalendar(g.ctx, bot, calendar.NewCalendar{Segment: "made"})
		g.must(err)
		g.put(bot, cal, "meeting.ics", meetingOf(organizedByAnn, attendees("bob")))
		done, err := g.UndoSince(g.ctx, ann.Caller, calendar.UndoSince{Token: "token"})
		g.must(err)
		if calendar.People(done.Told) != 1 {
			g.t.Errorf("told %+v", done.Told)
		}
		g.want("bob's", g.line("bob", "STATUS"), "STATUS:CANCELLED")
		_, err = g.RestoreCalendar(g.ctx, ann.Caller, cal.ID, "")
		g.must(err)
		g.want("bob's", g.line("bob", "STATUS"), "")
	})
}

// TestDefaultCalendarStays: RFC 6638 §4.3, whether its owner chose it or it is the oldest.
func TestDefaultCalendarStays(t *testing.T) {
	each(t, func(h *house) {
		first := h.calendar(h.alice, "first")
		h.Pass(time.Second)
		second := h.calendar(h.alice, "second")
		tasks := h.calendar(h.alice, "tasks", calendar.Todo)
		refused := func(cal calendar.Calendar) {
			h.t.Helper()
			h.refused(h.DeleteCalendar(h.ctx, h.alice, cal.ID), calendar.Unsupported, calendar.RuleDefaultNeeded,
				"is the default calendar")
			_, err := h.DeletionAudience(h.ctx, h.alice, cal.ID, calendar.TellAll)
			h.refused(err, calendar.Unsupported, calendar.RuleDefaultNeeded, "is the default calendar")
		}
		refused(first)
		h.must(h.DeleteCalendar(h.ctx, h.alice, tasks.ID))
		h.chooses(h.alice, second)
		refused(second)
		h.must(h.DeleteCalendar(h.ctx, h.alice, first.ID))
		refused(second)
	})
}
