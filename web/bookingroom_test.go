package web_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	rules "caldav-mcp-server/calendar/booking"
	"caldav-mcp-server/web/booking"
)

// bookable makes a room for a number of people.
func (h *house) bookable(name string, capacity int64, bookers string) (calendar.User, calendar.Calendar) {
	h.Helper()
	room, err := h.auth.CreateUser(h.Context(), auth.NewUser{
		Name: name, Invited: true, Timezone: "Europe/Berlin", Email: name + "@example.org", DisplayName: "Room " + name,
		Room: calendar.Room{Kind: calendar.RoomToMeet, Capacity: capacity, Bookers: bookers},
	})
	h.must(err)
	cal, err := h.calendars.CreateCalendar(h.Context(), callerOf(room), calendar.NewCalendar{
		Segment: "bookings", Properties: calendar.Properties{Name: "Bookings"},
	})
	h.must(err)
	return room, cal
}

// mailsTo returns the waiting scheduling mails of the only event of a user to an address.
func (h *house) mailsTo(u calendar.User, uid calendar.UID, address string) int {
	h.Helper()
	waiting, err := h.store.WaitingFor(h.Context(), u.ID, calendar.MailAddress(address), uid)
	h.must(err)
	return len(waiting)
}

// A page with a room offers times when the room is free. The room is invited and accepts before the visitor is invited.
func TestBookingWithARoom(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, l *letters) {
		blue, in := h.bookable("blue", 2, "")
		small, _ := h.bookable("small", 1, "")
		closed, _ := h.bookable("closed", 0, "nobody-else")
		v, _ := h.host(s, func(r *rules.Settings) { r.Hours = map[string]string{"mon": "09:00-12:00"} })
		v.Location = ""
		for _, wrong := range []string{string(small.ID), string(closed.ID), string(v.Owner.ID), "none"} {
			v.Room = wrong
			var refused *rules.Error
			if _, err := s.Save(t.Context(), v.Owner, v); !errors.As(err, &refused) || refused.Field != "room" {
				t.Errorf("room %s: %v", wrong, err)
			}
		}
		h.as("ann").get("booking/"+string(v.ID)).shows(http.StatusOK, "Room blue").hides("Room small", "Room closed")
		form := []string{
			"do", "save", "on", "1", "title", "Talk", "access", "public", "name", "talk-ann", "minutes", "60, 30",
			"calendar", v.Calendar, "horizon", "30", "own-hours", "1", "hours-mon", "09:00-12:00", "before", "30",
			"question-0", "About?",
		}
		h.as("ann").post("booking/"+string(v.ID), append(form, "room", string(blue.ID))...).
			shows(http.StatusOK, "Saved")
		v, err := s.Page(t.Context(), v.Owner, v.ID)
		h.must(err)
		h.busy(blue, in, "a", "0830", "0900")
		// The room needs no free time around a booking.
		if got := h.starts(s, v, 30); got != "07:00 07:30 08:00 09:00 09:30" {
			t.Errorf("times: %s", got)
		}
		b, err := h.book(s, l, v, "eve")
		h.must(err)
		if got := h.events(blue); got != "4 07:00 Talk: eve CONFIRMED, 4 08:30 Dentist CONFIRMED" {
			t.Errorf("the room has %s", got)
		}
		o, err := h.calendars.OwnByUID(t.Context(), callerOf(v.Owner), b.UID)
		h.must(err)
		for _, want := range []string{
			"PARTSTAT=ACCEPTED", "mailto:blue@example.org", "eve@example.com", "LOCATION:Room blue",
		} {
			if !strings.Contains(strings.ReplaceAll(string(o.Data), "\r\n ", ""), want) {
				t.Errorf("the event lacks %s: %s", want, o.Data)
			}
		}
		if n := h.mailsTo(v.Owner, b.UID, "eve@example.com"); n != 1 {
			t.Errorf("eve gets %d mails", n)
		}
		// It moves to a time that overlaps its own.
		token := strings.TrimPrefix(l.sent[0][strings.Index(l.sent[0], "/book/r/"):], "/book/r/")
		token, _, _ = strings.Cut(token, "\n")
		_, err = s.Move(t.Context(), token, b.Start.Add(90*time.Minute))
		if !errors.Is(err, booking.ErrTaken) {
			t.Errorf("moved to a time when the room is taken: %v", err)
		}
		_, err = s.Move(t.Context(), token, b.Start.Add(30*time.Minute))
		h.must(err)
		if got := h.events(blue); !strings.HasPrefix(got, "4 07:30 Talk: eve CONFIRMED") {
			t.Errorf("the room has %s", got)
		}
	})
}

// A room that becomes busy, or refuses, during a confirmation: nothing is booked, and the visitor gets no invitation.
func TestRoomRefusesABooking(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, l *letters) {
		blue, in := h.bookable("blue", 0, "")
		v, _ := h.host(s, func(r *rules.Settings) { r.Room = string(blue.ID) })
		hold := func(who string) string {
			h.must(s.Hold(t.Context(), v, wish(who)))
			return strings.TrimPrefix(l.link(t), "/book/r/")
		}
		nothing := func(what, who string, uid calendar.UID, err error) {
			t.Helper()
			if got := h.events(v.Owner); !errors.Is(err, booking.ErrTaken) || got != "" {
				t.Errorf("%s: %v, %s", what, err, got)
			}
			if n := h.mailsTo(v.Owner, uid, who+"@example.com"); n > 0 {
				t.Errorf("%s: the visitor gets %d mails", what, n)
			}
		}
		b, err := between(s, func() { h.busy(blue, in, "a", "0730", "0800") }).Confirm(t.Context(), hold("eve"))
		nothing("busy", "eve", b.UID, err)
		h.must(h.calendars.Delete(t.Context(), callerOf(blue), in, "a.ics", calendar.Precondition{}))
		change := func(by string) {
			_, err := h.auth.ChangeUser(t.Context(), "blue", auth.UserEdit{Bookers: &by})
			h.must(err)
		}
		b, err = between(s, func() { change("nobody") }).Confirm(t.Context(), hold("mia"))
		nothing("barred", "mia", b.UID, err)
		if got := h.events(blue); strings.Contains(got, "CONFIRMED") {
			t.Errorf("the room has %s", got)
		}
		if got := h.starts(s, v, 60); got != "" {
			t.Errorf("a room that the owner may not book is offered at %s", got)
		}
		change("")
		// A process ended after it had reserved the time, before the room had its invitation.
		token := hold("zoe")
		b, err = s.Find(t.Context(), token)
		h.must(err)
		next := b.Hold
		next.State = calendar.Reserved
		h.must(h.store.Update(t.Context(), func(tx calendar.Tx) error {
			return tx.UpdateHold(t.Context(), next, calendar.Held, 0, h.Now())
		}))
		if got := h.starts(s, v, 60); strings.Contains(got, "07:00") {
			t.Errorf("a reserved time is offered: %s", got)
		}
		_, err = s.Confirm(t.Context(), token)
		nothing("left", "zoe", b.UID, err)
	})
}
