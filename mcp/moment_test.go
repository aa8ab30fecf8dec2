package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// TestTheMomentCountsBesideAZone (mcp B3): in every tool that takes times a Z, or another offset than the zone's, is
// that moment, which is written on the clock of the zone.
func TestTheMomentCountsBesideAZone(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.put(t, work, "e", wrapped(calendar.Event, "e", "DTSTART:20260303T090000Z", "DURATION:PT1H", "SUMMARY:Review"))
	h.put(t, work, "daily", wrapped(calendar.Event, "daily", "DTSTART:20261201T090000Z", "DURATION:PT1H",
		"RRULE:FREQ=DAILY;COUNT=5", "SUMMARY:Daily"))
	h.put(t, home, "t", wrapped(calendar.Todo, "t", "DUE:20260303T090000Z", "SUMMARY:Buy"))
	door := h.open(t, h.config())
	const ids = `"calendar_id":"` + string(work) + `","event_uid":"e",`
	for tool, args := range map[string]string{
		"create_event": `"calendar_id":"` + string(work) + `","title":"X","start":"TIME","end":"2026-12-03T13:30:00"`,
		"update_event": ids + `"title":"X","start":"TIME","end":"2026-12-03T13:30:00"`,
		"patch_event":  ids + `"start":"TIME"`,
		"move_event": `"calendar_id":"` + string(work) +
			`","event_uid":"daily","recurrence_id":"20261203T090000Z","scope":"this","new_start":"TIME"`,
		"query_events":  `"calendar_id":"` + string(work) + `","start":"TIME"`,
		"list_events":   `"start":"TIME"`,
		"get_free_busy": `"start_time":"TIME","end_time":"2026-12-04"`,
		"find_time":     `"start":"TIME","duration_minutes":30`,
		"create_task":   `"calendar_id":"` + string(home) + `","title":"X","due":"TIME"`,
		"update_task":   `"calendar_id":"` + string(home) + `","task_uid":"t","due":"TIME"`,
		"list_tasks":    `"due_before":"TIME"`,
		"list_changes":  `"since":"TIME"`,
		"undo_change":   `"preview":true,"since":"TIME"`,
	} {
		for _, at := range []string{
			"2026-12-03T11:00:00Z", "20261203T110000Z", "2026-12-03T16:00+05:00",
			"2026-12-03T12:00:00+01:00", "2026-12-03T12:00",
		} {
			said := h.say(t, door, "alice", tool, json.RawMessage(`{"timezone":"Europe/Berlin",`+strings.Replace(args,
				"TIME", at, 1)+`}`))
			if strings.Contains(said, "contradict") {
				t.Errorf("%s %s: %s", tool, at, said)
			}
		}
	}
	for _, uid := range []calendar.UID{"e", "daily"} {
		h.expectText(t, work, uid, "DTSTART:20261203T110000Z")
	}
	var made struct{ UID calendar.UID }
	for at, want := range map[string]string{
		"2026-12-03T11:00:00Z":      "DTSTART;TZID=Europe/Berlin:20261203T120000",
		"2026-07-03T11:00:00-04:00": "DTSTART;TZID=Europe/Berlin:20260703T170000",
		// the clocks show 02:30 twice, and iCalendar can only write the first
		"2026-10-25T01:30:00Z": "DTSTART:20261025T013000Z",
	} {
		use(t, door, "alice", "create_event", params{
			"calendar_id": work, "title": "X", "start": at,
			"duration_minutes": 30, "timezone": "Europe/Berlin",
		}, &made)
		h.expectText(t, work, made.UID, want)
	}
	said := h.say(t, door, "alice", "create_event", params{
		"calendar_id": work, "title": "Z",
		"start": "2026-12-03T11:00:00Z", "end": "2026-12-03T12:00:00Z",
	})
	if !strings.Contains(said, "20261203T110000Z") {
		t.Errorf("without a zone beside it: %s", said)
	}
}

