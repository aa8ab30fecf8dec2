package service_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
)

// A room that has said yes is asked again for what was called off meanwhile, when others may have taken it.
func TestRoomIsAskedAgain(t *testing.T) {
	const weekly, without = "RRULE:FREQ=WEEKLY;COUNT=4", "EXDATE:20260317T100000Z"
	begin, end := "20260317T100000Z", "20260317T110000Z"
	anns := func(lines ...string) string {
		return meetingAt("ann", "hers", "20260310T100000Z", "20260310T110000Z", lines...)
	}
	instance := "END:VEVENT\r\nBEGIN:VEVENT\r\nUID:hers\r\nDTSTAMP:20260101T000000Z\r\n" +
		"RECURRENCE-ID:20260317T100000Z\r\nDTSTART:20260317T150000Z\r\n" +
		"DTEND:20260317T160000Z\r\nSUMMARY:Plans\r\nORGANIZER:mailto:ann@example.com\r\n" +
		"ATTENDEE:mailto:room@example.com"
	for name, c := range map[string]struct {
		before, off, back []string
		want              string
	}{
		"a day comes back": {
			[]string{weekly}, []string{weekly, without}, []string{weekly}, "ACCEPTED DECLINED",
		},
		"a day that never was": {
			[]string{weekly, without}, []string{weekly, without}, []string{weekly}, "ACCEPTED DECLINED",
		},
		"a day is moved back": {
			[]string{weekly}, []string{weekly, instance}, []string{weekly}, "ACCEPTED DECLINED",
		},
		"all of it takes place": {
			[]string{weekly}, []string{weekly, "STATUS:CANCELLED"}, []string{weekly}, "ACCEPTED DECLINED",
		},
		"the room is left to others": {
			[]string{weekly},
			[]string{"RDATE:20260318T100000Z"},
			[]string{weekly},
			"ACCEPTED DECLINED ACCEPTED ACCEPTED",
		},
	} {
		t.Run(name, func(t *testing.T) {
			roomed(t, aRoom, func(g *guests) {
				g.meet("ann", "hers", anns(c.before...))
				g.meet("ann", "hers", anns(c.off...))
				g.meet("bob", "his", meetingAt("bob", "his", begin, end))
				g.want("what is free", g.said("bob", "his"), "ACCEPTED")
				g.meet("ann", "hers", anns(c.back...))
				g.want("what is back", g.said("ann", "hers"), c.want)
				g.want("in the room's calendar", g.said("room", "hers"), c.want)
			})
		})
	}
}

// An organizer who takes a deletion back, or takes the event out of the trash, does not get the room back that somebody
// else has.
func TestRoomIsAskedAgainAfterADeletion(t *testing.T) {
	const begin, end = "20260310T100000Z", "20260310T110000Z"
	for name, back := range map[string]func(g *guests, ann guest, deleted calendar.ChangeID){
		"undo": func(g *guests, ann guest, deleted calendar.ChangeID) {
			_, err := g.Undo(g.ctx, ann.Caller, deleted)
			g.must(err)
		},
		"restore": func(g *guests, ann guest, _ calendar.ChangeID) {
			_, err := g.RestoreDeleted(g.ctx, ann.Caller, ann.cal, "hers")
			g.must(err)
			g.meet("ann", "hers", meetingAt("ann", "hers", begin, end, "LOCATION:There"))
		},
	} {
		for taken, want := range map[bool]string{true: "DECLINED", false: "ACCEPTED"} {
			t.Run(name+" "+want, func(t *testing.T) {
				roomed(t, aRoom, func(g *guests) {
					ann := g.people["ann"]
					g.meet("ann", "hers", meetingAt("ann", "hers", begin, end))
					g.must(g.Delete(g.ctx, ann.Caller, ann.cal, "hers.ics", calendar.Precondition{}))
					deleted := calendar.ChangeID{Calendar: ann.cal.ID, Version: g.fresh(ann.Caller, ann.cal).Version}
					if taken {
						g.meet("bob", "his", meetingAt("bob", "his", begin, end))
					}
					back(g, ann, deleted)
					g.want("ann's", g.said("ann", "hers"), want)
					g.want("the room's", g.said("room", "hers"), want)
				})
			})
		}
	}
}

// An event that takes none of its organizer's time takes the room's.
func TestRoomIsTakenByWhatTakesNoTime(t *testing.T) {
	roomed(t, aRoom, func(g *guests) {
		const begin, end = "20260310T100000Z", "20260310T110000Z"
		g.meet("ann", "one", meetingAt("ann", "one", begin, end, "TRANSP:TRANSPARENT"))
		g.meet("bob", "two", meetingAt("bob", "two", begin, end))
		g.want("said", g.said("ann", "one")+" "+g.said("bob", "two"), "ACCEPTED DECLINED")
		if lines := g.linesOf("room", "one", "TRANSP", ""); len(lines) != 0 {
			t.Errorf("the room has %v", lines)
		}
		if lines := g.linesOf("ann", "one", "TRANSP", ""); len(lines) != 1 {
			t.Errorf("ann has %v", lines)
		}
	})
}

