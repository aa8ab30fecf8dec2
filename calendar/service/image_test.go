package service_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store"
)

// processes are two servers on one database that hold calendars in memory, and a third that
// does not, by which they are measured.
type processes struct {
	t      *testing.T
	url    string
	random *rand.Rand
	two    [2]*service.Service
	plain  *service.Service
	store  *store.Store
	alice  calendar.Caller
	cal    calendar.CalendarID
	// seen is the calendar as it was found after each step.
	seen   []calendar.Calendar
	writes int
}

// eachWithProcesses runs a test on each engine.
func eachWithProcesses(t *testing.T, imageBytes int64, test func(p *processes)) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		p := &processes{t: t, url: url, random: rand.New(rand.NewPCG(20261120, 24))}
		p.plain, p.store = p.process(url, 0)
		for i := range p.two {
			p.two[i], _ = p.process(url, imageBytes)
		}
		user := calendar.User{ID: "user-alice", Name: "alice", Created: time.Unix(0, 0)}
		p.must(p.store.InsertUser(t.Context(), user, ""))
		p.alice = calendar.Caller{User: user, Scopes: calendar.ScopeAll}
		// The first of two calendars of one second is the default one, which cannot be deleted.
		_, err := p.plain.CreateCalendar(t.Context(), p.alice, calendar.NewCalendar{Segment: "a"})
		p.must(err)
		cal, err := p.plain.CreateCalendar(t.Context(), p.alice, calendar.NewCalendar{Segment: "work"})
		p.must(err)
		p.cal = cal.ID
		test(p)
	})
}

func (p *processes) process(url string, imageBytes int64) (*service.Service, *store.Store) {
	h := housetest.Open(p.t, url, housetest.At(time.Now()))
	h.Form = fmt.Sprintf("id-%p-%%d", h)
	config := h.Middle()
	config.Now, config.ImageBytes = time.Now, imageBytes
	return service.New(config), h.Store
}

func (p *processes) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// refusedOrDone lets what was not possible pass.
func (p *processes) refusedOrDone(err error) {
	p.t.Helper()
	if calendar.ReasonOf(err) == calendar.Internal {
		p.must(err)
	}
}

func (p *processes) any() *service.Service { return p.two[p.random.IntN(2)] }

func (p *processes) at(s *service.Service) calendar.Calendar {
	p.t.Helper()
	cal, err := s.Calendar(p.t.Context(), p.alice, p.cal)
	p.must(err)
	return cal
}

// age gives the calendar as many versions as one of several years has, which may be large.
func (p *processes) age() {
	p.t.Helper()
	p.must(p.store.Update(p.t.Context(), func(tx calendar.Tx) error {
		for range 2001 {
			if _, err := tx.Advance(p.t.Context(), p.cal); err != nil {
				return err
			}
		}
		return nil
	}))
}

// put writes one of a few events, now and then a series, on another day each time.
func (p *processes) put(s *service.Service, n int) {
	p.t.Helper()
	uid := fmt.Sprintf("event-%d", n)
	p.writes++
	data := event(uid, 1+p.random.IntN(28), fmt.Sprintf("write %d", p.writes))
	if n%3 == 0 {
		data = strings.Replace(data, "SUMMARY", "RRULE:FREQ=WEEKLY;COUNT=5\r\nSUMMARY", 1)
	}
	_, err := s.Put(p.t.Context(), p.alice, p.at(s),
		calendar.Draft{Name: calendar.ObjectName(uid + ".ics"), Data: []byte(data)})
	p.refusedOrDone(err) // the event may have another name by now
}

