package remind_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
)

// eachEngine runs a benchmark in a house of its own on each engine.
func eachEngine(b *testing.B, bench func(b *testing.B, h *house)) {
	b.Helper()
	for engine, database := range map[string]func(testing.TB) string{
		"sqlite": testdb.SQLite, "postgres": testdb.Postgres,
	} {
		b.Run(engine, func(b *testing.B) { bench(b, newHouse(b, database(b), housetest.At(start))) })
	}
}

// filled plans reminders of a user that are due from a time on, without objects.
func (h *house) filled(c calendar.Caller, n int, at time.Time) {
	h.t.Helper()
	s := calendar.ReminderSettings{
		User: c.User.ID, Before: calendar.NoReminder, Alarms: calendar.BrowserChannel, Mails: true, Since: h.Now(),
		Invitations: calendar.BrowserChannel, Shares: calendar.BrowserChannel, Changes: calendar.NoChannel,
	}
	h.must(h.Store.SetReminderSettings(h.t.Context(), s))
	cal := h.calendar(c, "c-"+c.User.Name)
	next := calendar.ReminderPlan{
		User: c.User.ID, Calendar: cal.ID, Number: 1, Version: cal.Version, Epoch: cal.Epoch, Reported: cal.Version,
		Token: cal.SyncToken().String(),
	}
	var all []calendar.Reminder
	for i := range n {
		all = append(all, calendar.Reminder{
			User: c.User.ID, Calendar: cal.ID, Object: calendar.ObjectName(fmt.Sprintf("%06d.ics", i)),
			At: at.Add(time.Duration(i) * time.Second),
		})
	}
	h.must(h.Store.SavePlan(h.t.Context(), calendar.ReminderPlan{}, next, all, calendar.Alerts{}, h.Now()))
}

// BenchmarkIdle is a round without work on a server with 1,000 users who have 1,000 reminders each.
func BenchmarkIdle(b *testing.B) {
	eachEngine(b, func(b *testing.B, h *house) {
		for i := range 1000 {
			h.filled(h.user(fmt.Sprintf("user%d", i)), 1000, start.Add(time.Hour))
		}
		h.round()
		for b.Loop() {
			if more, err := h.ringer.Round(b.Context()); err != nil || more {
				b.Fatal(more, err)
			}
		}
	})
}

// BenchmarkPlan is the planning of a calendar with 2,000 events with reminders.
func BenchmarkPlan(b *testing.B) {
	eachEngine(b, func(b *testing.B, h *house) {
		const events, batch = 2000, 200
		into := h.service.NewImporter(h.alice, calendar.ImportOptions{})
		var all []calendar.Import
		for i := range events {
			rule := ""
			if i%10 == 0 {
				rule = "RRULE:FREQ=WEEKLY\n"
			}
			text := fmt.Sprintf(
				"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\nBEGIN:VEVENT\nUID:%d\nDTSTAMP:20261101T000000Z\n"+
					"SUMMARY:Event\nDTSTART:%s\nDURATION:PT1H\n%s%sEND:VEVENT\nEND:VCALENDAR\n",
				i,
				start.Add(time.Duration(i+1)*time.Hour).Format("20060102T150405Z"),
				rule,
				tenBefore,
			)
			all = append(all, calendar.Import{
				Name: calendar.ObjectName(
					fmt.Sprintf("%d.ics", i),
				),
				Data: []byte(strings.ReplaceAll(text, "\n", "\r\n")),
			})
		}
		for part := range slices.Chunk(all, batch) {
			_, err := into.Store(b.Context(), h.work, part)
			h.must(err)
		}
		h.subscribe(h.alice, "/a")
		h.round()
		for b.Loop() {
			h.want(h.alice, func(*calendar.ReminderSettings) {}) // all is planned anew
			h.round()
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*events), "µs/event")
	})
}

// BenchmarkFlood is the round in which a user's reminder rings while another has 100,000 that are due at once.
func BenchmarkFlood(b *testing.B) {
	eachEngine(b, func(b *testing.B, h *house) {
		h.filled(h.alice, 100_000, start.Add(-100_000*time.Second))
		h.filled(h.bob, 1, start)
		for b.Loop() {
			if _, err := h.ringer.Round(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
