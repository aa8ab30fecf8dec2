package service_test

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/store"
)

// pieced makes a calendar of sixty events, two on each of thirty days, and a service with so little memory that it
// holds days of it.
func pieced(p *processes, reader service.Config) *service.Service {
	p.t.Helper()
	for n := range 60 {
		uid := fmt.Sprintf("event-%d", n)
		_, err := p.plain.Put(p.t.Context(), p.alice, p.at(p.plain),
			calendar.Draft{Name: calendar.ObjectName(uid + ".ics"), Data: []byte(event(uid, 1+n/2, "first"))})
		p.must(err)
	}
	reader.Limits, reader.Now = calendar.DefaultLimits(), time.Now
	reader.NewID = func() string { return "unused" }
	reader.ImageBytes = cmp.Or(reader.ImageBytes, 24_000)
	return service.New(reader)
}

func (p *processes) day(s *service.Service, n int) []string {
	start := time.Date(2026, 3, n, 6, 0, 0, 0, time.UTC)
	return told(s.Query(p.t.Context(), p.alice, p.at(s), during(start, 12*time.Hour)))
}

// counted counts how often a store is asked.
type counted struct {
	*store.Store
	objects, changes int
	// meanwhile happens once, while the days of a piece are read.
	meanwhile func()
	once      sync.Once
}

// At has long questions counted as well.
func (c *counted) At(...calendar.Calendar) calendar.ObjectReader { return c }

func (c *counted) Objects(
	ctx context.Context, id calendar.CalendarID, q calendar.ObjectQuery,
) iter.Seq2[calendar.Object, error] {
	c.objects++
	return func(yield func(calendar.Object, error) bool) {
		for o, err := range c.Store.Objects(ctx, id, q) {
			if q.WithSpan && c.meanwhile != nil {
				c.once.Do(c.meanwhile)
			}
			if !yield(o, err) {
				return
			}
		}
	}
}

func (c *counted) Changes(
	ctx context.Context, id calendar.CalendarID, in calendar.VersionRange,
) iter.Seq2[calendar.Object, error] {
	c.changes++
	return c.Store.Changes(ctx, id, in)
}

// TestDaysOfALargeCalendarAreHeld: a calendar that memory has no room for is not read again and again to find that out,
// and its days are answered from memory, also once something has changed.
func TestDaysOfALargeCalendarAreHeld(t *testing.T) {
	eachWithProcesses(t, 0, func(p *processes) {
		reader := &counted{Store: p.store}
		s := pieced(p, service.Config{Store: reader})
		ask := func(step string, day, objects, changes int) {
			p.t.Helper()
			reader.objects, reader.changes = 0, 0
			if got, want := p.day(s, day), p.day(p.plain, day); fmt.Sprint(got) != fmt.Sprint(want) {
				p.t.Errorf("%s: %v, want %v", step, got, want)
			}
			if reader.objects != objects || reader.changes != changes {
				p.t.Errorf("%s asked the store for objects %d times and for changes %d times, want %d and %d", step,
					reader.objects, reader.changes, objects, changes)
			}
		}
		ask("the first question", 5, 1, 0)
		ask("the next, which finds that there is no room for all", 5, 1, 1)
		ask("the next, which makes a piece and fetches what is in it", 5, 2, 1)
		ask("the same again", 5, 0, 0)
		p.put(p.plain, 59)
		ask("another, after a change elsewhere", 5, 0, 1)
		ask("the same again", 5, 0, 0)
		p.must(p.plain.Delete(p.t.Context(), p.alice, p.at(p.plain), "event-8.ics", calendar.Precondition{}))
		ask("another, after one is gone", 5, 0, 1)
		if held := s.Cached(); held.Bytes == 0 || held.Bytes > held.Most {
			p.t.Errorf("%d bytes are held, of %d", held.Bytes, held.Most)
		}
		s.Rest()
		s.Rest()
		if held := s.Cached(); held.Bytes != 0 {
			p.t.Errorf("%d bytes are held of what nobody asks for", held.Bytes)
		}
	})
}

