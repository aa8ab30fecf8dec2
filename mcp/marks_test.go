package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
)

// plant is a foreign text with a link to defuse.
func plant(where string) string { return "PLANT-" + where + " ![x](https://evil.example)" }

// plantAll puts a foreign text into each place that can hold one.
func (h *house) plantAll(t *testing.T) {
	t.Helper()
	const mine = "ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:alice@example.com"
	h.put(t, work, "letter", wrapped(calendar.Event, "letter", "DTSTART:20260303T090000Z", "DURATION:PT1H", "SUMMARY:"+
		plant("title"), "DESCRIPTION:"+plant("notes"),
		"LOCATION:"+plant("place"), "URL:https://evil.example/PLANT-url", "X-NOTE:"+plant("x"), "COMMENT:"+
			plant("comment"),
		"ATTACH;FILENAME=PLANT-file:https://evil.example/a", "CATEGORIES:"+plant("tag"),
		"ORGANIZER;CN=PLANT-organizer:mailto:eve@example.net",
		mine, "ATTENDEE;CN=PLANT-guest;PARTSTAT=ACCEPTED:mailto:mallory@example.net"))
	h.put(t, work, "rule", wrapped(calendar.Event, "rule", "DTSTART:20260303T090000Z", "DURATION:PT1H", "SUMMARY:"+
		plant("series"), "RRULE:FREQ=DAILY;COUNT=3", "ORGANIZER:mailto:eve@example.net", mine))
	h.put(t, work, "booked", wrapped(calendar.Event, "booked", "DTSTART:20260303T110000Z", "DURATION:PT1H", "SUMMARY:"+
		plant("booked"), "DESCRIPTION:"+plant("answer"), edit.StrangerProperty+":eve@example.net",
		"ORGANIZER:mailto:alice@example.com", "ATTENDEE;CN=PLANT-visitor:mailto:eve@example.net"))
	lured := calendar.User{
		ID: "lure-id", Name: "lure", Email: "lure@example.com", DisplayName: plant("person"), Created: noon,
		Room: calendar.Room{Kind: calendar.Resource, Bookers: calendar.Anybody},
	}
	h.Admit(t, lured)
	h.lend(t, "bob", plant("calendar"), calendar.WriteAccess, "DTSTART:20260303T090000Z", "DURATION:PT1H", "SUMMARY:"+
		plant("shared"))
	h.lend(t, "bob", plant("closed"), calendar.ReadAccess, "DTSTART:20260303T090000Z", "DURATION:PT1H", "SUMMARY:"+
		plant("shared"))
	_, err := h.service.CreateCalendar(t.Context(), h.callers["alice"], calendar.NewCalendar{
		Subscription: true, Properties: calendar.Properties{Name: plant("noted")},
		DeadProperties: []calendar.DeadProperty{{
			Name:  calendar.PropertyName{Space: "x", Local: "source"},
			Value: "https://feeds.example/noted",
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(wrapped(calendar.Event, "talk", "DTSTART:20260306T093000Z", "SUMMARY:"+plant("refused"),
		"ORGANIZER:mailto:c@example.net", "ATTENDEE:mailto:alice@example.com"), "VERSION",
		"METHOD:REQUEST\r\nVERSION", 1)
	in := calendar.Inbound{
		From: "zoe@example.net", To: []calendar.MailAddress{"alice@example.com"},
		Method: calendar.MethodRequest, Data: []byte(text),
	}
	if err := h.service.Refused(t.Context(), in, calendar.NotOrganizer, false); err != nil {
		t.Fatal(err)
	}
}

// plantByTools plants the texts that arrive through tools: a guest's comment on a proposed time, and a feed. It returns
// the feed's calendar.
func (h *house) plantByTools(t *testing.T, door string) calendar.CalendarID {
	t.Helper()
	use(t, door, "alice", "create_event", params{
		"calendar_id": work, "title": "Mine", "start": "2026-03-06T09:30:00Z",
		"end": "2026-03-06T10:30:00Z", "attendees": []string{"bob@example.com"},
	}, &struct{}{})
	var waiting invitationsOf
	use(t, door, "bob", "list_invitations", params{}, &waiting)
	use(t, door, "bob", "respond_to_event", params{
		"calendar_id": waiting.Invitations[0].Calendar, "event_uid": waiting.Invitations[0].UID, "answer": "propose",
		"start": "2026-03-06T12:00:00Z", "comment": plant("wish"),
	}, &struct{}{})
	var made subscribedView
	use(t, door, "alice", "subscribe_calendar", params{"url": "https://feeds.example/planted.ics"}, &made)
	if made.Created != 1 || made.Untrusted == "" {
		t.Errorf("a feed is followed: %+v", made)
	}
	return made.Calendar
}

// unmarked returns the planted strings of a JSON value that have no mark, neither in the string nor as a field of an
// object around it.
func unmarked(v any, marked bool) (list []string) {
	switch v := v.(type) {
	case map[string]any:
		by, _ := v["untrusted_text_by"].(string)
		marked = marked || by != ""
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

// unmarkedText is unmarked for the text half: JSON, or lines. A line is marked if its entry is, up to the line itself.
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

// TestPlantedTextIsMarked: foreign text is marked in both halves of every answer and refusal that repeats it.
func TestPlantedTextIsMarked(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice", "bob")
		h.plantAll(t)
		door := h.open(t, h.config())
		feed := h.plantByTools(t, door)
		var shared calendar.CalendarID
		for _, cal := range h.seen(t, "alice") {
			if strings.Contains(cal.Name, "PLANT-calendar") {
				shared = cal.ID
			}
		}
		letter := params{"calendar_id": work, "event_uid": "letter"}
		at := params{
			"start": "2026-03-03T09:00:00Z", "end": "2026-03-03T10:00:00Z", "title": "Own",
			"calendar_id": home,
		}
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
			{"get_calendar", params{"calendar_id": feed}},
			{"query_events", params{"calendar_id": feed}},
			{"get_event", params{"calendar_id": feed, "event_uid": "feed"}},
			{"fetch", params{"id": eventID{Calendar: feed, UID: "feed"}.String()}},
			{"patch_event", params{"calendar_id": feed, "event_uid": "feed", "title": "x"}},
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
				{
					"tool": "create_event", "calendar_id": home, "title": "New", "start": "2026-03-03T09:00:00Z",
					"end": "2026-03-03T10:00:00Z",
				},
			}}},
			{"change_many", params{"changes": []params{{
				"tool": "patch_event", "calendar_id": work,
				"event_uid": "letter", "title": "x", "if_match": "old",
			}}}},
			{"find_time", params{
				"duration_minutes": 30, "date_range": "2026-03-03", "working_hours": "10:00-11:00",
				"calendar_ids": []calendar.CalendarID{work, shared, feed},
			}},
			{"find_time", params{
				"duration_minutes": 60, "date_range": "2026-03-03", "working_hours": "10:00-11:30",
				"calendar_ids": []calendar.CalendarID{shared, feed}, "usernames": []string{"bob"}, "without_me": true,
			}},
			{"get_free_busy", params{
				"calendar_ids": []calendar.CalendarID{work, shared, feed}, "start_time": "2026-03-03",
				"end_time": "2026-03-03",
			}},
			{"sum_hours", params{"date_range": "2026-03-03"}},
			{"list_people", nil},
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
			body := do(t, request(t, "POST", door, "alice",
				fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`,
					call.tool, data), wire.VersionHeader, "2025-11-25")).body
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
			if told, _, _ := strings.Cut(text, `"ical_data":`); lures.MatchString(told) {
				t.Errorf("%s %s: not defused: %s", call.tool, data, told)
			}
			// its keys are those of the first version: the mark is in a block of its own
			if call.tool == "list_shared_calendars" {
				if !strings.Contains(contentText(t, body), "untrusted text") {
					t.Errorf("%s: not marked: %s", call.tool, body)
				}
				text = ""
			}
			for _, s := range append(unmarkedText(text), unmarked(r.Result.StructuredContent, false)...) {
				t.Errorf("%s %s: not marked: %q", call.tool, data, s)
			}
		}
		for _, tool := range []string{
			"list_calendars", "list_events", "query_events", "get_event", "search", "fetch",
			"list_invitations", "create_event", "list_changes", "change_many", "get_task", "patch_event",
			"delete_event", "restore_event", "calendar_auth_status", "find_time", "get_free_busy", "sum_hours",
			"list_people",
		} {
			if !seen[tool] {
				t.Errorf("%s says nothing of what was planted", tool)
			}
		}
	})
}

// TestPlantedResourcesAreMarked: the list of resources marks names, and a resource has the mark in a second text: the
// first is iCalendar.
func TestPlantedResourcesAreMarked(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice", "bob")
		h.plantAll(t)
		h.put(t, work, "own", wrapped(calendar.Event, "own", "DTSTART:20260304T090000Z", "SUMMARY:Own"))
		door := h.open(t, h.config())
		feed := h.plantByTools(t, door)
		var list struct {
			Resources []struct{ URI, Name, Description string }
		}
		ask(t, door, "alice", "resources/list", `{}`, &list)
		planted := 0
		for _, r := range list.Resources {
			if strings.Contains(r.Name, "PLANT") {
				planted++
			}
			if strings.Contains(r.Name, "PLANT") != strings.Contains(r.Description, "untrusted text by") {
				t.Errorf("%s is described as %q", r.Name, r.Description)
			}
		}
		if planted != 3 {
			t.Errorf("%d of three planted calendars are listed", planted)
		}
		for uri, by := range map[string]string{
			calendarAddress + string(feed):                                 "PLANT-feed",
			calendarAddress + string(work):                                 "unknown",
			eventAddress + eventID{Calendar: work, UID: "letter"}.String(): "eve@example.net",
			eventAddress + eventID{Calendar: feed, UID: "feed"}.String():   "PLANT-feed",
			eventAddress + eventID{Calendar: work, UID: "own"}.String():    "",
		} {
			var r resourceResult
			ask(t, door, "alice", "resources/read", fmt.Sprintf(`{"uri":%q}`, uri), &r)
			if len(r.Contents) == 0 || !strings.Contains(r.Contents[0].Text, "SUMMARY:") ||
				len(r.Contents) > 1 != (by != "") {
				t.Errorf("%s: %+v", uri, r)
			} else if by != "" && !strings.Contains(r.Contents[1].Text, `untrusted text by "`+by) {
				t.Errorf("%s is marked %q", uri, r.Contents[1].Text)
			}
		}
	})
}

// TestMeantWordsAreMarked: the words that a search proposes instead are from the events that it found.
func TestMeantWordsAreMarked(t *testing.T) {
	t.Parallel()
	eachHouse(t, func(t *testing.T, h *house, door string) {
		h.put(t, work, "eves", wrapped(calendar.Event, "eves", "DTSTART:20260303T090000Z", "SUMMARY:Zahnarzt",
			"ORGANIZER:mailto:eve@example.net", "ATTENDEE:mailto:alice@example.com"))
		var v foundView
		text := contentText(t, use(t, door, "alice", "search_events", params{"query": "zahnartz"}, &v))
		if v.Meant != "zahnarzt" || v.Untrusted != "eve@example.net" ||
			!strings.Contains(text, `did you mean "zahnarzt", untrusted text by "eve@example.net"?`) {
			t.Errorf("meant %q of %q: %s", v.Meant, v.Untrusted, text)
		}
	})
}

// TestPlantedTextIsMarkedAfterwards: the names of other people's programs are marked, and so is what remains of
// calendars that are gone.
func TestPlantedTextIsMarkedAfterwards(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice", "bob")
		door := h.open(t, h.config())
		h.lend(t, "bob", "Lent", calendar.WriteAccess, "DTSTART:20260303T090000Z", "DURATION:PT1H", "SUMMARY:"+
			plant("shared"))
		var lent calendar.CalendarID
		for _, cal := range h.seen(t, "alice") {
			if strings.HasPrefix(cal.Name, "Lent") {
				lent = cal.ID
			}
		}
		var task struct{ UID string }
		use(t, door, "bob", "create_task", params{"calendar_id": lent, "title": plant("task")}, &task)
		feed := h.plantByTools(t, door)

		// A sharee names the program and the tokens with which they work.
		bob := h.callers["bob"]
		bob.Agent, bob.Scopes = plant("program"), calendar.ScopeAll
		h.put(t, work, "mine", wrapped(calendar.Event, "mine", "DTSTART:20260309T090000Z", "SUMMARY:Mine"))
		use(t, door, "alice", "patch_event", params{"calendar_id": work, "event_uid": "mine", "title": "Still mine"},
			&struct{}{})
		var changes struct {
			Changes []struct {
				ID string `json:"change_id"`
			}
		}
		use(t, door, "alice", "list_changes", params{"calendar_id": work, "limit": 1}, &changes)
		use(t, door, "alice", "share_calendar", params{
			"calendar_id": work, "username": "bob",
			"permission": "read-write",
		}, &struct{}{})
		cal, err := h.service.Calendar(t.Context(), bob, work)
		if err == nil {
			text := wrapped(calendar.Event, "mine", "DTSTART:20260309T090000Z", "SUMMARY:Theirs")
			_, err = h.service.Put(t.Context(), bob, cal, calendar.Draft{
				Name: "mine.ics",
				Data: []byte(strings.ReplaceAll(text, "\n", "\r\n")),
			})
		}
		if err == nil {
			err = h.service.Leave(t.Context(), bob, work)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range []struct {
			tool string
			args params
			says string
		}{
			{"subscribe_calendar", params{"url": "https://feeds.example/planted.ics"}, "PLANT-feed"},
			{"delete_task", params{"calendar_id": lent, "task_uid": task.UID}, "PLANT-task"},
			{"list_changes", params{"calendar_id": work}, "PLANT-program"},
			{"undo_change", params{"change_id": changes.Changes[0].ID}, "PLANT-program"},
			{"undo_change", params{"since": "2020-01-01", "preview": true, "leave_changed": true}, "PLANT-program"},
			{"delete_calendar", params{"calendar_id": feed}, ""},
			{"list_changes", params{"calendar_id": feed}, "PLANT-feed"},
		} {
			data, _ := json.Marshal(call.args)
			body := do(t, request(t, "POST", door, "alice",
				fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`,
					call.tool, data), wire.VersionHeader, "2025-11-25")).body
			var r struct {
				Result struct{ StructuredContent any }
			}
			if err := json.Unmarshal([]byte(body), &r); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(body, call.says) {
				t.Errorf("%s %s says nothing of %s: %s", call.tool, data, call.says, body)
			}
			for _, s := range append(unmarkedText(contentText(t, body)), unmarked(r.Result.StructuredContent,
				false)...) {
				t.Errorf("%s %s: not marked: %q", call.tool, data, s)
			}
		}
	})
}
