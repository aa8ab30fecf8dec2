package bench_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp"
	"caldav-mcp-server/store"
)

// mcpHouse is ten calendars of ten thousand events each, with the door of assistants.
type mcpHouse struct {
	door   *mcp.Handler
	caller calendar.Caller
}

const (
	mcpCalendars = 10
	mcpEvents    = 10_000
)

// mcpNow is in the midst of the events.
var mcpNow = time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)

// BenchmarkMCP measures calls as an assistant makes them, and reports the median beside the mean.
func BenchmarkMCP(b *testing.B) {
	testdb.EachBenchmark(b, func(b *testing.B, url string) {
		h := newMCPHouse(b, url)
		for _, c := range []struct{ name, method, params, want string }{
			{"tools-list", "tools/list", `{}`, `"list_events"`},
			{"list-week", "tools/call", `{"name":"list_events","arguments":{"date_range":"this ` +
				`week","limit":200}}`, "Found 2"},
			{"search-rare", "tools/call", `{"name":"search_events","arguments":{"query":"rennie",` +
				`"include_past":true}}`, "Rennie"},
			{"search-two", "tools/call", `{"name":"search_events","arguments":{"query":"project42 ` +
				`meet"}}`, "Project42"},
			{"search-all", "tools/call", `{"name":"search_events","arguments":{"query":"meeting"}}`, "There are more"},
			{"free-busy-week", "tools/call", `{"name":"get_free_busy","arguments":{"start_time":"2026-03-02",` +
				`"end_time":"2026-03-08"}}`, "Busy times"},
			{"find-time", "tools/call", `{"name":"find_time","arguments":{"duration_minutes":30}}`, "30 minutes"},
		} {
			b.Run(c.name, func(b *testing.B) {
				b.ReportAllocs()
				var took []time.Duration
				before := processorTime(b)
				for b.Loop() {
					began := time.Now()
					body := h.call(b, c.method, c.params)
					took = append(took, time.Since(began))
					if !strings.Contains(body, c.want) {
						b.Fatalf("no %q in %.500s", c.want, body)
					}
				}
				// Other programs make a machine slow, but cost this one no time of the processor.
				b.ReportMetric(float64((processorTime(b)-before).Microseconds())/1000/float64(len(took)), "cpu-ms/op")
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-median")
			})
		}
	})
}

// processorTime is what the process has used up so far; a database that is another one is not in it.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

func (h *mcpHouse) call(b *testing.B, method, params string) string {
	r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/mcp",
		strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	w := httptest.NewRecorder()
	h.door.ServeMCP(w, r, h.caller)
	return w.Body.String()
}

func newMCPHouse(b *testing.B, url string) *mcpHouse {
	b.Helper()
	ctx := b.Context()
	s, err := store.Open(ctx, url, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	alice := calendar.User{ID: "alice", Name: "alice", Timezone: "Europe/Berlin"}
	now, ids := func() time.Time { return mcpNow }, 0
	newID := func() string { ids++; return fmt.Sprintf("00000000-0000-4000-8000-%012d", ids) }
	service := service.New(service.Config{Store: s, Limits: calendar.DefaultLimits(), Now: now, NewID: newID})
	h := &mcpHouse{
		caller: calendar.Caller{User: alice, Scopes: calendar.ScopeAll, Token: "token"},
		door: mcp.New(mcp.Config{
			Service: service, BaseURL: "http://example.com", Version: "bench", Now: now, NewID: newID,
			Logger: slog.New(slog.DiscardHandler),
			Limits: mcp.Limits{Calls: 1 << 30}, // the clock stands still
		}),
	}
	if err := s.Migrate(ctx); err != nil {
		b.Fatal(err)
	}
	if err := s.InsertUser(ctx, alice, "hash"); err != nil {
		b.Fatal(err)
	}
	for i := range mcpCalendars {
		cal, err := service.CreateCalendar(ctx, h.caller, calendar.NewCalendar{
			Properties: calendar.Properties{Name: fmt.Sprint("Calendar ", i)},
		})
		for from := 0; from < mcpEvents && err == nil; from += 1000 {
			err = s.Update(ctx, func(tx calendar.Tx) error { return fillMCP(ctx, tx, cal, i*mcpEvents+from) })
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	return h
}

// fillMCP writes a thousand events, from one number on: of each calendar twenty lie in a week.
func fillMCP(ctx context.Context, tx calendar.Tx, cal calendar.Calendar, from int) error {
	for i := from; i < from+1000; i++ {
		locked, err := tx.Advance(ctx, cal.ID)
		if err != nil {
			return err
		}
		start := mcpNow.Add(time.Duration(i%mcpEvents-mcpEvents/2) * week / perWeek * time.Second)
		if err := tx.PutObject(ctx, mcpEvent(cal, locked.Version, i, start)); err != nil {
			return err
		}
	}
	return nil
}

func mcpEvent(cal calendar.Calendar, v calendar.Version, i int, start time.Time) calendar.Object {
	uid := fmt.Sprintf("%08x-5b1c-4a6e-9d52-7f3c2b1a0e9d", i)
	title, rule, end := fmt.Sprintf("Meeting about Project%d", i%100), "", start.Add(time.Hour)
	if i%1000 == 0 {
		title = "One on one with Rennie"
	}
	until := end
	if i%50 == 0 {
		rule, until = "RRULE:FREQ=WEEKLY;COUNT=10\r\n", end.AddDate(0, 0, 63)
	}
	const stamp = "20060102T150405Z"
	data := []byte("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//bench//EN\r\nBEGIN:VEVENT\r\nUID:" + uid +
		"\r\nDTSTAMP:20260101T000000Z\r\n" +
		"DTSTART:" + start.Format(stamp) + "\r\nDTEND:" + end.Format(stamp) + "\r\n" + rule + "SUMMARY:" + title +
		"\r\nLOCATION:Room 5\r\nDESCRIPTION:" + strings.Repeat("Agenda and notes. ", 20) +
		"\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
	from, to := start.Unix(), until.Unix()
	return calendar.Object{
		Calendar: cal.ID, Name: calendar.ObjectName(uid + ".ics"), ETag: calendar.ETagOf(data), Version: v,
		Size: int64(len(data)), Data: data,
		Created: mcpNow, Modified: mcpNow,
		Derived: calendar.Derived{
			UID: calendar.UID(uid), Kind: calendar.Event, Summary: title, Search: strings.ToLower(title) +
				" room 5 agenda and notes",
			Span: calendar.Span{Start: &from, End: &to}, Recurring: rule != "",
		},
	}
}