// TestDaysThatChangeWhileTheyAreRead: what goes, comes, and moves to another day while a piece is made is in it as it
// is then.
func TestDaysThatChangeWhileTheyAreRead(t *testing.T) {
	eachWithProcesses(t, 0, func(p *processes) {
		reader := &counted{Store: p.store}
		s := pieced(p, service.Config{Store: reader})
		put := func(uid string, day int) {
			_, err := p.plain.Put(p.t.Context(), p.alice, p.at(p.plain),
				calendar.Draft{Name: calendar.ObjectName(uid + ".ics"), Data: []byte(event(uid, day, "second"))})
			p.must(err)
		}
		reader.meanwhile = func() {
			p.must(p.plain.Delete(p.t.Context(), p.alice, p.at(p.plain), "event-8.ics", calendar.Precondition{}))
			put("event-9", 20)
			put("event-40", 5)
			put("event-new", 5)
		}
		for range 4 {
			if got, want := p.day(s, 5), p.day(p.plain, 5); fmt.Sprint(got) != fmt.Sprint(want) &&
				reader.meanwhile == nil {
				p.t.Errorf("%v, want %v", got, want)
			}
		}
		if got, want := p.day(s, 5), p.day(p.plain, 5); fmt.Sprint(got) != fmt.Sprint(want) || len(got) != 2 {
			p.t.Errorf("%v, want %v", got, want)
		}
	})
}

// TestManyDaysAreForgotten: a user who asks for ever other days takes no more memory, and no other calendar's.
func TestManyDaysAreForgotten(t *testing.T) {
	eachWithProcesses(t, 0, func(p *processes) {
		s := pieced(p, service.Config{Store: p.store})
		small, err := s.CreateCalendar(p.t.Context(), p.alice, calendar.NewCalendar{Segment: "small"})
		p.must(err)
		heads := func() { told(s.Objects(p.t.Context(), nil, p.alice, small, calendar.ObjectQuery{})) }
		heads()
		heads()
		for n := range 200 {
			for range 2 {
				p.day(s, 1+n)
			}
		}
		made := s.Cached().Made
		heads()
		if held := s.Cached(); held.Bytes > held.Most || held.Made != made {
			p.t.Errorf("%d bytes are held of %d, and a small calendar was read anew %d times", held.Bytes, held.Most,
				held.Made-made)
		}
	})
}

// TestDaysOfAnOldCalendarAreHeld: a question about a day does not read all of a calendar that may be large, although
// memory has room for it.
func TestDaysOfAnOldCalendarAreHeld(t *testing.T) {
	eachWithProcesses(t, 0, func(p *processes) {
		reader := &counted{Store: p.store}
		s := pieced(p, service.Config{Store: reader, ImageBytes: 1 << 20})
		p.age()
		for n, want := range []string{"1 and 0", "2 and 1", "0 and 0"} {
			reader.objects, reader.changes = 0, 0
			if got, want := p.day(s, 5), p.day(p.plain, 5); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("question %d: %v, want %v", n, got, want)
			}
			if got := fmt.Sprintf("%d and %d", reader.objects, reader.changes); got != want {
				t.Errorf("question %d asked the store for objects and changes %s times, want %s", n, got, want)
			}
		}
		if held := s.Cached().Bytes; held > 5000 {
			t.Errorf("%d bytes are held of two events", held)
		}
	})
}

// TestCalendarsThatDoNotFit: memory has room for one of three calendars that are read in turn. They are not built again
// at each visit.
func TestCalendarsThatDoNotFit(t *testing.T) {
	eachWithProcesses(t, 0, func(p *processes) {
		s := pieced(p, service.Config{Store: p.store, ImageBytes: 60_000})
		all := []calendar.CalendarID{p.cal}
		for n := range 2 {
			cal, err := p.plain.CreateCalendar(p.t.Context(), p.alice, calendar.NewCalendar{
				Segment: calendar.Segment(fmt.Sprint("other-", n)),
			})
			p.must(err)
			all = append(all, cal.ID)
			for n := range 60 {
				uid := fmt.Sprintf("event-%d", n)
				_, err := p.plain.Put(p.t.Context(), p.alice, cal,
					calendar.Draft{Name: calendar.ObjectName(uid + ".ics"), Data: []byte(event(uid, 1+n/2, "first"))})
				p.must(err)
			}
		}
		const rounds = 40
		for range rounds {
			for _, id := range all {
				cal, err := s.Calendar(p.t.Context(), p.alice, id)
				p.must(err)
				if n := len(told(s.Objects(p.t.Context(), nil, p.alice, cal, calendar.ObjectQuery{}))); n != 60 {
					t.Fatalf("%d objects", n)
				}
			}
		}
		if held := s.Cached(); held.Made > 3*rounds/6+6 || held.Made < 3 || held.Bytes > held.Most {
			t.Errorf("calendars were built %d times in %d rounds, and %d bytes are held", held.Made, rounds, held.Bytes)
		}
	})
}
