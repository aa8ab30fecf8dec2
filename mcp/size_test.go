package mcp

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// overfill puts two hundred events and tasks into the house whose texts are as long as their clients
// like, and the fair.
func (h *house) overfill(t *testing.T) {
	t.Helper()
	long := strings.Repeat("Agenda and notes; ", 200)
	for i := range 200 {
		uid := fmt.Sprintf("6f1d9f0a-93c4-4c53-8f0e-%012d", i)
		h.put(t, work, uid, wrapped(calendar.Event, uid, fmt.Sprintf("DTSTART:202603%02dT080000Z", 2+i%5),
			"DURATION:PT45M",
			"SUMMARY:Review "+long, "LOCATION:"+long, "DESCRIPTION:"+long, "ATTENDEE;CN=Zoë "+strings.ReplaceAll(long,
				";", "")+":mailto:zoe@example.com"))
		h.put(t, home, "t"+uid, wrapped(calendar.Todo, "t"+uid, "DUE:20260306T080000Z", "SUMMARY:Review "+long))
	}
	h.fair(t)
}

// fair puts one event into the house that is larger than any answer.
func (h *house) fair(t *testing.T) {
	t.Helper()
	lines := []string{
		"DTSTART:20260401T080000Z", "SUMMARY:Fair", "CATEGORIES:" + strings.Repeat("tag,", 3000) + "tag",
		"URL:https://example.com/" + strings.Repeat("x", 9000),
	}
	for i := range 1000 {
		lines = append(lines, fmt.Sprintf("ATTENDEE;CN=Guest %d:mailto:guest%d@example.com", i, i))
	}
	h.put(t, work, "fair", wrapped(calendar.Event, "fair", lines...))
}

// TestAnswersHaveASize: whatever clients have stored, and however much is asked for at once, an answer
// fits into what hosts take, and says how to get the rest.
func TestAnswersHaveASize(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.overfill(t)
	door := h.open(t, h.config())
	for _, call := range []struct {
		tool string
		args map[string]any
		rows string
	}{
		{"list_events", map[string]any{"date_range": "next week", "limit": 200}, "events"},
		{"list_events", map[string]any{"date_range": "next week", "limit": 200, "detail": full}, "events"},
		{"query_events", map[string]any{"calendar_id": work, "limit": 500}, "events"},
		{"list_tasks", map[string]any{"limit": 500}, "tasks"},
		{"search_events", map[string]any{"query": "review", "limit": 100}, ""},
		{"search", map[string]any{"query": "review"}, ""},
		{"list_changes", map[string]any{"limit": 100}, "changes"},
		{"get_event", map[string]any{"calendar_id": work, "event_uid": "fair"}, ""},
	} {
		shown := 0
		for pages := 1; ; pages++ {
			var v map[string]any
			body := use(t, door, "alice", call.tool, call.args, &v)
			if tokens := utf8.RuneCountInString(resultText(t, body)) / 4; tokens > mostTokens &&
				call.tool != "query_events" || tokens > 3*mostTokens {
				t.Errorf("%s %v: %d tokens", call.tool, call.args, tokens)
			}
			rows, _ := v[call.rows].([]any)
			shown += len(rows)
			if v["next_cursor"] == nil || pages > 100 {
				break
			}
			call.args["cursor"] = v["next_cursor"]
		}
		if call.rows != "" && shown < 200 {
			t.Errorf("%s %v: all pages have %d rows", call.tool, call.args, shown)
		}
	}
}

// TestLongEventsComeInParts: an event that is too long for one result is split over several.
func TestLongEventsComeInParts(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.fair(t)
	door := h.open(t, h.config())
	o, err := h.service.ObjectByUID(t.Context(), nil, h.callers["alice"], h.work(t), "fair")
	if err != nil {
		t.Fatal(err)
	}
	var whole strings.Builder
	args := map[string]any{"calendar_id": work, "event_uid": "fair"}
	for {
		var v struct {
			Data      string `json:"ical_data"`
			Next      int    `json:"ical_next_offset"`
			Attendees []string
		}
		use(t, door, "alice", "get_event", args, &v)
		if n := len(v.Attendees); n != mostItems+1 || v.Attendees[n-1] != "… [900 more]" {
			t.Fatalf("%d attendees, the last is %q", n, v.Attendees[n-1])
		}
		if v.Next == 0 {
			whole.WriteString(v.Data)
			break
		}
		data, _, cut := strings.Cut(v.Data, "… [")
		if !cut {
			t.Errorf("what was cut does not say so: %q", v.Data[len(v.Data)-100:])
		}
		whole.WriteString(data)
		args["ical_offset"] = v.Next
	}
	if whole.String() != string(o.Data) {
		t.Errorf("the parts have %d bytes together, the event has %d", whole.Len(), len(o.Data))
	}
	args["ical_offset"] = 10_000_000
	if said := refusalOf(t, door, "alice", "get_event", `{"calendar_id":"`+string(work)+
		`","event_uid":"fair","ical_offset":10000000}`); !strings.Contains(said, "the text has") {
		t.Errorf("behind the end: %s", said)
	}
}

// TestCutListsAreNotTaken: a list that was shown in part can't be given back as if it were all of it (mcp A3).
func TestCutListsAreNotTaken(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.fair(t)
	said := refusalOf(t, h.open(t, h.config()), "alice", "patch_event", `{"calendar_id":"`+string(work)+
		`","event_uid":"fair","attendees":["Guest 1 <guest1@example.com>","… [900 more]"]}`)
	if !strings.Contains(said, "more]") {
		t.Errorf("it is not said which: %s", said)
	}
}
