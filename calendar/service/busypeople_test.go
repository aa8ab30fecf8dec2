package service_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/query"
)

// onTuesday has somebody asked for March 10th 2026.
func onTuesday(people ...calendar.User) query.BusyQuery {
	from := time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC)
	return query.BusyQuery{People: people, From: from, Until: from.AddDate(0, 0, 1)}
}

// asks is the VFREEBUSY by which ann asks when some people are busy on March 10th 2026.
func asks(who []string, lines ...string) []byte {
	return []byte(strings.Join(append(append([]string{
		"BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//test//EN", "METHOD:REQUEST", "BEGIN:VFREEBUSY", "UID:q",
		"DTSTAMP:20260301T080000Z",
		"DTSTART:20260310T000000Z", "DTEND:20260311T000000Z", organizedByAnn, attendees(who...),
	}, lines...), "END:VFREEBUSY", "END:VCALENDAR", ""), "\r\n"))
}

// asked is what the outbox tells ann of one person.
func (g *guests) asked(who string, lines ...string) string {
	g.t.Helper()
	answers, err := g.AskBusy(g.ctx, g.people["ann"].Caller, nil, asks([]string{who}, lines...))
	g.must(err)
	var said []string
	for line := range strings.SplitSeq(strings.ReplaceAll(string(answers[0].Data), "\r\n ", ""), "\r\n") {
		if period, is := strings.CutPrefix(line, "FREEBUSY;FBTYPE="); is {
			said = append(said, strings.NewReplacer("20260310T", "", "20260311T", "", "0000Z", "").Replace(period))
		}
	}
	return strings.Join(said, " ")
}

// says sets somebody's availability.
func (g *guests) says(who string, lines ...string) {
	g.t.Helper()
	text := strings.Join(append(append([]string{
		"BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//test//EN", "BEGIN:VAVAILABILITY", "UID:a",
		"DTSTAMP:20260301T080000Z",
	}, lines...),
		"END:VAVAILABILITY", "END:VCALENDAR", ""), "\r\n")
	g.must(g.PatchScheduling(g.ctx, g.people[who].Caller, func(s *calendar.Scheduling) error {
		s.Availability = &text
		return nil
	}))
}

// TestPeopleAreBusyAsTheySay: by name others learn what the person themselves is told, and what the outbox tells them.
// A calendar that is named says what is in it, and its owner's availability is not (RFC 4791 §7.10).
func TestPeopleAreBusyAsTheySay(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		g.says("bob", "BUSYTYPE:BUSY", "BEGIN:AVAILABLE", "UID:b", "DTSTART:20260310T090000Z", "DTEND:20260310T170000Z",
			"END:AVAILABLE")
		bob := g.people["bob"]
		g.put(bob.Caller, bob.cal, "1.ics", text(calendar.Event, "one", "DTSTART:20260310T100000Z", "DURATION:PT1H"))
		g.must(g.give(bob.cal.ID, g.people["ann"].User.ID, calendar.FreeBusyAccess))
		const want = "00:00-09:00 BUSY, 10:00-11:00 BUSY, 17:00-00:00 BUSY"
		ann := g.people["ann"].Caller
		list := func(c calendar.Caller, q query.BusyQuery) string {
			busy, err := g.FreeBusy(g.ctx, c, q)
			g.must(err)
			var all []string
			for _, p := range busy.Periods {
				all = append(all, fmt.Sprintf("%s-%s %s", p.Start.Format("15:04"), p.End.Format("15:04"), p.Type))
			}
			return strings.Join(all, ", ")
		}
		g.want("bob's own time", list(bob.Caller, onTuesday()), want)
		g.want("bob's by ann", list(ann, onTuesday(bob.User)), want)
		g.want("at the outbox", g.asked("bob"), "BUSY:00/09 BUSY:10/11 BUSY:17/00")
		named := onTuesday()
		named.Calendars = []calendar.Calendar{g.fresh(ann, bob.cal)}
		g.want("in his calendar", list(ann, named), "10:00-11:00 BUSY")
		g.says("ann", "PRIORITY:1", "BEGIN:AVAILABLE", "UID:b", "DTSTART:20260310T000000Z", "DTEND:20260311T000000Z",
			"END:AVAILABLE")
		g.want("both, though ann is always there", list(ann, onTuesday(ann.User, bob.User)), want)
	})
}

// TestWhoMayAskWhenOthersAreBusy: everybody who may ask the outbox, and no token that is bound to some calendars or
// lacks the scope, whether there is such a user or not.
func TestWhoMayAskWhenOthersAreBusy(t *testing.T) {
	invited(t, "ann kim", func(g *guests) {
		ann, kim := g.people["ann"].Caller, g.people["kim"]
		g.alias("kim", "k@example.net")
		at, err := g.PeopleAt(g.ctx, ann,
			[]string{"Guest-Kim", "kim@EXAMPLE.com", "k@example.net", "KIM", "nobody", "nobody@example.com", "kim"})
		g.must(err)
		for i, found := range at {
			if known := i < 3; known != (len(found) == 1 && found[0].ID == kim.User.ID) || !known && found != nil {
				t.Errorf("name %d is %+v", i, found)
			}
		}
		g.must(g.give(kim.cal.ID, ann.User.ID, calendar.FreeBusyAccess))
		if at, err = g.PeopleAt(g.ctx, ann, []string{"kim"}); err != nil || len(at[0]) != 1 {
			t.Errorf("by the full name of an acquaintance: %+v, %v", at, err)
		}
		bound, blind := ann, ann
		bound.Calendars, blind.Scopes = []calendar.CalendarID{kim.cal.ID}, calendar.ScopeAll&^calendar.ScopeRead
		for _, c := range []calendar.Caller{bound, blind} {
			_, err := g.FreeBusy(g.ctx, c, onTuesday(kim.User))
			g.refused(err, calendar.Forbidden, calendar.RulePrivileges, "token")
			_, err = g.AskBusy(g.ctx, c, nil, asks([]string{"kim"}))
			g.refused(err, calendar.Forbidden, calendar.RulePrivileges, "token")
			for _, name := range []string{"guest-kim", "nobody"} {
				_, err = g.PeopleAt(g.ctx, c, []string{name})
				g.refused(err, calendar.Forbidden, calendar.RulePrivileges, "token")
			}
		}
		g.says("ann", "BUSYTYPE:BUSY")
		if busy, err := g.FreeBusy(g.ctx, bound, onTuesday()); err != nil || busy.Periods != nil {
			t.Errorf("a bound token learns of its user's availability: %+v, %v", busy, err)
		}
	})
}