// An event of the room whose text the database has lost keeps nobody from booking it at other times, and its own time
// stays taken.
func TestRoomKeepsTheTimeOfWhatIsLost(t *testing.T) {
	roomed(t, aRoom, func(g *guests) {
		g.meet("ann", "once", meetingAt("ann", "once", "20260310T100000Z", "20260310T110000Z"))
		g.meet("ann", "weekly",
			meetingAt("ann", "weekly", "20260312T100000Z", "20260312T110000Z", "RRULE:FREQ=WEEKLY;COUNT=4"))
		g.meet("ann", "off", meetingAt("ann", "off", "20260313T100000Z", "20260313T110000Z", "STATUS:CANCELLED"))
		g.must(behind(g.t, g.URL, `UPDATE objects SET data = $1 WHERE calendar_id = $2`, []byte{},
			g.people["room"].cal.ID))
		for _, c := range []struct{ uid, day, from, until, want string }{
			{"same", "10", "10", "11", "DECLINED"},
			{"before", "10", "09", "10", "ACCEPTED"},
			{"after", "10", "11", "12", "ACCEPTED"},
			{"third", "26", "10", "11", "DECLINED"},
			{"later", "26", "14", "15", "ACCEPTED"},
			{"between", "18", "10", "11", "ACCEPTED"},
			{"off-then", "13", "10", "11", "ACCEPTED"},
		} {
			g.meet("bob", c.uid,
				meetingAt("bob", c.uid, "202603"+c.day+"T"+c.from+"0000Z", "202603"+c.day+"T"+c.until+"0000Z"))
			g.want(c.uid, g.said("bob", c.uid), c.want)
		}
	})
}

// A series that has lost its text goes on, for a room, at the hours that the index knows of it: also years after its
// beginning, when it has had more instances than the index follows.
func TestRoomKeepsTheTimeOfALongSeriesThatIsLost(t *testing.T) {
	roomed(t, aRoom, func(g *guests) {
		daily := meetingOf("RRULE:FREQ=DAILY")
		daily = strings.NewReplacer("20260310T100000Z", "20220310T100000Z", "20260310T110000Z", "20220310T110000Z").
			Replace(daily)
		g.meet("room", "daily", replaceUID(daily, "UID:daily"))
		g.must(behind(g.t, g.URL, `UPDATE objects SET data = $1 WHERE calendar_id = $2`, []byte{},
			g.people["room"].cal.ID))
		for _, c := range []struct{ uid, from, until, want string }{
			{"same", "10", "11", "DECLINED"}, {"later", "14", "15", "ACCEPTED"},
		} {
			g.meet("bob", c.uid, meetingAt("bob", c.uid, "20260310T"+c.from+"0000Z", "20260310T"+c.until+"0000Z"))
			g.want(c.uid, g.said("bob", c.uid), c.want)
		}
	})
}

// roomless is a store in which one event of a room cannot be read.
type roomless struct {
	calendar.Store
	uid calendar.UID
}

func (s roomless) Update(ctx context.Context, do func(calendar.Tx) error) error {
	return s.Store.Update(ctx, func(tx calendar.Tx) error { return do(roomlessTx{tx, s.uid}) })
}

type roomlessTx struct {
	calendar.Tx
	uid calendar.UID
}

func (t roomlessTx) Duplicates(
	ctx context.Context, cal calendar.CalendarID, name calendar.ObjectName, uid calendar.UID,
) (atName, withUID *calendar.Object, err error) {
	if uid == t.uid {
		return nil, nil, errDriver
	}
	return t.Tx.Duplicates(ctx, cal, name, uid)
}

// What a room cannot answer does not keep it from answering the rest, and is given up in the end.
func TestRoomGivesUp(t *testing.T) {
	roomed(t, calendar.Room{Kind: calendar.RoomToMeet}, func(g *guests) {
		room, faulty := g.people["room"], g.config
		faulty.Store = roomless{g.Store, "broken"}
		s := service.New(faulty)
		put := func(uid calendar.UID) {
			g.must(g.Store.Update(g.ctx, func(tx calendar.Tx) error {
				return tx.PutBooking(g.ctx, calendar.Booking{Calendar: room.cal.ID, UID: uid, Posted: g.Now()})
			}))
		}
		waiting := func() int {
			all, err := g.Store.Bookings(g.ctx, g.Now().Add(1000*time.Hour), 10)
			g.must(err)
			return len(all)
		}
		put("broken")
		g.Pass(time.Second)
		put("gone")
		g.Pass(2 * time.Minute)
		if n, err := s.AnswerBookings(g.ctx); n != 1 || err == nil {
			t.Errorf("the first time: %d, %v", n, err)
		}
		if n, err := s.AnswerBookings(g.ctx); n != 0 || err != nil || waiting() != 1 {
			t.Errorf("at once: %d, %v, %d wait", n, err, waiting())
		}
		for range 7 {
			g.Pass(3 * time.Hour)
			if _, err := s.AnswerBookings(g.ctx); err == nil {
				t.Error("no error")
			}
		}
		if n := waiting(); n != 0 {
			t.Errorf("%d wait still", n)
		}
		put("gone")
		g.spare(room.Caller)
		g.must(g.DeleteCalendar(g.ctx, room.Caller, room.cal.ID))
		g.Pass(2 * time.Minute)
		if _, err := s.AnswerBookings(g.ctx); err != nil || waiting() != 0 {
			t.Errorf("of a calendar in the trash: %v, %d wait", err, waiting())
		}
	})
}
