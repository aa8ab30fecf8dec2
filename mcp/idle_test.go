package mcp

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
)

// TestMarksAreRefused: marks for omitted text are not written into calendars, by any tool and parameter (A3) (mcp A3).
func TestMarksAreRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	h.stock(t)
	long := strings.Repeat("Agenda item. ", 3000)
	var list []string
	for range mostItems + 5 {
		list = append(list, "tag")
	}
	h.put(t, work, "long", wrapped(calendar.Event, "long", "DTSTART:20260303T090000Z", "DTEND:20260303T100000Z",
		"SUMMARY:"+long[:1000], "DESCRIPTION:"+long, "CATEGORIES:"+strings.Join(list, ",")))
	var event struct {
		Description string
		Categories  []string
	}
	use(t, door, "alice", "get_event", map[string]any{"calendar_id": work, "event_uid": "long"}, &event)
	var listed struct {
		Events []struct{ Title, Description string }
	}
	use(t, door, "alice", "list_events", map[string]any{
		"calendar_id": work, "start": "2026-03-03", "end": "2026-03-03",
		"detail": "full",
	}, &listed)
	shown := map[string]any{
		"the description of get_event":   event.Description + "\nBring snacks.",
		"the list of get_event":          event.Categories,
		"the title of list_events":       listed.Events[0].Title,
		"the description of list_events": listed.Events[0].Description,
	}
	before := string(h.stored(t, "long"))
	for what, value := range shown {
		parameter := "description"
		if _, ok := value.([]string); ok {
			parameter = "categories"
		}
		refusal := h.say(t, door, "alice", "patch_event", map[string]any{
			"calendar_id": work, "event_uid": "long",
			parameter: value,
		})
		if !strings.Contains(refusal, "the mark for omitted text in an earlier result") {
			t.Errorf("%s: %.300s", what, refusal)
		}
	}
	if after := string(h.stored(t, "long")); after != before {
		t.Errorf("it was changed to\n%s", after)
	}
	// Every text and list of every tool that writes.
	all := h.callers["alice"]
	all.Scopes = calendar.ScopeEvery
	h.callers["everything"] = all
	for _, tool := range (toolbox{}).tools() {
		for _, f := range tool.begin().takes {
			if tool.hints.readOnly || f.names || f.kind != wire.Text && (f.kind != wire.List || f.item != wire.Text) ||
				f.words != nil {
				continue
			}
			var value any = "a… [3 more characters]"
			if f.kind == wire.List {
				value = []string{"a", "… [3 more]"}
			}
			refusal := h.say(t, door, "everything", tool.name, map[string]any{f.name: value})
			if !strings.Contains(refusal, "the mark for omitted text") {
				t.Errorf("%s takes a mark as %s: %.300s", tool.name, f.name, refusal)
			}
		}
	}
	// Other dots and brackets are anybody's.
	var made map[string]any
	use(t, door, "alice", "create_event", map[string]any{
		"calendar_id": work, "title": "Well… [see below]",
		"start": "20260304T090000Z", "end": "20260304T100000Z", "description": "[3 more characters] to come…",
	}, &made)
}

