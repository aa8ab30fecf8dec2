package mcp

import (
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

const errandList = calendar.CalendarID("00000000-0000-4000-8000-000000000003")

// furnishTasks puts tasks into alice's list, and an event that has a word of one of them.
func (h *house) furnishTasks(t *testing.T) {
	t.Helper()
	for uid, lines := range map[string][]string{
		"tax": {
			"DUE;VALUE=DATE:20260306", "SUMMARY:Tax return", "DESCRIPTION:Ask Zoë\\nStatus: COMPLETED",
			"LOCATION:Office",
		},
		"late": {"DUE;" + berlin + "20260227T180000", "SUMMARY:Renew the passport"},
		"some": {"SUMMARY:Read the passport office's letter"},
		"done": {"DUE:20260220T090000Z", "SUMMARY:Passport photos", "STATUS:COMPLETED", "COMPLETED:20260219T090000Z"},
		"plants": {
			"DTSTART;VALUE=DATE:20260222", "DUE;VALUE=DATE:20260223", "RRULE:FREQ=WEEKLY",
			"SUMMARY:Water the ficus",
		},
		"hidden": {"SUMMARY:Xylophone", "CLASS:PRIVATE"},
	} {
		h.put(t, errandList, uid, wrapped(calendar.Todo, uid, lines...))
	}
	h.put(t, work, "adviser", wrapped(calendar.Event, "adviser", "DTSTART;"+berlin+"20260304T090000", "DURATION:PT1H",
		"SUMMARY:Tax adviser"))
}

// TestSearchFindsTasks: users may search for a task. Every result of search can be fetched, and says when a task is due
// and whether it is done.
func TestSearchFindsTasks(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.furnishTasks(t)
		door := h.open(t, h.config())
		for said, want := range map[string]string{
			"tax": "Tax adviser (Wed 2026-03-04, 09:00–10:00)|Tax return (task, due Fri " +
				"2026-03-06, not done)",
			"tax return":                "Tax return (task, due Fri 2026-03-06, not done)",
			"taks return":               "Tax return (task, due Fri 2026-03-06, not done)",
			"the tax return next week":  "Tax return (task, due Fri 2026-03-06, not done)",
			"the tax return next month": "",
			"zoe":                       "Tax return (task, due Fri 2026-03-06, not done)",
			"passport": "Renew the passport (task, due Fri 2026-02-27, 18:00, not done)|Read the " +
				"passport office's letter (task, never due, not done)|Passport photos (task, due Fri 2026-02-20, " +
				"10:00, done)",
			"When do I water the ficus?": "Water the ficus (task, due Mon 2026-02-23, not done)",
		} {
			var v resultsView
			text := contentText(t, use(t, door, "alice", "search", params{"query": said}, &v))
			var titles []string
			for _, r := range v.Results {
				titles = append(titles, string(r.Title))
				h.fetchFound(t, door, r)
				if !strings.Contains(text, string(r.Title)) ||
					(r.Kind == "task") != strings.Contains(string(r.Title), "(task") {
					t.Errorf("%s: %+v in %s", said, r, text)
				}
			}
			if got := strings.Join(titles, "|"); got != want {
				t.Errorf("%s:\n got %s\nwant %s", said, got, want)
			}
		}
		var v fetchedView
		use(t, door, "alice", "fetch", params{"id": eventID{Calendar: errandList, UID: "tax"}.String()}, &v)
		for _, line := range []string{
			"This is a task, due Fri 2026-03-06, not done.", "Due: Friday 2026-03-06",
			"Status: NEEDS-ACTION", "Location: Office",
		} {
			if !strings.Contains(string(v.Text), line+"\n") {
				t.Errorf("%q is not in %s", line, v.Text)
			}
		}
		m := v.Metadata
		if m.Kind != "task" || m.Due != "2026-03-06" || m.EndDate != "2026-03-06" || m.Status != "NEEDS-ACTION" ||
			m.CalendarID != errandList || m.UID != "tax" {
			t.Errorf("%+v", m)
		}
	})
}

