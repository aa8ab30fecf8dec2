package mcp

import (
	"slices"
	"strings"
	"testing"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/slot"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
)

// TestFindTimeSaysWhyNothingIsFree: text and structured content give the reason (mcp B6).
func TestFindTimeSaysWhyNothingIsFree(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.put(t, work, "full", wrapped(calendar.Event, "full", "DTSTART:20260303T000000Z", "DURATION:P1D", "SUMMARY:Fair"))
	door := h.open(t, h.config())
	for name, c := range map[string]struct {
		args params
		why  slot.Why
		said []string
	}{
		"a weekend": {
			params{"duration_minutes": 30, "date_range": "2026-03-07 to 2026-03-08"},
			slot.Days,
			[]string{"mon, tue, wed, thu, fri", "Give other days"},
		},
		"an evening": {
			params{"duration_minutes": 30, "start": "2026-03-03T18:00", "end": "2026-03-03T22:00"},
			slot.Opening,
			[]string{"09:00-17:00", "working_hours"},
		},
		"a full day": {
			params{"duration_minutes": 30, "date_range": "2026-03-03"},
			slot.Busy,
			[]string{"busy", `"Work" of alice`},
		},
	} {
		var v slotsView
		text := contentText(t, use(t, door, "alice", "find_time", c.args, &v))
		if v.Why != c.why || len(v.Days) != 5 || len(v.Slots) != 0 || (v.Calendars != nil) != (c.why == slot.Busy) {
			t.Errorf("%s: %+v", name, v)
		}
		for _, word := range c.said {
			if !strings.Contains(text, word) {
				t.Errorf("%s: %q is not in: %s", name, word, text)
			}
		}
	}
}

// TestFindTimeKnowsTheWeek: hours and days are the user's own unless a call says others, and so is where a week begins.
func TestFindTimeKnowsTheWeek(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	carla := h.callers["alice"]
	carla.User.WorkingHours, carla.User.WorkingDays, carla.User.WeekStart = "12:00-14:00", "sun mon", "sun"
	h.callers["carla"] = carla
	door := h.open(t, h.config())
	for _, c := range []struct {
		args        params
		hours, days string
		first       string
	}{
		{
			params{"duration_minutes": 60, "date_range": "next week"},
			"12:00-14:00", "mon sun",
			"2026-03-08T12:00:00+01:00",
		},
		{params{
			"duration_minutes": 60, "date_range": "next week", "days": []string{"tue"},
			"working_hours": "08:00-10:00",
		}, "08:00-10:00", "tue", "2026-03-10T08:00:00+01:00"},
	} {
		var v slotsView
		use(t, door, "carla", "find_time", c.args, &v)
		if v.Hours != c.hours || strings.Join(v.Days, " ") != c.days || len(v.Slots) == 0 ||
			v.Slots[0].Start != c.first {
			t.Errorf("%v: %+v", c.args, v)
		}
	}
}

// TestFindTimeKnowsRooms: by name and by address; a call with an unknown name gets the list of rooms.
func TestFindTimeKnowsRooms(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	room := calendar.User{
		ID: "blue-id", Name: "blue", Email: "blue@example.com", Created: noon,
		Room: calendar.Room{Kind: calendar.RoomToMeet, Capacity: 8},
	}
	h.Admit(t, room)
	h.callers["blue"] = calendar.Caller{User: room, Scopes: calendar.ScopeAll}
	cal, err := h.service.CreateCalendar(t.Context(), h.callers["blue"], calendar.NewCalendar{Segment: "bookings"})
	if err != nil {
		t.Fatal(err)
	}
	taken := wrapped(calendar.Event, "taken", "DTSTART:20260303T080000Z", "DTEND:20260303T150000Z", "SUMMARY:Secret")
	if _, err := h.service.Put(t.Context(), h.callers["blue"], cal, calendar.Draft{
		Name: "taken.ics",
		Data: []byte(taken),
	}); err != nil {
		t.Fatal(err)
	}
	door := h.open(t, h.config())
	for _, name := range []string{"blue", "Blue@example.com"} {
		var v slotsView
		text := contentText(t, use(t, door, "alice", "find_time", params{
			"duration_minutes": 30,
			"date_range":       "2026-03-03", "usernames": []string{name},
		}, &v))
		if len(v.Slots) != 2 || v.Slots[0].Start != "2026-03-03T16:00:00+01:00" || strings.Contains(text, "Secret") {
			t.Errorf("%s: %+v\n%s", name, v, text)
		}
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_time",` +
		`"arguments":{"duration_minutes":30,"usernames":["green"]}}}`
	text := contentText(t, do(t, request(t, "POST", door, "alice", body, wire.VersionHeader, "2025-11-25")).body)
	if !strings.Contains(text, `rooms and resources: "blue" <blue@example.com> for 8`) {
		t.Error(text)
	}
}

// TestFindTimeKnowsTheHoursOfOthers: people whom the user knows have their own hours and time zone, each slot shows
// their time, and if nothing is left, the slots that exceed their hours least are offered.
func TestFindTimeKnowsTheHoursOfOthers(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	zone, hours, name := "America/New_York", "09:00-17:00", "Bob Ray"
	edit := auth.UserEdit{Timezone: &zone, WorkingHours: &hours, DisplayName: &name}
	if err := h.Store.ChangeUser(t.Context(), "bob-id", edit); err != nil {
		t.Fatal(err)
	}
	door := h.open(t, h.config())
	ask := func(args params) (v slotsView, text string) {
		args["duration_minutes"], args["usernames"], args["limit"] = 45, []string{"bob"}, 1
		text = contentText(t, use(t, door, "alice", "find_time", args, &v))
		return v, text
	}
	stranger, text := ask(params{"date_range": "next week"})
	if stranger.Slots[0].Start != "2026-03-02T09:00:00+01:00" || strings.Contains(text, zone) {
		t.Errorf("a stranger's hours: %s", text)
	}
	h.lend(t, "bob", "Bob's", calendar.ReadAccess, "DTSTART:20260302T080000Z")
	v, text := ask(params{"date_range": "next week"})
	if v.Slots[0].Start != "2026-03-02T15:00:00+01:00" || v.Why != "" || v.Slots[0].Outside != nil ||
		!slices.Equal(v.Slots[0].Elsewhere, []shown{"Bob Ray Mon 09:00–09:45 America/New_York"}) ||
		!slices.Equal(v.Theirs, []shown{"Bob Ray 09:00-17:00 America/New_York (mon tue wed thu fri)"}) ||
		!strings.Contains(text, "15:00–15:45 (Bob Ray Mon 09:00–09:45 America/New_York)") {
		t.Errorf("Bob's hours: %s", text)
	}
	v, text = ask(params{
		"date_range": "next week", "hours_elsewhere": []string{"Bob Ray 10:00-11:00 America/New_York"},
	})
	if v.Slots[0].Start != "2026-03-02T16:15:00+01:00" {
		t.Errorf("other hours for Bob: %s", text)
	}
	v, text = ask(params{"date_range": "next week", "working_hours": "09:00-14:00"})
	if v.Slots[0].Start != "2026-03-02T13:15:00+01:00" || v.Why != slot.Elsewhere ||
		!slices.Equal(v.Slots[0].Outside, []shown{"Bob Ray"}) ||
		!strings.Contains(text, "13:15–14:00 (Bob Ray Mon 07:15–08:00 America/New_York) "+
			"(outside the working hours of Bob Ray)") {
		t.Errorf("no common hours: %+v %s", v, text)
	}
}
