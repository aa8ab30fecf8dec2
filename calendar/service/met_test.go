package service_test

import (
	"fmt"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
)

// met lists the people that a caller met.
func (h *house) met(c calendar.Caller, limit int) string {
	h.t.Helper()
	m := h.Meter(h.ctx, c)
	defer m.Close()
	found, err := h.Met(h.ctx, c, m, limit)
	h.must(err)
	list := make([]string, len(found))
	for i, a := range found {
		list[i] = strings.TrimSpace(a.Name + " " + a.Address)
	}
	return strings.Join(list, ", ")
}

func meetingWith(uid string, lines ...string) string {
	return agendaEvent(uid, append([]string{"DTSTART:20260302T090000Z", "SUMMARY:" + uid}, lines...)...)
}

// TestMet: only the caller's own events name people, and the most frequent ones come first.
func TestMet(t *testing.T) {
	each(t, func(h *house) {
		h.alice.Mails = []string{"alice@example.com"}
		work, home := h.calendar(h.alice, "work"), h.calendar(h.alice, "home")
		shared := h.calendar(h.bob, "shared")
		h.must(h.give(shared.ID, h.alice.User.ID, calendar.WriteAccess))
		h.put(h.bob, shared, "secret", meetingWith("secret", "ATTENDEE:mailto:eve@example.com"))
		h.put(h.alice, work, "one", meetingWith("one", "attendee;CN=Zoë:mailto:zoe@example.com",
			"ATTENDEE:mailto:Alice@example.com", "ATTENDEE:urn:uuid:1", "ATTENDEE:mailto:no address"))
		h.put(h.alice, home, "two", meetingWith("two", "ATTENDEE:mailto:ZOE@example.com",
			"ATTENDEE:mailto:max@example.com", "END:VEVENT", "BEGIN:VEVENT", "UID:two", "DTSTAMP:20260301T000000Z",
			"RECURRENCE-ID:20260303T090000Z", "DTSTART:20260303T090000Z", "ATTENDEE:mailto:max@example.com"))
		h.put(h.alice, home, "three", meetingWith("three", "ATTENDEE:mailto:gone@example.com"))
		h.must(h.Delete(h.ctx, h.alice, home, "three", calendar.Precondition{}))
		const want = "Zoë ZOE@example.com, max@example.com"
		if got := h.met(h.alice, 9); got != want {
			t.Errorf("met %s, want %s", got, want)
		}
		if got := h.met(h.alice, 1); got != "Zoë ZOE@example.com" {
			t.Errorf("the first is %s", got)
		}
		limited := h.alice
		limited.Calendars = []calendar.CalendarID{work.ID}
		if got := h.met(limited, 9); got != "Zoë zoe@example.com" {
			t.Errorf("a token for one calendar: %s", got)
		}
		if got := h.met(h.bob, 9); got != "eve@example.com" {
			t.Errorf("bob met %s", got)
		}
	})
}

// TestMetIsBounded: an event that changed long ago is not read.
func TestMetIsBounded(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.put(h.alice, work, "old", meetingWith("old", "ATTENDEE:mailto:old@example.com"))
		for i := range 299 {
			name := calendar.ObjectName(fmt.Sprint("e", i))
			h.put(h.alice, work, name, meetingWith(string(name)))
		}
		if got := h.met(h.alice, 9); got != "old@example.com" {
			t.Errorf("met %q", got)
		}
		h.put(h.alice, work, "new", meetingWith("new", "ATTENDEE:mailto:new@example.com"))
		if got := h.met(h.alice, 9); got != "new@example.com" {
			t.Errorf("met %q after one more event", got)
		}
	})
}
