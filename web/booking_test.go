package web_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	rules "caldav-mcp-server/calendar/booking"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/locale"
	"caldav-mcp-server/mail"
	"caldav-mcp-server/web"
	"caldav-mcp-server/web/booking"
)

// letters collects the mails of booking pages.
type letters struct {
	mail.Bookings
	mu   sync.Mutex
	sent []string
	// fails is the error of each mail.
	fails error
}

// Send keeps a mail.
func (l *letters) Send(_ context.Context, to, _, subject, text string, _ *locale.Language) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fails == nil {
		l.sent = append(l.sent, to+"\n"+subject+"\n"+text)
	}
	return l.fails
}

// last returns the last mail.
func (l *letters) last(t *testing.T) string {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.sent) == 0 {
		t.Fatal("no mail was sent")
	}
	return l.sent[len(l.sent)-1]
}

var linkForm = regexp.MustCompile(`https://cal\.example\.org(/book/r/\S+)`)

// link returns the path of the link in the last mail.
func (l *letters) link(t *testing.T) string {
	t.Helper()
	found := linkForm.FindStringSubmatch(l.last(t))
	if found == nil {
		t.Fatalf("no link in %s", l.last(t))
	}
	return found[1]
}

// bookings returns the service on a house.
func (h *house) bookings(l *letters) *booking.Service {
	h.Helper()
	root, err := url.Parse("https://cal.example.org/book/")
	h.must(err)
	return &booking.Service{
		Calendars: h.calendars, Store: h.store, Mailer: l, Root: root, Now: h.Now, NewID: h.NewID, Logger: h.Logger(),
	}
}

// eachBooking runs a test in a house with booking pages. Its clock shows Friday, May 1st 2026, 14:00 in Berlin.
func eachBooking(t *testing.T, test func(h *house, s *booking.Service, l *letters)) {
	t.Helper()
	testdb.Each(t, func(t *testing.T, at string) {
		l := new(letters)
		var s *booking.Service
		h := open(t, at, func(c *web.Config) {
			root, err := url.Parse("https://cal.example.org/book/")
			if err != nil {
				t.Fatal(err)
			}
			s = &booking.Service{Calendars: c.Service, Mailer: l, Root: root, Now: c.Now, Logger: c.Logger}
			c.Bookings = s
		})
		middle := h.Middle()
		middle.Mailed = true
		s.Store, s.NewID, s.Calendars = h.store, h.NewID, service.New(middle)
		test(h, s, l)
	})
}

// late is a store that returns a hold as it was before it was confirmed, once.
type late struct {
	booking.Store
	was *calendar.Hold
}

func (s *late) HoldByToken(ctx context.Context, token []byte) (calendar.Hold, error) {
	if s.was == nil {
		return s.Store.HoldByToken(ctx, token)
	}
	was := *s.was
	s.was = nil
	return was, nil
}

// A second press that began before the first one's confirmation neither loses the booking nor keeps a cancelled one.
func TestLateBookingPresses(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, l *letters) {
		v, cal := h.host(s, nil)
		h.must(s.Hold(t.Context(), v, wish("eve")))
		token := strings.TrimPrefix(l.link(t), "/book/r/")
		held, err := s.Find(t.Context(), token)
		h.must(err)
		_, err = s.Confirm(t.Context(), token)
		h.must(err)
		// The owner adds an event at that time.
		_, err = h.calendars.Put(t.Context(), callerOf(v.Owner), cal, calendar.Draft{
			Name: "a.ics", Data: object("VEVENT", "a", "Dentist", "DTSTART:20260504T070000Z", "DTEND:20260504T090000Z",
				"STATUS:CONFIRMED"),
		})
		h.must(err)
		slow := *s
		slow.Store = &late{s.Store, &held.Hold}
		if b, err := slow.Confirm(t.Context(), token); err != nil || b.State != calendar.Booked {
			t.Errorf("the second confirmation: %v, %v", b.State, err)
		}
		if got := h.events(v.Owner); !strings.Contains(got, "eve CONFIRMED") {
			t.Errorf("after it: %s", got)
		}
		slow.Store = &late{s.Store, &held.Hold}
		b, err := slow.Cancel(t.Context(), token)
		h.must(err)
		if got := h.events(v.Owner); b.State != calendar.Released || strings.Contains(got, "eve") {
			t.Errorf("after the cancellation: %v, %s", b.State, got)
		}
	})
}

