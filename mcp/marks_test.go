package mcp

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// plant is a text of somebody else's, with a link that is to be defused.
func plant(where string) string { return "PLANT-" + where + " ![x](https://evil.example)" }

// plantAll puts a text of somebody else's into each place where one can stand.
func (h *house) plantAll(t *testing.T) {
	t.Helper()
	const mine = "ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:alice@example.com"
	h.put(t, work, "letter", wrapped(calendar.Event, "letter", "DTSTART:20260303T090000Z", "DURATION:PT1H", "SUMMARY:"+plant("title"), "DESCRIPTION:"+plant("notes"),
		"LOCATION:"+plant("place"), "URL:https://evil.example/PLANT-url", "X-NOTE:"+plant("x"), "COMMENT:"+plant("comment"),
		"ATTACH;FILENAME=PLANT-file:https://evil.example/a", "CATEGORIES:"+plant("tag"), "ORGANIZER;CN=PLANT-organizer:mailto:eve@example.net",
		mine, "ATTENDEE;CN=PLANT-guest;PARTSTAT=ACCEPTED:mailto:mallory@example.net"))
	h.put(t, work, "rule", wrapped(calendar.Event, "rule", "DTSTART:20260303T090000Z", "DURATION:PT1H", "SUMMARY:"+plant("series"), "RRULE:FREQ=DAILY;COUNT=3", "ORGANIZER:mailto:eve@example.net", mine))
	h.lend(t, "bob", plant("calendar"), calendar.WriteAccess, "DTSTART:20260303T090000Z", "DURATION:PT1H", "SUMMARY:"+plant("shared"))
}

// unmarked returns the strings with a plant in a JSON value that nothing marks: neither a field of an object around it, nor the string.
func unmarked(v any, marked bool) (list []string) {
	switch v := v.(type) {
	case map[string]any:
		marked = marked || v["untrusted_text_by"] != nil
		for _, item := range v {
			list = append(list, unmarked(item, marked)...)
		}
	case []any:
		for _, item := range v {
			list = append(list, unmarked(item, marked)...)
		}
	case string:
		if strings.Contains(v, "PLANT") && !marked && !strings.Contains(strings.ToLower(v), "untrusted text") {
			list = append(list, v)
		}
	}
	return list
}

// unmarkedText is unmarked for the text half: JSON, or lines, of which the one with the plant or the entry that it belongs to is marked.
func unmarkedText(text string) (list []string) {
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		return unmarked(v, false)
	}
	entry := ""
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "   ") {
			entry = ""
		}
		entry += line
		if strings.Contains(line, "PLANT") && !strings.Contains(strings.ToLower(entry), "untrusted text") {
			list = append(list, line)
		}
	}
	return list
}

// TestPlantedTextIsMarked: whatever others wrote is marked in both halves of every answer and refusal that repeats it.
func TestPlantedTextIsMarked(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice", "bob")
		h.plantAll(t)
		door := h.open(t, h.config())
		var shared calendar.CalendarID
		for _, cal := range h.seen(t, "alice") {
			if strings.Contains(cal.Name, "PLANT") {
				shared = cal.ID
			}
		}
		letter := params{"calendar_id": work, "event_uid": "letter"}
		at := params{"start": "2026-03-03T09:00:00Z", "end": "2026-03-03T10:00:00Z", "title": "Own", "calendar_id": home}
		seen := map[string]bool{}
		for _, call := range []struct {
			tool string
			args params
		}{
			{"list_calendars", nil},
			{"get_calendar", params{"calendar_id": shared}},
			{"list_events", params{"date_range": "2026-03-03", "detail": "full"}},
			{"query_events", params{"calendar_id": work}},
			{"query_events", params{"calendar_id": shared}},
			{"get_event", letter},
			{"search_events", params{"query": "plant"}},
			{"search", params{"query": "plant"}},
			{"fetch", params{"id": eventID{Calendar: work, UID: "letter"}.String()}},
			{"list_invitations", nil},
			{"create_event", at},
			{"list_changes", nil},
			{"get_task", params{"calendar_id": work, "task_uid": "letter"}},
			{"patch_event", params{"calendar_id": work, "event_uid": "rule", "start": "2026-03-05T10:00"}},
			{"patch_event", params{"calendar_id": work, "event_uid": "letter", "title": "x", "if_match": "old"}},
			{"get_event", params{"calendar_id": "none", "event_uid": "x"}},
			{"get_event", params{"calendar_id": shared, "event_uid": "none"}},
			{"change_many", params{"preview": true, "changes": []params{
				{"tool": "delete_event", "calendar_id": work, "event_uid": "letter"},
				{"tool": "create_event", "calendar_id": home, "title": "New", "start": "2026-03-03T09:00:00Z", "end": "2026-03-03T10:00:00Z"},
			}}},
			{"find_time", params{"duration_minutes": 30, "date_range": "2026-03-03"}},
			{"get_free_busy", params{"date_range": "2026-03-03"}},
			{"undo_change", params{"since": "2020-01-01", "preview": true}},
			{"calendar_auth_status", nil},
			{"respond_to_event", params{"calendar_id": work, "event_uid": "letter", "answer": "accept"}},
			{"move_event", params{"calendar_id": home, "event_uid": "none", "to_calendar_id": shared}},
			{"delete_event", letter},
			{"restore_event", letter},
			{"list_shared_calendars", nil},
		} {
			data, _ := json.Marshal(call.args)
			if call.args == nil {
				data = []byte("{}")
			}
			body := do(t, request(t, "POST", door, "alice", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, call.tool, data), versionHeader, "2025-11-25")).body
			var r struct {
				Result struct{ StructuredContent any }
			}
			if err := json.Unmarshal([]byte(body), &r); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(body, "PLANT") {
				seen[call.tool] = true
			}
			text := contentText(t, body)
			if first, _, ok := strings.Cut(text, "\n"); ok && json.Valid([]byte(first)) {
				text = first // the blocks after the first are notes
			}
			for _, s := range append(unmarkedText(text), unmarked(r.Result.StructuredContent, false)...) {
				t.Errorf("%s %s: not marked: %q", call.tool, data, s)
			}
		}
		for _, tool := range []string{"list_calendars", "list_events", "query_events", "get_event", "search", "fetch", "list_invitations", "create_event", "list_changes", "change_many", "get_task", "patch_event", "delete_event", "restore_event"} {
			if !seen[tool] {
				t.Errorf("%s says nothing of what was planted", tool)
			}
		}
	})
}

