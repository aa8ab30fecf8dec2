package mcp

import (
	"fmt"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// TestTasksGoWhereTasksAre: a calendar that holds no tasks is refused, and calendars that do are named.
func TestTasksGoWhereTasksAre(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	made, err := h.service.CreateCalendar(t.Context(), h.callers["alice"], calendar.NewCalendar{
		Segment: "meetings", Properties: calendar.Properties{Name: "Meetings", Kinds: calendar.Kinds{calendar.Event}},
	})
	if err != nil {
		t.Fatal(err)
	}
	said := refusalOf(t, door, "alice", "create_task", `{"calendar_id":"Meetings","title":"Taxes"}`)
	if !strings.Contains(said, "holds no tasks") || !strings.Contains(said, string(errandList)) ||
		strings.Contains(said, string(made.ID)) {
		t.Error(said)
	}
}

// TestTasksAreAFamily finds a task by a word, makes subtasks, moves one and deletes it, and takes that back (mcp C1).
func TestTasksAreAFamily(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.stock(t)
		door := h.open(t, h.config())
		type task struct {
			UID, Title, Location string
			Parent               string `json:"parent_uid"`
			Calendar             string `json:"calendar_id"`
			Subtasks             []struct{ Title string }
		}
		var party, cake, gone, whole task
		use(t, door, "alice", "create_task", params{
			"calendar_id": home, "title": "Plan the party",
			"location": "Garden", "description": "with Bob",
		}, &party)
		use(t, door, "alice", "create_task", params{
			"calendar_id": home, "title": "Bake a cake",
			"parent_uid": party.UID,
		}, &cake)
		use(t, door, "alice", "create_task", params{"calendar_id": home, "title": "Unrelated"}, &gone)
		if cake.Parent != party.UID || party.Location != "Garden" {
			t.Errorf("made %+v and %+v", party, cake)
		}
		var found struct{ Tasks []task }
		use(t, door, "alice", "list_tasks", params{"query": "bob party"}, &found)
		if len(found.Tasks) != 1 || found.Tasks[0].UID != party.UID {
			t.Errorf("found %+v", found)
		}
		use(t, door, "alice", "get_task", params{"calendar_id": home, "task_uid": party.UID}, &whole)
		if len(whole.Subtasks) != 1 || whole.Subtasks[0].Title != "Bake a cake" {
			t.Errorf("the subtasks are %+v", whole.Subtasks)
		}
		if said := refusalOf(t, door, "alice", "update_task", `{"calendar_id":"`+string(home)+`","task_uid":"`+
			party.UID+`","parent_uid":"`+party.UID+`"}`); !strings.Contains(said, "part of itself") {
			t.Errorf("a task became its own part: %s", said)
		}
		use(t, door, "alice", "update_task", params{"calendar_id": home, "task_uid": cake.UID, "parent_uid": ""}, &cake)
		var alone task
		use(t, door, "alice", "get_task", params{"calendar_id": home, "task_uid": party.UID}, &alone)
		if len(alone.Subtasks) != 0 {
			t.Errorf("the subtasks are %+v still", alone.Subtasks)
		}
		use(t, door, "alice", "move_task", params{
			"calendar_id": home, "task_uid": cake.UID,
			"to_calendar_id": "00000000-0000-4000-8000-000000000003",
		}, &cake)
		if cake.Calendar != "00000000-0000-4000-8000-000000000003" || cake.Title != "Bake a cake" {
			t.Errorf("moved %+v", cake)
		}
		var deleted struct{ Deleted bool }
		use(t, door, "alice", "delete_task", params{"calendar_id": home, "task_uid": gone.UID}, &deleted)
		if said := refusalOf(t, door, "alice", "get_task", `{"calendar_id":"`+string(home)+`","task_uid":"`+gone.UID+
			`"}`); !deleted.Deleted || !strings.Contains(said, "no task") {
			t.Errorf("deleted %t: %s", deleted.Deleted, said)
		}
		if said := refusalOf(t, door, "alice", "delete_task", `{"calendar_id":"`+string(home)+
			`","task_uid":"weekly"}`); !strings.Contains(said, "an event") {
			t.Errorf("delete_task took an event: %s", said)
		}
	})
}

// TestTheDefaultCalendarIsWhatTheUserMadeIt: it does not move by itself, and moves when it is told to (mcp B5).
func TestTheDefaultCalendarIsWhatTheUserMadeIt(t *testing.T) {
	t.Parallel()
	eachHouse(t, func(t *testing.T, h *house, door string) {
		var list struct {
			Calendars []struct {
				ID        string
				IsDefault bool `json:"is_default"`
			}
		}
		chosen := func() (ids string) {
			t.Helper()
			use(t, door, "alice", "list_calendars", params{}, &list)
			for _, c := range list.Calendars {
				if c.IsDefault {
					ids += c.ID
				}
			}
			list.Calendars = nil
			return ids
		}
		var made struct {
			IsDefault bool `json:"is_default"`
		}
		first := chosen()
		use(t, door, "alice", "update_calendar", params{"calendar_id": home, "is_default": true}, &made)
		if got := chosen(); first != string(work) || got != string(home) || !made.IsDefault {
			t.Errorf("the default was %s and is %s", first, got)
		}
		if said := refusalOf(t, door, "alice", "update_calendar",
			`{"calendar_id":"00000000-0000-4000-8000-000000000003","is_default":true}`); !strings.Contains(said,
			"accept events") {
			t.Errorf("a list of tasks became the default: %s", said)
		}
		use(t, door, "alice", "update_calendar", params{"calendar_id": home, "name": "House"}, &made)
		if got := chosen(); got != string(home) {
			t.Errorf("the default has moved to %s by itself", got)
		}
	})
}

// TestDueBeforeTakesWords: a weekday is the next one, a date counts before its start, and the result says the moment.
func TestDueBeforeTakesWords(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t)) // a Sunday
	h.put(t, home, "early", wrapped(calendar.Todo, "early", "DUE;VALUE=DATE:20260302", "SUMMARY:Early"))
	h.put(t, home, "late", wrapped(calendar.Todo, "late", "DUE;VALUE=DATE:20260310", "SUMMARY:Late"))
	door := h.open(t, h.config())
	for before, want := range map[string]string{
		"tuesday": "2026-03-03T00:00:00+01:00 1", "before monday": "2026-03-02T00:00:00+01:00 0",
		"next week": "2026-03-02T00:00:00+01:00 0", "this month": "2026-04-01T00:00:00+02:00 2",
		"next 14 days": "2026-03-15T00:00:00+01:00 2",
	} {
		var v tasksView
		use(t, door, "alice", "list_tasks", params{"due_before": before, "timezone": "Europe/Berlin"}, &v)
		if got := fmt.Sprint(v.Before, " ", len(v.Tasks)); got != want {
			t.Errorf("%s: %s, want %s", before, got, want)
		}
	}
}
