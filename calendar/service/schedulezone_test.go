package service_test

import (
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/internal/housetest"
)

// unexplained is a series with a day of its own, whose zones no VTIMEZONE explains: by their names of IANA, of Windows
// and as Outlook shows it.
func unexplained(lines ...string) string {
	text := meetingOf(append([]string{"RRULE:FREQ=WEEKLY;COUNT=4"}, lines...)...)
	text = strings.Replace(text, "DTSTART:20260310T100000Z", "DTSTART;TZID=Europe/Berlin:20260310T110000", 1)
	text = strings.Replace(text, "DTEND:20260310T110000Z", "DTEND;TZID=W. Europe Standard Time:20260310T120000", 1)
	day := strings.Join(append([]string{
		"BEGIN:VEVENT", "UID:meeting", "DTSTAMP:20260301T080000Z", "RECURRENCE-ID;TZID=Europe/Berlin:20260317T110000",
		`DTSTART;TZID="(UTC-05:00) Eastern Time (US & Canada)":20260317T090000`, "DURATION:PT1H", "SUMMARY:Late",
	}, lines...), "\r\n")
	return strings.Replace(text, "END:VCALENDAR", day+"\r\nEND:VEVENT\r\nEND:VCALENDAR", 1)
}

// TestMessagesDefineTheirZones: what the organizer's program left out is in each message and each copy made of one
// (RFC 5545 §3.2.19), while the organizer's own text stays as it was put. The store that tests have looks at every
// message.
func TestMessagesDefineTheirZones(t *testing.T) {
	invited(t, "ann bob eve", func(g *guests) {
		copies := func(whose ...string) {
			g.t.Helper()
			for _, who := range whose {
				g.want(who+"'s copy has zones", g.line(who, "BEGIN:VTIMEZONE"), "BEGIN:VTIMEZONE")
				housetest.WantZones(g.t, g.text(who))
			}
		}
		g.save("ann", unexplained(organizedByAnn, attendees("bob", "eve", "zoe")))
		g.want("ann's has none", g.line("ann", "BEGIN:VTIMEZONE"), "")
		copies("bob", "eve")
		g.want("to zoe", g.letters(), "REQUEST zoe@example.com")

		g.must(g.answer("ACCEPTED"))
		g.want("an answer", g.inbox("ann"), "REPLY")
		g.want("changes nothing of that", g.line("ann", "BEGIN:VTIMEZONE"), "")

		// One day in a zone that nobody had: a message about that day alone.
		g.save("ann",
			strings.Replace(strings.ReplaceAll(g.text("ann"), "\r\n ", ""), "RRULE:FREQ=WEEKLY;COUNT=4",
				"RRULE:FREQ=WEEKLY;COUNT=4\r\nEXDATE;TZID=Romance Standard Time:20260324T110000", 1))
		copies("bob", "eve")
		g.letters()
		g.must(g.Delete(g.ctx, g.people["ann"].Caller, g.people["ann"].cal, g.name("ann"), calendar.Precondition{}))
		g.want("called off", g.line("bob", "STATUS"), "STATUS:CANCELLED")
		copies("bob", "eve")
	})
}

// TestMailsFromElsewhereGetTheirZones: Google's invitations name zones alone.
func TestMailsFromElsewhereGetTheirZones(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		g.receive(bobsMail, calendar.MethodRequest, unexplained(fromZoe, attendees("bob")))
		g.want("bob's copy", g.line("bob", "TZID:"), "TZID:Europe/Berlin")
		housetest.WantZones(g.t, g.text("bob"))
		g.want("bob's inbox", g.inbox("bob"), "REQUEST")
		g.must(g.answer("ACCEPTED"))
		g.want("the answer", g.letters(), "REPLY zoe@elsewhere.example")
	})
}

// TestFilesDefineTheirZones: so do feeds, what a public link shows, and exports.
func TestFilesDefineTheirZones(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		hidden := strings.ReplaceAll(unexplained("CLASS:PRIVATE"), "UID:meeting", "UID:hidden")
		old := strings.ReplaceAll(meetingOf(), "DTSTART:20260310T100000Z",
			"DTSTART;TZID=America/New_York:20010910T100000")
		for name, data := range map[calendar.ObjectName]string{
			"1.ics": unexplained(), "2.ics": hidden,
			"3.ics": strings.Replace(strings.ReplaceAll(old, "UID:meeting", "UID:old"), "DTEND:20260310T110000Z\r\n",
				"", 1),
		} {
			h.put(h.alice, work, name, data)
		}
		_, feed := h.feed(by(h.alice, calendar.ReadAccess, work), work, query.FeedEvents)
		_, busy := h.feed(by(h.alice, calendar.FreeBusyAccess, work), work, query.FeedEvents)
		var export strings.Builder
		_, err := h.Export(h.ctx, nil, h.alice, h.fresh(h.alice, work), nil, &export, nil)
		h.must(err)
		for text, zones := range map[string]int{feed: 2, export.String(): 4, busy: 0} {
			housetest.WantZones(h.t, text)
			if n := strings.Count(text, "BEGIN:VTIMEZONE"); n != zones {
				h.t.Errorf("there are %d zones, want %d, in\n%s", n, zones, text)
			}
		}
		o, err := h.Store.ObjectByUID(h.ctx, work.ID, "meeting")
		h.must(err)
		if string(o.Data) != unexplained() {
			h.t.Errorf("what was put is now\n%s", o.Data)
		}
	})
}
