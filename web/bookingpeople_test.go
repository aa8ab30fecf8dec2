package web_test

import (
	"errors"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	rules "caldav-mcp-server/calendar/booking"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/web/booking"
)

// mailed makes a user with a mail address and a calendar.
func (h *house) mailed(name string) (calendar.User, calendar.Calendar) {
	h.Helper()
	u, err := h.auth.CreateUser(h.Context(), auth.NewUser{
		Name: name, Password: rightPassword, Timezone: "Europe/Berlin", Email: name + "@example.org",
		DisplayName: "Ms " + name,
	})
	h.must(err)
	cal, err := h.calendars.CreateCalendar(h.Context(), callerOf(u), calendar.NewCalendar{
		Segment: "work", Properties: calendar.Properties{Name: "Work"},
	})
	h.must(err)
	return u, cal
}

// busy puts an event into a calendar of a user, on Monday.
func (h *house) busy(u calendar.User, in calendar.Calendar, uid, from, until string) {
	h.Helper()
	_, err := h.calendars.Put(h.Context(), callerOf(u), in, calendar.Draft{
		Name: calendar.ObjectName(uid + ".ics"),
		Data: object("VEVENT", uid, "Dentist", "DTSTART:20260504T"+from+"00Z", "DTEND:20260504T"+until+"00Z",
			"STATUS:CONFIRMED"),
	})
	h.must(err)
}

// names lets a page name other users, who agree.
func (h *house) names(s *booking.Service, v booking.View, way rules.Together, people ...calendar.User) booking.View {
	h.Helper()
	v.Together, v.People = way, nil
	for _, u := range people {
		v.People = append(v.People, booking.Person{User: u})
	}
	id, err := s.Save(h.Context(), v.Owner, v)
	h.must(err)
	for _, u := range people {
		h.must(s.Answer(h.Context(), u, id, string(v.Access)+" "+string(way), true))
	}
	v, err = s.Page(h.Context(), v.Owner, id)
	h.must(err)
	return v
}

// starts lists the offered starts of Monday, in UTC.
func (h *house) starts(s *booking.Service, v booking.View, minutes int) string {
	h.Helper()
	from := time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC)
	v, err := s.Page(h.Context(), v.Owner, v.ID)
	h.must(err)
	found, err := s.Times(h.Context(), v, minutes, from, from.AddDate(0, 0, 1), nil)
	h.must(err)
	var list []string
	for _, one := range found {
		list = append(list, one.Start.UTC().Format("15:04"))
	}
	return strings.Join(list, " ")
}

// book holds and confirms Monday, 9:00.
func (h *house) book(s *booking.Service, l *letters, v booking.View, who string) (booking.Booking, error) {
	h.Helper()
	if err := s.Hold(h.Context(), v, wish(who)); err != nil {
		return booking.Booking{}, err
	}
	return s.Confirm(h.Context(), strings.TrimPrefix(l.link(h.T), "/book/r/"))
}

