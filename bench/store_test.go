package bench_test

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store"
)

const (
	week = 7 * 24 * 3600
	// perWeek is how dense the events lie: a week has as many answers in a calendar of any size.
	perWeek = 20
)

// storeHouse is a calendar of many events.
type storeHouse struct {
	*store.Store
	cal  calendar.Calendar
	size int
	next atomic.Int64
}

// BenchmarkStore measures what the store's hot paths cost in a small and in a large calendar. The
// large one reports its growth: how many times the small one's cost it took.
func BenchmarkStore(b *testing.B) {
	testdb.EachBenchmark(b, func(b *testing.B, _ string) {
		database := testdb.SQLite
		if b.Name() == "BenchmarkStore/postgres" {
			database = testdb.Postgres
		}
		small := map[string]float64{}
		for _, size := range []int{1_000, 100_000} {
			b.Run(fmt.Sprint(size), func(b *testing.B) {
				h := newStoreHouse(b, database(b), size)
				for _, op := range storeOperations() {
					b.Run(op.name, func(b *testing.B) {
						b.ReportAllocs()
						op.run(b, h)
						each := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
						if size == 1_000 {
							small[op.name] = each
						} else if before, measured := small[op.name]; measured {
							b.ReportMetric(each/before, "growth")
						}
					})
				}
			})
		}
	})
}

// storeOperations are the hot paths. What writes comes last.
func storeOperations() []struct {
	name string
	run  func(*testing.B, *storeHouse)
} {
	return []struct {
		name string
		run  func(*testing.B, *storeHouse)
	}{
		{"calendar", func(b *testing.B, h *storeHouse) {
			for b.Loop() {
				_, err := h.CalendarAt(b.Context(), "alice", "work")
				check(b, err)
			}
		}},
		{"get", func(b *testing.B, h *storeHouse) {
			for b.Loop() {
				_, err := h.Object(b.Context(), h.cal.ID, h.any())
				check(b, err)
			}
		}},
		{"get-parallel", func(b *testing.B, h *storeHouse) {
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					_, err := h.Object(b.Context(), h.cal.ID, h.any())
					check(b, err)
				}
			})
		}},
		{"multiget-50", func(b *testing.B, h *storeHouse) {
			for b.Loop() {
				names := make([]calendar.ObjectName, 50)
				for i := range names {
					names[i] = h.any()
				}
				consume(b, 50, h.Objects(b.Context(), h.cal.ID, calendar.ObjectQuery{Names: names, WithData: true}))
			}
		}},
		{"changes-10", func(b *testing.B, h *storeHouse) {
			until := calendar.Version(h.size)
			for b.Loop() {
				consume(b, 10, h.Changes(b.Context(), h.cal.ID, calendar.VersionRange{
					After: until - 10, Until: until, Unbroken: until - 10,
				}))
			}
		}},
		{"list-1000", func(b *testing.B, h *storeHouse) {
			for b.Loop() {
				consume(b, 1000, h.Changes(b.Context(), h.cal.ID, calendar.VersionRange{Until: 1000}))
			}
		}},
		{"week", func(b *testing.B, h *storeHouse) {
			from := int64(h.size/2/perWeek) * week
			until := from + week
			for b.Loop() {
				consume(b, perWeek, h.Objects(b.Context(), h.cal.ID, calendar.ObjectQuery{
					From: &from, Until: &until, WithData: true,
				}))
			}
		}},
		{"put", func(b *testing.B, h *storeHouse) {
			for b.Loop() {
				h.put(b)
			}
		}},
		{"put-parallel", func(b *testing.B, h *storeHouse) {
			b.SetParallelism(2) // four on two processors, as in the comparisons with others
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					h.put(b)
				}
			})
		}},
	}
}

func check(b *testing.B, err error) {
	if err != nil {
		b.Error(err)
	}
}

// consume reads a listing to its end and wants at least so many objects.
func consume(b *testing.B, least int, listing iter.Seq2[calendar.Object, error]) {
	n := 0
	for _, err := range listing {
		check(b, err)
		n++
	}
	if n < least {
		b.Errorf("%d objects, want at least %d", n, least)
	}
}

// any names one of the events, another each time.
func (h *storeHouse) any() calendar.ObjectName {
	return eventName(int(h.next.Add(7919) % int64(h.size)))
}

func eventName(i int) calendar.ObjectName {
	return calendar.ObjectName(fmt.Sprintf("%08x-5b1c-4a6e-9d52-7f3c2b1a0e9d.ics", uint32(i)*2654435761))
}

// put changes an event as a PUT does.
func (h *storeHouse) put(b *testing.B) {
	name := h.any()
	check(b, h.Update(b.Context(), func(tx calendar.Tx) error {
		cal, err := tx.Advance(b.Context(), h.cal.ID)
		if err != nil {
			return err
		}
		old, _, err := tx.Duplicates(b.Context(), h.cal.ID, name, calendar.UID(name))
		if err != nil {
			return err
		}
		next := *old
		next.Version = cal.Version
		if err := tx.PutObject(b.Context(), next); err != nil {
			return err
		}
		return tx.Log(b.Context(), calendar.Change{
			Calendar: h.cal.ID, Version: cal.Version, Object: name, UID: next.UID, Did: calendar.Modified,
			At: next.Modified, User: "alice", Agent: "bench", Before: old.Data,
		})
	}))
}

func newStoreHouse(b *testing.B, url string, size int) *storeHouse {
	b.Helper()
	s, err := store.Open(b.Context(), url, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	if err := s.Migrate(b.Context()); err != nil {
		b.Fatal(err)
	}
	h := &storeHouse{Store: s, size: size, cal: calendar.Calendar{
		ID: "b6f0f7a2-6c4e-4d0e-8a39-1d2c3b4a5f60", Owner: "alice", Segment: "work",
		Properties: calendar.Properties{Name: "Work", Timezone: "UTC", Kinds: calendar.AllKinds()},
	}}
	ctx := b.Context()
	if err := s.InsertUser(ctx, calendar.User{ID: "alice", Name: "alice"}, "hash"); err != nil {
		b.Fatal(err)
	}
	if err := s.Update(ctx, func(tx calendar.Tx) error { return tx.InsertCalendar(ctx, h.cal) }); err != nil {
		b.Fatal(err)
	}
	const step = 1000
	for from := 0; from < size; from += step {
		if err := s.Update(ctx, func(tx calendar.Tx) error {
			return h.fill(ctx, tx, from, min(from+step, size))
		}); err != nil {
			b.Fatal(err)
		}
	}
	return h
}

// fill writes events from one number to another.
func (h *storeHouse) fill(ctx context.Context, tx calendar.Tx, from, until int) error {
	data := make([]byte, 1024)
	for i := from; i < until; i++ {
		cal, err := tx.Advance(ctx, h.cal.ID)
		if err != nil {
			return err
		}
		start := int64(i) * week / perWeek
		end := start + 3600
		if i%50 == 0 { // a series that ends after two months
			end = start + 60*24*3600
		}
		err = tx.PutObject(ctx, calendar.Object{
			Calendar: h.cal.ID, Name: eventName(i), ETag: calendar.ETagOf(data), Version: cal.Version,
			Size: int64(len(data)), Data: data, Derived: calendar.Derived{
				UID: calendar.UID(eventName(i)), Kind: calendar.Event, Summary: "Meeting",
				Search: "meeting room 1 agenda",
				Span:   calendar.Span{Start: &start, End: &end}, Status: "CONFIRMED",
			},
		})
		if err != nil {
			return err
		}
	}
	return nil
}
