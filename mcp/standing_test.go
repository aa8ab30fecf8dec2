package mcp

import (
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// TestForeignTextIsMarked: events that another user organizes, or has in a shared calendar, name their author, in text
// and structured content of all tools that show them; the user's own do not (security M8).
func TestForeignTextIsMarked(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	alice := h.callers["alice"]
	alice.User.Email = "alice@example.com"
	h.callers["alice"] = alice
	secret, err := h.service.Calendar(t.Context(), h.callers["bob"], "00000000-0000-4000-8000-000000000004")
	if err != nil {
		t.Fatal(err)
	}
	for uid, text := range map[string]string{
		"his":  wrapped(calendar.Event, "his", "DTSTART:20260303T090000Z", "DURATION:PT1H", "SUMMARY:Foreign plan"),
		"todo": wrapped(calendar.Todo, "todo", "DUE:20260303T090000Z", "SUMMARY:Foreign chore"),
	} {
		draft := calendar.Draft{
			Name: calendar.ObjectName(uid + ".ics"),
			Data: []byte(strings.ReplaceAll(text, "\n", "\r\n")),
		}
		if _, err := h.service.Put(t.Context(), h.callers["bob"], secret, draft); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.service.Share(t.Context(), h.callers["bob"], secret.ID, "alice", calendar.WriteAccess); err != nil {
		t.Fatal(err)
	}
	h.put(t, work, "inv", wrapped(calendar.Event, "inv", "DTSTART:20260303T110000Z", "DURATION:PT1H",
		"SUMMARY:Foreign party", "ORGANIZER:MAILTO:Mallory@example.com",
		"ATTENDEE;PARTSTAT=TENTATIVE:mailto:Alice@example.com"))
	h.put(t, work, "own", wrapped(calendar.Event, "own", "DTSTART:20260303T130000Z", "DURATION:PT1H",
		"SUMMARY:Own party", "ORGANIZER:mailto:alice@example.com"))
	door := h.open(t, h.config())
	week := params{"date_range": "2026-03-03"}
	for _, c := range []struct {
		tool string
		args params
		by   []string
	}{
		{"list_events", week, []string{"bob", "Mallory@example.com"}},
		{"list_events", params{"date_range": "2026-03-03", "keyword": "own"}, nil},
		{"search_events", params{"query": "foreign"}, []string{"bob", "Mallory@example.com"}},
		{
			"query_events",
			params{"calendar_id": work, "start": "2026-03-03", "end": "2026-03-03"},
			[]string{"Mallory@example.com"},
		},
		{"query_events", params{"calendar_id": secret.ID}, []string{"bob"}},
		{"get_event", params{"calendar_id": secret.ID, "event_uid": "his"}, []string{"bob"}},
		{"get_event", params{"calendar_id": work, "event_uid": "inv"}, []string{"Mallory@example.com"}},
		{"get_event", params{"calendar_id": work, "event_uid": "own"}, nil},
		{
			"patch_event",
			params{"calendar_id": work, "event_uid": "inv", "location": "Here"},
			[]string{"Mallory@example.com"},
		},
		{"fetch", params{"id": eventID{Calendar: work, UID: "inv"}.String()}, []string{"Mallory@example.com"}},
		{"list_tasks", params{"calendar_id": secret.ID}, []string{"bob"}},
		{"get_task", params{"calendar_id": secret.ID, "task_uid": "todo"}, []string{"bob"}},
	} {
		var v any
		body := use(t, door, "alice", c.tool, c.args, &v)
		text, structure := contentText(t, body), strings.TrimPrefix(resultText(t, body), contentText(t, body))
		for half, said := range map[string]string{"text": text, "structure": structure} {
			if marked := strings.Contains(strings.ToLower(said), "untrusted"); marked != (c.by != nil) {
				t.Errorf("%s %v: the %s is marked: %v\n%s", c.tool, c.args, half, marked, said)
			}
			for _, by := range c.by {
				if !strings.Contains(said, by) {
					t.Errorf("%s %v: the %s does not say %s:\n%s", c.tool, c.args, half, by, said)
				}
			}
		}
	}
}

// TestListsTellWhoIsFree: a list says for events that do not make its reader busy that they do not, and why, in both
// halves (mcp B7).
func TestListsTellWhoIsFree(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	alice := h.callers["alice"]
	alice.User.Email = "alice@example.com"
	h.callers["alice"] = alice
	h.put(t, work, "gardener", wrapped(calendar.Event, "gardener", "DTSTART:20260303T090000Z", "DURATION:PT3H",
		"SUMMARY:Gardener comes", "TRANSP:TRANSPARENT"))
	h.put(t, work, "declined", wrapped(calendar.Event, "declined", "DTSTART:20260303T100000Z", "DURATION:PT2H",
		"SUMMARY:Declined thing",
		"ORGANIZER:mailto:mallory@example.com", "ATTENDEE;PARTSTAT=DECLINED:mailto:alice@example.com"))
	h.put(t, work, "busy", wrapped(calendar.Event, "busy", "DTSTART:20260303T130000Z", "DURATION:PT1H",
		"SUMMARY:Budget"))
	door := h.open(t, h.config())
	var list struct {
		Events []struct {
			Title, UID string
			Free       bool
			MyAnswer   string `json:"my_answer"`
		}
	}
	text := contentText(t, use(t, door, "alice", "list_events", params{"date_range": "2026-03-03"}, &list))
	want := map[string][2]any{"Gardener comes": {true, ""}, "Declined thing": {true, "DECLINED"}, "Budget": {false, ""}}
	for _, e := range list.Events {
		if got := [2]any{e.Free, e.MyAnswer}; got != want[e.Title] {
			t.Errorf("%s: the structure says %v, want %v", e.Title, got, want[e.Title])
		}
		delete(want, e.Title)
	}
	for title := range want {
		t.Errorf("%s is not listed", title)
	}
	for line := range strings.Lines(text) {
		budget := strings.Contains(line, "Budget")
		if titled := budget || strings.Contains(line, "Gardener") || strings.Contains(line, "Declined thing"); titled &&
			budget == strings.Contains(line, "free") {
			t.Errorf("the text does not tell who is free: %s", line)
		}
	}
}
