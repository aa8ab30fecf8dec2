package service_test

import (
	"fmt"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
)

// TestAnEventTooLargeForItsGuestsIsRefused: anyone who makes an event for many others writes no more into their
// calendars and inboxes than a change may, and nothing of it where it would be more.
func TestAnEventTooLargeForItsGuestsIsRefused(t *testing.T) {
	invited(t, "ann bob eve kim", func(g *guests) {
		g.config.Limits.Telling.Written = 100 << 10
		g.Service = serviceOf(g.house)
		ann := g.people["ann"]
		put := func(bytes int) error {
			data := meetingOf(organizedByAnn, attendees("bob", "eve", "kim"), "DESCRIPTION:"+strings.Repeat("x", bytes))
			_, err := g.Put(g.ctx, ann.Caller, ann.cal, calendar.Draft{Name: g.name("ann"), Data: []byte(data)})
			return err
		}
		g.refused(put(20<<10), calendar.TooLarge, calendar.RuleMaxSize, "too large for so many attendees")
		_, there := g.has("ann")
		g.want("nothing of it is stored", fmt.Sprint(there)+g.inbox("bob"), "false")
		g.must(put(10 << 10))
		g.refused(put(20<<10), calendar.TooLarge, calendar.RuleMaxSize, "too large for so many attendees")
		g.want("the guests have what they had", g.inbox("kim"), "REQUEST")
	})
}

// TestNobodyElseIsWaitedFor: an invitation and an answer are one transaction each, as long as nobody else changes the
// calendars that they reach.
func TestNobodyElseIsWaitedFor(t *testing.T) {
	invited(t, "bob ann eve", func(g *guests) {
		before := g.Store.Done()
		g.save("ann", meetingOf(organizedByAnn, attendees("bob", "eve")))
		g.must(g.answer("ACCEPTED"))
		after := g.Store.Done()
		g.want("eve was asked", g.inbox("eve"), "REQUEST")
		g.want("eve sees bob's answer", g.line("eve", "ATTENDEE;PARTSTAT=ACCEPTED"),
			"ATTENDEE;PARTSTAT=ACCEPTED:mailto:bob@example.com")
		g.want("transactions that came to nothing", fmt.Sprint(after.Failed-before.Failed), "0")
		g.want("transactions", fmt.Sprint(after.Committed-before.Committed), "2")
	})
}

// large is the text of somebody's copy of the meeting, however large.
func (g *guests) large(who string) string {
	g.t.Helper()
	p := g.people[who]
	o, err := g.Object(g.ctx, nil, p.Caller, p.cal, g.name(who))
	g.must(err)
	return string(o.Data)
}

// TestWhatGuestsHaveOfTheirOwnStaysTheirs: copies that say the same are brought up to date together, and what one guest
// has added stays in theirs alone.
func TestWhatGuestsHaveOfTheirOwnStaysTheirs(t *testing.T) {
	invited(t, "ann bob eve kim", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, attendees("bob", "eve", "kim")))
		o, _ := g.has("eve")
		g.save("eve", strings.Replace(string(o.Data), "END:VEVENT", "CATEGORIES:mine\r\nEND:VEVENT", 1))
		g.save("ann", meetingOf(organizedByAnn, attendees("bob", "eve", "kim"), "LOCATION:Room 7"))
		for who, want := range map[string]string{"bob": "", "eve": "CATEGORIES:mine", "kim": ""} {
			g.want(who+" has the place", g.line(who, "LOCATION"), "LOCATION:Room 7")
			g.want(who+"'s own", g.line(who, "CATEGORIES"), want)
		}
		// A large copy is read by itself, and is kept as well.
		o, _ = g.has("kim")
		g.save("kim",
			strings.Replace(string(o.Data), "END:VEVENT", "CATEGORIES:"+strings.Repeat("k", 70<<10)+"\r\nEND:VEVENT",
				1))
		g.save("ann", meetingOf(organizedByAnn, attendees("bob", "eve", "kim"), "LOCATION:Room 8"))
		g.want("kim has the place", lineOf(g.large("kim"), "LOCATION"), "LOCATION:Room 8")
		g.want("kim's own", lineOf(g.large("kim"), "CATEGORIES")[:14], "CATEGORIES:kkk")
		g.must(g.answer("ACCEPTED"))
		g.want("kim sees bob's answer", lineOf(g.large("kim"), "ATTENDEE;PARTSTAT=ACCEPTED"),
			"ATTENDEE;PARTSTAT=ACCEPTED:mailto:bob@example.com")
	})
}
