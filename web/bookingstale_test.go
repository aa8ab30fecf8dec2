package web_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/web/booking"
)

// bookers are two processes that cache calendars, and one that does not, with the page of a user. Her calendars are an
// own one for bookings, another own one, and one of another user. All count as busy.
type bookers struct {
	*house
	*rand.Rand
	cached []*booking.Service
	plain  *booking.Service
	page   calendar.BookingPageID
	owner  calendar.User
	other  calendar.Caller
	cals   []calendar.Calendar
}

// deedsOfBookers change the times that are offered, in one of the processes.
var deedsOfBookers = []struct {
	name string
	do   func(*bookers, *service.Service)
}{
	{"an event", func(b *bookers, s *service.Service) { b.writes(s) }},
	{"another event", func(b *bookers, s *service.Service) { b.writes(s) }},
	{"a deletion", func(b *bookers, s *service.Service) {
		n, c := b.any()
		b.found(s.Delete(b.Context(), c, b.cals[n], b.name(n), calendar.Precondition{}))
	}},
	{"a calendar stops or begins to count", func(b *bookers, s *service.Service) {
		n, _ := b.any()
		b.found(s.PatchCalendar(b.Context(), callerOf(b.owner), b.cals[n].ID,
			func(p *calendar.Properties) ([]calendar.DeadProperty, error) {
				p.Transparent = !p.Transparent
				return nil, nil
			}))
	}},
	{"the end of a share", func(b *bookers, s *service.Service) {
		b.found(s.Unshare(b.Context(), b.other, b.cals[2].ID, b.owner.Name))
	}},
	{"a share", func(b *bookers, s *service.Service) { b.shares(s) }},
	{"the owner's zone", func(b *bookers, _ *service.Service) {
		zones := []string{"America/New_York", "Asia/Tokyo", "Europe/Berlin"}
		_, err := b.auth.ChangeUser(b.Context(), b.owner.Name, auth.UserEdit{Timezone: &zones[b.IntN(len(zones))]})
		b.must(err)
	}},
	{"the owner's availability", func(b *bookers, s *service.Service) {
		b.must(s.PatchScheduling(b.Context(), callerOf(b.owner), func(said *calendar.Scheduling) error {
			text := string(object("VAVAILABILITY", "a", "x", fmt.Sprintf("DTSTART:202605%02dT120000Z", 1+b.IntN(30)),
				"DURATION:PT30H"))
			said.Availability = &text
			return nil
		}))
	}},
}

func newBookers(t *testing.T, at string, images int64) *bookers {
	t.Helper()
	h := open(t, at)
	b := &bookers{house: h, Rand: rand.New(rand.NewPCG(1, 135))}
	process := func(images int64) *booking.Service {
		p := housetest.Open(t, at, h.Clock)
		config := p.Middle()
		config.ImageBytes = images
		s := h.bookings(new(letters))
		s.Calendars, s.Store = service.New(config), p.Store
		return s
	}
	b.plain, b.cached = process(0), []*booking.Service{process(images), process(images)}
	v, work := h.host(b.plain, nil)
	b.page, b.owner = v.ID, v.Owner
	private, err := h.calendars.CreateCalendar(t.Context(), callerOf(v.Owner), calendar.NewCalendar{Segment: "private"})
	h.must(err)
	bob, lent := h.mailed("bob")
	b.other, b.cals = callerOf(bob), []calendar.Calendar{work, private, lent}
	b.shares(h.calendars)
	return b
}

// shares lends the third calendar to the owner of the page, who lets it count.
func (b *bookers) shares(s *service.Service) {
	_, err := s.Settle(b.Context(), b.other, b.cals[2].ID, b.owner.Name, calendar.ReadAccess)
	b.must(err)
	b.must(s.PatchCalendar(b.Context(), callerOf(b.owner), b.cals[2].ID,
		func(p *calendar.Properties) ([]calendar.DeadProperty, error) {
			p.Transparent = false
			return nil, nil
		}))
}

// found lets pass that the object or the share of a change is not there.
func (b *bookers) found(err error) {
	if err == nil || calendar.ReasonOf(err) != calendar.NotFound {
		b.must(err)
	}
}

// any returns the number of a calendar, and its owner.
func (b *bookers) any() (int, calendar.Caller) {
	n := b.IntN(len(b.cals))
	if n == 2 {
		return n, b.other
	}
	return n, callerOf(b.owner)
}

func (b *bookers) name(n int) calendar.ObjectName {
	return calendar.ObjectName(fmt.Sprintf("event-%d-%d.ics", n, b.IntN(2)))
}

// writes puts one of a few events into a calendar: in a zone, in UTC, floating, or a whole day; a third are series.
func (b *bookers) writes(s *service.Service) {
	n, c := b.any()
	name := b.name(n)
	day := time.Date(2026, 5, 2+b.IntN(28), 4+b.IntN(14), 0, 0, 0, time.UTC)
	starts := []string{
		day.Format("DTSTART:20060102T150405Z"), day.Format("DTSTART:20060102T150405"),
		day.Format("DTSTART;VALUE=DATE:20060102"),
	}
	lines := []string{starts[b.IntN(len(starts))], "DURATION:P1D"}
	if b.IntN(3) == 0 {
		lines = append(lines, "RRULE:FREQ=WEEKLY;COUNT=3")
	}
	_, err := s.Put(b.Context(), c, b.cals[n],
		calendar.Draft{Name: name, Data: object("VEVENT", string(name), "x", lines...)})
	b.must(err)
}

// times lists the offered starts of a month.
func (b *bookers) times(s *booking.Service) (list []string) {
	owner, err := s.Store.UserByID(b.Context(), b.owner.ID)
	b.must(err)
	v, err := s.Page(b.Context(), owner, b.page)
	b.must(err)
	found, err := s.Times(b.Context(), v, 60, b.Now(), b.Now().AddDate(0, 0, 31), nil)
	b.must(err)
	for _, one := range found {
		list = append(list, one.Start.UTC().Format(time.DateTime))
	}
	return list
}

// Whatever changes in whichever process, all of them offer the times that the database allows at that moment.
func TestBookingTimesAreNotStale(t *testing.T) {
	for name, versions := range map[string]int{"calendars": 0, "days of old calendars": 2001} {
		t.Run(name, func(t *testing.T) {
			testdb.Each(t, func(t *testing.T, at string) {
				b := newBookers(t, at, 1<<20)
				b.must(b.store.Update(t.Context(), func(tx calendar.Tx) error {
					for n := range versions * len(b.cals) {
						if _, err := tx.Advance(t.Context(), b.cals[n%len(b.cals)].ID); err != nil {
							return err
						}
					}
					return nil
				}))
				changed, before := map[string]int{}, b.times(b.plain)
				for range slowtest.Rounds(t, slowtest.Random, 100, 600) {
					deed := deedsOfBookers[b.IntN(len(deedsOfBookers))]
					deed.do(b, b.cached[b.IntN(2)].Calendars)
					want := b.times(b.plain)
					for n, s := range b.cached {
						if diff := cmp.Diff(want, b.times(s)); diff != "" {
							t.Fatalf("process %d after %s (-database +process):\n%s", n, deed.name, diff)
						}
					}
					if !cmp.Equal(want, before) {
						changed[deed.name]++
					}
					before = want
				}
				for _, deed := range deedsOfBookers {
					if changed[deed.name] == 0 {
						t.Errorf("%s never changed the times", deed.name)
					}
				}
				if held := b.cached[0].Calendars.Cached(); held.Shown < 60 {
					t.Errorf("the cache answered %d of %d times", held.Shown, held.Asked)
				}
			})
		})
	}
}