// A page uses the times of another user only while that user agrees.
func TestBookingPeopleAgree(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, l *letters) {
		v, work := h.host(s, func(r *rules.Settings) { r.Hours = map[string]string{"mon": "09:00-11:00"} })
		bob, _ := h.mailed("bob")
		h.user("eve") // without a mail address
		h.busy(v.Owner, work, "a", "0700", "0800")
		form := []string{
			"do", "save", "on", "1", "title", "Talk", "access", "public", "name", "talk-ann", "minutes", "60",
			"calendar", v.Calendar, "horizon", "30", "own-hours", "1", "hours-mon", "09:00-11:00",
		}
		ann := h.as("ann")
		for _, wrong := range []string{"mallory", "eve", "ann", "bob\nnobody"} {
			ann.post("booking/"+string(v.ID), append(form, "people", wrong, "together", "any")...).
				shows(http.StatusUnprocessableEntity, "is no other user of this server")
		}
		ann.post("booking/"+string(v.ID), append(form, "people", "bob@example.org", "together", "any")...).
			shows(http.StatusOK, "Saved")
		ann.get("booking/"+string(v.ID)).shows(http.StatusOK, "Ms bob has not answered yet")
		if told := l.last(t); !strings.HasPrefix(told, "bob@example.org\nMs ann asks you") ||
			!strings.Contains(told, "https://cal.example.org/account/booking") {
			t.Errorf("bob got %s", told)
		}
		before := "08:00"
		if got := h.starts(s, v, 60); got != before {
			t.Errorf("before the agreement: %s", got)
		}
		page := h.as("bob").get("booking").
			shows(http.StatusOK, "Booking pages that include you", "by Ms ann", "Everyone")
		if !strings.Contains(page.body, `value="public any"`) {
			t.Error("the form lacks the terms")
		}
		h.as("bob").post("booking", "page", string(v.ID), "terms", "users any", "do", "agree").
			shows(http.StatusUnprocessableEntity, "The page has changed")
		h.as("bob").post("booking", "page", string(v.ID), "terms", "public any", "do", "agree").
			shows(http.StatusOK, "Leave this page")
		ann.get("booking/"+string(v.ID)).shows(http.StatusOK, "Ms bob takes part")
		if got := h.starts(s, v, 60); got != "07:00 07:30 08:00" {
			t.Errorf("with bob: %s", got)
		}
		// The terms include who may open the page.
		sent := len(l.sent)
		form[7] = "users"
		ann.post("booking/"+string(v.ID), append(form, "people", "bob", "together", "any")...).
			shows(http.StatusOK, "Saved")
		if got := h.starts(s, v, 60); got != before || len(l.sent) != sent+1 {
			t.Errorf("after a change of the terms: %s, %d mails", got, len(l.sent)-sent)
		}
		h.must(s.Answer(t.Context(), bob, v.ID, "users any", true))
		held, err := s.Page(t.Context(), v.Owner, v.ID)
		h.must(err)
		w := wish("mia")
		w.Answers = nil
		h.must(s.Hold(t.Context(), held, w))
		h.as("bob").post("booking", "page", string(v.ID), "do", "refuse").shows(http.StatusOK, "Saved")
		_, err = s.Confirm(t.Context(), strings.TrimPrefix(l.link(t), "/book/r/"))
		if !errors.Is(err, booking.ErrTaken) {
			t.Errorf("a confirmation after bob left: %v", err)
		}
		if got := h.starts(s, v, 60) + h.events(bob); got != before {
			t.Errorf("after bob left: %s", got)
		}
		// Other users cannot answer, and do not see the page.
		h.user("mallory")
		h.as("mallory").get("booking").shows(http.StatusOK).hides("Talk")
		h.as("mallory").post("booking", "page", string(v.ID), "terms", "users any", "do", "agree").
			shows(http.StatusNotFound)
		// A refusal is final until bob says otherwise.
		sent = len(l.sent)
		ann.post("booking/"+string(v.ID), append(form, "people", "")...).shows(http.StatusOK, "Saved")
		ann.post("booking/"+string(v.ID), append(form, "people", "bob")...).shows(http.StatusOK, "Saved")
		if len(l.sent) != sent {
			t.Error("bob was asked again after a refusal")
		}
	})
}

