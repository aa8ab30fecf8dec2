package service_test

import (
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
)

// seriesOf writes five days of the meeting, and one of them apart.
func seriesOf(master, apart string) string {
	one := "BEGIN:VEVENT\r\nUID:meeting\r\nDTSTAMP:20260301T080000Z\r\nRECURRENCE-ID:20260312T100000Z\r\n" +
		"DTSTART:20260312T140000Z\r\nDTEND:20260312T150000Z\r\nSUMMARY:Plans\r\n"
	text := meetingOf("RRULE:FREQ=DAILY;COUNT=5", organizedByAnn, master)
	if apart == "" {
		return text
	}
	return strings.Replace(text, "END:VCALENDAR", one+organizedByAnn+"\r\n"+apart+"\r\nEND:VEVENT\r\nEND:VCALENDAR", 1)
}

// TestOrganizerByAnotherAddress: an organizer whose program writes another address of theirs still reaches the guests.
func TestOrganizerByAnotherAddress(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, attendees("bob")))
		other := "ORGANIZER:/dav/principals/guest-ann/"
		g.save("ann", meetingOf(other, attendees("bob"), "LOCATION:here"))
		g.want("bob is told", g.line("bob", "LOCATION"), "LOCATION:here")
		g.want("by the address that he knows", g.line("bob", "ORGANIZER"), organizedByAnn)
		g.want("which the event keeps", g.line("ann", "ORGANIZER"), organizedByAnn)
		g.must(g.answer("ACCEPTED"))
		g.want("bob answers", g.answered("ann", "bob"), "ACCEPTED")
	})
}

// TestGuestUnderTwoAddresses: anyone who is named under two addresses is one person, told once of all that they take
// part in.
func TestGuestUnderTwoAddresses(t *testing.T) {
	const other = "ATTENDEE:/dav/principals/guest-bob/"
	invited(t, "ann bob", func(g *guests) {
		g.save("ann", seriesOf(attendees("bob"), other))
		o, _ := g.has("bob")
		if text := string(o.Data); !strings.Contains(text, "RRULE") || !strings.Contains(text, "RECURRENCE-ID") ||
			strings.Contains(text, "EXDATE") {
			g.t.Error(text)
		}
	})
}

// TestGuestLosesOneAddress: what counts is that they are named.
func TestGuestLosesOneAddress(t *testing.T) {
	const other = "ATTENDEE:/dav/principals/guest-bob/"
	invited(t, "ann bob", func(g *guests) {
		both := attendees("bob") + "\r\n" + other
		g.save("ann", meetingOf(organizedByAnn, both))
		g.save("ann", meetingOf(organizedByAnn, other))
		g.want("still invited", g.line("bob", "STATUS"), "")
		g.want("by the other address", g.line("bob", "ATTENDEE"), other)
		g.save("ann", meetingOf(organizedByAnn))
		g.want("no longer", g.line("bob", "STATUS"), "STATUS:CANCELLED")
	})
}

// TestDeletedInstanceStaysDeleted, whatever others answer; another time brings it back.
func TestDeletedInstanceStaysDeleted(t *testing.T) {
	invited(t, "ann bob eve", func(g *guests) {
		g.save("ann", seriesOf(attendees("bob", "eve"), ""))
		eve := g.people["eve"]
		o, _ := g.has("eve")
		out := strings.Replace(string(o.Data), "RRULE", "EXDATE:20260312T100000Z\r\nRRULE", 1)
		_, err := g.Put(g.ctx, eve.Caller, eve.cal, calendar.Draft{Name: o.Name, Data: []byte(out)})
		g.must(err)
		g.want("declined", g.answered("ann", "eve"), "NEEDS-ACTION DECLINED")
		g.must(g.answer("ACCEPTED"))
		o, _ = g.has("eve")
		if text := string(o.Data); !strings.Contains(text, "EXDATE:20260312T100000Z") ||
			strings.Contains(text, "RECURRENCE-ID") {
			g.t.Errorf("it is back:\n%s", text)
		}
		g.want("eve sees bob's answer", g.answered("eve", "bob"), "ACCEPTED")
		g.save("ann", seriesOf(attendees("bob", "eve"), attendees("bob", "eve")))
		g.want("asked anew", g.answered("eve", "eve"), "NEEDS-ACTION NEEDS-ACTION")
	})
}

// TestDeletedSingleInstanceStaysDeleted is TestDeletedInstanceStaysDeleted for a guest of single days, who has no
// series in which to leave one out.
func TestDeletedSingleInstanceStaysDeleted(t *testing.T) {
	one := func(id, who string) string {
		return "BEGIN:VEVENT\r\nUID:meeting\r\nDTSTAMP:20260301T080000Z\r\nRECURRENCE-ID:" + id + "\r\nDTSTART:" + id +
			"\r\nDURATION:PT1H\r\nSUMMARY:Plans\r\n" +
			organizedByAnn + "\r\n" + who + "\r\nEND:VEVENT\r\n"
	}
	days := func(second string) string {
		text := meetingOf("RRULE:FREQ=DAILY;COUNT=5", organizedByAnn, attendees("bob"))
		return strings.Replace(text, "END:VCALENDAR",
			one("20260312T100000Z", attendees("bob", "eve"))+one(second, attendees("bob", "eve"))+"END:VCALENDAR", 1)
	}
	invited(t, "ann bob eve", func(g *guests) {
		g.save("ann", days("20260313T100000Z"))
		eve := g.people["eve"]
		o, _ := g.has("eve")
		text := string(o.Data)
		second := text[strings.LastIndex(text, "BEGIN:VEVENT"):strings.LastIndex(text, "END:VCALENDAR")]
		_, err := g.Put(g.ctx, eve.Caller, eve.cal,
			calendar.Draft{Name: o.Name, Data: []byte(strings.Replace(text, second, "", 1))})
		g.must(err)
		g.want("declined for that day", g.answered("ann", "eve"), "NEEDS-ACTION DECLINED")
		g.must(g.answer("ACCEPTED"))
		o, _ = g.has("eve")
		if text := string(o.Data); strings.Count(text, "BEGIN:VEVENT") != 1 || strings.Contains(text, "20260313T") {
			g.t.Errorf("it is back:\n%s", text)
		}
		g.save("ann",
			strings.Replace(days("20260313T100000Z"), "DTSTART:20260313T100000Z", "DTSTART:20260313T140000Z", 1))
		g.want("asked anew about another time", g.answered("eve", "eve"), "NEEDS-ACTION NEEDS-ACTION")
	})
}
