package web_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	rules "caldav-mcp-server/calendar/booking"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/web/booking"
)

// api sends a request of a program to the JSON API, and reads the answer into v.
func (b *browser) api(method, path, body string, v any) int {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), method, b.server.URL+path, strings.NewReader(body))
	b.must(err)
	r.Header.Set("Content-Type", "application/json")
	answer, err := b.client.Do(r)
	b.must(err)
	defer answer.Body.Close()
	if kind := answer.Header.Get("Content-Type"); kind != "application/json" {
		b.Errorf("%s %s answers with %s", method, path, kind)
	}
	b.must(json.NewDecoder(answer.Body).Decode(v))
	return answer.StatusCode
}

// refusedAs is the form of errors.
type refusedAs struct{ Error rules.RequestError }

// A program lists times, holds one and follows its state, but only the mailed link confirms it.
func TestBookingByProgram(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, l *letters) {
		v, _ := h.host(s, func(r *rules.Settings) { r.Text = "</script>Bring <b>tea</b>" })
		b := h.browser()
		var list rules.Listing
		const times = "/book/talk-ann/api/times?minutes=60&timezone=America/New_York&from=2026-05-04&days=1"
		if status := b.api("GET", times, "", &list); status != http.StatusOK || len(list.Times) == 0 ||
			list.Times[0].Start != "2026-05-04T03:00:00-04:00" || list.Times[0].End != "2026-05-04T04:00:00-04:00" ||
			list.Page.Owner != "Ms ann" || list.Page.Questions[0].Text != "About?" || list.Next != nil {
			t.Fatalf("listed: %d %+v", status, list)
		}
		// The page and the API offer the same times.
		page := b.get("/book/talk-ann?minutes=60&zone=America/New_York&from=2026-05-04")
		for _, one := range list.Times {
			at, err := time.Parse(time.RFC3339, one.Start)
			h.must(err)
			if !strings.Contains(page.body, url.QueryEscape(at.UTC().Format(time.RFC3339))) {
				t.Errorf("the page does not offer %s", one.Start)
			}
		}
		markup := regexp.MustCompile(`(?s)<script type="application/ld\+json">(.*?)</script>`).
			FindStringSubmatch(page.body)
		var described struct {
			Type        string `json:"@type"`
			Name        string
			Description string
			URL         string
			Action      struct {
				Type string `json:"@type"`
			} `json:"potentialAction"`
		}
		if len(markup) != 2 || json.Unmarshal([]byte(markup[1]), &described) != nil ||
			described.Type != "Service" || described.Name != "Talk" || described.Action.Type != "ReserveAction" ||
			described.Description != v.Text || described.URL != "https://cal.example.org/book/talk-ann" {
			t.Errorf("the markup is %q: %+v", markup, described)
		}

		for body, code := range map[string]string{
			`{`:                "body",
			`{"to":"x"}`:       "body",
			`{"start":"soon"}`: "start",
			`{"start":"2026-05-04T07:00:00Z","name":"Eve","address":"eve@example.com"}`:                     "answers",
			`{"start":"2026-05-04T07:00:00Z","name":"Eve","address":"eve","answers":["x"]}`:                 "address",
			`{"start":"2026-05-04T07:00:00Z","address":"eve@example.com","answers":["x"]}`:                  "name",
			`{"start":"2026-05-04T07:07:00Z","name":"Eve","address":"eve@example.com","answers":["x"]}`:     "taken",
			`{"start":"2026-05-04T07:00:00Z","minutes":45,"name":"E","address":"e@a.test","answers":["x"]}`: "taken",
			`{"start":"2026-05-04T07:00:00Z","timezone":"X","name":"Eve"}`:                                  "timezone",
		} {
			var no refusedAs
			if status := b.api("POST", "/book/talk-ann/api/holds", body, &no); status < 400 || no.Error.Code != code {
				t.Errorf("%s: %d %+v, want %s", body, status, no, code)
			}
		}
		for query, code := range map[string]string{
			"days=32": "days", "days=x": "days", "minutes=7": "minutes", "from=soon": "from", "timezone=X": "timezone",
		} {
			var no refusedAs
			status := b.api("GET", "/book/talk-ann/api/times?"+query, "", &no)
			if status != http.StatusUnprocessableEntity || no.Error.Code != code {
				t.Errorf("%s: %d %+v, want %s", query, status, no, code)
			}
		}
		if got := h.events(v.Owner); got != "" {
			t.Errorf("refused requests held %s", got)
		}

		var held, state rules.Receipt
		const wish = `{"start":"2026-05-04T03:00:00-04:00","minutes":60,"name":"Eve","address":"eve@example.com",` +
			`"answers":["Boats"],"timezone":"America/New_York","language":"de"}`
		if status := b.api("POST", "/book/talk-ann/api/holds", wish, &held); status != http.StatusOK ||
			held.State != "held" || held.Start != "2026-05-04T03:00:00-04:00" || held.Expires == "" {
			t.Fatalf("held: %d %+v", status, held)
		}
		if told := l.last(t); !strings.Contains(told, "Uhr") && !strings.Contains(told, "bestätig") {
			t.Errorf("the mail is not in German: %s", told)
		}
		link := l.link(t)
		if strings.Contains(link, held.Hold) {
			t.Error("the program can guess the link")
		}
		b.api("GET", times, "", &list)
		if list.Times[0].Start == held.Start {
			t.Error("a held time is offered")
		}
		b.api("GET", "/book/talk-ann/api/holds/"+held.Hold, "", &state)
		if state != held {
			t.Errorf("the state is %+v, want %+v", state, held)
		}
		b.post(link, "do", "confirm").shows(http.StatusOK, "This time is booked")
		follow := func(want string) {
			t.Helper()
			if b.api("GET", "/book/talk-ann/api/holds/"+held.Hold, "", &state); state.State != want {
				t.Errorf("the state is %+v, want %s", state, want)
			}
		}
		follow("booked")
		b.post(link, "do", "cancel")
		follow("cancelled")
		b.api("POST", "/book/talk-ann/api/holds", wish, &held)
		h.pass(16 * time.Minute)
		follow("expired")

		// The limits are those of the page.
		for range 3 {
			b.api("POST", "/book/talk-ann/api/holds", wish, &held)
		}
		var no refusedAs
		if status := b.api("POST", "/book/talk-ann/api/holds", wish, &no); status != http.StatusTooManyRequests ||
			no.Error.Code != "limit" {
			t.Errorf("beyond the limit: %d %+v", status, no)
		}
	})
}

