package service_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/query"
)

// roomed runs a test among people with a room.
func roomed(t *testing.T, room calendar.Room, test func(g *guests)) {
	invited(t, "ann bob eve", func(g *guests) {
		g.room("room", room)
		test(g)
	})
}

// room makes a room with a calendar.
func (g *guests) room(name string, r calendar.Room) {
	u := calendar.User{
		ID: calendar.UserID("id-of-" + name), Name: name, DisplayName: strings.ToUpper(name),
		Email: name + "@example.com", Created: g.Now(), Room: r,
	}
	g.must(g.Store.InsertUser(g.ctx, u, ""))
	c := calendar.Caller{User: u, Scopes: calendar.ScopeAll, Agent: "test"}
	g.people[name] = guest{c, g.calendar(c, "bookings")}
}

var aRoom = calendar.Room{Kind: calendar.RoomToMeet}

// meetingAt is a meeting of somebody's in the room.
func meetingAt(who, uid, start, end string, lines ...string) string {
	text := meetingOf(append([]string{"ORGANIZER:mailto:" + who + "@example.com", attendees(who, "room")}, lines...)...)
	text = strings.NewReplacer("20260310T100000Z", start, "20260310T110000Z", end).Replace(text)
	return replaceUID(text, "UID:"+uid)
}

// meet stores a meeting in somebody's calendar.
func (g *guests) meet(who, uid, data string) {
	g.t.Helper()
	p := g.people[who]
	_, err := g.Put(g.ctx, p.Caller, p.cal, calendar.Draft{Name: calendar.ObjectName(uid + ".ics"), Data: []byte(data)})
	g.must(err)
}

// linesOf are all lines of somebody's copy that begin so and have something in them.
func (g *guests) linesOf(who, uid, begin, within string) []string {
	g.t.Helper()
	o, err := g.Store.ObjectByUID(g.ctx, g.people[who].cal.ID, calendar.UID(uid))
	g.must(err)
	for whole, err := range g.Store.Objects(g.ctx, o.Calendar,
		calendar.ObjectQuery{Names: []calendar.ObjectName{o.Name}, WithData: true}) {
		g.must(err)
		o = whole // also where it is large
	}
	var found []string
	for line := range strings.SplitSeq(strings.ReplaceAll(string(o.Data), "\r\n ", ""), "\r\n") {
		if strings.HasPrefix(line, begin) && strings.Contains(line, within) {
			found = append(found, line)
		}
	}
	return found
}

