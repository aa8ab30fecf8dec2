package mcp

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// TestPeopleAndRoomsAreListed: a model finds a room by a part of its name, with the address that create_event takes.
// Names of others are marked in both halves.
func TestPeopleAndRoomsAreListed(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice", "bob")
		h.greenRoom(t)
		h.lend(t, "bob", "Bob's", calendar.ReadAccess, "DTSTART:20260303T090000Z", "SUMMARY:Shared")
		door := h.open(t, h.config())
		var v peopleView
		text := contentText(t, use(t, door, "alice", "list_people", params{"rooms": true, "query": "GREEN"}, &v))
		if len(v.People) != 1 || v.People[0].Username != "green" || v.People[0].Capacity != 3 ||
			v.People[0].Email != "green@example.com" || v.People[0].Room != calendar.RoomToMeet {
			t.Errorf("rooms: %+v", v)
		}
		const want = `1. "Green room", green@example.com, username "green", room for 3, untrusted text by "green"`
		if text != want {
			t.Errorf("%s, want %s", text, want)
		}
		text = contentText(t, use(t, door, "alice", "list_people", params{}, &v))
		names := each(v.People, func(p personView) string { return string(p.Username) })
		if !slices.Contains(names, "bob") || slices.Contains(names, "alice") ||
			strings.Count(text, "untrusted text by") != len(names) {
			t.Errorf("people: %q, %s", names, text)
		}
		// A name that was found is an argument of the other tools.
		use(t, door, "alice", "find_time", params{
			"duration_minutes": 30, "usernames": []string{string(v.People[0].Name)},
		}, new(slotsView))
		said := contentText(t, use(t, door, "alice", "list_people", params{"query": "nobody"}, &v))
		if len(v.People) > 0 || !strings.Contains(said, "No people") {
			t.Errorf("nobody: %+v %s", v, said)
		}
	})
}

// TestBusyTimesOfSeveral: the busy times of several people come apart, and the free ones are named.
func TestBusyTimesOfSeveral(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice", "bob")
		h.greenRoom(t)
		h.lend(t, "bob", "Bob's", calendar.ReadAccess, "DTSTART:20260303T093000Z", "DURATION:PT1H", "SUMMARY:Private")
		door := h.open(t, h.config())
		args := params{
			"usernames": []string{"bob", "green", "alice"}, "start_time": "2026-03-03", "end_time": "2026-03-03",
		}
		var v busyView
		text := contentText(t, use(t, door, "alice", "get_free_busy", args, &v))
		who := each(v.Busy, func(b blockView) string {
			return string(b.Who) + " " + b.Start[11:16] + "-" + b.End[11:16]
		})
		if want := []string{`"green" 10:00-11:00`, `"bob" 10:30-11:30`}; !slices.Equal(who, want) ||
			!slices.Equal(v.Free, []shown{`"alice"`}) {
			t.Errorf("busy are %q, free %q, want %q", who, v.Free, want)
		}
		for _, want := range []string{
			`- Tue 2026-03-03, 10:00–11:00: "green"`, `10:30–11:30: "bob"`, `Free all the time: "alice"`,
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s is not in %s", want, text)
			}
		}
		if strings.Contains(text, "Private") {
			t.Error("a title is shown")
		}
		v = busyView{}
		args["usernames"] = []string{"bob"}
		use(t, door, "alice", "get_free_busy", args, &v)
		if len(v.Busy) != 1 || v.Busy[0].Who != "" || v.Free != nil {
			t.Errorf("of one person: %+v", v)
		}
	})
}

// TestSlotsWithBuffers: find_time keeps free time before and after a slot, and offers the times at which the fewest are
// busy if nobody can meet otherwise. The user is always free then.
func TestSlotsWithBuffers(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice", "bob")
		h.greenRoom(t)
		h.lend(t, "bob", "Bob's", calendar.ReadAccess, "DTSTART:20260303T100000Z", "DURATION:PT2H", "SUMMARY:Private")
		door := h.open(t, h.config())
		args := params{
			"duration_minutes": 30, "usernames": []string{"green"}, "date_range": "2026-03-03",
			"working_hours": "10:30-12:30", "limit": 1,
		}
		first := func() (string, slotsView, string) {
			t.Helper()
			var v slotsView
			text := contentText(t, use(t, door, "alice", "find_time", args, &v))
			if len(v.Slots) == 0 {
				t.Fatalf("no slot: %s", text)
			}
			return v.Slots[0].Start[11:16], v, text
		}
		if at, _, _ := first(); at != "11:00" {
			t.Errorf("without a buffer: %s", at)
		}
		args["buffer_minutes"] = 30
		if at, _, _ := first(); at != "11:30" {
			t.Errorf("with a buffer: %s", at)
		}
		// The room is taken until 11, bob from 11 to 13.
		args["usernames"], args["buffer_minutes"], args["working_hours"] = []string{"green", "bob"}, 0, "10:00-13:00"
		at, v, text := first()
		if v.Why != "busy" || at != "10:00" || !slices.Equal(v.Slots[0].Busy, []shown{`"green"`}) ||
			!strings.Contains(text, `10:00–10:30 (busy: "green")`) {
			t.Errorf("the least bad: %s %+v %s", at, v, text)
		}
		h.put(t, work, "mine", wrapped(calendar.Event, "mine", "DTSTART:20260303T090000Z", "DURATION:PT3H",
			"SUMMARY:Mine"))
		v = slotsView{}
		use(t, door, "alice", "find_time", args, &v)
		if len(v.Slots) != 0 {
			t.Errorf("without the user: %+v", v.Slots)
		}
		said := refusalOf(t, door, "alice", "find_time", `{"duration_minutes":30,"buffer_minutes":241}`)
		if !strings.Contains(said, "buffer_minutes") {
			t.Errorf("a long buffer: %s", said)
		}
	})
}

