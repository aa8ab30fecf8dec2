package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
)

// fillTwo puts a week of events into Work, and others into Home, some of them alike.
func (h *house) fillTwo(t *testing.T) {
	t.Helper()
	h.fillWeek(t)
	for i := range 10 {
		uid := fmt.Sprintf("home-%02d", i)
		h.put(t, home, uid, wrapped(calendar.Event, uid, fmt.Sprintf("DTSTART:202603%02dT200000Z", 2+i%5),
			"DURATION:PT45M", "SUMMARY:Lunch"))
		h.put(t, home, "t"+uid, wrapped(calendar.Todo, "t"+uid, fmt.Sprintf("DUE:202603%02dT200000Z", 2+i),
			"SUMMARY:Buy"))
	}
}

// TestACursorKeepsItsQuestion: a cursor alone continues with the same filters, a contradicting filter is refused, and
// the pages together are the full result. The cursor is taken from the text, because some hosts show only that
// (mcp B8).
func TestACursorKeepsItsQuestion(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.fillTwo(t)
	door := h.open(t, h.config())
	for _, c := range []struct {
		tool, rows string
		asked      params
		other      params
		want       int
	}{
		{"list_events", "events", params{
			"date_range": "next week", "calendar_id": work, "keyword": "lunch",
			"limit": 3,
		}, params{"keyword": "interview"}, 8},
		{
			"list_events", "events",
			params{"date_range": "next week", "keyword": "lunch", "limit": 7},
			params{"calendar_id": home},
			18,
		},
		{
			"query_events", "events",
			params{"calendar_id": work, "start": "2026-03-02", "end": "2026-03-04", "limit": 6},
			params{"start": "2026-03-03"},
			24,
		},
		{"list_tasks", "tasks", params{"due_before": "2026-03-08", "limit": 2}, params{"status": "all"}, 6},
		{
			"list_changes", "changes",
			params{"calendar_id": home, "event_uid": "home-03", "limit": 1},
			params{"event_uid": "home-04"},
			2,
		},
	} {
		if c.tool == "list_changes" {
			h.say(t, door, "alice", "patch_event", params{
				"calendar_id": home, "event_uid": "home-03",
				"title": "Dinner",
			})
		}
		args, seen := c.asked, map[string]bool{}
		for range 30 {
			var v map[string]any
			text := contentText(t, use(t, door, "alice", c.tool, args, &v))
			for _, row := range v[c.rows].([]any) {
				data, _ := json.Marshal(row)
				seen[string(data)] = true
			}
			next, _ := v["next_cursor"].(string)
			if next == "" {
				break
			}
			if !strings.Contains(text, next) {
				t.Errorf("%s: the text does not have the cursor: %s", c.tool, text)
			}
			args = params{"cursor": next}
			if c.tool == "query_events" {
				args["calendar_id"] = work
			}
		}
		if len(seen) != c.want {
			t.Errorf("%s %v: %d rows by cursors alone, want %d", c.tool, c.asked, len(seen), c.want)
		}
		var first struct {
			Next string `json:"next_cursor"`
		}
		use(t, door, "alice", c.tool, c.asked, &first)
		for name, value := range c.other {
			contradiction, _ := json.Marshal(params{"cursor": first.Next, name: value})
			if said := refusalOf(t, door, "alice", c.tool, string(contradiction)); !strings.Contains(said, name) ||
				!strings.Contains(said, "cursor") {
				t.Errorf("%s %s: %s", c.tool, contradiction, said)
			}
		}
		if said := refusalOf(t, door, "alice", map[bool]string{
			true:  "list_tasks",
			false: "list_events",
		}[c.tool == "list_events"], `{"cursor":"`+first.Next+`"}`); !strings.Contains(said,
			"next_cursor") {
			t.Errorf("the cursor of %s in another tool: %s", c.tool, said)
		}
	}
}

// TestQueryEventsGivesWhatIsAsked: up to 500 events at once in every version. Omitted events are counted, with the
// cursor, in the text too; the array stays as in the first version (mcp B1).
func TestQueryEventsGivesWhatIsAsked(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	for i := range 510 {
		uid := fmt.Sprintf("6f1d9f0a-93c4-4c53-8f0e-%012d@client.example", i)
		h.put(t, work, uid, wrapped(calendar.Event, uid, fmt.Sprintf("DTSTART:202603%02dT%02d0000Z", 1+i%28, i%20),
			"SUMMARY:Weekly platform planning"))
	}
	door := h.open(t, h.config())
	for _, version := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"query_events",`+
			`"arguments":{"calendar_id":%q,"limit":500}}}`, work)
		g := do(t, request(t, "POST", door, "alice", body, wire.VersionHeader, version))
		var r struct {
			Result struct{ Content []struct{ Text string } }
		}
		if err := json.Unmarshal([]byte(g.body), &r); err != nil || len(r.Result.Content) != 2 {
			t.Fatalf("%s: %v, %.300s", version, err, g.body)
		}
		var rows []map[string]any
		if err := json.Unmarshal([]byte(r.Result.Content[0].Text), &rows); err != nil || len(rows) != 500 {
			t.Errorf("%s: %d rows, %v", version, len(rows), err)
		}
		if said := r.Result.Content[1].Text; !strings.Contains(said, "10 more") || !strings.Contains(said, "cursor ") {
			t.Errorf("%s: %s", version, said)
		}
	}
}

// TestCalendarsOfOthersDoNotFloodAList: a user who shares very many calendars makes no other user's list longer than a
// result may be, and hides no calendar.
func TestCalendarsOfOthersDoNotFloodAList(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	const shared = 100
	for i := range shared {
		if i > 0 && i%20 == 0 {
			h.Pass(25 * time.Hour) // for the limit of new shares in a day
		}
		cal, err := h.service.CreateCalendar(t.Context(), h.callers["bob"],
			calendar.NewCalendar{Properties: calendar.Properties{Name: strings.Repeat("Buy now! ", 90)}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.service.Share(t.Context(), h.callers["bob"], cal.ID, "alice", calendar.ReadAccess); err != nil {
			t.Fatal(err)
		}
	}
	door := h.open(t, h.config())
	for tool, want := range map[string]int{"list_calendars": shared + 3, "list_shared_calendars": shared} {
		args, ids := params{}, []calendar.CalendarID{}
		for range 30 {
			var v struct {
				Calendars []calendarView
				More      int
				Next      string `json:"next_cursor"`
			}
			body := use(t, door, "alice", tool, args, &v)
			if tokens := len(resultText(t, body)) / 4; tokens > mostTokens {
				t.Errorf("%s: %d tokens", tool, tokens)
			}
			for _, cal := range v.Calendars {
				if len(cal.Name) > 300 {
					t.Errorf("%s: a name has %d bytes", tool, len(cal.Name))
				}
				ids = append(ids, cal.ID)
			}
			if v.Next == "" {
				break
			}
			if text := contentText(t, body); !strings.Contains(text, v.Next) || len(ids)+v.More != want {
				t.Errorf("%s: %d so far, %d more, and the text ends %s", tool, len(ids), v.More, text[len(text)-200:])
			}
			args = params{"cursor": v.Next}
		}
		slices.Sort(ids)
		if n := len(slices.Compact(ids)); n != want {
			t.Errorf("%s: %d calendars, want %d", tool, n, want)
		}
	}
}
