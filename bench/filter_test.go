package bench_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	goical "github.com/emersion/go-ical"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/freebusy"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store"
)

// filterObjects lie in a calendar of three years; every tenth is a series.
const filterObjects = 10_000

var (
	filterFrom  = time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC)
	filterUntil = filterFrom.AddDate(0, 0, 7)
)

// filterWeek asks for the events of a week.
func filterWeek() filter.Filter {
	return filter.Filter{{Name: "VCALENDAR", Components: []filter.CompFilter{
		{Name: "VEVENT", TimeRange: &filter.TimeRange{Start: filterFrom, End: filterUntil}},
	}}}
}

// filterTimes are the ways in which an event says when it is: in zones, in UTC, as a day,
// and without a zone.
var filterTimes = [...]string{
	"DTSTART;TZID=Europe/Berlin:%sT093000\r\nDTEND;TZID=Europe/Berlin:%[1]sT104500",
	"DTSTART;TZID=America/New_York:%sT160000\r\nDURATION:PT1H",
	"DTSTART:%sT120000Z\r\nDTEND:%[1]sT130000Z",
	"DTSTART;VALUE=DATE:%s",
	"DTSTART:%sT080000\r\nDTEND:%[1]sT083000",
}

// filterRules are those of the series: endless, ended long ago, and sparse ones.
var filterRules = [...]string{
	"RRULE:FREQ=WEEKLY", "RRULE:FREQ=DAILY;COUNT=10", "RRULE:FREQ=MONTHLY;BYDAY=-1FR", "RRULE:FREQ=YEARLY",
	"RRULE:FREQ=WEEKLY;UNTIL=20250101",
}

const filterText = `BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Example Corp.//Calendar 1.0//EN
BEGIN:VTIMEZONE
TZID:Europe/Berlin
BEGIN:DAYLIGHT
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
DTSTART:19700329T020000
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU
END:DAYLIGHT
BEGIN:STANDARD
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
DTSTART:19701025T030000
RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU
END:STANDARD
END:VTIMEZONE
BEGIN:VEVENT
UID:%08d-8b86-4d01-b42d-00cf4fc964ff
DTSTAMP:20260118T142536Z
CREATED:20240118T142500Z
%s
SUMMARY:Planning of week %d\, second round
LOCATION:Room Elbe\, house 2
DESCRIPTION:What moved\, what is stuck\, and who can help with it until the
  next time we meet.\n\nNotes are kept in the folder of the team.
ORGANIZER;CN=Morgan Lee:mailto:morgan@example.com
ATTENDEE;CUTYPE=INDIVIDUAL;PARTSTAT=ACCEPTED;CN="Lee, Morgan":mailto:morgan
 @example.com
STATUS:CONFIRMED
TRANSP:OPAQUE
BEGIN:VALARM
ACTION:DISPLAY
DESCRIPTION:Reminder
TRIGGER:-PT15M
END:VALARM
END:VEVENT
END:VCALENDAR
`

func filterTexts() [][]byte {
	crlf := strings.ReplaceAll(filterText, "\n", "\r\n")
	first := time.Date(2024, 7, 1, 0, 0, 0, 0, time.UTC)
	list := make([][]byte, filterObjects)
	for i := range list {
		day := first.AddDate(0, 0, i*1096/filterObjects).Format("20060102")
		when := fmt.Sprintf(filterTimes[i%len(filterTimes)], day)
		if i%10 == 0 {
			when += "\r\n" + filterRules[i/10%len(filterRules)]
		}
		list[i] = fmt.Appendf(nil, crlf, i, when, i%53)
	}
	return list
}

// BenchmarkFilterWeek decides exactly which of 10,000 objects are in one week. Each of
// ours must take less time than go-ical needs to parse half of them, which is measured in
// the same run.
func BenchmarkFilterWeek(b *testing.B) {
	texts := filterTexts()
	zones := zone.NewDB()
	want := filterMatches(b, zones, texts, func(int) bool { return true })
	b.Run("go-ical-parses-half", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, text := range texts[:filterObjects/2] {
				if _, err := goical.NewDecoder(bytes.NewReader(text)).Decode(); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("all-from-memory", func(b *testing.B) {
		filterPass(b, want, func() int { return filterMatches(b, zones, texts, func(int) bool { return true }) })
	})
	b.Run("narrowed-from-memory", func(b *testing.B) {
		near := filterIndex(b, zones, texts)
		filterPass(b, want, func() int { return filterMatches(b, zones, texts, near) })
	})
	testdb.EachBenchmark(b, func(b *testing.B, url string) {
		h := newFilterHouse(b, url, texts)
		b.Run("query", func(b *testing.B) { filterPass(b, want, func() int { return h.query(b) }) })
		b.Run("freebusy", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if periods := h.busy(b); len(periods) == 0 {
					b.Fatal("nobody is busy")
				}
			}
		})
	})
}