// TestNoSuccessWithoutAnEffect: an argument that a tool cannot apply is an error that says so, and changes nothing (B4)
// (mcp B4).
func TestNoSuccessWithoutAnEffect(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	h.stock(t)
	h.put(t, work, "inv", wrapped(calendar.Event, "inv", "DTSTART:20260303T090000Z", "DTEND:20260303T100000Z",
		"SUMMARY:Review",
		"ORGANIZER:mailto:carol@example.com", "ATTENDEE;CN=Alice;PARTSTAT=NEEDS-ACTION:mailto:alice@example.com",
		"ATTENDEE;PARTSTAT=ACCEPTED:mailto:carol@example.com"))
	event := map[string]any{"calendar_id": work, "event_uid": "inv"}
	task := map[string]any{"calendar_id": home, "task_uid": "milk"}
	draft := map[string]any{"calendar_id": work, "title": "x", "start": "20260304T090000Z", "end": "20260304T100000Z"}
	before := string(h.stored(t, "inv"))
	for _, tt := range []struct {
		tool       string
		base, more map[string]any
		says       string
	}{
		{"patch_event", event, map[string]any{"attendees": []string{
			"Alice <alice@example.com> (ACCEPTED)",
			"carol@example.com (ACCEPTED)",
		}}, `answer of \"alice@example.com\" is NEEDS-ACTION`},
		{"patch_event", event, map[string]any{"attendees": []string{
			"Alice <alice@example.com> (accepted)",
			"carol@example.com",
		}}, "cannot be changed"},
		{"update_event", event, map[string]any{
			"title": "x", "start": "20260303T090000Z", "end": "20260303T100000Z",
			"attendees": []string{"carol@example.com (DECLINED)"},
		}, "is ACCEPTED"},
		{
			"create_event", draft,
			map[string]any{"attendees": []string{"carol@example.com (ACCEPTED)"}},
			"nobody has been asked yet",
		},
		{"patch_event", event, map[string]any{"timezone": "America/New_York"}, "nothing to change was given"},
		{
			"patch_event", event,
			map[string]any{"title": "x", "timezone": "America/New_York"},
			"on its own it changes nothing",
		},
		{"patch_event", event, map[string]any{}, "nothing to change was given"},
		{"patch_event", event, map[string]any{"start": ""}, `\"start\" must not be empty`},
		{"patch_event", event, map[string]any{"end": " "}, `\"end\" must not be empty`},
		{
			"move_event", event,
			map[string]any{"to_calendar_id": home, "timezone": "America/New_York"},
			"on its own it changes nothing",
		},
		{
			"create_task",
			map[string]any{"calendar_id": home, "title": "x"},
			map[string]any{"timezone": "America/New_York"},
			"on its own it changes nothing",
		},
		{
			"update_task", task,
			map[string]any{"title": "x", "timezone": "America/New_York"},
			"on its own it changes nothing",
		},
		{"update_task", task, map[string]any{"completed": false, "percent": 100}, "make them agree"},
		{"update_task", task, map[string]any{"completed": true, "percent": 50}, "make them agree"},
		{
			"undo_change",
			map[string]any{"change_id": string(work) + ".1"},
			map[string]any{"timezone": "America/New_York"},
			`goes with \"since\"`,
		},
	} {
		args := maps.Clone(tt.base)
		maps.Copy(args, tt.more)
		if refusal := h.say(t, door, "alice", tt.tool, args); !strings.Contains(refusal, tt.says) ||
			strings.Contains(refusal, `"isError":false`) {
			t.Errorf("%s %v: %s, want %q", tt.tool, tt.more, refusal, tt.says)
		}
	}
	if diff := cmp.Diff(before, string(h.stored(t, "inv"))); diff != "" {
		t.Errorf("the event (-want +got):\n%s", diff)
	}
	// A list that was read may come back with one more item.
	var now struct{ Attendees []string }
	use(t, door, "alice", "get_event", event, &now)
	args := maps.Clone(event)
	args["attendees"] = append(now.Attendees, "Dave <dave@example.com>")
	use(t, door, "alice", "patch_event", args, &now)
	want := []string{
		"Alice <alice@example.com> (NEEDS-ACTION)", "carol@example.com (ACCEPTED)",
		"Dave <dave@example.com> (NEEDS-ACTION)",
	}
	if diff := cmp.Diff(want, now.Attendees); diff != "" {
		t.Errorf("attendees (-want +got):\n%s", diff)
	}
}

// TestUpdateTellsWhatItRemoved: removed properties are reported, in text and structured content (A4) (mcp A4).
func TestUpdateTellsWhatItRemoved(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	h.put(t, work, "budget", wrapped(calendar.Event, "budget", "DTSTART:20260303T090000Z", "DTEND:20260303T100000Z",
		"SUMMARY:Budget", "DESCRIPTION:Bring the numbers", "LOCATION:Café"))
	args := map[string]any{
		"calendar_id": work, "event_uid": "budget", "title": "Budget", "start": "20260303T100000Z",
		"end": "20260303T110000Z", "location": "Café",
	}
	var now struct{ Removed []string }
	text := use(t, door, "alice", "update_event", args, &now)
	if diff := cmp.Diff([]string{"description"}, now.Removed); diff != "" ||
		!strings.Contains(text, `\"removed\":[\"description\"]`) {
		t.Errorf("removed (-want +got):\n%s in %s", diff, text)
	}
	delete(args, "location")
	if use(t, door, "alice", "update_event", args, &now); len(now.Removed) != 1 || now.Removed[0] != "location" {
		t.Errorf("removed: %v", now.Removed)
	}
	now.Removed = nil
	if use(t, door, "alice", "update_event", args, &now); now.Removed != nil {
		t.Errorf("removed, though nothing was there: %v", now.Removed)
	}
}
