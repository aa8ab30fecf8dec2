package service_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// apartIn is a series of ann's of which many instances stand apart, in which alone somebody takes part.
func apartIn(many int, who string) string {
	begin := time.Date(2026, 3, 10, 10, 0, 0, 0, time.UTC)
	var b strings.Builder
	event := func(lines ...string) {
		b.WriteString("BEGIN:VEVENT\r\nUID:" + who +
			"\r\nDTSTAMP:20260101T000000Z\r\nORGANIZER:mailto:ann@example.com\r\nATTENDEE:mailto:ann@example.com\r\n" +
			strings.Join(lines, "\r\n") + "\r\nEND:VEVENT\r\n")
	}
	b.WriteString("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\n")
	event("DTSTART:20260310T100000Z", "DURATION:PT5M", fmt.Sprintf("RRULE:FREQ=HOURLY;COUNT=%d", many+9),
		"ATTENDEE:mailto:bob@example.com")
	for i := range many {
		at := begin.Add(time.Duration(i) * time.Hour).Format("20060102T150405Z")
		event("RECURRENCE-ID:"+at, "DTSTART:"+at, "DURATION:PT10M", "ATTENDEE:mailto:"+who+"@example.com")
	}
	return b.String() + "END:VCALENDAR\r\n"
}

// A room answers a great many instances that stand apart in the order of what it takes to invite a person to them.
func TestRoomAnswersManyInstances(t *testing.T) {
	const many = 1000
	roomed(t, aRoom, func(g *guests) {
		begin := time.Now()
		g.meet("ann", "eve", apartIn(many, "eve"))
		person := time.Since(begin)
		begin = time.Now()
		g.meet("ann", "room", apartIn(many, "room"))
		room := time.Since(begin)
		if n := strings.Count(g.said("ann", "room"), "ACCEPTED"); n != many {
			t.Errorf("accepted: %d", n)
		}
		if room > 10*person {
			t.Errorf("a room takes %v, a person %v", room, person)
		}
	})
}

// What begins later than a room can be booked is declined, and not left without an answer.
func TestRoomDeclinesWhatIsTooFarAhead(t *testing.T) {
	roomed(t, aRoom, func(g *guests) {
		for uid, rule := range map[string]string{"once": "LOCATION:Room", "series": "RRULE:FREQ=WEEKLY;COUNT=3"} {
			g.meet("ann", uid, meetingAt("ann", uid, "20300310T100000Z", "20300310T110000Z", rule))
			g.want(uid, g.said("ann", uid), "DECLINED")
		}
		g.want("why", fmt.Sprint(g.linesOf("room", "once", "COMMENT", "two years ahead")),
			"[COMMENT:It can be booked two years ahead at most: a series has to end before.]")
		g.meet("ann", "past", meetingAt("ann", "past", "20200310T100000Z", "20200310T110000Z"))
		g.want("what is over", g.said("ann", "past"), "NEEDS-ACTION")
	})
}