// TestGroupsHaveNoTime: a group is no more known by its name than a name that nobody has.
func TestGroupsHaveNoTime(t *testing.T) {
	invited(t, "ann", func(g *guests) {
		ann := g.people["ann"].Caller
		g.must(g.Store.InsertUser(g.ctx,
			calendar.User{ID: "staff-id", Name: "staff", DisplayName: "Staff", Group: true, Created: g.Now()}, ""))
		at, err := g.PeopleAt(g.ctx, ann, []string{"staff", "Staff"})
		g.must(err)
		if at[0] != nil || at[1] != nil {
			t.Errorf("found %+v", at)
		}
	})
}

// TestAnEventThatIsMovedTakesNoTime: Apple Calendar masks the event for which it looks for another time. That counts
// for those alone who have a part in it.
func TestAnEventThatIsMovedTakesNoTime(t *testing.T) {
	const masked = "X-CALENDARSERVER-MASK-UID:"
	invited(t, "ann bob eve", func(g *guests) {
		bob := g.people["bob"]
		g.save("ann", meetingOf(organizedByAnn, attendees("ann", "bob")))
		g.must(g.answer("ACCEPTED"))
		g.put(bob.Caller, bob.cal, "1.ics",
			text(calendar.Event, "dentist", "DTSTART:20260310T140000Z", "DURATION:PT1H"))
		g.put(bob.Caller, bob.cal, "2.ics", text(calendar.Event, "course", "DTSTART:20260310T160000Z", "DURATION:PT1H",
			"ORGANIZER:mailto:zoe@elsewhere.example", "ATTENDEE;PARTSTAT=ACCEPTED:mailto:bob@example.com",
			"ATTENDEE;PARTSTAT=ACCEPTED:MAILTO:Ann@example.com"))
		const all = "BUSY:10/11 BUSY:14/15 BUSY:16/17"
		g.want("bob", g.asked("bob"), all)
		g.want("bob without the meeting", g.asked("bob", masked+"meeting"), "BUSY:14/15 BUSY:16/17")
		g.want("bob without what both attend", g.asked("bob", masked+"course"), "BUSY:10/11 BUSY:14/15")
		g.want("bob without both", g.asked("bob", masked+"meeting", masked+"course"), "BUSY:14/15")
		g.want("ann's own", g.asked("ann", masked+"meeting"), "")
		g.want("what ann has no part in", g.asked("bob", masked+"dentist"), all)
		// To have an event of that UID is no part in another's.
		ann := g.people["ann"]
		g.put(ann.Caller, ann.cal, "9.ics",
			text(calendar.Event, "dentist", "DTSTART:20260310T200000Z", "DURATION:PT1H"))
		g.want("and has one of the UID", g.asked("bob", masked+"dentist"), all)
		g.want("nothing of that name", g.asked("bob", masked+"nothing"), all)
	})
}

// TestMasksAreFew: a question cannot try many UIDs, nor long ones.
func TestMasksAreFew(t *testing.T) {
	const masked = "X-CALENDARSERVER-MASK-UID:"
	invited(t, "ann bob", func(g *guests) {
		for _, lines := range [][]string{
			strings.Split(strings.Repeat(masked+"a ", 21)[:21*len(masked+"a ")-1], " "),
			{masked + strings.Repeat("a", 1001)},
		} {
			_, err := g.AskBusy(g.ctx, g.people["ann"].Caller, nil, asks([]string{"bob"}, lines...))
			g.refused(err, calendar.TooLarge, calendar.RuleValidMessage, "at most 20")
		}
	})
}

// TestOneDayOfASeriesMasksNothing: somebody who attends one day of a series is told of no other.
func TestOneDayOfASeriesMasksNothing(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		bob := g.people["bob"]
		series := meetingOf("ORGANIZER:mailto:zoe@elsewhere.example",
			"ATTENDEE;PARTSTAT=ACCEPTED:mailto:bob@example.com", inFourWeeks)
		day := onSecond("ORGANIZER:mailto:zoe@elsewhere.example", "ATTENDEE;PARTSTAT=ACCEPTED:mailto:bob@example.com",
			"ATTENDEE:mailto:ann@example.com")
		_, day, _ = strings.Cut(day, "BEGIN:VEVENT")
		g.put(bob.Caller, bob.cal, "s.ics", strings.Replace(series, "END:VCALENDAR", "BEGIN:VEVENT"+day, 1))
		g.want("bob", g.asked("bob", "X-CALENDARSERVER-MASK-UID:meeting"), "BUSY:10/11")
	})
}