// A button that is pressed twice at the same moment does one thing, and tells the owner once.
func TestBookingPressedTwice(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, l *letters) {
		v, _ := h.host(s, nil)
		h.must(s.Hold(t.Context(), v, wish("eve")))
		token := strings.TrimPrefix(l.link(t), "/book/r/")
		slow := *s
		twice := func(act func(*booking.Service) error) {
			t.Helper()
			before, err := s.Store.HoldByToken(t.Context(), hashOf(token))
			h.must(err)
			h.must(act(s))
			told := len(l.sent)
			slow.Store = &late{s.Store, &before}
			if h.must(act(&slow)); len(l.sent) != told {
				t.Errorf("the owner is told again: %s", l.last(t))
			}
		}
		twice(func(s *booking.Service) error {
			_, err := s.Confirm(t.Context(), token)
			return err
		})
		start := time.Date(2026, 5, 5, 8, 0, 0, 0, time.UTC)
		var booked calendar.Hold
		twice(func(s *booking.Service) error {
			b, err := s.Move(t.Context(), token, start)
			booked = b.Hold
			return err
		})
		if !booked.Start.Equal(start) {
			t.Errorf("moved to %v", booked.Start)
		}
		booked.Moves = 0
		slow.Store = &late{s.Store, &booked}
		if b, err := slow.Move(t.Context(), token, start.Add(time.Hour)); !errors.Is(err, booking.ErrTaken) ||
			!b.Start.Equal(start) {
			t.Errorf("another move at the same moment: %v %v", b.Start, err)
		}
	})
}

// hashOf returns the stored hash of a token.
func hashOf(token string) []byte {
	sum := sha256.Sum256([]byte("booking " + token))
	return sum[:]
}

// A length that the owner removes while a visitor fills the form is not replaced by another one.
func TestBookingOfARemovedLength(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, _ *letters) {
		v, _ := h.host(s, func(r *rules.Settings) { r.Minutes = []int{30} })
		h.browser().post("/book/talk-ann", "start", "2026-05-04T07:00:00Z", "minutes", "60", "name", "Eve",
			"address", "eve@example.com", "answer-0", "x").shows(http.StatusUnprocessableEntity, "not free any more")
		if got := h.events(v.Owner); got != "" {
			t.Errorf("held: %s", got)
		}
	})
}

// rival is a store whose next list of holds is read just before another visitor chooses a time.
type rival struct {
	booking.Store
	choose func()
}

func (s *rival) HoldsOf(ctx context.Context, u calendar.UserID, after time.Time) ([]calendar.Hold, error) {
	all, err := s.Store.HoldsOf(ctx, u, after)
	if choose := s.choose; choose != nil {
		s.choose = nil
		choose()
	}
	return all, err
}

// A visitor who chooses a time at the very moment of another's choice or confirmation does not take it away.
func TestHoldAtTheMomentOfAnother(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, l *letters) {
		v, _ := h.host(s, nil)
		at := &rival{Store: s.Store}
		meanwhile := *s
		meanwhile.Store = at
		at.choose = func() { h.must(s.Hold(t.Context(), v, wish("mia"))) }
		h.must(meanwhile.Hold(t.Context(), v, wish("eve")))
		token := strings.TrimPrefix(l.link(t), "/book/r/")
		at.choose = func() { h.must(s.Hold(t.Context(), v, wish("zoe"))) }
		_, err := meanwhile.Confirm(t.Context(), token)
		h.must(err)
	})
}

// host makes the user ann with a mail address and a calendar, and a page called talk for an hour or half an hour.
func (h *house) host(s *booking.Service, change func(*rules.Settings)) (booking.View, calendar.Calendar) {
	h.Helper()
	u, err := h.auth.CreateUser(h.Context(), auth.NewUser{
		Name: "ann", Password: rightPassword, Timezone: "Europe/Berlin", Email: "ann@example.org",
		DisplayName: "Ms ann",
	})
	h.must(err)
	cal, err := h.calendars.CreateCalendar(h.Context(), callerOf(u), calendar.NewCalendar{
		Segment: "work", Properties: calendar.Properties{Name: "Work"},
	})
	h.must(err)
	v := booking.View{BookingPage: calendar.BookingPage{Name: "talk-ann", On: true}}
	v.Settings = rules.Settings{
		Title: "Talk", Access: rules.Public, Minutes: []int{60, 30}, HorizonDays: 30, Calendar: string(cal.ID),
		Location: "Lido", Questions: []rules.Question{{Text: "About?", Required: true}},
	}
	if change != nil {
		change(&v.Settings)
	}
	id, err := s.Save(h.Context(), u, v)
	h.must(err)
	v, err = s.Page(h.Context(), u, id)
	h.must(err)
	return v, cal
}

