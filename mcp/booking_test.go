package mcp

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	rules "caldav-mcp-server/calendar/booking"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/locale"
	"caldav-mcp-server/mail"
	"caldav-mcp-server/web/booking"
)

// unsent counts the mails of booking pages.
type unsent struct {
	mail.Bookings
	link string
}

// Send keeps the link of a mail.
func (u *unsent) Send(_ context.Context, _, _, _, text string, _ *locale.Language) error {
	if _, link, ok := strings.Cut(text, "/book/r/"); ok {
		u.link, _, _ = strings.Cut(link, "\n")
	}
	return nil
}

// bookings returns the booking pages of a house.
func (h *house) bookings(m booking.Mailer) *booking.Service {
	return &booking.Service{
		Calendars: h.service, Store: h.Store, Mailer: m, Now: h.Now, NewID: h.NewID, Logger: h.Logger(),
		Root: &url.URL{Scheme: "https", Host: "cal.example", Path: "/dav/book/"},
	}
}

// TestBookingPagesOfAssistants: a page is open at once only if the user agreed. A stranger's booking is listed, marked.
func TestBookingPagesOfAssistants(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, at string) {
		h := newHouse(t, at)
		alice := h.callers["alice"]
		alice.User.Email = "alice@example.com"
		address := "alice@example.com"
		if err := h.Store.ChangeUser(t.Context(), alice.User.ID, auth.UserEdit{Email: &address}); err != nil {
			t.Fatal(err)
		}
		h.callers["alice"] = alice
		sent := new(unsent)
		pages := h.bookings(sent)
		c := h.config()
		c.Bookings = pages
		door := h.open(t, c)
		var v newPageView
		said := use(t, door, "alice", "create_booking_page", params{
			"calendar_id": work, "title": "Talk", "name": "talk-alice", "minutes": []int{60, 30},
		}, &v)
		if v.Hint == "" || v.Address != "https://cal.example/dav/book/talk-alice" ||
			!strings.Contains(said, "/account/booking/") {
			t.Errorf("without the user's agreement: %+v %s", v, said)
		}
		var again newPageView // after a lost answer
		use(t, door, "alice", "create_booking_page", params{
			"calendar_id": work, "title": " Talk ", "name": "talk-alice", "minutes": []int{60, 30},
		}, &again)
		if again != v {
			t.Errorf("the same call again: %+v, want %+v", again, v)
		}
		if _, err := pages.Open(t.Context(), "talk-alice", true); err == nil {
			t.Error("visitors can open it")
		}
		h.callers["claude"] = h.callers["alice"]
		h.refuses(t, door, "create_booking_page", params{
			"calendar_id": work, "title": "B", "name": "talk-alice",
		}, "taken")
		h.refuses(t, door, "create_booking_page", params{"calendar_id": work, "title": "B", "name": "x"}, "3 to 40")
		h.refuses(t, door, "create_booking_page", params{
			"calendar_id": work, "title": "B", "minutes": []int{1},
		}, "minutes")

		answered := func(args, action string) string {
			t.Helper()
			a, id := openAsker(t, door, "create_booking_page", args)
			a.say(t, door, "alice", a.session, id, action)
			return a.next(t)
		}
		args := `{"calendar_id":"` + string(work) + `","title":"Secret talk"}`
		if got := answered(args, "decline"); !strings.Contains(got, "declined") {
			t.Errorf("after a no: %s", got)
		}
		use(t, door, "alice", "create_booking_page", params{"calendar_id": work, "title": "Secret talk"}, &again)
		for range 2 { // the second is a retry; the first opens the page that was made without an agreement
			got := answered(args, "accept")
			if !strings.Contains(got, again.Address) || strings.Contains(got, "hint") {
				t.Errorf("after a yes: %s", got)
			}
		}
		all, err := pages.Pages(t.Context(), h.callers["alice"].User)
		if err != nil || len(all) != 2 || all[1].Access != rules.Secret || len(all[1].Name) < 30 {
			t.Fatalf("the pages are %+v, %v", all, err)
		}
		start := "2026-03-03T09:00:00Z"
		held, err := pages.Reserve(t.Context(), rules.Visitor{Page: all[1].Name, Network: "n"}, rules.Request{
			Start: start, Name: "Eve ![x](https://evil.example)", Address: "eve@example.net",
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pages.ConfirmCode(t.Context(), rules.Visitor{Page: all[1].Name}, sent.link); err != nil {
			t.Fatalf("%+v: %v", held, err)
		}
		var list bookingsView
		said = use(t, door, "alice", "list_bookings", params{}, &list)
		if len(list.Pages) != 2 || len(list.Bookings) != 1 || list.Bookings[0].Untrusted != "eve@example.net" ||
			!strings.Contains(said, "untrusted_text_by") || !strings.Contains(said, "]\u202f(") {
			t.Errorf("listed %+v %s", list, said)
		}

		// A token for some calendars, or that may not share or write there, makes no page and sees none.
		for _, change := range []func(*calendar.Caller){
			func(c *calendar.Caller) { c.Calendars = []calendar.CalendarID{work} },
			func(c *calendar.Caller) { c.Scopes &^= calendar.ScopeShare },
			func(c *calendar.Caller) {
				c.Rights.Of = map[calendar.CalendarID]calendar.Right{work: calendar.RightRead}
			},
		} {
			few := h.callers["alice"]
			change(&few)
			h.callers["claude"] = few
			h.refuses(t, door, "create_booking_page", params{"calendar_id": work, "title": "B"}, "")
			if few.Calendars != nil {
				h.refuses(t, door, "list_bookings", params{}, "")
			}
		}
	})
}
