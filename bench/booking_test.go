package bench_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	rules "caldav-mcp-server/calendar/booking"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store"
	"caldav-mcp-server/web/booking"
)

// bookingEvents is the number of events of each of ten calendars, over ten years around the present.
const bookingEvents = 10_000

// BenchmarkBookingTimes measures the times of a month that a booking page offers. Its owner has ten calendars of 10,000
// events: single ones, or a tenth of them series of twenty weeks. "store" is without cached calendars. "images" is with
// the memory for them that a server has by default; ms-first and ms-second are its first two answers.
func BenchmarkBookingTimes(b *testing.B) {
	testdb.EachBenchmark(b, func(b *testing.B, at string) {
		for _, series := range []int{0, 10} {
			b.Run(map[int]string{0: "single", 10: "series"}[series], func(b *testing.B) {
				h := newBookingHouse(b, at, series)
				for _, held := range []struct {
					name  string
					bytes int64
				}{{"store", 0}, {"images", pagesImages}} {
					b.Run(held.name, func(b *testing.B) { h.times(b, held.bytes) })
				}
			})
		}
	})
}

// bookingHouse is the owner of a booking page.
type bookingHouse struct {
	config service.Config
	store  *store.Store
	owner  calendar.Caller
	page   calendar.BookingPage
}

func newBookingHouse(b *testing.B, at string, series int) *bookingHouse {
	b.Helper()
	s, err := store.Open(b.Context(), at, store.Options{})
	check(b, err)
	b.Cleanup(func() { _ = s.Close() })
	check(b, s.Migrate(b.Context()))
	ids := series * 1000
	h := &bookingHouse{store: s, config: service.Config{
		Store: s, Limits: calendar.DefaultLimits(), Now: func() time.Time { return mcpNow },
		NewID: func() string { ids++; return fmt.Sprintf("00000000-0000-4000-8000-%012d", ids) },
	}}
	name := fmt.Sprint("alice-", series)
	h.owner = calendar.Caller{Scopes: calendar.ScopeAll, User: calendar.User{
		ID: calendar.UserID(name), Name: name, Timezone: "Europe/Berlin",
	}}
	check(b, s.InsertUser(b.Context(), h.owner.User, "hash"))
	middle := service.New(h.config)
	var cal calendar.Calendar
	for n := range mcpCalendars {
		cal, err = middle.CreateCalendar(b.Context(), h.owner, calendar.NewCalendar{
			Properties: calendar.Properties{Name: fmt.Sprint("Calendar ", n)},
		})
		check(b, err)
		for from := 0; from < bookingEvents; from += 1000 {
			check(b, s.Update(b.Context(), func(tx calendar.Tx) error {
				return fillBooking(b.Context(), tx, cal, n, from, series)
			}))
		}
	}
	settings, err := rules.Settings{
		Title: "Talk", Access: rules.Public, Minutes: []int{60}, HorizonDays: 60, Calendar: string(cal.ID),
	}.Encode()
	check(b, err)
	h.page = calendar.BookingPage{
		ID: calendar.BookingPageID(name), Owner: h.owner.User.ID, Name: name, On: true, Created: mcpNow,
		Settings: settings,
	}
	check(b, s.InsertBookingPage(b.Context(), h.page, nil, 3))
	return h
}

// fillBooking writes a thousand events. One of each series is a series.
func fillBooking(ctx context.Context, tx calendar.Tx, cal calendar.Calendar, n, from, series int) error {
	const apart = 10 * 365 * 24 * time.Hour / bookingEvents
	for i := from; i < from+1000; i++ {
		locked, err := tx.Advance(ctx, cal.ID)
		if err != nil {
			return err
		}
		start := mcpNow.Add(time.Duration(i-bookingEvents/2) * apart).Truncate(time.Minute)
		o := mcpEvent(cal, locked.Version, 2*(n*bookingEvents+i)+1, start)
		if series > 0 && i%series == 0 {
			weeklySeries(&o, start)
		}
		if err := tx.PutObject(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// times measures the month from now.
func (h *bookingHouse) times(b *testing.B, images int64) {
	config := h.config
	config.ImageBytes = images
	root, err := url.Parse("https://example.com/book/")
	check(b, err)
	s := booking.Service{
		Calendars: service.New(config), Store: h.store, Root: root, Now: config.Now, NewID: config.NewID,
		Logger: slog.New(slog.DiscardHandler),
	}
	v, err := s.Page(b.Context(), h.owner.User, h.page.ID)
	check(b, err)
	ask := func() int {
		found, err := s.Times(b.Context(), v, 60, mcpNow, mcpNow.AddDate(0, 0, 31), nil)
		check(b, err)
		return len(found)
	}
	var early [2]time.Duration
	offered := 0
	for i := range early {
		began := time.Now()
		offered = ask()
		early[i] = time.Since(began)
	}
	var took []time.Duration
	before := processorTime(b)
	for b.Loop() {
		began := time.Now()
		if n := ask(); n != offered || n == 0 {
			b.Fatalf("%d times, and %d before", n, offered)
		}
		took = append(took, time.Since(began))
	}
	b.ReportMetric(float64((processorTime(b)-before).Microseconds())/1000/float64(len(took)), "cpu-ms/op")
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-median")
	b.ReportMetric(float64(took[0].Microseconds())/1000, "ms-best")
	b.ReportMetric(float64(early[0].Microseconds())/1000, "ms-first")
	b.ReportMetric(float64(early[1].Microseconds())/1000, "ms-second")
}