// events returns the texts of all events of a user.
func (h *house) events(u calendar.User) string {
	h.Helper()
	found, err := h.calendars.Agenda(h.Context(), callerOf(u), query.AgendaQuery{
		From: h.Now(), Until: h.Now().AddDate(0, 2, 0), Limit: 100,
	})
	h.must(err)
	var all []string
	for _, o := range found.Occurrences {
		all = append(all, o.Start.Time.UTC().Format("2 15:04 ")+o.Component.Property("SUMMARY").Text()+" "+
			o.Component.Property("STATUS").Text())
	}
	return strings.Join(all, ", ")
}

// A visitor without an account chooses, confirms, moves and cancels. The owner's calendar shows each step.
func TestBooking(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, l *letters) {
		v, cal := h.host(s, nil)
		b := h.browser()
		b.get("/book/talk-ann?zone=America/New_York").shows(http.StatusOK, "Talk", "Ms ann", "Monday 4 May", "03:00")
		form := b.get("/book/talk-ann?start=2026-05-04T07:00:00Z&minutes=60&zone=Europe/Berlin")
		form.shows(http.StatusOK, "About?", "9:00")
		fields := []string{
			"start", "2026-05-04T07:00:00Z", "minutes", "60", "zone", "Europe/Berlin", "name", "Eve\u202e <b>",
			"address", "eve@example.com", "answer-0", "Boats",
		}
		sent := b.post("/book/talk-ann", fields...).shows(http.StatusOK, "Check your email", "eve@example.com")
		b.get(sent.link("Wrong address?")).shows(http.StatusOK, "About?", "9:00", "Europe/Berlin")
		if got := h.events(v.Owner); got != "4 07:00 Talk: Eve <b> (not confirmed yet) TENTATIVE" {
			t.Errorf("held: %s", got)
		}
		// The hold keeps the time from other visitors' lists.
		if page := b.get("/book/talk-ann?zone=Europe/Berlin"); strings.Contains(page.body, "2026-05-04T07%3A00%3A00Z") {
			t.Error("a held time is offered")
		}
		if told := l.last(t); strings.Contains(told, "Eve") || !strings.Contains(told, "eve@example.com") {
			t.Errorf("the mail has the visitor's words: %s", told)
		}
		link := l.link(t)
		b.get(link).shows(http.StatusOK, "Confirm your booking", "Lido")
		if got := h.events(v.Owner); !strings.Contains(got, "TENTATIVE") {
			t.Errorf("opening the link changed something: %s", got)
		}
		b.post(link, "do", "confirm").shows(http.StatusOK, "This time is booked")
		b.post(link, "do", "confirm").shows(http.StatusOK, "This time is booked")
		if got := h.events(v.Owner); got != "4 07:00 Talk: Eve <b> CONFIRMED" {
			t.Errorf("booked: %s", got)
		}
		h.as("ann").get("booking").shows(http.StatusOK, "Coming bookings", "eve@example.com", "Talk")
		waiting, err := h.store.WaitingFor(t.Context(), v.Owner.ID, "eve@example.com", h.onlyUID(v.Owner))
		h.must(err)
		if len(waiting) != 1 || waiting[0].Method != calendar.MethodRequest {
			t.Errorf("the visitor gets %v, want an invitation", waiting)
		}
		if got := h.storedBy(v.Owner, cal, "Talk: Eve <b>"); !agreed(got) {
			t.Errorf("the visitor has not agreed:\n%s", got)
		}
		told := l.sent[len(l.sent)-2]
		if !strings.HasPrefix(told, "eve@example.com\nBooked: Talk\n") || !strings.Contains(told, "9:00") ||
			!strings.Contains(told, "moves or cancels the booking:\nhttps://cal.example.org"+link+"\n") {
			t.Errorf("the visitor got %s", told)
		}
		b.get(link+"?move=1&zone=Europe/Berlin").shows(http.StatusOK, "Tuesday 5 May")
		b.post(link, "do", "move", "start", "2026-05-05T08:00:00Z").shows(http.StatusOK, "This time is booked", "10:00")
		if got := h.events(v.Owner); got != "5 08:00 Talk: Eve <b> CONFIRMED" {
			t.Errorf("moved: %s", got)
		}
		if got := h.storedBy(v.Owner, cal, "Talk: Eve <b>"); !agreed(got) {
			t.Errorf("the visitor has not agreed to their own move:\n%s", got)
		}
		b.post(link, "do", "move", "start", "2026-05-05T03:00:00Z").shows(http.StatusUnprocessableEntity, "not free")
		b.post(link, "do", "cancel").shows(http.StatusOK, "This booking is cancelled")
		if got := h.events(v.Owner); got != "" {
			t.Errorf("cancelled: %s", got)
		}
		if told := l.last(t); !strings.HasPrefix(told, "ann@example.org\nBooking cancelled") {
			t.Errorf("the owner got %s", told)
		}
	})
}

