package mcp

import (
	"fmt"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/internal/testdb"
)

// TestEachReadingCallHasAMeter: every tool and every other request that reads events refuses to read more than a
// request's memory limit, and the refusal suggests an alternative. With the usual limits all of them succeed.
func TestEachReadingCallHasAMeter(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		long := "DESCRIPTION:" + strings.Repeat(strings.Repeat("x", 70)+"\n ", 2000) + "end"
		h.put(t, work, "large", wrapped(calendar.Event, "large", "DTSTART:20260302T080000Z", "DTEND:20260302T090000Z",
			"SUMMARY:Fair", long))
		h.put(t, home, "task", wrapped(calendar.Todo, "task", "SUMMARY:Report", long))
		usual := h.open(t, h.config())
		small := calendar.DefaultLimits()
		small.Cost = meter.Limits{Held: 300 << 10}
		h.service = service.New(service.Config{Store: h.Store, Limits: small, Now: h.Now, NewID: h.NewID})
		tight := h.open(t, h.config())
		id := eventID{Calendar: work, UID: "large"}.String()
		tool := func(name, args string) [2]string {
			return [2]string{"tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args)}
		}
		of := fmt.Sprintf(`{"calendar_id":%q,"event_uid":"large"}`, work)
		for _, call := range [][2]string{
			tool("list_events", `{}`),
			tool("search_events", `{"query":"fair"}`),
			tool("search", `{"query":"fair"}`),
			tool("query_events", fmt.Sprintf(`{"calendar_id":%q}`, work)),
			tool("query_events", fmt.Sprintf(`{"calendar_id":%q,"start":"2026-03-01","end":"2026-03-05"}`, work)),
			tool("list_tasks", `{}`),
			tool("get_event", of),
			tool("fetch", fmt.Sprintf(`{"id":%q}`, id)),
			tool("get_free_busy", `{"start_time":"2026-03-01","end_time":"2026-03-05"}`),
			tool("find_time", `{"duration_minutes":30}`),
			tool("patch_event", strings.Replace(of, "}", `,"title":"Market"}`, 1)),
			{"resources/read", fmt.Sprintf(`{"uri":"calendar://%s"}`, work)},
			{"resources/read", fmt.Sprintf(`{"uri":"calendar://event/%s"}`, id)},
			{"completion/complete", `{"ref":{"type":"ref/resource","uri":"calendar://event/{id}"},` +
				`"argument":{"name":"id","value":""}}`},
		} {
			if said := ask(t, tight, "alice", call[0], call[1], nil).body; !strings.Contains(said,
				"takes more memory than one request may have") || !strings.Contains(said, "ask for ") {
				t.Errorf("%s is not refused: %.300s", call, said)
			}
			if said := ask(t, usual, "alice", call[0], call[1], nil).body; strings.Contains(said, `"error"`) ||
				strings.Contains(said, `"isError":true`) {
				t.Errorf("%s with the usual limits: %.300s", call, said)
			}
		}
	})
}
