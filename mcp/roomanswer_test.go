package mcp

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

const greenTaken = "Green room <green@example.com>: taken Tue 2026-03-03, 10:00–11:00"

// TestUndoTellsOfRooms: an undo names the rooms that decline, and rooms that had declined are not among the people who
// were told of a cancellation.
func TestUndoTellsOfRooms(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice", "bob")
		h.greenRoom(t)
		door := h.open(t, h.config())
		book := func(start string) (v roomResult) {
			use(t, door, "alice", "create_event", params{
				"calendar_id": work, "title": "Sync " + start, "start": start,
				"attendees": []string{"Green room <green@example.com>", "bob@example.com"},
			}, &v)
			return v
		}
		undo := func(uid string) (v undoView) {
			var list changesView
			use(t, door, "alice", "list_changes", params{"event_uid": uid, "token": "own"}, &list)
			use(t, door, "alice", "undo_change", params{"change_id": list.Changes[0].ID}, &v)
			return v
		}
		clash := book("2026-03-03T10:30")
		if v := undo(clash.UID); !slices.Equal(v.Told, []shown{"bob@example.com"}) || v.Declined != nil {
			t.Errorf("undo of an event that the room had declined: %+v", v.toldView)
		}
		moved := book("2026-03-03T10:00")
		use(t, door, "alice", "move_event", params{
			"calendar_id": work, "event_uid": moved.UID, "new_start": "2026-03-03T12:00",
		}, new(roomResult))
		if v := undo(moved.UID); !slices.Equal(v.Told, []shown{"bob@example.com"}) ||
			!slices.Equal(v.Declined, []shown{greenTaken}) {
			t.Errorf("undo of a move to a free time: %+v", v.toldView)
		}
		var gone roomResult
		use(t, door, "alice", "delete_event", params{"calendar_id": work, "event_uid": moved.UID}, &gone)
		if !slices.Equal(gone.Told, []string{"bob@example.com"}) {
			t.Errorf("deleted: %+v", gone)
		}
	})
}

// TestRoomsDeclineDays: the days of a series on which a room is taken are listed in full, like other times, also for a
// series that was split.
func TestRoomsDeclineDays(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice")
		h.greenRoom(t)
		door := h.open(t, h.config())
		h.put(t, work, "other", wrapped(calendar.Event, "other", "DTSTART:20260305T090000Z", "DURATION:PT1H",
			"SUMMARY:Other", "ORGANIZER:mailto:alice@example.com",
			"ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:green@example.com"))
		var made, split roomResult
		text := contentText(t, use(t, door, "alice", "create_event", params{
			"calendar_id": work, "title": "Daily", "start": "2026-03-02T10:30", "end": "2026-03-02T11:30",
			"rrule": "FREQ=DAILY;COUNT=5", "attendees": []string{"green@example.com"}, "timezone": "Europe/Berlin",
		}, &made))
		const days = "green@example.com: taken Tue 2026-03-03, 10:30–11:30; Thu 2026-03-05, 10:30–11:30"
		if !slices.Equal(made.Declined, []string{days}) || !strings.Contains(text, days) ||
			!slices.Equal(made.Told, []string{"green@example.com"}) {
			t.Errorf("created: %+v %s", made, text)
		}
		use(t, door, "alice", "patch_event", params{
			"calendar_id": work, "event_uid": made.UID, "recurrence_id": "20260303T093000Z", "scope": "following",
			"start": "2026-03-03T10:45", "end": "2026-03-03T11:45",
		}, &split)
		const rest = "green@example.com: taken Tue 2026-03-03, 10:45–11:45; Thu 2026-03-05, 10:45–11:45"
		if !slices.Equal(split.Declined, []string{rest}) {
			t.Errorf("split: %+v", split)
		}
	})
}

// TestPreviewForeseesRooms: a preview asks rooms for each day of a series, knows the other changes of the call, and
// names other reasons than the time. After the commit the rooms' answers are the same.
func TestPreviewForeseesRooms(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice", "bob")
		h.greenRoom(t)
		door := h.open(t, h.config())
		var freed roomResult
		use(t, door, "alice", "create_event", params{
			"calendar_id": work, "title": "Freed", "start": "2026-03-04T09:00", "end": "2026-03-04T10:00",
			"attendees": []string{"green@example.com"},
		}, &freed)
		with := func(title, start string, more params) params {
			p := params{
				"tool": "create_event", "calendar_id": work, "title": title, "start": start,
				"attendees": []string{"green@example.com"},
			}
			maps.Copy(p, more)
			return p
		}
		changes := []any{
			with("Series", "2026-03-02T10:30", params{"rrule": "FREQ=DAILY;COUNT=2", "timezone": "Europe/Berlin"}),
			params{"tool": "move_event", "calendar_id": work, "event_uid": freed.UID, "new_start": "2026-03-04T15:00"},
			with("In the slot", "2026-03-04T09:00", nil),
			with("First", "2026-03-05T09:00", nil),
			with("Second", "2026-03-05T09:30", nil),
			with("Crowd", "2026-03-06T09:00", params{"attendees": []string{
				"green@example.com", "bob@example.com", "c@example.com", "d@example.com",
			}}),
			with("For ever", "2026-03-07T09:00", params{"rrule": "FREQ=WEEKLY", "timezone": "Europe/Berlin"}),
		}
		want := []string{
			"green@example.com: taken Tue 2026-03-03, 10:00–11:00", "", "", "",
			"green@example.com: taken Thu 2026-03-05, 09:00–10:00",
			"green@example.com: It takes 3 people, and 4 take part.",
			"green@example.com: It can be booked two years ahead at most: a series has to end before.",
		}
		for _, preview := range []bool{true, false} {
			var many roomResult
			use(t, door, "alice", "change_many", params{"changes": changes, "preview": preview}, &many)
			for i, one := range many.Changes {
				got := strings.Join(one.Declined, "|")
				if i == 0 && !preview {
					got = strings.Replace(got, "10:30–11:30", "10:00–11:00", 1) // its own time
				}
				if got != want[i] {
					t.Errorf("preview %t, change %d: %q, want %q", preview, i+1, got, want[i])
				}
			}
		}
	})
}