// agreed reports whether the visitor of an event has accepted, is not asked, and is known as the author of its words.
func agreed(data string) bool {
	return strings.Contains(data, "PARTSTAT=ACCEPTED") && strings.Contains(data, "mailto:eve@example.com") &&
		strings.Contains(data, "X-CALDAV-MCP-STRANGER:eve@example.com") &&
		!strings.Contains(data, "RSVP")
}

// A new page is switched on, if its owner has a mail address. The list says what to do with one that is off.
func TestNewBookingPageIsOn(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, _ *letters) {
		ann := h.user("ann")
		h.made(ann, "Work")
		b := h.as("ann")
		b.get("booking/new").submit("booking/new", "title", "Before", "name", "before-ann", "do", "save").
			shows(http.StatusOK, "Before switched off", "Add your email address to your account first")
		h.mail(&ann, "ann@example.org")
		b.get("booking").shows(http.StatusOK, "tick “Visitors can open this page” and save")
		b.get("booking/new").submit("booking/new", "title", "Talk", "name", "talk-ann", "do", "save").
			shows(http.StatusOK, "Talk https://cal.example.org/book/talk-ann")
		h.browser().get("/book/talk-ann").shows(http.StatusOK, "Talk")
		h.browser().get("/book/before-ann").shows(http.StatusNotFound)
	})
}

// onlyUID returns the UID of a user's only event.
func (h *house) onlyUID(u calendar.User) calendar.UID {
	h.Helper()
	found, err := h.calendars.Agenda(h.Context(), callerOf(u), query.AgendaQuery{
		From: h.Now(), Until: h.Now().AddDate(0, 2, 0), Limit: 2,
	})
	h.must(err)
	if len(found.Occurrences) != 1 {
		h.Fatalf("%d events", len(found.Occurrences))
	}
	return calendar.UID(found.Occurrences[0].Component.Property("UID").Text())
}

// wish is a visitor's choice of Monday, 9:00.
func wish(who string) booking.Wish {
	return booking.Wish{
		Start: time.Date(2026, 5, 4, 7, 0, 0, 0, time.UTC), Minutes: 60, Name: who, Address: who + "@example.com",
		Answers: []string{"Boats"}, Zone: "Europe/Berlin", Network: who, Language: locale.Match("en"),
	}
}

// Unknown, switched-off and foreign pages and links give equal answers.
func TestBookingPagesAreHidden(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, _ *letters) {
		v, _ := h.host(s, func(r *rules.Settings) { r.Access = rules.Users })
		h.user("bob")
		b := h.browser()
		unknown := b.get("/book/no-such-page")
		unknown.shows(http.StatusNotFound)
		same := func(what string, s shown) {
			t.Helper()
			if s.status != unknown.status || s.body != unknown.body {
				t.Errorf("%s: %d, %s", what, s.status, s.body)
			}
		}
		same("for users", b.get("/book/talk-ann"))
		h.as("bob").get("/book/talk-ann").shows(http.StatusOK, "Talk")
		same("a link", b.get("/book/r/unknown"))
		v.On = false
		_, err := s.Save(t.Context(), v.Owner, v)
		h.must(err)
		same("switched off", b.get("/book/talk-ann"))
		h.as("bob").get("booking/" + string(v.ID)).shows(http.StatusNotFound)
	})
}

// A hold that is not confirmed ends after 15 minutes, and its time is free again.
func TestHoldExpires(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, l *letters) {
		v, _ := h.host(s, nil)
		h.must(s.Hold(t.Context(), v, wish("eve")))
		link := l.link(t)
		h.pass(15 * time.Minute)
		b := h.browser()
		b.get(link).shows(http.StatusUnprocessableEntity, "This link has expired", "Monday 4 May")
		b.post(link, "do", "confirm").shows(http.StatusUnprocessableEntity, "This link has expired")
		h.must(s.Sweep(t.Context()))
		if h.events(v.Owner) == "" {
			t.Error("the event was deleted before the grace")
		}
		h.pass(2 * time.Minute)
		h.must(s.Sweep(t.Context()))
		if got := h.events(v.Owner); got != "" {
			t.Errorf("after the end there is %s", got)
		}
		h.must(s.Hold(t.Context(), v, wish("mia")))
	})
}

