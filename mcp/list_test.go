package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
)

// use calls a tool as a client at 2025-11-25 does, and reads its structured content.
func use(t *testing.T, door, token, tool string, args, into any) (result string) {
	t.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`,
		tool, data)
	g := do(t, request(t, "POST", door, token, body, wire.VersionHeader, "2025-11-25"))
	var r struct {
		Result struct {
			IsError           bool
			StructuredContent json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(g.body), &r); err != nil || r.Result.IsError || r.Result.StructuredContent == nil {
		t.Fatalf("%s %s: %v, %s", tool, data, err, g.body)
	}
	if err := json.Unmarshal(r.Result.StructuredContent, into); err != nil {
		t.Fatal(err)
	}
	return g.body
}

// fillWeek puts forty events into the week of March 2nd 2026: as long and as wordy as they are
// in offices.
func (h *house) fillWeek(t testing.TB) {
	t.Helper()
	for i := range 40 {
		title := []string{
			"Weekly platform planning", "1:1 with Zoë", "Customer call: Ålesund Shipping AS", "Lunch",
			"Interview, backend engineer",
		}[i%5]
		uid := fmt.Sprintf("6f1d9f0a-93c4-4c53-8f0e-%012d", i)
		h.put(t, work, uid, wrapped(calendar.Event, uid,
			fmt.Sprintf("DTSTART:202603%02dT%02d0000Z", 2+i%5, 7+i/5), "DURATION:PT45M", "SUMMARY:"+title,
			fmt.Sprintf("LOCATION:Room %d.%d\\, Oslo", i%4, i), "DESCRIPTION:"+strings.Repeat("Agenda and notes. ", 40),
			"ATTENDEE;CN=Zoë Example;PARTSTAT=ACCEPTED:mailto:zoe@example.com"))
	}
}

// TestAWeekIsSmall: the cost of a week of forty events is limited, text and structured content together; with all
// details it is still less than the most that hosts accept (mcp D8).
func TestAWeekIsSmall(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.fillWeek(t)
	door := h.open(t, h.config())
	for detail, most := range map[string]int{compact: 4_000, full: 20_000} {
		var v listView
		body := use(t, door, "alice", "list_events", map[string]any{"date_range": "next week", "detail": detail}, &v)
		if len(v.Events) != 40 || v.Truncated {
			t.Fatalf("%d events, more: %v", len(v.Events), v.Truncated)
		}
		// A token has some four characters.
		if got := utf8.RuneCountInString(resultText(t, body)) / 4; got > most {
			t.Errorf("%s: text and structure have some %d tokens, want at most %d", detail, got, most)
		}
	}
}

// resultText is both forms of a result. A host may show its model one of them, or both.
func resultText(t *testing.T, body string) string {
	t.Helper()
	var r struct {
		Result struct {
			Content           []struct{ Text string }
			StructuredContent json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Fatal(err)
	}
	return r.Result.Content[0].Text + string(r.Result.StructuredContent)
}

// contentText is the text alone, all that some hosts show a model.
func contentText(t *testing.T, body string) string {
	t.Helper()
	var r struct {
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, block := range r.Result.Content {
		texts = append(texts, block.Text)
	}
	return strings.Join(texts, "\n")
}

// TestListGoesOn reads a week page by page, while it is already another day.
func TestListGoesOn(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.fillWeek(t)
		door := h.open(t, h.config())
		args := map[string]any{"date_range": "tomorrow", "limit": 3}
		var uids []string
		for page := 1; ; page++ {
			var v listView
			use(t, door, "alice", "list_events", args, &v)
			for _, e := range v.Events {
				uids = append(uids, string(e.UID))
				if e.Weekday != "Monday" || e.Calendar != work {
					t.Errorf("%+v", e)
				}
			}
			if len(uids)+v.More != 8 || v.Truncated != (v.NextCursor != "") {
				t.Fatalf("page %d: %d so far, %d more, cursor %q", page, len(uids), v.More, v.NextCursor)
			}
			if !v.Truncated {
				break
			}
			args["cursor"] = v.NextCursor
			h.Pass(24 * time.Hour)
		}
		seen := map[string]bool{}
		for _, uid := range uids {
			seen[uid] = true
		}
		if len(seen) != 8 {
			t.Errorf("%d different events in %v", len(seen), uids)
		}
	})
}

// readingArguments are calls of the tools that read, for the tests of all tools.
func readingArguments() map[string][]string {
	return map[string][]string{
		"list_events":   {`{}`, `{"date_range":"2026","limit":2,"detail":"full"}`},
		"search_events": {`{"query":"party"}`, `{"query":"week","include_past":true,"limit":1}`, `{"query":"nothing"}`},
		"search":        {`{"query":"party"}`, `{"query":"nothing"}`},
		"fetch":         {fmt.Sprintf(`{"id":%q}`, eventID{Calendar: home, UID: "party"})},
		"get_free_busy": {
			`{"start_time":"2026-03-01","end_time":"2026-03-31"}`,
			`{"start_time":"2027-03-01","end_time":"2027-03-31"}`,
		},
		"find_time":   {`{"duration_minutes":30}`, `{"duration_minutes":30,"days":["sun"],"limit":1}`},
		"list_people": {`{}`, `{"query":"nobody"}`},
		"sum_hours":   {`{"date_range":"2026-03"}`, `{"date_range":"2026-03-02","words":["party"]}`},
	}
}