func filterPass(b *testing.B, want int, count func() int) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		if got := count(); got != want {
			b.Fatalf("%d objects, want %d", got, want)
		}
	}
	b.ReportMetric(float64(want), "found")
}

// filterMatches parses those texts that are near, and decides about each.
func filterMatches(b *testing.B, zones *zone.DB, texts [][]byte, near func(int) bool) int {
	b.Helper()
	f, n := filterWeek(), 0
	for i, text := range texts {
		if !near(i) {
			continue
		}
		o, err := content.Read(text, ical.DefaultLimits())
		if err != nil {
			b.Fatal(err)
		}
		ok, err := f.Match(b.Context(), o, filter.Context{Zones: zones})
		if err != nil {
			b.Fatal(err)
		}
		if ok {
			n++
		}
	}
	return n
}

// filterIndex is the spans of the texts, as the store has them.
func filterIndex(b *testing.B, zones *zone.DB, texts [][]byte) func(int) bool {
	b.Helper()
	type span struct{ start, end *int64 }
	spans := make([]span, len(texts))
	for i, text := range texts {
		o, err := content.Read(text, ical.DefaultLimits())
		if err != nil {
			b.Fatal(err)
		}
		spans[i].start, spans[i].end = o.Span(zones)
	}
	s := filterWeek().Prefilter()
	return func(i int) bool {
		return (spans[i].start == nil || *spans[i].start < *s.Until) &&
			(spans[i].end == nil || *spans[i].end >= *s.From)
	}
}

// filterHouse is a Service over a calendar with the objects.
type filterHouse struct {
	*service.Service
	caller calendar.Caller
	cal    calendar.Calendar
}

func newFilterHouse(b *testing.B, url string, texts [][]byte) *filterHouse {
	b.Helper()
	s, err := store.Open(b.Context(), url, store.Options{})
	check(b, err)
	b.Cleanup(func() { _ = s.Close() })
	check(b, s.Migrate(b.Context()))
	user := calendar.User{ID: "alice", Name: "alice"}
	check(b, s.InsertUser(b.Context(), user, "hash"))
	h := &filterHouse{
		Service: service.New(service.Config{
			Store: s, Limits: calendar.DefaultLimits(), Now: func() time.Time { return filterFrom },
			NewID: func() string { return "b6f0f7a2-6c4e-4d0e-8a39-1d2c3b4a5f60" },
		}),
		caller: calendar.Caller{User: user, Scopes: calendar.ScopeAll},
	}
	h.cal, err = h.CreateCalendar(b.Context(), h.caller, calendar.NewCalendar{Segment: "work"})
	check(b, err)
	check(b, s.Update(b.Context(), func(tx calendar.Tx) error { return h.fill(b.Context(), tx, texts) }))
	// What a save derives is derived here, without a transaction for each.
	_, err = h.Reindex(b.Context(), calendar.Walk{})
	check(b, err)
	return h
}

func (h *filterHouse) fill(ctx context.Context, tx calendar.Tx, texts [][]byte) error {
	for i, text := range texts {
		cal, err := tx.Advance(ctx, h.cal.ID)
		if err != nil {
			return err
		}
		err = tx.PutObject(ctx, calendar.Object{
			Calendar: h.cal.ID, Name: eventName(i), ETag: calendar.ETagOf(text), Version: cal.Version,
			Size: int64(len(text)), Data: text, Derived: calendar.Derived{UID: calendar.UID(fmt.Sprint(i))},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (h *filterHouse) query(b *testing.B) int {
	b.Helper()
	n := 0
	for _, err := range h.Query(b.Context(), h.caller, h.cal, query.Query{Filter: filterWeek()}) {
		check(b, err)
		n++
	}
	return n
}

func (h *filterHouse) busy(b *testing.B) []freebusy.Period {
	b.Helper()
	found, err := h.FreeBusy(b.Context(), h.caller, query.BusyQuery{From: filterFrom, Until: filterUntil})
	check(b, err)
	return found.Periods
}