// A mail that cannot be sent leaves no hold.
func TestHoldWithoutMail(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, l *letters) {
		v, _ := h.host(s, nil)
		l.fails = errors.New("no mail today")
		if err := s.Hold(t.Context(), v, wish("eve")); !errors.Is(err, booking.ErrUnsent) {
			t.Errorf("got %v", err)
		}
		if got := h.events(v.Owner); got != "" {
			t.Errorf("there is %s", got)
		}
	})
}

// The rules of a page decide about the time, the form and the limits.
func TestHoldsAreRefused(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, _ *letters) {
		v, _ := h.host(s, func(r *rules.Settings) { r.PerDay, r.NoticeHours = 1, 24 })
		for _, c := range []struct {
			name  string
			spoil func(*booking.Wish)
			want  error
		}{
			{"another length", func(w *booking.Wish) { w.Minutes = 45 }, booking.ErrTaken},
			{"outside the hours", func(w *booking.Wish) { w.Start = w.Start.Add(-time.Hour) }, booking.ErrTaken},
			{"off the grid", func(w *booking.Wish) { w.Start = w.Start.Add(time.Minute) }, booking.ErrTaken},
			{"too soon", func(w *booking.Wish) { w.Start = h.Now().Add(time.Hour) }, booking.ErrTaken},
			{"too far", func(w *booking.Wish) { w.Start = w.Start.AddDate(0, 1, 0) }, booking.ErrTaken},
			{"no name", func(w *booking.Wish) { w.Name = " \u202e" }, booking.ErrName},
			{"no address", func(w *booking.Wish) { w.Address = "eve" }, booking.ErrAddress},
			{"a header", func(w *booking.Wish) { w.Address = "e@a.example\r\nBcc: x@a.example" }, booking.ErrAddress},
			{"no answer", func(w *booking.Wish) { w.Answers[0] = "" }, booking.ErrAnswer},
		} {
			w := wish("eve")
			c.spoil(&w)
			if err := s.Hold(t.Context(), v, w); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", c.name, err, c.want)
			}
		}
		if got := h.events(v.Owner); got != "" {
			t.Errorf("there is %s", got)
		}
		w := wish("eve")
		w.Minutes = 30
		h.must(s.Hold(t.Context(), v, w))
		later := wish("mia")
		later.Start = later.Start.Add(3 * time.Hour)
		h.must(s.Hold(t.Context(), v, later)) // a hold does not count: the first confirmation wins
		for n := range 5 {
			again := w
			again.Start = w.Start.Add(time.Duration(n+1) * 30 * time.Minute)
			err := s.Hold(t.Context(), v, again)
			if want := error(nil); n == 4 && !errors.Is(err, booking.ErrLimit) || n < 4 && err != want {
				t.Errorf("hold %d of one address: %v", n+2, err)
			}
		}
	})
}

// Fifty visitors confirm one time at the same moment, through two servers: one of them gets it. Each confirmation
// refreshes a linked calendar.
func TestFiftyConfirmationsAtOnce(t *testing.T) {
	testdb.Each(t, func(t *testing.T, at string) {
		h := open(t, at)
		l := new(letters)
		s := h.bookings(l)
		v, cal := h.host(s, nil)
		second := h.bookings(l)
		other := housetest.Open(t, at, h.Clock)
		second.Store, second.Calendars = other.Store, service.New(other.Middle())
		p := newPublisher(t)
		for _, one := range []*booking.Service{s, second} {
			one.Calendars.Mirrors.Providers, one.Calendars.Mirrors.Sealer = p.providers(), p.sealer
		}
		_, _, err := s.Calendars.Mirrors.Link(t.Context(), callerOf(v.Owner), mirror.NewAccount{
			Provider: "ics", Secret: mirror.Secret{URL: p.address()},
		})
		h.must(err)
		const visitors = 50
		var links []string
		for n := range visitors {
			h.must(s.Hold(t.Context(), v, wish("v"+string(rune('a'+n/26))+string(rune('a'+n%26)))))
			links = append(links, strings.TrimPrefix(l.link(t), "/book/r/"))
		}
		var all sync.WaitGroup
		results := make([]error, visitors)
		for n, link := range links {
			with := []*booking.Service{s, second}[n%2]
			all.Go(func() { _, results[n] = with.Confirm(t.Context(), link) })
		}
		all.Wait()
		won := 0
		for n, err := range results {
			switch {
			case err == nil:
				won++
			case !errors.Is(err, booking.ErrTaken):
				t.Errorf("visitor %d: %v", n, err)
			}
		}
		if won != 1 {
			t.Errorf("%d of %d visitors got the time", won, visitors)
		}
		objects := 0
		for o, err := range h.store.Objects(t.Context(), cal.ID, calendar.ObjectQuery{WithData: true}) {
			h.must(err)
			objects++
			if !strings.Contains(string(o.Data), "STATUS:CONFIRMED") {
				t.Errorf("left: %s", o.Data)
			}
		}
		if objects != 1 {
			t.Errorf("%d events are left", objects)
		}
	})
}

