package bench_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store"
	"caldav-mcp-server/web"
)

const (
	// pagesEvents is how many events each of ten calendars has, over five years around now; a tenth of them are series
	// of ten weeks.
	pagesEvents = 1000
	// pagesImages is the memory that a server keeps calendars in where nothing else is set.
	pagesImages = 16 << 20
	// pagesBytes is what a first visit may weigh with all that belongs to it.
	pagesBytes = 50 << 10
)

// BenchmarkPages measures the pages for people with ten calendars of a thousand events: the time of the server, and the
// bytes of the page with its style. The limits are 10 ms at the median, and pagesBytes, over which it fails.
func BenchmarkPages(b *testing.B) {
	testdb.EachBenchmark(b, func(b *testing.B, url string) {
		h := newPagesHouse(b, url)
		for _, page := range []struct{ name, path, want string }{
			{"home", "", "Meeting about"},
			{"calendars", "calendars", "Calendar 9"},
			{"one-calendar", "calendars/" + string(h.calendar), "Shared with people"},
			{"journal", "journal", "Errand 49"},
			{"apps", "apps", "Claude"},
			{"connect", "connect", "Thunderbird"},
			{"account", "settings", "Europe/Berlin"},
			{"security", "security", "Where you are signed in"},
		} {
			b.Run(page.name, func(b *testing.B) {
				var took []time.Duration
				var size int
				before := processorTime(b)
				for b.Loop() {
					began := time.Now()
					body := h.get(b, "/account/"+page.path)
					took = append(took, time.Since(began))
					if size = len(body); !strings.Contains(body, page.want) {
						b.Fatalf("no %q in %.2000s", page.want, body)
					}
				}
				b.ReportMetric(float64((processorTime(b)-before).Microseconds())/1000/float64(len(took)), "cpu-ms/op")
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-median")
				size += h.style
				b.ReportMetric(float64(size)/1024, "KiB")
				if size > pagesBytes {
					b.Errorf("%s takes %d bytes, over its %d", page.name, size, pagesBytes)
				}
			})
		}
	})
}

// BenchmarkCalendarPage measures the calendar with ten calendars of a thousand events. KiB is the size of the page when
// compressed.
func BenchmarkCalendarPage(b *testing.B) {
	testdb.EachBenchmark(b, func(b *testing.B, url string) { newPagesHouse(b, url).views(b) })
}

// BenchmarkLargeCalendarPage measures the same with a calendar of 100,000 events over twenty years beside them.
func BenchmarkLargeCalendarPage(b *testing.B) {
	testdb.EachBenchmark(b, func(b *testing.B, url string) {
		h := newPagesHouse(b, url)
		h.addLarge(b)
		h.views(b)
	})
}

// BenchmarkPublicPage measures the page of a public link to a calendar of 20,000 events over five years.
func BenchmarkPublicPage(b *testing.B) {
	testdb.EachBenchmark(b, func(b *testing.B, url string) {
		h := newPagesHouse(b, url)
		cal := h.addEvents(b, 20_000, 5)
		_, secret, err := h.people.CreateLink(b.Context(), h.alice, cal, auth.LinkSpec{Access: calendar.ReadAccess})
		check(b, err)
		for _, view := range []string{"month", "list"} {
			b.Run(view, func(b *testing.B) {
				var took []time.Duration
				for b.Loop() {
					r := httptest.NewRequestWithContext(b.Context(), http.MethodGet,
						"/?view="+view+"&date="+mcpNow.Format(time.DateOnly), nil)
					w := httptest.NewRecorder()
					began := time.Now()
					h.pages.ServeLink(w, r, string(secret))
					took = append(took, time.Since(began))
					if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "Meeting about") {
						b.Fatalf("%d: %s", w.Code, w.Body)
					}
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-median")
			})
		}
	})
}

// views measures each view of the calendar.
func (h *pagesHouse) views(b *testing.B) {
	b.Helper()
	for _, view := range []string{"week", "month", "list", "days"} {
		b.Run(view, func(b *testing.B) {
			var took []time.Duration
			var body string
			before := processorTime(b)
			for b.Loop() {
				began := time.Now()
				body = h.get(b, "/calendar/"+view+"/"+mcpNow.Format(time.DateOnly))
				took = append(took, time.Since(began))
			}
			b.ReportMetric(float64((processorTime(b)-before).Microseconds())/1000/float64(len(took)), "cpu-ms/op")
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-median")
			b.ReportMetric(float64(strings.Count(body, "data-start=")), "events")
			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			_, err := w.Write([]byte(body))
			check(b, errors.Join(err, w.Close()))
			b.ReportMetric(float64(packed.Len())/1024, "KiB")
		})
	}
}

// addLarge adds a calendar of 100,000 events over twenty years.
func (h *pagesHouse) addLarge(b *testing.B) {
	b.Helper()
	h.addEvents(b, 100_000, 20)
}