// TestASeriesNeedsItsTimeOfDay: for a series, an offset that differs from the zone's is refused with both
// interpretations, and each of them is accepted (mcp B3).
func TestASeriesNeedsItsTimeOfDay(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.put(t, work, "e", wrapped(calendar.Event, "e", "DTSTART:20261203T080000Z", "DURATION:PT1H", "SUMMARY:Review"))
	h.put(t, work, "s", wrapped(calendar.Event, "s", "DTSTART:20261203T080000Z", "DURATION:PT1H", "RRULE:FREQ=DAILY",
		"SUMMARY:Daily"))
	h.put(t, home, "t", wrapped(calendar.Todo, "t", "DTSTART:20261203T080000Z", "SUMMARY:Buy"))
	door := h.open(t, h.config())
	const in, task, all = `"calendar_id":"` + string(work) + `",`, `"calendar_id":"` + string(home) + `",`,
		`"event_uid":"s","recurrence_id":"20261203T080000Z","scope":"all",`
	for _, c := range []struct{ tool, args string }{
		{"create_event", in + `"title":"X","start":"TIME","rrule":"FREQ=DAILY"`},
		{"create_event", in + `"title":"X","start":"TIME","rdate":["2026-12-05"]`},
		{"create_event", in + `"title":"X","start":"2026-12-03T10:00","end":"TIME","end_timezone":"Europe/Berlin",` +
			`"rrule":"FREQ=DAILY"`},
		{"patch_event", in + `"event_uid":"e","start":"TIME","rrule":"FREQ=DAILY"`},
		{"update_event", in + all + `"title":"X","start":"TIME","end":"2026-12-03T13:00:00"`},
		{"move_event", in + strings.Replace(all, "all", "following", 1) + `"new_start":"TIME"`},
		{"create_task", task + `"title":"X","start":"TIME","rrule":"FREQ=DAILY"`},
		{"update_task", task + `"task_uid":"t","start":"TIME","rrule":"FREQ=DAILY"`},
	} {
		for wrong, that := range map[string]string{
			"2026-12-03T11:00:00Z":   "2026-12-03T12:00:00+01:00",
			"2026-12-03T11:00+02:00": "2026-12-03T10:00:00+01:00",
		} {
			said := refusalOf(t, door, "alice", c.tool, `{"timezone":"Europe/Berlin",`+strings.Replace(c.args, "TIME",
				wrong, 1)+`}`)
			if !strings.Contains(said, "2026-12-03T11:00:00+01:00") || !strings.Contains(said, that) {
				t.Errorf("%s %s: %s", c.tool, wrong, said)
			}
		}
	}
	// If the clocks skip the given time, both interpretations are one moment (Casablanca skips 02:00 to 03:00).
	for _, at := range []string{"2026-12-03T11:00:00+01:00", "2027-03-14T02:00:00Z"} {
		zone := map[bool]string{true: "Europe/Berlin", false: "Africa/Casablanca"}[strings.HasSuffix(at, "+01:00")]
		use(t, door, "alice", "create_event", params{
			"calendar_id": work, "title": "X", "start": at,
			"rrule": "FREQ=DAILY;COUNT=2", "timezone": zone,
		}, new(any))
	}
}

// TestBareOffsetsAreNoZones: times given with a bare offset are right and are written in UTC; a series is not
// put on such a clock (mcp B9).
func TestBareOffsetsAreNoZones(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	args := map[string]any{
		"calendar_id": work, "title": "Call", "start": "2026-12-03T11:00", "end": "2026-12-03T12:00",
		"timezone": "+09:00",
	}
	var made struct{ UID string }
	use(t, door, "alice", "create_event", args, &made)
	o, err := h.service.ObjectByUID(t.Context(), nil, h.callers["alice"], h.work(t), calendar.UID(made.UID))
	if err != nil || !strings.Contains(string(o.Data), "DTSTART:20261203T020000Z") || strings.Contains(string(o.Data),
		"VTIMEZONE") {
		t.Errorf("%v, stored\n%s", err, o.Data)
	}
	for tool, args := range map[string]string{
		"create_event": `"calendar_id":"` + string(work) +
			`","title":"X","start":"2026-12-03T11:00","end":"2026-12-03T12:00","rrule":"FREQ=DAILY"`,
		"patch_event": `"calendar_id":"` + string(work) + `","event_uid":"` + made.UID +
			`","start":"2026-12-03T11:00","rrule":"FREQ=DAILY"`,
		"create_task": `"calendar_id":"` + string(home) +
			`","title":"X","start":"2026-12-03T11:00","rrule":"FREQ=DAILY"`,
		"create_calendar": `"name":"X"`,
	} {
		if said := refusalOf(t, door, "alice", tool, `{"timezone":"UTC+9",`+args+`}`); !strings.Contains(said,
			"only an offset") {
			t.Errorf("%s: %s", tool, said)
		}
	}
}

// TestAbbreviationsAreAskedBack: the refusal of PST names the zone that is meant (mcp B9).
func TestAbbreviationsAreAskedBack(t *testing.T) {
	t.Parallel()
	door := newHouse(t, testdb.SQLite(t))
	for name, want := range map[string]string{
		"PST": "America/Los_Angeles", "EST": "America/New_York or America/Panama",
		"IST": "Asia/Kolkata or Europe/Dublin or Asia/Jerusalem",
	} {
		if said := refusalOf(t, door.open(t, door.config()), "alice", "list_events", `{"timezone":"`+name+
			`"}`); !strings.Contains(said, want) {
			t.Errorf("%s: %s", name, said)
		}
	}
}
