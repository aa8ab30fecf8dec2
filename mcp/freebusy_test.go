package mcp

import (
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store/storetest"
)

// TestTimeOfOthers: a user who shares only busy times can be named, and counts when a time is searched; their events
// stay private.
func TestTimeOfOthers(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		const plans = "00000000-0000-4000-8000-000000000004"
		if err := storetest.Share(t.Context(), h.Store, plans, "alice-id", calendar.FreeBusyAccess); err != nil {
			t.Fatal(err)
		}
		door := h.open(t, h.config())
		var made any
		use(t, door, "bob", "create_event", map[string]any{
			"calendar_id": plans, "title": "Coup",
			"start": "2026-03-02T08:00:00Z", "end": "2026-03-02T10:00:00Z",
		}, &made)
		use(t, door, "alice", "create_event", map[string]any{
			"calendar_id": work, "title": "Mine",
			"start": "2026-03-02T10:00:00Z", "end": "2026-03-02T11:00:00Z",
		}, &made)

		var busy busyView
		day := map[string]any{"start_time": "2026-03-02", "end_time": "2026-03-02", "usernames": []string{"Bob"}}
		said := use(t, door, "alice", "get_free_busy", day, &busy)
		if len(busy.Busy) != 1 || busy.Busy[0].Start != "2026-03-02T09:00:00+01:00" ||
			busy.Busy[0].End != "2026-03-02T11:00:00+01:00" {
			t.Errorf("bob is busy at %+v", busy.Busy)
		}
		day["calendar_ids"] = []string{plans, string(work)}
		use(t, door, "alice", "get_free_busy", day, &busy)
		if len(busy.Busy) != 3 || busy.Busy[0].Who != `"Bob"` || busy.Busy[2].Who != `"Work"` ||
			busy.Busy[2].End != "2026-03-02T12:00:00+01:00" {
			t.Errorf("they are busy at %+v", busy.Busy)
		}
		for _, c := range []struct {
			args  map[string]any
			first string
		}{
			{map[string]any{"usernames": []string{"bob"}}, "2026-03-02T12:00:00+01:00"},
			{map[string]any{"usernames": []string{"bob"}, "without_me": true}, "2026-03-02T11:00:00+01:00"},
			{map[string]any{}, "2026-03-02T09:00:00+01:00"},
		} {
			c.args["duration_minutes"], c.args["date_range"] = 60, "tomorrow"
			var slots slotsView
			said += use(t, door, "alice", "find_time", c.args, &slots)
			if len(slots.Slots) == 0 || slots.Slots[0].Start != c.first {
				t.Errorf("%v: %+v, want first %s", c.args, slots.Slots, c.first)
			}
		}
		var list listView
		said += use(t, door, "alice", "list_events", map[string]any{"date_range": "tomorrow"}, &list)
		said += use(t, door, "alice", "search_events", map[string]any{"query": "coup"}, &list)
		said += use(t, door, "alice", "search", map[string]any{"query": "plans coup"}, &list)
		if strings.Contains(said, "Coup") {
			t.Errorf("what bob does is told: %s", said)
		}
	})
}

// TestCalendarOfBusyTimes: a user with free/busy access learns neither a calendar's description nor that it changed.
func TestCalendarOfBusyTimes(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	var made, seen calendarView
	use(t, door, "bob", "create_calendar", map[string]any{"name": "Mondays", "description": "Therapy"}, &made)
	for access, told := range map[calendar.Access]bool{calendar.FreeBusyAccess: false, calendar.ReadAccess: true} {
		if err := storetest.Share(t.Context(), h.Store, made.ID, "alice-id", access); err != nil {
			t.Fatal(err)
		}
		seen = calendarView{}
		said := use(t, door, "alice", "get_calendar", map[string]any{"calendar_id": made.ID}, &seen)
		said += use(t, door, "alice", "list_shared_calendars", map[string]any{}, new(any))
		if got := seen.CTag != ""; got != told {
			t.Errorf("%s: the ctag is %q", permissions[access], seen.CTag)
		}
		if got := strings.Contains(said, "Therapy"); got != told {
			t.Errorf("%s: %s", permissions[access], said)
		}
	}
}