// deeds are what may become of a calendar, the usual one first.
var deeds = []struct {
	name string
	do   func(p *processes)
}{
	{"put", func(p *processes) { p.put(p.any(), p.random.IntN(40)) }},
	{"delete", func(p *processes) {
		s, name := p.any(), calendar.ObjectName(fmt.Sprintf("event-%d.ics", p.random.IntN(40)))
		err := s.Delete(p.t.Context(), p.alice, p.at(s), name, calendar.Precondition{})
		p.refusedOrDone(err)
	}},
	{"settings", func(p *processes) {
		p.must(p.any().PatchCalendar(p.t.Context(), p.alice, p.cal,
			func(q *calendar.Properties) ([]calendar.DeadProperty, error) {
				q.Name += "x"
				return nil, nil
			}))
	}},
	{"many", func(p *processes) {
		s := p.any()
		for n := range 30 {
			p.put(s, n)
		}
	}},
	{"rest", func(p *processes) { p.any().Rest() }},
	{"prune", func(p *processes) { p.must(p.store.Prune(p.t.Context(), time.Now().Add(time.Hour))) }},
	{"trash", func(p *processes) {
		s := p.any()
		p.must(s.DeleteCalendar(p.t.Context(), p.alice, p.cal))
		_, err := p.any().RestoreCalendar(p.t.Context(), p.alice, p.cal, "")
		p.must(err)
	}},
	{"move", func(p *processes) {
		p.must(p.any().MoveCalendar(p.t.Context(), p.alice, p.cal,
			calendar.Segment(fmt.Sprint("at-", p.random.IntN(1000)))))
	}},
	{"rename", func(p *processes) {
		s := p.any()
		cal, from, to := p.at(s), p.random.IntN(40), p.random.IntN(40)
		_, err := s.Move(p.t.Context(), p.alice, ledger.Transfer{
			From: cal, Name: calendar.ObjectName(fmt.Sprintf("event-%d.ics", from)),
			To: cal, As: calendar.ObjectName(fmt.Sprintf("event-%d.ics", to)),
			Then: calendar.Precondition{NoneMatchAny: true},
		})
		p.refusedOrDone(err)
	}},
	{"undo", func(p *processes) {
		s := p.any()
		page, err := s.History(p.t.Context(), p.alice, calendar.HistoryQuery{Calendar: p.cal, Limit: 4})
		p.must(err)
		_, err = s.Undo(p.t.Context(), p.alice, page.Changes[p.random.IntN(len(page.Changes))].ID())
		p.refusedOrDone(err)
	}},
	{"rederive", func(p *processes) {
		// As an older program would have, which took all to be later.
		later := p.random.Int64N(3) * 7 * 24 * 3600
		_, err := p.store.Rederive(p.t.Context(), calendar.Walk{}, func(o calendar.Object) calendar.Derived {
			d := o.Derived
			d.Span.Start = new(*d.Span.Start + later)
			return d
		})
		p.must(err)
	}},
	{"restore a backup", func(p *processes) { p.must(p.store.NewEpoch(p.t.Context())) }},
}

// TestImagesShowWhatTheStoreHas: whatever happens to a calendar by whichever process, one that
// holds it in memory answers as one that does not.
func TestImagesShowWhatTheStoreHas(t *testing.T) {
	const old = "days of an old calendar"
	for name, imageBytes := range map[string]int64{
		"in memory": 1 << 20, "short of memory": 60_000, "in pieces": 14_000, old: 1 << 20,
	} {
		t.Run(name, func(t *testing.T) {
			eachWithProcesses(t, imageBytes, func(p *processes) {
				if name == old {
					p.age()
				}
				for step := range slowtest.Rounds(p.t, slowtest.Random, 50, 300) {
					deed := deeds[0]
					if step%2 == 0 {
						deed = deeds[p.random.IntN(len(deeds))]
					}
					deed.do(p)
					if s := p.any(); p.compare(s) {
						t.Fatalf("after step %d: %s", step, deed.name)
					}
				}
			})
		})
	}
}

// compare asks a service, and the one without images, the same.
func (p *processes) compare(s *service.Service) (failed bool) {
	p.t.Helper()
	p.seen = append(p.seen, p.at(s))
	earlier := p.seen[p.random.IntN(len(p.seen))]
	since := p.seen[p.random.IntN(len(p.seen))].SyncToken()
	name := calendar.ObjectName(fmt.Sprintf("event-%d.ics", p.random.IntN(40)))
	day := time.Date(2026, 3, 1+p.random.IntN(28), 0, 0, 0, 0, time.UTC)
	some := time.Date(2026, 3, 8+p.random.IntN(2)*7, p.random.IntN(12), 0, 0, 0, time.UTC)
	for what, ask := range map[string]func(s *service.Service) []string{
		"heads": func(s *service.Service) []string {
			return told(s.Objects(p.t.Context(), nil, p.alice, p.at(s), calendar.ObjectQuery{}))
		},
		"week": func(s *service.Service) []string {
			return told(s.Query(p.t.Context(), p.alice, p.at(s), weekOf(day)))
		},
		"days": func(s *service.Service) []string {
			return told(s.Query(p.t.Context(), p.alice, p.at(s), daysOf(some)))
		},
		"heads of days": func(s *service.Service) []string {
			return told(s.Objects(p.t.Context(), nil, p.alice, p.at(s),
				calendar.ObjectQuery{From: new(some.Unix()), Until: new(some.Unix() + 40*3600)}))
		},
		"changes": func(s *service.Service) []string {
			return told(s.Changes(p.t.Context(), nil, p.alice, p.at(s), since))
		},
		"named": func(s *service.Service) []string {
			return told(s.Objects(p.t.Context(), nil, p.alice, p.at(s), calendar.ObjectQuery{
				Names: []calendar.ObjectName{name, "event-1.ics", "event-1.ics", "none"}, WithData: true,
			}))
		},
		"one": func(s *service.Service) []string {
			o, err := s.Object(p.t.Context(), nil, p.alice, p.at(s), name)
			return told(func(yield func(calendar.Object, error) bool) { yield(o, err) })
		},
		"busy": func(s *service.Service) []string {
			periods, err := s.FreeBusy(p.t.Context(), p.alice, query.BusyQuery{
				Calendars: []calendar.Calendar{p.at(s)}, From: day, Until: day.AddDate(0, 0, 9),
			})
			return []string{fmt.Sprint(periods, err)}
		},
	} {
		if diff := cmp.Diff(ask(p.plain), ask(s)); diff != "" {
			p.t.Errorf("%s (-store +memory):\n%s", what, diff)
			failed = true
		}
	}
	return p.compareLate(s, earlier) || failed
}

