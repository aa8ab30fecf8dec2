package mcp

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// TestCalendarsAreListedShortly: a calendar of one's own that holds what calendars hold costs less than 45 tokens, four
// characters to each, with the ids that a real server makes (security M7) (mcp D7).
func TestCalendarsAreListedShortly(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	const many = 20
	for i := range many {
		h.calendar(t, "bob", calendar.Properties{Name: fmt.Sprintf("Team %d", i), Timezone: "Europe/Berlin"})
	}
	var v calendarsView
	text := contentText(t, use(t, h.open(t, h.config()), "bob", "list_calendars", params{}, &v))
	const longerOwner = 36 - len("bob-id") // ids of users are as long
	structure, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	n := len(v.Calendars)
	inText, inStructure := utf8.RuneCountInString(text)/n+longerOwner, utf8.RuneCount(structure)/n
	if n <= many || inText/4 >= 45 || inStructure/4 >= 40 {
		t.Errorf("%d calendars have %d and %d tokens each: %.600s\n%.600s", n, inText/4, inStructure/4, text, structure)
	}
}

// TestUndoesAreBounded: an undo of very many changes says how many they were, and lists the first.
func TestUndoesAreBounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	h.Set(noon.Add(time.Minute))
	for i := range 2*mostUndone + 10 {
		uid := fmt.Sprintf("e%d", i)
		h.put(t, work, uid, wrapped(calendar.Event, uid, "DTSTART:20260303T090000Z", "SUMMARY:Number "+uid))
	}
	for i := range mostUndone + 10 {
		h.put(t, work, "e0", wrapped(calendar.Event, "e0", "DTSTART:20260303T090000Z",
			fmt.Sprintf("SUMMARY:Again %d", i)))
	}
	var v undoView
	text := contentText(t, use(t, door, "alice", "undo_change", params{
		"since": "2026-03-01T12:00:30Z",
		"token": "own",
	}, &v))
	if len(v.Undone) != mostUndone || v.MoreUndone != mostUndone+10 || v.Changes != 3*mostUndone+20 {
		t.Errorf("%d are listed, %d more, %d changes in all", len(v.Undone), v.MoreUndone, v.Changes)
	}
	for _, step := range v.Undone {
		if len(step.Undoes) > mostUndone || step.UID == "e0" && step.Changes != mostUndone+11 {
			t.Errorf("%s: %d ids of %d changes", step.UID, len(step.Undoes), step.Changes)
		}
	}
	if !strings.Contains(text, fmt.Sprintf("Undid %d changes", v.Changes)) ||
		!strings.Contains(text, fmt.Sprintf("%d more are not listed", v.MoreUndone)) {
		t.Errorf("it reads %.300s", text)
	}
}

// TestResourcesComeInPages: anyone who has very many calendars is told of all of them, some at a time.
func TestResourcesComeInPages(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	for i := range 2*mostResources + 5 {
		h.calendar(t, "bob", calendar.Properties{Name: fmt.Sprintf("Calendar %d", i)})
	}
	door := h.open(t, h.config())
	seen, cursor := map[string]bool{}, ""
	for range 10 {
		var page struct {
			Resources  []struct{ URI string }
			NextCursor string
		}
		asked, _ := json.Marshal(map[string]string{"cursor": cursor})
		if cursor == "" {
			asked = []byte("{}")
		}
		ask(t, door, "bob", "resources/list", string(asked), &page)
		if len(page.Resources) > mostResources {
			t.Errorf("%d in one page", len(page.Resources))
		}
		for _, r := range page.Resources {
			seen[r.URI] = true
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if len(seen) != 2*mostResources+6 {
		t.Errorf("%d resources in all", len(seen))
	}
	if said := ask(t, door, "bob", "resources/list", `{"cursor":"LTE="}`, nil).body; !strings.Contains(said,
		"-32602") || !strings.Contains(said, "nextCursor") {
		t.Errorf("a made-up cursor: %s", said)
	}
}

// TestManyAlarmsAreCounted: omitted alarms are counted.
func TestManyAlarmsAreCounted(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	lines := []string{"DTSTART:20260303T090000Z", "SUMMARY:Loud"}
	for i := range mostItems + 7 {
		lines = append(lines, "BEGIN:VALARM", "ACTION:DISPLAY", "DESCRIPTION:x", fmt.Sprintf("TRIGGER:-PT%dM", i+1),
			"END:VALARM")
	}
	h.put(t, work, "loud", wrapped(calendar.Event, "loud", lines...))
	var v fullView
	text := contentText(t, use(t, h.open(t, h.config()), "alice", "get_event", params{
		"calendar_id": work,
		"event_uid":   "loud",
	}, &v))
	if len(v.Alarms) != mostItems || v.MoreAlarms != 7 || !strings.Contains(text, `"more_alarms":7`) {
		t.Errorf("%d alarms and %d more", len(v.Alarms), v.MoreAlarms)
	}
}

// TestUIDsAsTheyAreShown: a uid that is truncated or escaped in text identifies the event for every tool, because some
// hosts show their model only the text. An ambiguous one is refused.
func TestUIDsAsTheyAreShown(t *testing.T) {
	t.Parallel()
	eachHouse(t, func(t *testing.T, h *house, door string) {
		essay := strings.Repeat("x1", 600)
		for title, uid := range map[string]string{"Essay": essay, "Hidden": "hid\u200bden", "Twin": "twin" + essay +
			"a", "Twins": "twin" + essay + "b"} {
			text := wrapped(calendar.Event, uid, "DTSTART:20260303T090000Z", "DURATION:PT1H", "SUMMARY:"+title)
			draft := calendar.Draft{
				Name: calendar.ObjectName(title + ".ics"),
				Data: []byte(strings.ReplaceAll(text, "\n", "\r\n")),
			}
			if _, err := h.service.Put(t.Context(), h.callers["alice"], h.work(t), draft); err != nil {
				t.Fatal(err)
			}
		}
		var list listView
		shown := map[string]string{}
		for line := range strings.Lines(contentText(t, use(t, door, "alice", "list_events",
			params{"date_range": "2026-03-03"}, &list))) {
			if row := regexp.MustCompile(`^\d+\. "(\w+)".*, uid "(.*)"`).FindStringSubmatch(line); row != nil {
				shown[row[1]] = row[2]
			}
		}
		for _, title := range []string{"Essay", "Hidden"} {
			var now struct{ Title, Location string }
			use(t, door, "alice", "patch_event", params{
				"calendar_id": work, "event_uid": shown[title],
				"location": "Here",
			}, &now)
			if now.Title != title || now.Location != "Here" {
				t.Errorf("%s: %+v", shown[title], now)
			}
		}
		for tool, says := range map[string]string{"restore_event": "undo_change", "list_changes": "is truncated"} {
			if said := h.say(t, door, "alice", tool, params{
				"calendar_id": work,
				"event_uid":   shown["Essay"],
			}); !strings.Contains(said, says) {
				t.Errorf("%s with a cut uid: %.300s", tool, said)
			}
		}
		if said := h.say(t, door, "alice", "get_event", params{
			"calendar_id": work,
			"event_uid":   shown["Twin"],
		}); !strings.Contains(said, "2 events") {
			t.Errorf("two of one uid: %.300s", said)
		}
	})
}
