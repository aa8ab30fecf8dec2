package service_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
)

// big is a meeting of ann's of so many mebibytes.
func big(uid string, mebibytes int) string {
	text := meetingOf(organizedByAnn, attendees("bob", "eve"), "DESCRIPTION:"+strings.Repeat("y", mebibytes<<20))
	return replaceUID(text, "UID:"+uid)
}

// TestNobodyFillsAnothersAccount: what one sender brings to one user in a day is bounded, by a colleague and by mail.
// The organizer hears of it, their own event stays, and others come through, as does what is called off.
func TestNobodyFillsAnothersAccount(t *testing.T) {
	invited(t, "ann bob eve", func(g *guests) {
		bob := g.people["bob"]
		copies := func() (n int) {
			for o, err := range g.Store.Objects(g.ctx, bob.cal.ID, calendar.ObjectQuery{}) {
				g.must(err)
				if !o.Deleted {
					n++
				}
			}
			return n
		}
		for i := range 7 {
			g.meet("ann", fmt.Sprint("big-", i), big(fmt.Sprint("big-", i), 3))
		}
		if n := copies(); n != 5 {
			t.Errorf("bob got %d of 7 large events", n)
		}
		last := g.linesOf("ann", "big-6", "ATTENDEE", "bob@example.com")
		if len(last) != 1 || !strings.Contains(last[0], "SCHEDULE-STATUS=5.3") {
			t.Errorf("the organizer reads %v", last)
		}
		before := copies()
		g.meet("eve", "other", meetingAt("eve", "other", "20260310T100000Z", "20260310T110000Z", attendees("bob")))
		g.want("of another sender", fmt.Sprint(copies()-before), "1")
		ann := g.people["ann"]
		g.must(g.Delete(g.ctx, ann.Caller, ann.cal, "big-0.ics", calendar.Precondition{}))
		g.want("what is called off", strings.Join(g.linesOf("bob", "big-0", "STATUS", ""), " "), "STATUS:CANCELLED")
		g.Pass(25 * time.Hour)
		before = copies()
		g.meet("ann", "next-day", big("next-day", 1))
		g.want("the next day", fmt.Sprint(copies()-before), "1")
		var refused error
		for i := range 6 {
			text := strings.NewReplacer("ann@example.com", "stranger@elsewhere.example", "VERSION",
				"METHOD:REQUEST\r\nVERSION").Replace(big(fmt.Sprint("mailed-", i), 3))
			in := calendar.Inbound{
				From: "stranger@elsewhere.example", To: []calendar.MailAddress{"bob@example.com"},
				Method: calendar.MethodRequest, Data: []byte(text),
			}
			if err := g.Receive(g.ctx, in); err != nil {
				refused = err
			}
		}
		g.refused(refused, calendar.TooLarge, calendar.RuleQuota, "daily limit")
	})
}