// TestSearchByTimeListsTasks: a time alone asks for all that is in it: events, and the tasks that are due then, which
// can be fetched. It is mcp C1.
func TestSearchByTimeListsTasks(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.furnishTasks(t)
		door := h.open(t, h.config())
		limited := h.callers["alice"]
		limited.Tools = []calendar.ToolName{"search", "fetch"}
		h.callers["alice-connector"] = limited
		for _, tt := range []struct{ token, said, want string }{
			{"alice", "next week", "Tax adviser (Wed 2026-03-04, 09:00–10:00)|Tax return (task, due Fri " +
				"2026-03-06, not done)"},
			{
				"alice", "What is on my calendar on 2026-02-27?",
				"Renew the passport (task, due Fri 2026-02-27, 18:00, not done)",
			},
			{"alice", "2026-02-20", "Passport photos (task, due Fri 2026-02-20, 10:00, done)"},
			{"alice", "2026-02-23", "Water the ficus (task, due Mon 2026-02-23, not done)"},
			{"alice", "2026-04-01", ""},
			{"alice-connector", "next week", "Tax adviser (Wed 2026-03-04, 09:00–10:00)"},
			{"bob", "next week", ""},
		} {
			var v resultsView
			use(t, door, tt.token, "search", params{"query": tt.said}, &v)
			var titles []string
			for _, r := range v.Results {
				titles = append(titles, string(r.Title))
				if tt.token == "alice" {
					h.fetchFound(t, door, r)
				}
			}
			if got := strings.Join(titles, "|"); got != tt.want || v.Truncated {
				t.Errorf("%s, %s:\n got %s\nwant %s", tt.token, tt.said, got, tt.want)
			}
		}
		// A calendar that is hidden in the user's apps is not looked into, by no tool.
		use(t, door, "alice", "update_calendar", params{"calendar_id": errandList, "hidden": true}, new(any))
		var v resultsView
		var listed tasksView
		use(t, door, "alice", "search", params{"query": "2026-02-27"}, &v)
		use(t, door, "alice", "list_tasks", params{}, &listed)
		if len(v.Results)+len(listed.Tasks) > 0 {
			t.Errorf("found %+v and %+v in a hidden calendar", v.Results, listed.Tasks)
		}
		use(t, door, "alice", "list_tasks", params{"calendar_id": errandList}, &listed)
		if len(listed.Tasks) != 5 {
			t.Errorf("listed %+v of a hidden calendar that was named", listed.Tasks)
		}
	})
}

// TestFetchShowsSubtasks: a task comes with its subtasks, in text and structured content, and each of them can be
// fetched. It is mcp C1.
func TestFetchShowsSubtasks(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.furnishTasks(t)
		door := h.open(t, h.config())
		use(t, door, "alice", "create_task", params{
			"calendar_id": errandList,
			"title":       "Find the receipts\nStatus: COMPLETED", "due": "2026-03-05", "parent_uid": "tax",
		}, new(any))
		var v, part fetchedView
		use(t, door, "alice", "fetch", params{"id": eventID{Calendar: errandList, UID: "tax"}.String()}, &v)
		if len(v.Metadata.Subtasks) != 1 || v.Metadata.More {
			t.Fatalf("%+v", v.Metadata)
		}
		one := v.Metadata.Subtasks[0]
		if one.Title != "Find the receipts Status: COMPLETED (task, due Thu 2026-03-05, not done)" ||
			!strings.Contains(string(v.Text), "\nSubtask: "+string(one.Title)+", fetch it as "+one.ID+"\n") {
			t.Errorf("%+v in %s", one, v.Text)
		}
		use(t, door, "alice", "fetch", params{"id": one.ID}, &part)
		if !strings.Contains(string(part.Text), "Part of the task with the UID: tax\n") ||
			part.Metadata.Subtasks != nil {
			t.Errorf("%+v", part)
		}
	})
}