// A linked calendar is refreshed before a confirmation. If it cannot be, nothing is booked until it can.
func TestBookingRefreshesLinkedCalendars(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, l *letters) {
		p := newPublisher(t)
		s.Calendars.Mirrors.Providers, s.Calendars.Mirrors.Sealer = p.providers(), p.sealer
		v, _ := h.host(s, nil)
		_, _, err := s.Calendars.Mirrors.Link(t.Context(), callerOf(v.Owner), mirror.NewAccount{
			Provider: "ics", Secret: mirror.Secret{URL: p.address()},
		})
		h.must(err)
		confirm := func(want error) {
			t.Helper()
			link := strings.TrimPrefix(l.link(t), "/book/r/")
			if _, err := s.Confirm(t.Context(), link); !errors.Is(err, want) {
				t.Errorf("confirmed: %v, want %v", err, want)
			}
		}
		h.must(s.Hold(t.Context(), v, wish("eve")))
		p.gone.Store(true)
		confirm(booking.ErrUnread)
		p.gone.Store(false)
		p.busy.Store(true)
		confirm(booking.ErrTaken)
		later := wish("mia")
		later.Start = later.Start.Add(time.Hour)
		h.must(s.Hold(t.Context(), v, later))
		confirm(nil)
	})
}

// halves is an account with two calendars. The second one cannot be read while it is away.
type halves struct {
	mirror.Source
	away *atomic.Bool
}

// Calendars implements mirror.Source.
func (halves) Calendars(context.Context) ([]mirror.Remote, error) {
	return []mirror.Remote{{ID: "one", Name: "One"}, {ID: "two", Name: "Two"}}, nil
}

// Changes implements mirror.Source.
func (s halves) Changes(_ context.Context, remote, cursor string) (mirror.Changes, error) {
	if remote == "two" && s.away.Load() {
		return mirror.Changes{}, errors.New("away")
	}
	return mirror.Changes{Cursor: cursor + "x"}, nil
}

// Nothing is booked if only a part of an account was refreshed, and that part does not count as busy.
func TestBookingNeedsEachLinkedCalendar(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, l *letters) {
		p, away := newPublisher(t), new(atomic.Bool)
		s.Calendars.Mirrors.Sealer = p.sealer
		s.Calendars.Mirrors.Providers = map[string]mirror.Provider{"halves": {
			Address: func(mirror.Secret) string { return "halves" },
			Open:    func(mirror.Opening) (mirror.Source, error) { return halves{away: away}, nil },
		}}
		v, _ := h.host(s, nil)
		_, _, err := s.Calendars.Mirrors.Link(t.Context(), callerOf(v.Owner), mirror.NewAccount{
			Provider: "halves", Secret: mirror.Secret{URL: p.address()},
		})
		h.must(err)
		h.must(s.Hold(t.Context(), v, wish("eve")))
		token := strings.TrimPrefix(l.link(t), "/book/r/")
		away.Store(true)
		if _, err := s.Confirm(t.Context(), token); !errors.Is(err, booking.ErrUnread) {
			t.Errorf("without one of its calendars: %v", err)
		}
		h.pass(time.Minute)
		away.Store(false)
		_, err = s.Confirm(t.Context(), token)
		h.must(err)
	})
}

// A booking and its visitor are forgotten 90 days after the event, at the time to which the owner moved it.
func TestPastBookingsAreForgotten(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, l *letters) {
		v, cal := h.host(s, nil)
		h.must(s.Hold(t.Context(), v, wish("eve")))
		token := strings.TrimPrefix(l.link(t), "/book/r/")
		_, err := s.Confirm(t.Context(), token)
		h.must(err)
		_, err = h.calendars.EditObject(t.Context(), callerOf(v.Owner), cal, h.onlyUID(v.Owner), ledger.Edit{
			Change: edit.Change{Times: edit.Times{Start: edit.To(ical.Instant(h.Now().AddDate(0, 0, 30)))}},
		})
		h.must(err)
		h.must(s.Hold(t.Context(), v, wish("mia")))
		held := strings.TrimPrefix(l.link(t), "/book/r/")
		h.pass(20 * time.Minute)
		h.must(s.Sweep(t.Context()))
		find := func(token string, want error) {
			t.Helper()
			h.must(s.Forget(t.Context()))
			if _, err := s.Find(t.Context(), token); !errors.Is(err, want) {
				t.Errorf("%v: %v, want %v", h.Now(), err, want)
			}
		}
		find(held, booking.ErrExpired)
		h.pass(49 * time.Hour)
		find(held, booking.ErrMissing)
		h.pass(110 * 24 * time.Hour) // more than 90 days after the time that the visitor chose
		find(token, nil)
		h.pass(10 * 24 * time.Hour)
		find(token, booking.ErrMissing)
	})
}