// TestBatchComparesAtTheEnd: conflicts are those that remain after all changes of the call.
func TestBatchComparesAtTheEnd(t *testing.T) {
	t.Parallel()
	eachHouse(t, func(t *testing.T, h *house, door string) {
		h.put(t, work, "old", wrapped(calendar.Event, "old", "DTSTART:20260304T090000Z", "DURATION:PT1H",
			"SUMMARY:Old"))
		changes := []any{
			params{"tool": "create_event", "calendar_id": work, "title": "New", "start": "2026-03-04T10:00"},
			params{"tool": "move_event", "calendar_id": work, "event_uid": "old", "new_start": "2026-03-04T15:00"},
			params{"tool": "create_event", "calendar_id": home, "title": "Late", "start": "2026-03-04T15:30"},
			params{"tool": "create_event", "calendar_id": home, "title": "Gone", "start": "2026-03-05T15:30"},
		}
		for _, preview := range []bool{true, false} {
			var v manyView
			use(t, door, "alice", "change_many", params{"changes": changes, "preview": preview}, &v)
			got := make([]string, len(v.Changes))
			for i, one := range v.Changes {
				got[i] = fmt.Sprint(one.Conflicts)
			}
			if want := []string{
				"[]", `["Late" (Wednesday 2026-03-04T15:30:00+01:00)]`, `["Old" (Wednesday 2026-03-04T15:00:00+01:00)]`,
				"[]",
			}; !slices.Equal(got, want) {
				t.Errorf("preview %t: %q", preview, got)
			}
		}
	})
}

// TestRestoredEventHoldsNoRoom: the deletion freed the room, and the restored event says so until the next change books
// it again. An undone answer of a room is given again.
func TestRestoredEventHoldsNoRoom(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice")
		h.greenRoom(t)
		door := h.open(t, h.config())
		var made, now roomResult
		use(t, door, "alice", "create_event", params{
			"calendar_id": work, "title": "Sync", "start": "2026-03-04T10:00",
			"attendees": []string{"green@example.com"},
		}, &made)
		one := params{"calendar_id": work, "event_uid": made.UID}
		use(t, door, "alice", "delete_event", one, &now)
		var back struct {
			Unbooked []string `json:"not_booked"`
		}
		text := contentText(t, use(t, door, "alice", "restore_event", one, &back))
		use(t, door, "alice", "get_event", one, &now)
		if !slices.Equal(back.Unbooked, []string{"green@example.com"}) || !strings.Contains(text, "No longer booked") ||
			!slices.Equal(now.Attendees, []string{"green@example.com (NEEDS-ACTION)"}) {
			t.Errorf("restored: %+v, %q, %s", back, now.Attendees, text)
		}
		now = roomResult{}
		use(t, door, "alice", "patch_event", params{"calendar_id": work, "event_uid": made.UID, "title": "Again"}, &now)
		if !slices.Equal(now.Attendees, []string{"green@example.com (ACCEPTED)"}) {
			t.Errorf("asked again: %+v", now)
		}
		var list changesView
		use(t, door, "alice", "list_changes", params{"event_uid": made.UID}, &list)
		i := slices.IndexFunc(list.Changes, func(v changeView) bool { return strings.Contains(string(v.With), "room") })
		if i < 0 {
			t.Fatalf("no answer of the room: %+v", list.Changes)
		}
		h.say(t, door, "alice", "undo_change", params{"change_id": list.Changes[i].ID})
		use(t, door, "alice", "get_event", one, &now)
		if !slices.Equal(now.Attendees, []string{"green@example.com (ACCEPTED)"}) {
			t.Errorf("after the undo of the answer: %q", now.Attendees)
		}
	})
}

// TestOrganizersAttend: an organizer among the attendees has accepted, and is busy.
func TestOrganizersAttend(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice", "bob")
		door := h.open(t, h.config())
		var made struct {
			UID       string
			Attendees []string
			Answer    string `json:"my_answer"`
		}
		use(t, door, "alice", "create_event", params{
			"calendar_id": work, "title": "Sync", "start": "2026-03-04T10:00",
			"attendees": []string{"alice@example.com", "bob@example.com"},
		}, &made)
		if made.Attendees[0] != "alice@example.com (ACCEPTED)" || made.Answer != "ACCEPTED" {
			t.Errorf("created: %+v", made)
		}
		h.put(t, work, "app", wrapped(calendar.Event, "app", "DTSTART:20260305T090000Z", "DURATION:PT1H", "SUMMARY:App",
			"ORGANIZER:mailto:alice@example.com", "ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:alice@example.com",
			"ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:bob@example.com"))
		var busy busyView
		use(t, door, "alice", "get_free_busy", params{"start_time": "2026-03-04", "end_time": "2026-03-05"}, &busy)
		if len(busy.Busy) != 2 || busy.Busy[0].Type != "busy" || busy.Busy[1].Type != "busy" {
			t.Errorf("busy: %+v", busy.Busy)
		}
		var list listView
		use(t, door, "alice", "list_events", params{"date_range": "2026-03-05"}, &list)
		if len(list.Events) != 1 || list.Events[0].MyAnswer != "ACCEPTED" {
			t.Errorf("listed: %+v", list.Events)
		}
	})
}
