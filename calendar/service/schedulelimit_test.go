package service_test

import (
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
)

// limited is invited with objects of a few kilobytes at most.
func limited(t *testing.T, names string, test func(g *guests)) {
	invited(t, names, func(g *guests) {
		g.config.Limits.ObjectBytes = 8 << 10
		g.Service = serviceOf(g.house)
		test(g)
	})
}

// pad lets somebody fill what they have of the meeting up to the largest size.
func (g *guests) pad(who, name string) {
	g.t.Helper()
	g.padBut(who, name, 0)
}

// padBut leaves some bytes free.
func (g *guests) padBut(who, name string, free int) {
	g.t.Helper()
	o, _ := g.has(who)
	var b strings.Builder
	for room := 8<<10 - free - len(o.Data); room > len(name)+4; {
		n := min(room-len(name)-3, 1000)
		b.WriteString(name + ":" + strings.Repeat("x", n) + "\r\n")
		room -= len(name) + 3 + n
	}
	g.save(who, strings.Replace(string(o.Data), "END:VEVENT", b.String()+"END:VEVENT", 1))
}

// TestFullCopiesAreInNobodysWay: what a guest adds to their copy keeps the organizer from nothing.
func TestFullCopiesAreInNobodysWay(t *testing.T) {
	for _, name := range []string{"X-PAD", "COMMENT", "TRANSP"} {
		t.Run(name, func(t *testing.T) {
			limited(t, "ann bob eve", func(g *guests) {
				g.save("ann", meetingOf(organizedByAnn, attendees("bob", "eve")))
				g.pad("bob", name)
				status := "SCHEDULE-STATUS=1.2"
				if name == "TRANSP" {
					status = "SCHEDULE-STATUS=5.1" // what counts is not taken away
				}
				g.save("ann", meetingOf("LOCATION:"+strings.Repeat("y", 200), organizedByAnn, attendees("bob", "eve")))
				if line := g.line("ann", "ATTENDEE"); !strings.Contains(line, status) {
					t.Errorf("%s, want %s", line, status)
				}
				g.want("others hear of it", g.line("eve", "LOCATION")[:12], "LOCATION:yyy")
				ann := g.people["ann"]
				g.pad("bob", name)
				g.must(g.Delete(g.ctx, ann.Caller, ann.cal, g.name("ann"), calendar.Precondition{}))
				g.want("what is called off", g.line("bob", "STATUS"), "STATUS:CANCELLED")
			})
		})
	}
}

// TestAnAnswerNeedsRoom: what does not fit into the organizer's event is not their guest's refusal.
func TestAnAnswerNeedsRoom(t *testing.T) {
	limited(t, "ann bob", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, attendees("bob")))
		g.pad("ann", "X-PAD")
		g.must(g.answer("ACCEPTED"))
		g.want("bob's own", g.answered("bob", "bob"), "ACCEPTED")
		if line := g.line("bob", "ORGANIZER"); !strings.Contains(line, "SCHEDULE-STATUS=5.1") {
			t.Error(line)
		}
	})
}

// TestADelegateNeedsRoom: whom a guest sends is invited where the organizer's event says so, and nowhere else, however
// much room that has: for nothing, for the guest's answer, for the delegate without what came of the invitation, or for
// all.
func TestADelegateNeedsRoom(t *testing.T) {
	limited(t, "ann bob kim", func(g *guests) {
		said := map[bool]int{}
		for _, free := range []int{0, 100, 160, 180, 200, 210, 220, 230, 240, 260, 400} {
			g.save("ann", meetingOf(organizedByAnn, attendees("bob")))
			g.padBut("ann", "X-PAD", free)
			g.save("bob", delegating(g.text("bob"), "kim"))
			named := lineWith(g.text("ann"), ":mailto:kim@example.com") != ""
			said[named]++
			if _, asked := g.has("kim"); asked != named {
				t.Errorf("with %d bytes free the organizer names kim: %v; kim is invited: %v", free, named, asked)
			}
			if line := g.line("bob", "ORGANIZER"); !named && !strings.Contains(line, "SCHEDULE-STATUS=5.1") {
				t.Errorf("with %d bytes free bob reads %s", free, line)
			}
			for _, who := range []string{"ann", "bob", "kim"} {
				if _, there := g.has(who); there {
					g.must(g.Delete(g.ctx, g.people[who].Caller, g.people[who].cal, g.name(who),
						calendar.Precondition{}))
				}
			}
		}
		if said[true] == 0 || said[false] == 0 {
			t.Errorf("the sizes try one side alone: %v", said)
		}
	})
}