// An event that another program adds between the choice and the confirmation counts.
func TestBookingSeesOtherEvents(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, l *letters) {
		v, _ := h.host(s, func(r *rules.Settings) { r.Before, r.After = 30, 30 })
		other, err := h.calendars.CreateCalendar(t.Context(), callerOf(v.Owner), calendar.NewCalendar{
			Segment: "home", Properties: calendar.Properties{Name: "Home"},
		})
		h.must(err)
		h.must(s.Hold(t.Context(), v, wish("eve")))
		_, err = h.calendars.Put(t.Context(), callerOf(v.Owner), other, calendar.Draft{
			Name: "a.ics", Data: object("VEVENT", "a", "Dentist", "DTSTART:20260504T082900Z", "DTEND:20260504T090000Z",
				"STATUS:CONFIRMED"),
		})
		h.must(err)
		b := h.browser()
		b.post(l.link(t), "do", "confirm").shows(http.StatusUnprocessableEntity, "not free any more", "Monday 4 May")
		if got := h.events(v.Owner); got != "4 08:29 Dentist CONFIRMED" {
			t.Errorf("left: %s", got)
		}
		// A calendar that the page does not count takes no time.
		v.Settings.Busy = []string{v.Calendar}
		_, err = s.Save(t.Context(), v.Owner, v)
		h.must(err)
		h.must(s.Hold(t.Context(), v, wish("mia")))
		b.post(l.link(t), "do", "confirm").shows(http.StatusOK, "This time is booked")
	})
}

// The owner makes, changes and deletes a page on the pages.
func TestOwnBookingPages(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, _ *letters) {
		v, cal := h.host(s, nil)
		h.user("bob")
		ann := h.as("ann")
		ann.get("booking").shows(http.StatusOK, "Talk", "https://cal.example.org/book/talk-ann", "None yet")
		fields := func(change ...string) []string {
			all := map[string]string{
				"do": "save", "on": "1", "title": "Walk", "access": "public", "name": "walk", "minutes": "45, 15",
				"calendar": string(cal.ID), "notice": "2", "horizon": "14", "question-0": "Shoes?", "language": "de",
				"own-hours": "1", "hours-mon": "10:00-12:00",
				"dates": "2026-04-01 -\r\n2026-05-11 -\r\n2026-05-06 14:00-15:00",
			}
			for pair := range slices.Chunk(change, 2) {
				all[pair[0]] = pair[1]
			}
			var list []string
			for name, value := range all {
				if value != "" {
					list = append(list, name, value)
				}
			}
			return list
		}
		for _, c := range []struct{ field, value, want string }{
			{"title", "", "Title: allowed is 1 to 100"},
			{"name", "Walk with me", "3 to 40 letters"},
			{"name", "talk-ann", "Another page has this name"},
			{"minutes", "0", "Lengths in minutes: allowed is 5 to 480"},
			{"hours-mon", "10 to 12", "Enter hours such as"},
			{"dates", "2027-01-01 -\n24.12. -", "“24.12. -” is no date with hours"},
			{"calendar", "elsewhere", "Choose one of your own calendars"},
			{"notice", "soon", "Minimum notice in hours: allowed is 0 to 720"},
		} {
			ann.post("booking/new", fields(c.field, c.value)...).shows(http.StatusUnprocessableEntity, c.want)
		}
		ann.post("booking/new", fields()...).shows(http.StatusOK, "Saved", "Walk")
		visitor := h.browser()
		visitor.get("/book/walk?from=2026-05-12").shows(http.StatusOK, "Früher").hides("Später")
		visitor.get("/book/walk?minutes=45").shows(http.StatusOK, "Walk", "Montag, 4. Mai", "10:00", "11:00").
			hides("Dienstag").shows(http.StatusOK, "Mittwoch, 6. Mai", "14:00")
		visitor.get("/book/walk?from=2026-05-11").hides("Montag, 11. Mai")
		all, err := s.Pages(t.Context(), v.Owner)
		h.must(err)
		at := "booking/" + string(all[1].ID)
		form := ann.get(at).shows(http.StatusOK, "Walk").body
		for _, value := range []string{"45, 15", "Shoes?", "10:00-12:00", "walk"} {
			if !strings.Contains(form, `value="`+value+`"`) {
				t.Errorf("the form lacks %q", value)
			}
		}
		if !strings.Contains(form, ">2026-05-06 14:00-15:00\n2026-05-11 -\n</textarea>") {
			t.Error("the form lacks the dates, or has past ones")
		}
		again := ann.post(at, fields("dates", "tomorrow")...)
		again.shows(http.StatusUnprocessableEntity, "“tomorrow” is no date", "tomorrow Busy times")
		h.as("bob").post(at, fields()...).shows(http.StatusNotFound)
		ann.post(at, fields("access", "secret")...).shows(http.StatusOK, "Saved")
		visitor.get("/book/walk").shows(http.StatusNotFound)
		all, err = s.Pages(t.Context(), v.Owner)
		h.must(err)
		if name := all[1].Name; len(name) != 32 {
			t.Errorf("the secret name is %q", name)
		}
		visitor.get("/book/"+all[1].Name).shows(http.StatusOK, "Walk")
		ann.post(at, "do", "delete").shows(http.StatusOK, "Removed")
		visitor.get("/book/" + all[1].Name).shows(http.StatusNotFound)
	})
}