func summed(minutes, events int) sumOf {
	return sumOf{minutes, fmt.Sprintf("%d h %02d min", minutes/60, minutes%60), events}
}

// TestHoursAreSummed: sum_hours adds up by calendar and by word, within the range. Overlaps count once, and free and
// all-day events not at all.
func TestHoursAreSummed(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice", "bob")
		for uid, lines := range map[string][]string{
			"a": {"DTSTART:20260302T090000Z", "DURATION:PT1H30M", "SUMMARY:Project Zebra"},
			"b": {"DTSTART:20260302T100000Z", "DURATION:PT1H", "SUMMARY:Call"},
			"c": {"DTSTART:20260302T120000Z", "DURATION:PT1H", "SUMMARY:Zebra\\, free", "TRANSP:TRANSPARENT"},
			"d": {"DTSTART;VALUE=DATE:20260302", "SUMMARY:Fair"},
			"e": {"DTSTART:20260302T220000Z", "DURATION:PT4H", "SUMMARY:Night"},
		} {
			h.put(t, work, uid, wrapped(calendar.Event, uid, lines...))
		}
		h.lend(t, "bob", "Bob's", calendar.ReadAccess, "DTSTART:20260302T150000Z", "DURATION:PT45M", "SUMMARY:Zebra")
		door := h.open(t, h.config())
		var v sumView
		args := params{"date_range": "2026-03-02", "words": []string{"zebra", "none"}}
		text := contentText(t, use(t, door, "alice", "sum_hours", args, &v))
		// 09:00–11:00, 22:00–23:00 (midnight in Berlin) and 15:00–15:45.
		if v.Total != summed(225, 4) || v.AllDay != 1 || v.Free != 1 || len(v.Calendars) != 2 {
			t.Fatalf("%+v", v)
		}
		if v.Calendars[0].sumOf != summed(180, 3) || v.Calendars[1].sumOf != summed(45, 1) ||
			v.Calendars[0].Untrusted != "" || v.Calendars[1].Untrusted != "bob" {
			t.Errorf("by calendar: %+v", v.Calendars)
		}
		if v.Words[0].sumOf != summed(135, 2) || v.Words[1].sumOf != summed(0, 0) {
			t.Errorf("by word: %+v", v.Words)
		}
		for _, want := range []string{
			"3 h 45 min in 4 events (Mon 2026-03-02 00:00", `"Bob's"`, `untrusted text by "bob"`,
			`with "zebra": 2 h 15 min in 2 events`, "Not counted: 1 all-day event.",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s is not in %s", want, text)
			}
		}
		args["calendar_id"] = work
		use(t, door, "alice", "sum_hours", args, &v)
		if v.Total != summed(180, 3) || v.Words[0].sumOf != summed(90, 1) {
			t.Errorf("of one calendar: %+v", v)
		}
		said := refusalOf(t, door, "alice", "sum_hours", `{"date_range":"2020-01-01 to 2026-01-01"}`)
		if !strings.Contains(said, "366 days") {
			t.Errorf("a long time: %s", said)
		}
	})
}

// TestPromptArgumentsAreCompleted: people by name after those typed before, times in words, and meetings by title.
func TestPromptArgumentsAreCompleted(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.reachable(t, "alice", "bob")
	h.lend(t, "bob", "Bob's", calendar.ReadAccess, "DTSTART:20260303T100000Z", "SUMMARY:Board meeting")
	door := h.open(t, h.config())
	for _, c := range []struct{ token, prompt, name, typed, want string }{
		{"alice", "find_a_time", "with", "b", `"values":["bob"],"total":1`},
		{"alice", "find_a_time", "with", "carol, B", `"values":["carol, bob"]`},
		{"alice", "find_a_time", "with", "x", `"values":[]`},
		{"alice", "find_a_time", "minutes", "4", `"values":["45"]`},
		{"alice", "find_a_time", "when", "next w", `"values":["next week"]`},
		{"alice", "tidy_up", "when", "this", `"values":["this week","this month"]`},
		{"alice", "plan_my_week", "week", "n", `"values":["next week"]`},
		{"alice", "prepare_for_meeting", "meeting", "board", `"values":["Board meeting"]`},
		{"alice-bound", "find_a_time", "with", "b", `"values":[]`},
		{"alice-write", "prepare_for_meeting", "meeting", "board", `"values":[]`},
	} {
		got := ask(t, door, c.token, "completion/complete", fmt.Sprintf(`{"ref":{"type":"ref/prompt","name":%q},`+
			`"argument":{"name":%q,"value":%q}}`, c.prompt, c.name, c.typed), nil).body
		if !strings.Contains(strings.ReplaceAll(got, `"values":null`, `"values":[]`), c.want) {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestServerIntroducesItself: with as much as the version of the protocol has, and once.
func TestServerIntroducesItself(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	for version, has := range map[string][3]bool{
		"2025-03-26": {}, "2025-06-18": {true}, "2025-11-25": {true, true, true},
	} {
		body := ask(t, door, "alice", "initialize", fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{},"clientInfo":`+
			`{"name":"x","version":"1"}}`, version), nil).body
		for i, part := range []string{
			`"title":"Calendars"`, `"icons":[{"src":"data:image/svg+xml;base64,`,
			`"websiteUrl":"https://cal.example/dav"`,
		} {
			if strings.Contains(body, part) != has[i] {
				t.Errorf("%s: %s is %t: %s", version, part, !has[i], body)
			}
		}
	}
}