// fetchFound fetches what search has returned.
func (h *house) fetchFound(t *testing.T, door string, r resultView) {
	t.Helper()
	var v fetchedView
	use(t, door, "alice", "fetch", params{"id": r.ID}, &v)
	title, _, _ := strings.Cut(string(r.Title), " (")
	if string(v.Title) != title || v.ID != r.ID || v.URL != r.URL || v.Metadata.Kind != r.Kind ||
		v.Metadata.Due != r.Due || v.Metadata.Status != r.Status {
		t.Errorf("%+v is fetched as %+v", r, v)
	}
	if got := ask(t, door, "alice", "resources/read", `{"uri":"`+r.URL+`"}`, nil).body; !strings.Contains(got,
		"SUMMARY:"+title) {
		t.Errorf("%s: %s", r.URL, got)
	}
}

// TestSearchEventsPointsToTasks: it finds events alone, and says where tasks have what no event has.
func TestSearchEventsPointsToTasks(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.furnishTasks(t)
		door := h.open(t, h.config())
		for asked, want := range map[string]struct {
			tasks int
			says  string
		}{
			"passport": {3, "3 tasks have these words: list_tasks"},
			"return":   {1, "1 task has these words: list_tasks"},
			"tax":      {0, ""}, "nothing": {0, ""}, "pasport": {0, ""},
		} {
			var v foundView
			text := contentText(t, use(t, door, "alice", "search_events", params{"query": asked}, &v))
			if v.Tasks != want.tasks || !strings.Contains(text, want.says) || want.tasks == 0 &&
				strings.Contains(text, "these words") {
				t.Errorf("%s: %d tasks, %s", asked, v.Tasks, text)
			}
		}
	})
}

// TestSearchTellsOfTasksByAccess: a search reveals no more about tasks than a list does.
func TestSearchTellsOfTasksByAccess(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.furnishTasks(t)
		door := h.open(t, h.config())
		limited := h.callers["alice"]
		limited.Tools = []calendar.ToolName{"search", "fetch", "search_events"}
		h.callers["alice-connector"] = limited
		hidden := eventID{Calendar: errandList, UID: "tax"}.String()
		tell := func(token, word string, found, told int) {
			t.Helper()
			var r resultsView
			var e foundView
			var listed tasksView
			use(t, door, token, "search", params{"query": word}, &r)
			use(t, door, token, "search_events", params{"query": word}, &e)
			if token != "alice-connector" {
				use(t, door, token, "list_tasks", params{"query": word, "status": "all"}, &listed)
			}
			if len(listed.Tasks) != found || len(r.Results) != found || e.Tasks != told {
				t.Errorf("%s finds %d for %s and is told of %d tasks", token, len(r.Results), word, e.Tasks)
			}
		}
		tell("alice", "xylophone", 1, 1)
		tell("bob", "passport", 0, 0)
		tell("alice-bound", "passport", 0, 0) // for Work alone
		tell("alice-connector", "passport", 0, 0)
		for _, token := range []string{"bob", "alice-bound", "alice-connector"} {
			refusalOf(t, door, token, "fetch", `{"id":"`+hidden+`"}`)
		}
		h.share(t, errandList, calendar.FreeBusyAccess)
		tell("bob", "passport", 0, 0)
		refusalOf(t, door, "bob", "fetch", `{"id":"`+hidden+`"}`)
		h.share(t, errandList, calendar.ReadAccess)
		tell("bob", "passport", 3, 3)
		tell("bob", "xylophone", 1, 1)
	})
}

// share lets bob into a calendar of alice's.
func (h *house) share(t *testing.T, id calendar.CalendarID, access calendar.Access) {
	t.Helper()
	if _, err := h.service.Share(t.Context(), h.callers["alice"], id, "bob", access); err != nil {
		t.Fatal(err)
	}
}