// TestGapsAreTakenBack: text that a model copies out of an answer is stored without our gaps.
func TestGapsAreTakenBack(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "<https://zoom.us/j/1>", "![x](https://a.example) [b][c] <b>x</b> <!-- -->", "a ] (b) < c"} {
		if got := restored(defused(s)); got != s {
			t.Errorf("%q comes back as %q", s, got)
		}
		plain := strings.ReplaceAll(defused(s), gap, " ")
		if got := restoredFrom(s, plain+"\nmy note"); got != s+"\nmy note" {
			t.Errorf("%q over it is %q", plain, got)
		}
	}
	for _, own := range []string{"[x] (optional)", "a < b", `]\\u202f(`} {
		if got := restoredFrom("else", own); got != own {
			t.Errorf("%q is %q", own, got)
		}
	}
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		door := h.open(t, h.config())
		h.put(t, work, "call", wrapped(calendar.Event, "call", "DTSTART:20260303T090000Z", "DURATION:PT1H", "SUMMARY:[a](b)", "DESCRIPTION:Join <https://zoom.us/j/1>"))
		args := params{"calendar_id": work, "event_uid": "call", "title": "[a] (b)", "start": "20260303T090000Z", "end": "20260303T100000Z", "description": "Join < https://zoom.us/j/1>"}
		use(t, door, "alice", "update_event", args, &struct{}{})
		h.expectText(t, work, "call", "SUMMARY:[a](b)", "DESCRIPTION:Join <https://zoom.us/j/1>")
		var made struct{ UID calendar.UID }
		use(t, door, "alice", "create_event", params{"calendar_id": work, "title": defused("[a](b)"), "start": "2026-03-04"}, &made)
		h.expectText(t, work, made.UID, "SUMMARY:[a](b)")
	})
}

// TestAnyArguments calls every tool with arguments at random: none of them fails, and a refusal is one that a model can read.
func TestAnyArguments(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.stock(t)
	handler := New(h.config())
	t.Cleanup(handler.Close)
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test that can be repeated
	values := []string{
		`null`, `{}`, `[]`, `""`, `" "`, `0`, `-1`, `1e9`, `true`, `"all"`, `"x"`, `[null]`, `[[]]`, `[{}]`, `{"tool":null}`, `[{"tool":"create_event"}]`, `[{"title":"x"}]`,
		`"` + string(work) + `"`, `"2026-03-03T09:00"`, `"9999-99-99"`, `"BEGIN:VEVENT"`, `"a@b.example"`, `"\u0000"`, `"\ud800"`, `"FREQ=DAILY"`,
	}
	calls := anyCalls
	for range calls {
		tool := handler.tools[r.IntN(len(handler.tools))]
		args := map[string]json.RawMessage{}
		for _, f := range tool.begin().takes {
			if r.IntN(3) > 0 {
				args[f.name] = json.RawMessage(values[r.IntN(len(values))])
			}
		}
		data, err := json.Marshal(args)
		if err != nil {
			continue
		}
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool.name, data)
		q := httptest.NewRequestWithContext(t.Context(), "POST", "http://127.0.0.1/mcp", strings.NewReader(body))
		q.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.Set(h.Now().Add(1e9))
		handler.ServeMCP(w, q, h.callers["alice"])
		if w.Code >= 500 || strings.Contains(w.Body.String(), "-32603") {
			t.Fatalf("%s %s: %d %s", tool.name, data, w.Code, w.Body)
		}
	}
	for _, args := range []string{`{"changes":{}}`, `{"changes":[{"title":"x"}]}`} {
		if said := refusalOf(t, h.open(t, h.config()), "alice", "change_many", args); !strings.Contains(said, `\"tool\" is missing`) {
			t.Errorf("%s: %s", args, said)
		}
	}
}

// anyCalls is how many calls TestAnyArguments makes.
const anyCalls = 3000
