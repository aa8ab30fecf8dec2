package service_test

import (
	"fmt"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
)

// BenchmarkInvite compares a PUT with which fifty users are invited to one with which nobody is: it may take ten times
// as long at most.
func BenchmarkInvite(b *testing.B) {
	testdb.EachBenchmark(b, func(b *testing.B, url string) {
		h := housetest.Open(b, url, housetest.At(time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)))
		s := service.New(h.Middle())
		var ann calendar.Caller
		var cal calendar.Calendar
		var names []string
		for i := range 51 {
			name := fmt.Sprintf("guest%02d", i)
			u := calendar.User{
				ID: calendar.UserID("id-" + name), Name: name, Email: name + "@example.com", Created: h.Now(),
			}
			if i == 0 {
				u.Email = "ann@example.com"
			} else {
				names = append(names, name)
			}
			h.Admit(b, u)
			c := calendar.Caller{User: u, Scopes: calendar.ScopeAll}
			made, err := s.CreateCalendar(b.Context(), c, calendar.NewCalendar{Segment: "work"})
			if err != nil {
				b.Fatal(err)
			}
			if i == 0 {
				ann, cal = c, made
			}
		}
		count := 0
		for _, c := range []struct {
			name   string
			guests []string
		}{{"nobody", nil}, {"fifty", names}} {
			b.Run(c.name, func(b *testing.B) {
				var indexing time.Duration
				for b.Loop() {
					if count++; count%20 == 0 { // as the server does beside the requests
						b.StopTimer()
						begin := time.Now()
						if err := h.Store.IndexWords(b.Context()); err != nil {
							b.Fatal(err)
						}
						indexing += time.Since(begin)
						b.StartTimer()
					}
					lines := []string{fmt.Sprintf("X-COUNT:%d", count)}
					if c.guests != nil {
						lines = append(lines, organizedByAnn, attendees(c.guests...))
					}
					data := meetingOf(lines...)
					uid := fmt.Sprintf("UID:meeting-%d", count)
					_, err := s.Put(b.Context(), ann, cal, calendar.Draft{
						Name: calendar.ObjectName(uid + ".ics"), Data: []byte(replaceUID(data, uid)),
					})
					if err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(indexing.Nanoseconds())/float64(b.N), "ns-indexing/op")
			})
		}
	})
}