// Any of us: bookings go to the person with the fewest, or to the next one who is free.
func TestBookingWithAnyOfUs(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, l *letters) {
		v, work := h.host(s, nil)
		bob, his := h.mailed("bob")
		cem, _ := h.mailed("cem")
		v = h.names(s, v, rules.AnyOfUs, cem, bob)
		owners := ""
		for _, who := range []string{"eve", "mia", "zoe"} {
			b, err := h.book(s, l, v, who)
			h.must(err)
			owners += b.Keeper.Name + " "
			if want := b.Keeper.Email + "\nBooked: Talk, " + who; !strings.HasPrefix(l.last(t), want) {
				t.Errorf("%s was told %s", b.Keeper.Name, l.last(t))
			}
		}
		if owners != "ann cem bob " {
			t.Errorf("the bookings went to %s", owners)
		}
		if _, err := h.book(s, l, v, "ida"); !errors.Is(err, booking.ErrTaken) {
			t.Errorf("a fourth booking: %v", err)
		}
		if got := h.events(bob); got != "4 07:00 Talk: zoe CONFIRMED" {
			t.Errorf("bob has %s", got)
		}
		waiting, err := h.store.WaitingFor(t.Context(), bob.ID, "zoe@example.com", h.onlyUID(bob))
		h.must(err)
		if len(waiting) != 1 || waiting[0].Method != calendar.MethodRequest {
			t.Errorf("zoe gets %v, want an invitation by bob", waiting)
		}
		h.as("ann").get("booking").shows(http.StatusOK, "zoe@example.com")
		// The link moves and cancels the booking with the same person.
		b := h.browser()
		var token string
		for _, sent := range l.sent {
			if strings.HasPrefix(sent, "zoe@") {
				token = linkForm.FindStringSubmatch(sent)[1]
			}
		}
		b.get(token).shows(http.StatusOK, "Ms bob")
		h.busy(bob, his, "b", "0900", "1000")
		moving := b.get(token+"?move=1&zone=UTC").shows(http.StatusOK, "With Ms bob")
		if !strings.Contains(moving.body, "2026-05-04T08:00:00Z") ||
			strings.Contains(moving.body, "2026-05-04T09:00:00Z") {
			t.Error("the times are not bob's")
		}
		b.post(token, "do", "move", "start", "2026-05-04T09:00:00Z").shows(http.StatusUnprocessableEntity, "not free")
		b.post(token, "do", "move", "start", "2026-05-04T08:00:00Z").shows(http.StatusOK, "This time is booked")
		b.post(token, "do", "cancel").shows(http.StatusOK, "This booking is cancelled")
		if got := h.events(bob); got != "4 09:00 Dentist CONFIRMED" {
			t.Errorf("bob still has %s", got)
		}
		// The host of a hold becomes busy: another person gets the booking, with the answers.
		late := wish("kim")
		late.Start = late.Start.Add(5 * time.Hour)
		h.must(s.Hold(t.Context(), v, late))
		if got := h.events(bob); !strings.Contains(got, "4 12:00 Talk: kim (not confirmed yet)") {
			t.Fatalf("bob has %s", got)
		}
		h.busy(bob, his, "c", "1230", "1300")
		h.busy(v.Owner, work, "d", "1230", "1300")
		done, err := s.Confirm(t.Context(), strings.TrimPrefix(l.link(t), "/book/r/"))
		h.must(err)
		if got := h.events(bob); done.Keeper.ID != cem.ID || strings.Contains(got, "kim") {
			t.Errorf("%s got it; bob has %s", done.Keeper.Name, got)
		}
		if got := h.events(cem); !strings.Contains(got, "4 12:00 Talk: kim CONFIRMED") {
			t.Errorf("cem has %s", got)
		}
		in, err := h.calendars.Calendar(t.Context(), callerOf(cem), done.Calendar)
		h.must(err)
		o, err := h.calendars.ObjectByUID(t.Context(), nil, callerOf(cem), in, done.UID)
		h.must(err)
		if text := string(o.Data); !strings.Contains(text, "Boats") || !strings.Contains(text, "cem@example.org") {
			t.Errorf("the event is %s", text)
		}
	})
}

// All of us: everyone must be free, and everyone gets the event.
func TestBookingWithAllOfUs(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, l *letters) {
		v, work := h.host(s, func(r *rules.Settings) { r.Hours = map[string]string{"mon": "09:00-12:00"} })
		bob, his := h.mailed("bob")
		v = h.names(s, v, rules.AllOfUs, bob)
		h.busy(v.Owner, work, "a", "0930", "1000")
		h.busy(bob, his, "b", "0800", "0830")
		if got := h.starts(s, v, 30); got != "07:00 07:30 08:30 09:00" {
			t.Errorf("times: %s", got)
		}
		h.browser().get("/book/talk-ann").shows(http.StatusOK, "With Ms ann, Ms bob")
		w := wish("bob")
		w.Address = "bob@example.org"
		if err := s.Hold(t.Context(), v, w); !errors.Is(err, booking.ErrAddress) {
			t.Errorf("one of the people as the visitor: %v", err)
		}
		b, err := h.book(s, l, v, "eve")
		h.must(err)
		if got := h.events(bob); !strings.Contains(got, "4 07:00 Talk: eve CONFIRMED") {
			t.Errorf("bob has %s", got)
		}
		// The own time does not count as busy while it moves.
		_, err = s.Move(t.Context(), strings.TrimPrefix(linkForm.FindStringSubmatch(l.sent[1])[1], "/book/r/"),
			b.Start.Add(30*time.Minute))
		if !errors.Is(err, booking.ErrTaken) { // bob is busy at 8:00
			t.Errorf("moved: %v", err)
		}
		later := wish("mia")
		later.Start, later.Minutes = later.Start.Add(90*time.Minute), 30
		h.must(s.Hold(t.Context(), v, later))
		h.must(s.Answer(t.Context(), bob, v.ID, "", false))
		_, err = s.Confirm(t.Context(), strings.TrimPrefix(l.link(t), "/book/r/"))
		if got := h.starts(s, v, 30); got != "" || !errors.Is(err, booking.ErrTaken) {
			t.Errorf("after bob left: %s, %v", got, err)
		}
	})
}