// Without mail there are no pages, and their owner learns why.
func TestBookingPagesNeedMail(t *testing.T) {
	each(t, func(h *house) {
		h.user("ann")
		h.as("ann").get("booking").shows(http.StatusOK, "Booking pages need email")
		h.browser().get("/book/talk").shows(http.StatusNotFound)
	})
}

// A visitor gets the browser's language, or else the page's, and is told when the clocks change.
func TestBookingInTheVisitorsLanguage(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, _ *letters) {
		v, _ := h.host(s, func(r *rules.Settings) { r.Language = "fr" })
		h.Set(time.Date(2026, 10, 21, 12, 0, 0, 0, time.UTC))
		_, err := s.Save(t.Context(), v.Owner, v)
		h.must(err)
		get := func(language string) shown {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.server.URL+
				"/book/talk-ann?from=2026-10-22&zone=Europe/Berlin", nil)
			h.must(err)
			r.Header.Set("Accept-Language", language)
			return h.browser().send(r)
		}
		get("de-AT").shows(http.StatusOK, "Die Uhren in dieser Zeitzone werden am Sonntag, 25. Oktober 2026")
		get("").shows(http.StatusOK, "Afficher les heures")
		get("ja").shows(http.StatusOK, "Afficher les heures")
	})
}

// The owner moves and deletes a booking in any program. The visitor's link follows.
func TestBookingFollowsItsEvent(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, l *letters) {
		v, cal := h.host(s, nil)
		h.must(s.Hold(t.Context(), v, wish("eve")))
		link := l.link(t)
		b := h.browser()
		b.post(link, "do", "confirm").shows(http.StatusOK, "09:00")
		uid := h.onlyUID(v.Owner)
		at := ical.Instant(time.Date(2026, 5, 6, 12, 0, 0, 0, time.UTC))
		_, err := h.calendars.EditObject(t.Context(), callerOf(v.Owner), cal, uid, ledger.Edit{
			Change: edit.Change{Times: edit.Times{Start: edit.To(at)}},
		})
		h.must(err)
		b.get(link).shows(http.StatusOK, "Wednesday 6 May", "14:00")
		_, err = h.calendars.CancelObject(t.Context(), callerOf(v.Owner), cal, uid, ledger.Cancellation{})
		h.must(err)
		b.get(link).shows(http.StatusOK, "This booking is cancelled")
		b.post(link, "do", "move", "start", "2026-05-07T08:00:00Z").shows(http.StatusUnprocessableEntity, "expired")
	})
}

// A failure that concerns the owner tells the visitor nothing of it.
func TestBookingHidesTheOwnersTrouble(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, _ *letters) {
		v, cal := h.host(s, nil)
		_, err := h.calendars.Put(t.Context(), callerOf(v.Owner), cal, calendar.Draft{
			Name: "a.ics", Data: object("VEVENT", "a", "Dentist", "DTSTART:20260601T082900Z"),
		})
		h.must(err)
		one := int64(1)
		_, err = h.auth.ChangeUser(t.Context(), "ann", auth.UserEdit{QuotaObjects: &one})
		h.must(err)
		page := h.browser().post("/book/talk-ann", "start", "2026-05-04T07:00:00Z", "minutes", "60", "name", "Eve",
			"address", "eve@example.com", "answer-0", "Boats")
		page.shows(http.StatusInternalServerError).hides("quota")
		if !strings.Contains(h.log.String(), "a booking page:") {
			t.Error("the log does not have the reason")
		}
	})
}