// addEvents adds a calendar of single events over some years.
func (h *pagesHouse) addEvents(b *testing.B, all, years int) calendar.Calendar {
	b.Helper()
	cal, err := h.middle.CreateCalendar(b.Context(), h.alice, calendar.NewCalendar{
		Properties: calendar.Properties{Name: "Large"},
	})
	check(b, err)
	const part = 1000
	apart := time.Duration(years) * 365 * 24 * time.Hour / time.Duration(all)
	for from := 0; from < all; from += part {
		check(b, h.store.Update(b.Context(), func(tx calendar.Tx) error {
			for i := from; i < from+part; i++ {
				locked, err := tx.Advance(b.Context(), cal.ID)
				if err != nil {
					return err
				}
				start := mcpNow.Add(time.Duration(i-all/2) * apart)
				number := 2*(1_000_000+i) + 1 // odd: no series
				if err := tx.PutObject(b.Context(), mcpEvent(cal, locked.Version, number, start)); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	return cal
}

// pagesHouse is the pages of a user who is signed in.
type pagesHouse struct {
	handler  http.Handler
	pages    *web.Handler
	people   *auth.Service
	cookies  []*http.Cookie
	calendar calendar.CalendarID
	style    int
	store    *store.Store
	middle   *service.Service
	alice    calendar.Caller
}

func newPagesHouse(b *testing.B, address string) *pagesHouse {
	b.Helper()
	s, err := store.Open(b.Context(), address, store.Options{})
	check(b, err)
	b.Cleanup(func() { _ = s.Close() })
	check(b, s.Migrate(b.Context()))
	ids := 0
	now := func() time.Time { return mcpNow }
	newID := func() string { ids++; return fmt.Sprintf("00000000-0000-4000-8000-%012d", ids) }
	log := slog.New(slog.DiscardHandler)
	people := auth.New(auth.Config{
		Store: s, Now: now, NewID: newID, Logger: log, Hasher: auth.Argon2id{Cost: auth.DefaultCost()},
		Limits: auth.DefaultLimits(),
	})
	alice, err := people.CreateUser(b.Context(), auth.NewUser{
		Name: "alice", Password: "correct horse battery", Timezone: "Europe/Berlin",
	})
	check(b, err)
	middle := service.New(service.Config{
		Store: s, Limits: calendar.DefaultLimits(), Now: now, NewID: newID, ImageBytes: pagesImages,
	})
	caller := calendar.Caller{User: alice, Scopes: calendar.ScopeAll}
	h := &pagesHouse{store: s, middle: middle, alice: caller, people: people}
	for i := range mcpCalendars {
		cal, err := middle.CreateCalendar(b.Context(), caller, calendar.NewCalendar{
			Properties: calendar.Properties{Name: fmt.Sprint("Calendar ", i)},
		})
		check(b, err)
		check(b, s.Update(b.Context(), func(tx calendar.Tx) error {
			return fillPages(b.Context(), tx, cal, i*pagesEvents)
		}))
		h.calendar = cal.ID
	}
	h.work(b, people, middle, alice)
	pages, err := web.New(web.Config{
		Auth: people, Service: middle, Now: now, Version: "bench", Logger: log, MCPURL: "http://127.0.0.1:5233/mcp",
		LinkPath:   func(auth.Link, auth.Secret) string { return "" },
		ClientAddr: func(*http.Request) netip.Addr { return netip.MustParseAddr("192.0.2.1") },
	})
	check(b, err)
	h.pages, h.handler = pages, pages.Before(http.NotFoundHandler())
	h.signIn(b)
	return h
}

// fillPages writes the events of one calendar, from one number on.
func fillPages(ctx context.Context, tx calendar.Tx, cal calendar.Calendar, from int) error {
	for i := range pagesEvents {
		locked, err := tx.Advance(ctx, cal.ID)
		if err != nil {
			return err
		}
		const apart = 5 * 365 * 24 * time.Hour / pagesEvents
		start := mcpNow.Add(time.Duration(i-pagesEvents/2) * apart)
		// Of what can be divided by fifty mcpEvent makes a series, and no number comes twice.
		number := 2*(from+i) + 1
		if i%10 == 0 {
			number = 50 * (from + i)
		}
		if err := tx.PutObject(ctx, mcpEvent(cal, locked.Version, number, start)); err != nil {
			return err
		}
	}
	return nil
}

// work has an assistant do something that the pages tell of.
func (h *pagesHouse) work(b *testing.B, people *auth.Service, middle *service.Service, alice calendar.User) {
	b.Helper()
	token, _, err := people.CreateToken(b.Context(), auth.TokenSpec{
		User: alice.Name, Name: "Claude", Scopes: calendar.ScopeAll,
	})
	check(b, err)
	caller := calendar.Caller{User: alice, Scopes: calendar.ScopeAll, Token: token.ID, Agent: token.Name}
	for i := range 50 {
		cal, err := middle.Calendar(b.Context(), caller, h.calendar)
		check(b, err)
		text := fmt.Sprintf("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//bench//EN\r\nBEGIN:VEVENT\r\n"+
			"UID:errand-%d\r\nDTSTAMP:20260101T000000Z\r\n"+
			"DTSTART:20260303T090000Z\r\nDURATION:PT1H\r\nSUMMARY:Errand %d\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n", i, i)
		_, err = middle.Put(b.Context(), caller, cal, calendar.Draft{
			Name: calendar.ObjectName(fmt.Sprintf("errand-%d.ics", i)), Data: []byte(text),
		})
		check(b, err)
	}
}

// signIn signs in, and weighs the style that comes with the first page.
func (h *pagesHouse) signIn(b *testing.B) {
	b.Helper()
	form := url.Values{"name": {"alice"}, "password": {"correct horse battery"}}
	r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/account/sign-in",
		strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	if h.cookies = w.Result().Cookies(); w.Code != http.StatusSeeOther || len(h.cookies) == 0 {
		b.Fatalf("signing in is answered %d: %s", w.Code, w.Body)
	}
	_, rest, _ := strings.Cut(h.get(b, "/account/"), `rel="stylesheet" href="`)
	at, _, _ := strings.Cut(rest, `"`)
	h.style = len(h.get(b, at))
}

func (h *pagesHouse) get(b *testing.B, path string) string {
	b.Helper()
	r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, path, nil)
	for _, c := range h.cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		b.Fatalf("%s is answered %d: %s", path, w.Code, w.Body)
	}
	return w.Body.String()
}
