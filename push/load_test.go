package push_test

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/push"
	"caldav-mcp-server/webpush"
	"caldav-mcp-server/webpush/pushtest"
)

// What the measurement has: so many readers of one calendar, each with so many programs that are told, and so many
// changes in each half of a pair, one a second. Before it there are so many changes at once, each so often: a
// connection to Postgres is slow until it has seen each statement some times, and whoever tells takes others than were
// used before.
const (
	loadReaders  = 50
	loadPrograms = 200
	loadChanges  = 8
	loadPairs    = 4
	loadWriters  = 16
	loadWarm     = 10
)

// crowd is a calendar that 10,000 programs are told of.
type crowd struct {
	b       *testing.B
	service *service.Service
	owner   calendar.Caller
	cal     calendar.Calendar
	courier func() *push.Courier
	sent    atomic.Int64
	puts    atomic.Int64
}

// BenchmarkPutWhileTelling changes a calendar of which 10,000 programs are told, once a second, with a process that
// tells and without one, in turn. It reports the median of the changes, how many times longer they take while it is
// told, the messages, and the most memory. Where others use the machine, the quarter at which the quicker changes end
// tells more than the median.
func BenchmarkPutWhileTelling(b *testing.B) {
	testdb.EachBenchmark(b, func(b *testing.B, url string) {
		c := newCrowd(b, url)
		c.warm()
		for b.Loop() {
			var told, quiet []time.Duration
			var most uint64
			for range loadPairs {
				quiet = append(quiet, c.change()...)
				ctx, stop := context.WithCancel(b.Context())
				ended := make(chan struct{})
				courier := c.courier()
				go func() {
					defer close(ended)
					courier.Run(ctx)
				}()
				time.Sleep(2 * time.Second) //nolint:forbidigo // its first look
				told = append(told, c.change()...)
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapInuse)
				stop()
				<-ended
			}
			slices.Sort(told)
			slices.Sort(quiet)
			with, without := told[len(told)/2], quiet[len(quiet)/2]
			b.ReportMetric(float64(with.Microseconds())/1000, "ms/put-while-told")
			b.ReportMetric(float64(without.Microseconds())/1000, "ms/put-alone")
			b.ReportMetric(float64(with)/float64(without), "times")
			b.ReportMetric(float64(told[len(told)/4])/float64(quiet[len(quiet)/4]), "times-of-the-quicker")
			b.ReportMetric(float64(c.sent.Load()), "messages")
			b.ReportMetric(float64(most)/(1<<20), "MiB")
		}
	})
}

func newCrowd(b *testing.B, url string) *crowd {
	h := housetest.Open(b, url, housetest.At(time.Now()))
	owner := calendar.User{ID: "u-owner", Name: "owner"}
	h.Admit(b, owner)
	c := &crowd{b: b, owner: calendar.Caller{User: owner, Scopes: calendar.ScopeAll, Agent: "bench"}}
	middle := h.Middle()
	middle.Now = time.Now
	c.service = service.New(middle)
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	var err error
	c.cal, err = c.service.CreateCalendar(b.Context(), c.owner, calendar.NewCalendar{Segment: "work"})
	must(err)
	p := pushtest.NewService(b, time.Now).Subscribe("/all")
	people := map[calendar.UserID]calendar.User{}
	for i := range loadReaders {
		u := calendar.User{ID: calendar.UserID(fmt.Sprintf("u-%d", i)), Name: fmt.Sprintf("reader%d", i)}
		h.Admit(b, u)
		people[u.ID] = u
		_, err := c.service.Reshare(b.Context(), c.owner, c.cal.ID, []calendar.ShareEdit{
			{With: u, Access: calendar.ReadAccess},
		})
		must(err)
		for j := range loadPrograms {
			s, err := webpush.Parse(fmt.Sprintf("https://push.example.com/%d/%d", i, j), p.PublicKey(), p.Auth())
			must(err)
			_, err = c.service.RegisterPush(b.Context(),
				calendar.Caller{User: u, Scopes: calendar.ScopeAll}, calendar.PushSubscription{
					Endpoint: s.Endpoint, Key: s.Key, Auth: s.Auth, Calendar: c.cal.ID,
				})
			must(err)
		}
	}
	key, err := webpush.NewKey([]byte("secret"))
	must(err)
	//nolint:unparam // as it is asked for
	person := func(_ context.Context, id calendar.UserID) (calendar.Caller, bool, error) {
		return calendar.Caller{User: people[id], Scopes: calendar.ScopeAll}, true, nil
	}
	c.courier = func() *push.Courier {
		return push.NewCourier(push.Config{
			Store: h.Store, Calendar: c.service.Calendar, Owner: person,
			Program: func(ctx context.Context, id calendar.UserID, _ calendar.TokenID) (calendar.Caller, bool, error) {
				return person(ctx, id)
			},
			Send: func(*http.Request) (push.Answer, error) {
				c.sent.Add(1)
				time.Sleep(50 * time.Millisecond) //nolint:forbidigo // as far away as a push service is
				return push.Answer{Status: http.StatusCreated}, nil
			},
			From: webpush.Sender{Key: key, Subject: "https://cal.example.com"}, Topics: calendar.TopicKey("topics"),
			Secret: []byte("hooks"),
			Now:    time.Now, NewID: h.NewID, Logger: h.Logger(),
		})
	}
	return c
}

// warm has each connection of the pool change something.
func (c *crowd) warm() {
	var all sync.WaitGroup
	for range loadWriters {
		all.Go(func() {
			for range loadWarm {
				c.put()
			}
		})
	}
	all.Wait()
}

// change changes the calendar once a second, and returns how long each took.
func (c *crowd) change() []time.Duration {
	var all []time.Duration
	for range loadChanges {
		begun := time.Now()
		c.put()
		took := time.Since(begun)
		all = append(all, took)
		time.Sleep(time.Second - min(took, time.Second)) //nolint:forbidigo // one change a second
	}
	return all
}

func (c *crowd) put() {
	uid := fmt.Sprintf("e%d", c.puts.Add(1))
	_, err := c.service.Put(c.b.Context(), c.owner, c.cal, calendar.Draft{
		Name: calendar.ObjectName(uid + ".ics"), Data: []byte(strings.ReplaceAll(
			"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//test//EN\nBEGIN:VEVENT\nUID:"+uid+
				"\nDTSTAMP:20261120T100000Z\nDTSTART:20261124T090000Z\nEND:VEVENT\nEND:VCALENDAR\n", "\n", "\r\n")),
	})
	if err != nil {
		c.b.Error(err)
	}
}