// TestBusyTimesInTheZoneOfCalendars: a user without a time zone gets results in the zone of their calendars, which
// their all-day events are in, as from list_events (time F5).
func TestBusyTimesInTheZoneOfCalendars(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	var made any
	var home calendarView
	use(t, door, "bob", "create_calendar", map[string]any{"name": "New York", "timezone": "America/New_York"}, &home)
	use(t, door, "bob", "create_event", map[string]any{
		"calendar_id": home.ID, "title": "Off", "start": "2026-03-02",
		"end": "2026-03-02",
	}, &made)
	day := map[string]any{"start_time": "2026-03-01", "end_time": "2026-03-03"}
	for _, c := range []struct {
		calendars []string
		want      string
	}{
		{[]string{string(home.ID)}, "2026-03-02T00:00:00-05:00"},
		// His calendars are in two zones, so that the answer is in none of them; the day is where it is.
		{nil, "2026-03-02T05:00:00Z"},
	} {
		day["calendar_ids"] = c.calendars
		var busy busyView
		use(t, door, "bob", "get_free_busy", day, &busy)
		if len(busy.Busy) != 1 || busy.Busy[0].Start != c.want {
			t.Errorf("%v: busy at %+v in %s, want from %s", c.calendars, busy.Busy, busy.Timezone, c.want)
		}
	}
}

// TestNotAllIsKnownOfBusyTimes: a user with a series that cannot be expanded is never called free.
func TestNotAllIsKnownOfBusyTimes(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	h.put(t, work, "chinese", wrapped(calendar.Event, "chinese", "DTSTART:20260302T090000Z", "DURATION:PT1H",
		"RRULE:RSCALE=CHINESE;FREQ=YEARLY"))
	var busy busyView
	said := use(t, door, "alice", "get_free_busy", map[string]any{
		"start_time": "2026-03-02",
		"end_time":   "2026-03-03",
	}, &busy)
	if busy.Unread != 1 || strings.Contains(said, "Free all the time") ||
		!strings.Contains(said, "1 event could not be") {
		t.Errorf("%d are unread, and it is said: %s", busy.Unread, said)
	}
	var slots slotsView
	said = use(t, door, "alice", "find_time", map[string]any{"duration_minutes": 60, "date_range": "tomorrow"}, &slots)
	if slots.Unread != 1 || !strings.Contains(said, "1 event could not be") {
		t.Errorf("%d are unread, and it is said: %s", slots.Unread, said)
	}
}

// TestOutlooksDaysAreDays: what Outlook marks as all-day and puts at midnight is listed as whole days, and its text
// stays.
func TestOutlooksDaysAreDays(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	h.put(t, work, "fair", wrapped(calendar.Event, "fair", "DTSTART;TZID=Europe/Berlin:20260303T000000",
		"DTEND;TZID=Europe/Berlin:20260305T000000",
		"SUMMARY:Fair", "X-MICROSOFT-CDO-ALLDAYEVENT:TRUE", "X-MICROSOFT-CDO-BUSYSTATUS:OOF"))
	var list listView
	use(t, door, "alice", "list_events", params{"start": "2026-03-02", "end": "2026-03-08"}, &list)
	if len(list.Events) != 1 || !list.Events[0].AllDay || list.Events[0].Start != "2026-03-03" ||
		list.Events[0].End != "2026-03-04" {
		t.Errorf("listed as %+v", list.Events)
	}
	said := h.say(t, door, "alice", "get_event", params{"calendar_id": work, "event_uid": "fair"})
	if !strings.Contains(said, `\"all_day\":true`) ||
		!strings.Contains(said, "DTSTART;TZID=Europe/Berlin:20260303T000000") {
		t.Errorf("get_event: %s", said)
	}
	var busy busyView
	use(t, door, "alice", "get_free_busy", params{"start_time": "2026-03-02", "end_time": "2026-03-08"}, &busy)
	if len(busy.Busy) != 1 || busy.Busy[0].Type != "unavailable" || busy.Busy[0].Start != "2026-03-03T00:00:00+01:00" ||
		busy.Busy[0].End != "2026-03-05T00:00:00+01:00" {
		t.Errorf("busy at %+v", busy.Busy)
	}
}
