package bench_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store"
)

// growing is what a calendar of many years has: a tenth are series of twenty weeks, all on working days within five
// years.
type growing struct {
	*service.Service
	store  *store.Store
	caller calendar.Caller
	cal    calendar.Calendar
	size   int
	during filter.TimeRange
}

var growthBegin = time.Date(2022, time.January, 3, 0, 0, 0, 0, time.UTC)

const growthDays = 5 * 365

// window is one that has eleven instances, whatever the size: a week of a thousand events, and of a hundred thousand
// some minutes of a busy morning.
func (g *growing) window(b *testing.B) filter.TimeRange {
	b.Helper()
	width, step := 7*24*time.Hour, 7*24*time.Hour
	if g.size > 1000 {
		width, step = 10*time.Minute, 24*time.Hour
	}
	// a Thursday
	start := growthBegin.Add(growthDays / 2 * 24 * time.Hour).Truncate(7 * 24 * time.Hour).
		Add(8*time.Hour + 5*time.Minute)
	for range 100 {
		g.during = filter.TimeRange{Start: start, End: start.Add(width)}
		if growthQuestions()[0].ask(b, g) == growthAnswers && growthQuestions()[1].ask(b, g) == growthAnswers {
			return g.during
		}
		start = start.Add(step)
	}
	b.Fatalf("no window has %d answers", growthAnswers)
	return filter.TimeRange{}
}

const growthAnswers = 11

// BenchmarkGrowth asks calendars of a thousand and of a hundred thousand events what eleven of them answer, with
// calendars held in memory ("images") and without ("store"). It reports the best time, which other programs on the
// machine change least, and how many times that of the small calendar it is.
func BenchmarkGrowth(b *testing.B) {
	testdb.EachBenchmark(b, func(b *testing.B, _ string) {
		database := testdb.SQLite
		if strings.Contains(b.Name(), "postgres") {
			database = testdb.Postgres
		}
		small := map[string]time.Duration{}
		for _, size := range []int{1_000, 100_000} {
			g := newGrowing(b, database(b), size)
			for _, held := range []struct {
				name  string
				bytes int64
			}{{"store", 0}, {"images", 16 << 20}} {
				g.serve(held.bytes)
				g.during = g.window(b)
				for _, q := range growthQuestions() {
					name := held.name + "/" + q.name
					b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
						best := time.Hour
						for b.Loop() {
							began := time.Now()
							q.ask(b, g)
							best = min(best, time.Since(began))
						}
						b.ReportMetric(float64(best.Nanoseconds())/1e6, "ms-best")
						if before, measured := small[name]; measured {
							b.ReportMetric(float64(best)/float64(before), "growth")
						} else {
							small[name] = best
						}
					})
				}
			}
		}
	})
}

type growthQuestion struct {
	name string
	ask  func(*testing.B, *growing) int
}

func growthQuestions() []growthQuestion {
	return []growthQuestion{
		{"range", func(b *testing.B, g *growing) int {
			f := filter.Filter{
				{Name: "VCALENDAR", Components: []filter.CompFilter{{Name: "VEVENT", TimeRange: &g.during}}},
			}
			n := 0
			for _, err := range g.Query(b.Context(), g.caller, g.cal, query.Query{Filter: f}) {
				check(b, err)
				n++
			}
			return n
		}},
		{"list_events", func(b *testing.B, g *growing) int {
			found, err := g.Agenda(b.Context(), g.caller, query.AgendaQuery{
				Calendars: []calendar.Calendar{g.cal}, From: g.during.Start, Until: g.during.End, Timezone: zone.UTC(),
				Limit: 50,
			})
			check(b, err)
			return len(found.Occurrences)
		}},
		{"free-busy", func(b *testing.B, g *growing) int {
			found, err := g.FreeBusy(b.Context(), g.caller, query.BusyQuery{
				Calendars: []calendar.Calendar{g.cal}, From: g.during.Start, Until: g.during.End,
			})
			check(b, err)
			return len(found.Periods)
		}},
	}
}

func newGrowing(b *testing.B, url string, size int) *growing {
	b.Helper()
	s, err := store.Open(b.Context(), url, store.Options{})
	check(b, err)
	b.Cleanup(func() { _ = s.Close() })
	check(b, s.Migrate(b.Context()))
	user := calendar.User{ID: "alice", Name: "alice"}
	check(b, s.InsertUser(b.Context(), user, "hash"))
	g := &growing{store: s, size: size, caller: calendar.Caller{User: user, Scopes: calendar.ScopeAll}}
	g.serve(0)
	g.cal, err = g.CreateCalendar(b.Context(), g.caller, calendar.NewCalendar{Segment: "work"})
	check(b, err)
	random := rand.New(rand.NewPCG(1, 2))
	for from := 0; from < size; from += 1000 {
		check(b, s.Update(b.Context(), func(tx calendar.Tx) error { return g.fill(b.Context(), tx, random, from) }))
	}
	g.cal, err = g.Calendar(b.Context(), g.caller, g.cal.ID) // as each request looks it up
	check(b, err)
	return g
}

// serve begins anew with so much memory for calendars.
func (g *growing) serve(images int64) {
	ids := 0
	g.Service = service.New(service.Config{
		Store: g.store, Limits: calendar.DefaultLimits(), Now: func() time.Time { return growthBegin },
		ImageBytes: images,
		NewID:      func() string { ids++; return fmt.Sprintf("b6f0f7a2-6c4e-4d0e-8a39-%012d", ids) },
	})
}

// fill writes a thousand events.
func (g *growing) fill(ctx context.Context, tx calendar.Tx, random *rand.Rand, from int) error {
	for i := from; i < from+1000; i++ {
		cal, err := tx.Advance(ctx, g.cal.ID)
		if err != nil {
			return err
		}
		day := random.IntN(growthDays/7)*7 + random.IntN(5)
		start := growthBegin.AddDate(0, 0, day).Add(time.Duration(16+random.IntN(20)) * 30 * time.Minute)
		o := mcpEvent(g.cal, cal.Version, i, start)
		if i%10 == 0 {
			weeklySeries(&o, start)
		}
		if err := tx.PutObject(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// weeklySeries makes a series of an event, indexed as a save would.
func weeklySeries(o *calendar.Object, start time.Time) {
	text := strings.Replace(string(o.Data), "RRULE:FREQ=WEEKLY;COUNT=10\r\n", "", 1)
	o.Data = []byte(strings.Replace(text, "SUMMARY:", "RRULE:FREQ=WEEKLY;COUNT=20\r\nSUMMARY:", 1))
	o.Size, o.ETag = int64(len(o.Data)), calendar.ETagOf(o.Data)
	until := start.AddDate(0, 0, 19*7).Add(time.Hour).Unix()
	o.Recurring, o.Span.End = true, &until
	o.Recurrence = &calendar.RecurrenceIndex{Known: 1<<63 - 1}
	for week := range 20 {
		at := start.AddDate(0, 0, 7*week).Unix()
		o.Recurrence.Add(at, at+3600)
	}
	o.Recurrence.SetFirstHour()
}
