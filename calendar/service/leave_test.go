package service_test

import (
	"testing"

	"caldav-mcp-server/calendar"
)

// TestCancelMeetingsFreesRooms: a user who is about to be deleted leaves no bookings, and guests are told if wanted.
func TestCancelMeetingsFreesRooms(t *testing.T) {
	for name, tell := range map[string]calendar.Telling{"rooms": calendar.TellRooms, "guests too": calendar.TellAll} {
		t.Run(name, func(t *testing.T) {
			roomed(t, aRoom, func(g *guests) {
				ann, bob := g.people["ann"], g.people["bob"]
				g.meet("ann", "plans", meetingAt("ann", "plans", "20260310T100000Z", "20260310T110000Z",
					attendees("bob")))
				g.meet("ann", "over", meetingAt("ann", "over", "20250310T100000Z", "20250310T110000Z"))
				g.put(ann.Caller, ann.cal, "own.ics", event("own", 2, "own"))
				g.meet("bob", "bobs", meetingAt("bob", "bobs", "20260311T100000Z", "20260311T110000Z",
					attendees("ann")))
				done, err := g.CancelMeetings(g.ctx, ann.Caller, tell)
				g.must(err)
				if done.Meetings != 1 {
					g.t.Errorf("%d meetings were cancelled, want 1", done.Meetings)
				}
				told := ""
				if tell == calendar.TellAll {
					told = "STATUS:CANCELLED"
				}
				o, err := g.Store.ObjectByUID(g.ctx, bob.cal.ID, "plans")
				g.must(err)
				g.want("bob's copy", lineOf(string(o.Data), "STATUS"), told)
				for _, uid := range []calendar.UID{"over", "own", "bobs"} {
					_, err := g.Store.ObjectByUID(g.ctx, ann.cal.ID, uid)
					g.must(err)
				}
				g.meet("bob", "next", meetingAt("bob", "next", "20260310T100000Z", "20260310T110000Z"))
				g.want("the room's answer to bob", g.said("bob", "next"), "ACCEPTED")
			})
		})
	}
}

// TestGiveCalendars: the successor of a user owns the calendar with its objects and shares, has no second copy of a
// meeting, and can tell the calendar from one of the same name.
func TestGiveCalendars(t *testing.T) {
	roomed(t, aRoom, func(g *guests) {
		ann, bob, eve := g.people["ann"], g.people["bob"], g.people["eve"]
		g.put(ann.Caller, ann.cal, "own.ics", event("own", 2, "own"))
		g.meet("eve", "plans", meetingAt("eve", "plans", "20260310T100000Z", "20260310T110000Z",
			attendees("ann", "bob")))
		g.must(g.give(ann.cal.ID, eve.User.ID, calendar.WriteAccess))
		given, err := g.GiveCalendars(g.ctx, ann.Caller, bob.User)
		g.must(err)
		if given != 1 {
			t.Errorf("%d calendars were given, want 1", given)
		}
		g.must(g.Store.DeleteUser(g.ctx, ann.User.ID))
		cal, err := g.Store.Calendar(g.ctx, bob.User.ID, ann.cal.ID)
		g.must(err)
		g.want("its name", cal.Name, bob.cal.Name+" (ANN)")
		if cal.Access != calendar.OwnerAccess {
			t.Errorf("bob's access is %v", cal.Access)
		}
		_, err = g.Store.ObjectByUID(g.ctx, cal.ID, "own")
		g.must(err)
		if _, err := g.Store.ObjectByUID(g.ctx, cal.ID, "plans"); calendar.ReasonOf(err) != calendar.NotFound {
			t.Errorf("the second copy of the meeting: %v", err)
		}
		_, err = g.Store.ObjectByUID(g.ctx, bob.cal.ID, "plans")
		g.must(err)
		theirs, err := g.Store.Calendar(g.ctx, eve.User.ID, cal.ID)
		g.must(err)
		g.put(eve.Caller, theirs, "new.ics", event("new", 3, "new"))
		g.put(bob.Caller, cal, "bobs.ics", event("bobs", 4, "bobs"))
	})
}
