package mcp

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/internal/testdb"
)

// Results must be usable as arguments: a model copies what it read.

// TestAttendeesCanBeGivenBack: names with special characters are quoted, so that the tools read them again.
func TestAttendeesCanBeGivenBack(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"Bob", "Bob Ray", "Jörg Müller", "Ray, Bob", "Bob (Sales)", `Bob "B" Ray`, "Dr. Bob", "b@x", `back\slash`,
		"a;b", "Ann <x>", "=?utf-8?q?x?=",
	} {
		want := edit.Attendee{Name: name, Address: "bob@example.com"}
		for _, status := range []string{"", "ACCEPTED"} {
			shown := attendeeText(edit.Attendee{Name: name, Address: want.Address, Status: status})
			if got := attendeeOf(shown); got.Name != want.Name || got.Address != want.Address {
				t.Errorf("%q is read as %+v", shown, got)
			}
		}
	}
	if got := namedAttendee(edit.Attendee{Name: "Bob Ray", Address: "bob@example.com"}); got !=
		"Bob Ray <bob@example.com>" {
		t.Error(got)
	}
}

// TestHoursElsewhereCanBeGivenBack: find_time takes the hours of others as it returns them, with weekdays, and people
// by mail address.
func TestHoursElsewhereCanBeGivenBack(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.reachable(t, "bob")
	zone, hours, days, name := "America/New_York", "09:00-12:00, 13:00-17:00", "tue thu", `Bob "2" 10:00 Ray`
	edit := auth.UserEdit{Timezone: &zone, WorkingHours: &hours, WorkingDays: &days, DisplayName: &name}
	if err := h.Store.ChangeUser(t.Context(), "bob-id", edit); err != nil {
		t.Fatal(err)
	}
	h.lend(t, "bob", "Bob's", calendar.ReadAccess, "DTSTART:20260302T080000Z")
	door := h.open(t, h.config())
	ask := func(elsewhere ...string) (v slotsView) {
		args := params{"duration_minutes": 45, "usernames": []string{"bob"}, "date_range": "next week"}
		if elsewhere != nil {
			args["hours_elsewhere"] = elsewhere
		}
		use(t, door, "alice", "find_time", args, &v)
		return v
	}
	own := ask()
	if own.Slots[0].Weekday != "Tuesday" || own.Theirs[0] !=
		`"Bob \"2\" 10:00 Ray" 09:00-12:00, 13:00-17:00 America/New_York (tue thu)` {
		t.Errorf("%+v", own)
	}
	again := ask(texts(own.Theirs)...)
	if fmt.Sprint(again.Slots, again.Theirs) != fmt.Sprint(own.Slots, own.Theirs) {
		t.Errorf("given back: %+v, want %+v", again, own)
	}
	for _, who := range []string{"bob", "Bob@example.com"} {
		v := ask(who + " 10:00-11:00 America/New_York (fri)")
		if len(v.Theirs) != 1 || v.Slots[0].Weekday != "Friday" || v.Slots[0].Start[11:16] != "16:00" &&
			v.Slots[0].Start[11:16] != "16:15" {
			t.Errorf("%s: %+v", who, v)
		}
	}
	for _, wrong := range []string{
		"bob", "bob 09:00-17:00", "bob 9-17 Europe/Berlin", "bob 09:00-17:00 Europe/Berlin (sonntag)",
	} {
		args := fmt.Sprintf(`{"duration_minutes":30,"hours_elsewhere":[%q]}`, wrong)
		if said := refusalOf(t, door, "alice", "find_time", args); !strings.Contains(said, "hours_elsewhere") {
			t.Errorf("%s: %s", wrong, said)
		}
	}
}

// TestTheFirstOwnLineCounts: if the user is among the attendees under two addresses, the answer of the first line is
// the user's, as in respond_to_event.
func TestTheFirstOwnLineCounts(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.reachable(t, "alice")
	h.put(t, work, "twice", wrapped(calendar.Event, "twice", "DTSTART:20260303T090000Z", "DURATION:PT1H",
		"SUMMARY:Twice", "ORGANIZER:mailto:carol@example.com", "ATTENDEE;PARTSTAT=DECLINED:mailto:alice@example.com",
		"ATTENDEE;PARTSTAT=ACCEPTED:/principals/alice/"))
	door := h.open(t, h.config())
	var v listView
	use(t, door, "alice", "list_events", params{"date_range": "2026-03-03"}, &v)
	if len(v.Events) != 1 || v.Events[0].MyAnswer != "DECLINED" || !v.Events[0].Free {
		t.Errorf("%+v", v.Events)
	}
}

// TestUndoSaysSinceWhen: an undo since a time in words says the moment, and words that look ahead are refused.
func TestUndoSaysSinceWhen(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t)) // a Sunday, 13:00 in Berlin
	h.stock(t)
	door := h.open(t, h.config())
	for _, preview := range []bool{true, false} {
		var v undoView
		text := contentText(t, use(t, door, "alice", "undo_change", params{
			"since": "noon", "token": "own", "preview": preview,
		}, &v))
		if v.Since != "2026-03-01T12:00:00+01:00" || v.Timezone != "Europe/Berlin" ||
			!strings.Contains(text, " since Sun 2026-03-01 12:00 (Europe/Berlin):\n") {
			t.Errorf("%+v %s", v, text)
		}
	}
	var now changesView
	use(t, door, "alice", "list_changes", params{"since": "now"}, &now)
	if now.Since != "2026-03-01T13:00:00+01:00" {
		t.Errorf("now is %s", now.Since)
	}
	for since, says := range map[string]string{
		"next 7 days": "give a time in the past", "until friday": "it is a range", "tomorrow": "it looks ahead",
	} {
		if said := refusalOf(t, door, "alice", "list_changes", fmt.Sprintf(`{"since":%q}`, since)); !strings.Contains(
			said, says) {
			t.Errorf("%s: %s", since, said)
		}
	}
}

// TestCursorsKeepTheInstant: a relative time means the same instant on each page, however long a client takes.
func TestCursorsKeepTheInstant(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.stock(t)
		for n := range 3 {
			uid := fmt.Sprintf("due%d", n)
			h.put(t, home, uid, wrapped(calendar.Todo, uid, "DUE:20260301T130000Z", "SUMMARY:Due"))
		}
		door := h.open(t, h.config())
		h.Pass(30 * time.Minute)
		var first, second changesView
		use(t, door, "alice", "list_changes", params{"since": "an hour ago", "limit": 2}, &first)
		var due, rest tasksView
		use(t, door, "alice", "list_tasks", params{"due_before": "in 2 hours", "limit": 1}, &due)
		h.Pass(45 * time.Minute)
		use(t, door, "alice", "list_changes", params{"cursor": first.NextCursor}, &second)
		use(t, door, "alice", "list_tasks", params{"cursor": due.NextCursor, "due_before": "in 2 hours"}, &rest)
		if second.Since != first.Since || len(second.Changes) != 2 {
			t.Errorf("since %s, on the second page %s: %+v", first.Since, second.Since, second.Changes)
		}
		if rest.Before != due.Before || len(rest.Tasks) == 0 || slices.ContainsFunc(rest.Tasks, func(v taskView) bool {
			return v.UID == due.Tasks[0].UID
		}) {
			t.Errorf("due before %s, on the second page %s", due.Before, rest.Before)
		}
	})
}