// said is what the room has answered, by what somebody's copy says: one word for the series, and one for each instance
// apart.
func (g *guests) said(who, uid string) string {
	g.t.Helper()
	var words []string
	for _, line := range g.linesOf(who, uid, "ATTENDEE", "room@example.com") {
		word := "NEEDS-ACTION"
		if _, rest, found := strings.Cut(line, "PARTSTAT="); found {
			word, _, _ = strings.Cut(strings.ReplaceAll(rest, ":", ";"), ";")
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestRoomAnswers(t *testing.T) {
	roomed(t, aRoom, func(g *guests) {
		g.meet("ann", "one", meetingAt("ann", "one", "20260310T100000Z", "20260310T110000Z"))
		g.want("a free room", g.said("ann", "one"), "ACCEPTED")
		g.want("its own copy", g.said("room", "one"), "ACCEPTED")
		g.meet("bob", "two", meetingAt("bob", "two", "20260310T103000Z", "20260310T113000Z"))
		g.want("a taken one", g.said("bob", "two"), "DECLINED")
		g.meet("bob", "three", meetingAt("bob", "three", "20260310T110000Z", "20260310T120000Z"))
		g.want("right after it", g.said("bob", "three"), "ACCEPTED")
		g.meet("ann", "one", meetingAt("ann", "one", "20260310T113000Z", "20260310T123000Z"))
		g.want("moved to where it is taken", g.said("ann", "one"), "DECLINED")
		g.meet("ann", "one", meetingAt("ann", "one", "20260311T113000Z", "20260311T123000Z"))
		g.want("moved to where it is free", g.said("ann", "one"), "ACCEPTED")
		g.must(g.Delete(g.ctx, g.people["ann"].Caller, g.people["ann"].cal, "one.ics", calendar.Precondition{}))
		g.meet("bob", "four", meetingAt("bob", "four", "20260311T113000Z", "20260311T123000Z"))
		g.want("after that was called off", g.said("bob", "four"), "ACCEPTED")
	})
}

func TestRoomDeclinesSingleInstances(t *testing.T) {
	roomed(t, aRoom, func(g *guests) {
		g.meet("bob", "once", meetingAt("bob", "once", "20260317T100000Z", "20260317T110000Z"))
		weekly := meetingAt("ann", "weekly", "20260310T100000Z", "20260310T110000Z", "RRULE:FREQ=WEEKLY;COUNT=4")
		g.meet("ann", "weekly", weekly)
		g.want("the series but for one", g.said("ann", "weekly"), "ACCEPTED DECLINED")
		if ids := g.linesOf("ann", "weekly", "RECURRENCE-ID", ""); len(ids) != 1 ||
			!strings.HasSuffix(ids[0], ":20260317T100000Z") {
			t.Errorf("declined: %v", ids)
		}
		g.meet("bob", "third", meetingAt("bob", "third", "20260324T103000Z", "20260324T110000Z"))
		g.want("the series holds its times", g.said("bob", "third"), "DECLINED")
		g.meet("bob", "second", meetingAt("bob", "second", "20260317T110000Z", "20260317T120000Z"))
		g.want("beside the declined one", g.said("bob", "second"), "ACCEPTED")
		g.meet("ann", "always", meetingAt("ann", "always", "20260311T100000Z", "20260311T110000Z", "RRULE:FREQ=WEEKLY"))
		g.want("a series without an end", g.said("ann", "always"), "DECLINED")
	})
}

func TestRoomCapacityAndBookers(t *testing.T) {
	invited(t, "ann bob eve", func(g *guests) {
		g.room("room", calendar.Room{Kind: calendar.Resource, Capacity: 2, Bookers: "id-of-ann"})
		g.meet("bob", "barred", meetingAt("bob", "barred", "20260310T100000Z", "20260310T110000Z"))
		g.want("who may not book", g.said("bob", "barred"), "DECLINED")
		g.meet("ann", "full", meetingAt("ann", "full", "20260310T100000Z", "20260310T110000Z", attendees("bob", "eve")))
		g.want("three where two fit", g.said("ann", "full"), "DECLINED")
		g.meet("ann", "fits", meetingAt("ann", "fits", "20260310T100000Z", "20260310T110000Z", attendees("bob")))
		g.want("two", g.said("ann", "fits"), "ACCEPTED")
		g.want("the other guest sees it", g.said("bob", "fits"), "ACCEPTED")
		// A delegate may book, too.
		room := g.people["room"]
		_, err := g.Share(g.ctx, room.Caller, room.cal.ID, g.people["eve"].User.Name, calendar.WriteAccess)
		g.must(err)
		g.meet("eve", "hers", meetingAt("eve", "hers", "20260312T100000Z", "20260312T110000Z"))
		g.want("of who looks after it", g.said("eve", "hers"), "ACCEPTED")
	})
}

// A person who may write in the room's calendar overrules it, and what they said stays until the time changes.
func TestRoomIsOverruled(t *testing.T) {
	roomed(t, aRoom, func(g *guests) {
		room, eve := g.people["room"], g.people["eve"]
		_, err := g.Share(g.ctx, room.Caller, room.cal.ID, eve.User.Name, calendar.WriteAccess)
		g.must(err)
		g.meet("ann", "one", meetingAt("ann", "one", "20260310T100000Z", "20260310T110000Z"))
		o, err := g.Store.ObjectByUID(g.ctx, room.cal.ID, "one")
		g.must(err)
		shared, err := g.Calendar(g.ctx, eve.Caller, room.cal.ID)
		g.must(err)
		no := strings.Replace(string(o.Data), "PARTSTAT=ACCEPTED", "PARTSTAT=DECLINED", 1)
		_, err = g.Put(g.ctx, eve.Caller, shared, calendar.Draft{Name: o.Name, Data: []byte(no)})
		g.must(err)
		g.want("overruled", g.said("ann", "one"), "DECLINED")
		other := strings.Replace(meetingAt("ann", "one", "20260310T100000Z", "20260310T110000Z"), "SUMMARY:Plans",
			"SUMMARY:Other plans", 1)
		g.meet("ann", "one", other)
		g.want("after another title", g.said("ann", "one"), "DECLINED")
		g.meet("bob", "two", meetingAt("bob", "two", "20260310T100000Z", "20260310T110000Z"))
		g.want("the time is free again", g.said("bob", "two"), "ACCEPTED")
	})
}

func TestRoomByHandAnswersNothing(t *testing.T) {
	roomed(t, calendar.Room{Kind: calendar.RoomToMeet, ByHand: true}, func(g *guests) {
		g.meet("ann", "one", meetingAt("ann", "one", "20260310T100000Z", "20260310T110000Z"))
		g.want("unanswered", g.said("ann", "one"), "NEEDS-ACTION")
	})
}

// Of many who want the same time at the same moment, one gets it.
func TestRoomIsBookedOnce(t *testing.T) {
	roomed(t, aRoom, func(g *guests) {
		var all sync.WaitGroup
		names := []string{"ann", "bob", "eve"}
		uid := func(i int) string { return fmt.Sprint("at-once-", i) }
		for i, who := range names {
			p := g.people[who]
			all.Go(func() {
				d := calendar.Draft{
					Name: calendar.ObjectName(uid(i) + ".ics"),
					Data: []byte(meetingAt(who, uid(i), "20260310T100000Z", "20260310T110000Z")),
				}
				if _, err := g.Put(g.ctx, p.Caller, p.cal, d); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		g.Pass(2 * time.Minute) // what could not be answered at once is now
		_, err := g.AnswerBookings(g.ctx)
		g.must(err)
		said := map[string]int{}
		for i, who := range names {
			said[g.said(who, uid(i))]++
		}
		if said["ACCEPTED"] != 1 || said["DECLINED"] != 2 {
			t.Errorf("said %v", said)
		}
	})
}

// A server that was stopped before the room answered has it answer later.
func TestRoomAnswersLater(t *testing.T) {
	roomed(t, calendar.Room{Kind: calendar.RoomToMeet, ByHand: true}, func(g *guests) {
		g.meet("ann", "one", meetingAt("ann", "one", "20260310T100000Z", "20260310T110000Z"))
		room := g.people["room"]
		g.must(g.Store.Update(g.ctx, func(tx calendar.Tx) error {
			return tx.PutBooking(g.ctx, calendar.Booking{Calendar: room.cal.ID, UID: "one", Posted: g.Now()})
		}))
		g.must(g.Store.ChangeUser(g.ctx, room.User.ID, auth.UserEdit{ByHand: new(false)}))
		if n, err := g.AnswerBookings(g.ctx); err != nil || n != 0 {
			t.Errorf("too early: %d, %v", n, err)
		}
		g.Pass(2 * time.Minute)
		if n, err := g.AnswerBookings(g.ctx); err != nil || n != 1 {
			t.Errorf("%d, %v", n, err)
		}
		if told := g.TaskLog.Ended(); !slices.Equal(told, []string{"room answer"}) {
			t.Errorf("the tasks are %q", told)
		}
		g.want("later", g.said("ann", "one"), "ACCEPTED")
		if left, err := g.Store.Bookings(g.ctx, g.Now(), 10); err != nil || len(left) != 0 {
			t.Errorf("left %v, %v", left, err)
		}
	})
}

// People elsewhere book by mail only what is for anybody, and hear what the room says.
func TestRoomIsBookedByMail(t *testing.T) {
	for bookers, want := range map[string]string{"": "DECLINED", calendar.Anybody: "ACCEPTED"} {
		t.Run(want, func(t *testing.T) {
			roomed(t, calendar.Room{Kind: calendar.RoomToMeet, Bookers: bookers}, func(g *guests) {
				text := strings.Replace(meetingAt("stranger", "mailed", "20260310T100000Z", "20260310T110000Z"),
					"VERSION", "METHOD:REQUEST\r\nVERSION", 1)
				text = strings.ReplaceAll(text, "stranger@example.com", "stranger@elsewhere.example")
				in := calendar.Inbound{
					From: "stranger@elsewhere.example", To: []calendar.MailAddress{"room@example.com"},
					Method: calendar.MethodRequest, Data: []byte(text),
				}
				g.must(g.Receive(g.ctx, in))
				g.want("the room's copy", g.said("room", "mailed"), want)
				g.want("mail", g.letters(), "REPLY stranger@elsewhere.example")
			})
		})
	}
}

// A room is known to everybody, and so is when it is taken; what takes place there is not.
func TestRoomIsKnown(t *testing.T) {
	roomed(t, calendar.Room{Kind: calendar.RoomToMeet, Capacity: 9}, func(g *guests) {
		g.meet("ann", "one", meetingAt("ann", "one", "20260310T100000Z", "20260310T110000Z"))
		bob := g.people["bob"].Caller
		found, err := g.FindPeople(g.ctx, bob, func(u calendar.User, same calendar.Comparison) bool {
			return same(u.Name, "roo", calendar.StartsWith)
		})
		g.must(err)
		if len(found) != 1 || found[0].Room.Capacity != 9 {
			t.Errorf("found %+v", found)
		}
		ask := query.BusyQuery{
			From: time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 3, 11, 0, 0, 0, 0, time.UTC),
		}
		for _, name := range []string{"Room", "room@example.com"} {
			at, err := g.PeopleAt(g.ctx, bob, []string{name})
			g.must(err)
			ask.People = at[0]
			busy, err := g.FreeBusy(g.ctx, bob, ask)
			g.must(err)
			if len(ask.People) != 1 || len(busy.Periods) != 1 || busy.Periods[0].Start.Hour() != 10 {
				t.Errorf("%s: %+v is taken at %+v", name, ask.People, busy.Periods)
			}
		}
		bound := bob
		bound.Calendars = []calendar.CalendarID{g.people["bob"].cal.ID}
		_, err = g.PeopleAt(g.ctx, bound, []string{"room"})
		g.refused(err, calendar.Forbidden, calendar.RulePrivileges, "certain calendars")
		_, err = g.FreeBusy(g.ctx, bound, ask)
		g.refused(err, calendar.Forbidden, calendar.RulePrivileges, "certain calendars")
	})
}