// Programs see only pages that they may open, and only the holds of the page.
func TestBookingByProgramIsHidden(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, l *letters) {
		v, _ := h.host(s, nil)
		other := v
		other.BookingPage = calendar.BookingPage{Name: "other", On: true}
		_, err := s.Save(t.Context(), v.Owner, other)
		h.must(err)
		var held rules.Receipt
		b := h.browser()
		b.api("POST", "/book/talk-ann/api/holds", `{"start":"2026-05-04T07:00:00Z","name":"Eve",`+
			`"address":"eve@example.com","answers":["x"]}`, &held)
		missing := func(b *browser, method, path string) {
			t.Helper()
			var no refusedAs
			if status := b.api(method, path, "{}", &no); status != http.StatusNotFound || no.Error.Code != "missing" {
				t.Errorf("%s %s: %d %+v", method, path, status, no)
			}
		}
		missing(b, "GET", "/book/other/api/holds/"+held.Hold)
		missing(b, "GET", "/book/talk-ann/api/holds/x")
		missing(b, "GET", "/book/nobody/api/times")
		v.Access = rules.Users
		_, err = s.Save(t.Context(), v.Owner, v)
		h.must(err)
		missing(b, "GET", "/book/talk-ann/api/times")
		missing(b, "POST", "/book/talk-ann/api/holds")
		missing(b, "GET", "/book/talk-ann/api/holds/"+held.Hold)
		h.user("bob")
		var list rules.Listing
		if status := h.as("bob").api("GET", "/book/talk-ann/api/times", "", &list); status != http.StatusOK ||
			len(list.Times) == 0 {
			t.Errorf("a user gets %d %+v", status, list)
		}
	})
}

// Free times of a page are charged to the page: its owner's requests and those of strangers do not slow each other.
func TestBookingHasItsOwnBudget(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, _ *letters) {
		v, cal := h.host(s, nil)
		for n := range 20 {
			uid := "busy" + strconv.Itoa(n)
			h.put(callerOf(v.Owner), cal, object("VEVENT", uid, "Busy", "DTSTART:20260504T0700"+strconv.Itoa(10+n)+"Z",
				"DURATION:PT1M", "RRULE:FREQ=HOURLY;COUNT=700"))
		}
		month := rules.Range{Days: rules.MostDays}
		program := rules.Visitor{Page: v.Name}
		fill := func(meter func() *meter.Meter) (free func()) {
			t.Helper()
			one, two := meter(), meter()
			// Together half of the memory for all requests, and the part that each has for free.
			h.must(errors.Join(one.Hold(30<<20+256<<10), two.Hold(6<<20+256<<10)))
			return func() { one.Close(); two.Close() }
		}
		free := fill(func() *meter.Meter { return s.Calendars.Meter(t.Context(), callerOf(v.Owner)) })
		if _, err := s.Listing(t.Context(), program, month); err != nil {
			t.Errorf("while the owner's budget is used: %v", err)
		}
		free()
		free = fill(func() *meter.Meter { return s.Calendars.MeterOf(t.Context(), booking.Budget(v.ID)) })
		defer free()
		if _, err := s.Listing(t.Context(), program, month); calendar.ReasonOf(err) != calendar.Unavailable {
			t.Errorf("beyond the page's budget: %v", err)
		}
	})
}

// A network that reads pages without an end is told to wait, by the page and by the JSON API.
func TestBookingVisitsArePaced(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, _ *letters) {
		h.host(s, nil)
		b := h.browser()
		for n := range 300 {
			if page := b.get("/book/none"); page.status != http.StatusNotFound {
				t.Fatalf("request %d: %d", n, page.status)
			}
		}
		page := b.get("/book/talk-ann").shows(http.StatusTooManyRequests, "Too many requests came from your network")
		if page.header.Get("Retry-After") != "1" {
			t.Errorf("Retry-After is %q", page.header.Get("Retry-After"))
		}
		b.get("/book/r/none").shows(http.StatusTooManyRequests)
		b.post("/book/talk-ann", "start", "2026-05-04T07:00:00Z").shows(http.StatusTooManyRequests)
		var no refusedAs
		status := b.api("GET", "/book/talk-ann/api/times", "", &no)
		if status != http.StatusTooManyRequests || no.Error.Code != "rate_limited" {
			t.Errorf("the API answers %d %+v", status, no)
		}
		b.get("").shows(http.StatusOK) // other pages do not count
		h.pass(time.Second)
		b.get("/book/talk-ann").shows(http.StatusOK)
	})
}
