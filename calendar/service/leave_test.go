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