// compareLate asks what has changed up to a time for which others were faster: what came after
// it is not in the answer.
func (p *processes) compareLate(s *service.Service, then calendar.Calendar) (failed bool) {
	p.t.Helper()
	if then.Epoch != p.at(s).Epoch || then.Edition != p.at(s).Edition {
		return false
	}
	all := func(s *service.Service) []string {
		return told(s.Changes(p.t.Context(), nil, p.alice, then, calendar.SyncToken{}))
	}
	if diff := cmp.Diff(all(p.plain), all(s)); diff != "" {
		p.t.Errorf("changes up to version %d (-store +memory):\n%s", then.Version, diff)
		return true
	}
	return false
}

func weekOf(day time.Time) query.Query { return during(day, 7*24*time.Hour) }

// daysOf is a question that is asked again and again, at another time of the day.
func daysOf(start time.Time) query.Query { return during(start, 60*time.Hour) }

func during(start time.Time, length time.Duration) query.Query {
	return query.Query{Filter: filter.Filter{{Name: "VCALENDAR", Components: []filter.CompFilter{
		{Name: "VEVENT", TimeRange: &filter.TimeRange{Start: start, End: start.Add(length)}},
	}}}}
}

// told is what an answer tells of each object.
func told(all iter.Seq2[calendar.Object, error]) []string {
	var lines []string
	for o, err := range all {
		lines = append(lines,
			fmt.Sprint(o.Name, " ", o.Version, o.ETag, o.Deleted, o.Size, o.Modified.Unix(), o.UID, o.Kind,
				string(o.Data), err))
	}
	return lines
}

// TestImagesKeepUp: anyone who has written sees it at once, in either process, while others write.
func TestImagesKeepUp(t *testing.T) {
	eachWithProcesses(t, 1<<20, func(p *processes) {
		ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
		defer cancel()
		var all sync.WaitGroup
		for writer := range 4 {
			all.Go(func() {
				s, other := p.two[writer%2], p.two[(writer+1)%2]
				for n := range 25 {
					if err := writeAndSee(ctx, s, other, p.alice, p.cal, fmt.Sprintf("w%d-%d", writer, n%5), n); err !=
						nil {
						p.t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		for _, s := range p.two {
			p.compare(s)
		}
	})
}

// writeAndSee puts an event into one process and looks for it, in every way, in the other.
func writeAndSee(
	ctx context.Context, s, other *service.Service, c calendar.Caller, id calendar.CalendarID, uid string, n int,
) error {
	cal, err := s.Calendar(ctx, c, id)
	if err != nil {
		return err
	}
	name := calendar.ObjectName(uid + ".ics")
	saved, err := s.Put(ctx, c, cal, calendar.Draft{Name: name, Data: []byte(event(uid, 5, fmt.Sprint("write ", n)))})
	if err != nil {
		return err
	}
	now, err := other.Calendar(ctx, c, id)
	if err != nil {
		return err
	}
	for what, all := range map[string]iter.Seq2[calendar.Object, error]{
		"heads":   other.Objects(ctx, nil, c, now, calendar.ObjectQuery{}),
		"changes": other.Changes(ctx, nil, c, now, cal.SyncToken()),
		"week":    other.Query(ctx, c, now, weekOf(time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC))),
	} {
		seen := false
		for o, err := range all {
			if err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			seen = seen || o.Name == name && o.ETag == saved.Object.ETag
		}
		if !seen {
			return fmt.Errorf("%s does not show what was written to %s as %s", what, name, saved.Object.ETag)
		}
	}
	return nil
}