// One person is on two pages: visitors who confirm at the same moment, through two servers, never get the same time.
func TestConfirmationsOnTwoPagesAtOnce(t *testing.T) {
	testdb.Each(t, func(t *testing.T, at string) {
		h := open(t, at)
		l := new(letters)
		s, second := h.bookings(l), h.bookings(l)
		other := housetest.Open(t, at, h.Clock)
		second.Store, second.Calendars = other.Store, service.New(other.Middle())
		bob, _ := h.mailed("bob")
		v, _ := h.host(s, nil)
		v.PerDay = 2
		v = h.names(s, v, rules.AnyOfUs, bob)
		cem, his := h.mailed("cem")
		all := booking.View{BookingPage: calendar.BookingPage{Name: "all-of-us", On: true}, Owner: cem}
		all.Settings = v.Settings
		all.Calendar = string(his.ID)
		all = h.names(s, all, rules.AllOfUs, bob)
		var links []string
		for n := range 12 {
			w := wish("v" + string(rune('a'+n)))
			w.Start = w.Start.Add(time.Duration(n/4) * time.Hour)
			h.must(s.Hold(t.Context(), []booking.View{v, all}[n%2], w))
			links = append(links, strings.TrimPrefix(l.link(t), "/book/r/"))
		}
		var wait sync.WaitGroup
		results := make([]error, len(links))
		for n, link := range links {
			with := []*booking.Service{s, second}[n/2%2]
			wait.Go(func() { _, results[n] = with.Confirm(t.Context(), link) })
		}
		wait.Wait()
		won := [2]int{}
		for n, err := range results {
			switch {
			case err == nil:
				won[n%2]++
			case !errors.Is(err, booking.ErrTaken):
				t.Errorf("visitor %d: %v", n, err)
			}
		}
		if won[0] != 2 || won[1] > 2 {
			t.Errorf("%v visitors of the two pages got a time, want 2 a day at most", won)
		}
		for _, u := range []calendar.User{v.Owner, bob, cem} {
			starts := map[string]bool{}
			for event := range strings.SplitSeq(h.events(u), ", ") {
				start, _, _ := strings.Cut(event, " Talk")
				if starts[start] || event != "" && !strings.HasSuffix(event, "CONFIRMED") {
					t.Errorf("%s has %s twice, or not confirmed", u.Name, event)
				}
				starts[start] = true
			}
		}
	})
}

// between returns the service with an action between its reading of the calendars and its commit.
func between(s *booking.Service, act func()) *booking.Service {
	late, calls, now := *s, 0, s.Now
	late.Now = func() time.Time {
		if at, _, _, ok := runtime.Caller(1); ok && strings.HasSuffix(runtime.FuncForPC(at).Name(), ".decide") {
			if calls++; calls == 2 { // the first is before the reading
				act()
			}
		}
		return now()
	}
	return &late
}

// A change between reading and commit is seen, in the calendar of each person, and in the number of bookings of a day.
func TestChangesDuringAConfirmation(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, l *letters) {
		v, _ := h.host(s, func(r *rules.Settings) { r.PerDay = 1 })
		bob, his := h.mailed("bob")
		v = h.names(s, v, rules.AllOfUs, bob)
		token := func(who string) string {
			h.must(s.Hold(t.Context(), v, wish(who)))
			return strings.TrimPrefix(l.link(t), "/book/r/")
		}
		_, err := between(s, func() { h.busy(bob, his, "b", "0730", "0800") }).Confirm(t.Context(), token("eve"))
		if !errors.Is(err, booking.ErrTaken) {
			t.Errorf("bob became busy: %v", err)
		}
		h.must(h.calendars.Delete(t.Context(), callerOf(bob), his, "b.ics", calendar.Precondition{}))
		v = h.names(s, v, rules.AnyOfUs, bob)
		first, second := token("mia"), token("zoe")
		_, err = between(s, func() {
			_, err := s.Confirm(t.Context(), second)
			h.must(err)
		}).Confirm(t.Context(), first)
		got := h.events(v.Owner) + h.events(bob)
		if !errors.Is(err, booking.ErrTaken) || strings.Count(got, "Talk") != 1 {
			t.Errorf("the second booking of a day: %v, %s", err, got)
		}
	})
}
