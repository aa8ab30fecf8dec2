package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// TestOffsetsThatContradictTheZoneAreRefused: in every tool that takes times a Z, or another offset than the
// zone's, is refused with both readings; each of them is taken (mcp B3).
func TestOffsetsThatContradictTheZoneAreRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.put(t, work, "e", wrapped(calendar.Event, "e", "DTSTART:20260303T090000Z", "DURATION:PT1H", "SUMMARY:Review"))
	h.put(t, home, "t", wrapped(calendar.Todo, "t", "DUE:20260303T090000Z", "SUMMARY:Buy"))
	door := h.open(t, h.config())
	const ids = `"calendar_id":"` + string(work) + `","event_uid":"e",`
	for tool, args := range map[string]string{
		"create_event":  `"calendar_id":"` + string(work) + `","title":"X","start":"TIME","end":"2026-12-03T13:00:00"`,
		"update_event":  ids + `"title":"X","start":"TIME","end":"2026-12-03T13:00:00"`,
		"patch_event":   ids + `"start":"TIME"`,
		"move_event":    ids + `"new_start":"TIME"`,
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
		for _, wrong := range []string{"2026-12-03T11:00:00Z", "20261203T110000Z", "2026-12-03T11:00+02:00"} {
			said := refusalOf(t, door, "alice", tool, `{"timezone":"Europe/Berlin",`+strings.Replace(args, "TIME", wrong, 1)+`}`)
			that := map[bool]string{true: "2026-12-03T10:00:00+01:00", false: "2026-12-03T12:00:00+01:00"}[strings.Contains(wrong, "+02")]
			if !strings.Contains(said, "2026-12-03T11:00:00+01:00") || !strings.Contains(said, that) {
				t.Errorf("%s %s: %s", tool, wrong, said)
			}
		}
		for _, right := range []string{"2026-12-03T11:00:00+01:00", "2026-12-03T11:00"} {
			said := h.say(t, door, "alice", tool, json.RawMessage(`{"timezone":"Europe/Berlin",`+strings.Replace(args, "TIME", right, 1)+`}`))
			if strings.Contains(said, "contradict") {
				t.Errorf("%s %s: %s", tool, right, said)
			}
		}
	}
	said := h.say(t, door, "alice", "create_event", params{"calendar_id": work, "title": "Z", "start": "2026-12-03T11:00:00Z", "end": "2026-12-03T12:00:00Z"})
	if !strings.Contains(said, "20261203T110000Z") {
		t.Errorf("without a zone beside it: %s", said)
	}
}

// TestBareOffsetsAreNoZones: times given with a bare offset are right and are written in UTC; a series is not
// put on such a clock (mcp B9).
func TestBareOffsetsAreNoZones(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	args := map[string]any{"calendar_id": work, "title": "Call", "start": "2026-12-03T11:00", "end": "2026-12-03T12:00", "timezone": "+09:00"}
	var made struct{ UID string }
	use(t, door, "alice", "create_event", args, &made)
	o, err := h.service.ObjectByUID(t.Context(), nil, h.callers["alice"], h.work(t), calendar.UID(made.UID))
	if err != nil || !strings.Contains(string(o.Data), "DTSTART:20261203T020000Z") || strings.Contains(string(o.Data), "VTIMEZONE") {
		t.Errorf("%v, stored\n%s", err, o.Data)
	}
	for tool, args := range map[string]string{
		"create_event":    `"calendar_id":"` + string(work) + `","title":"X","start":"2026-12-03T11:00","end":"2026-12-03T12:00","rrule":"FREQ=DAILY"`,
		"patch_event":     `"calendar_id":"` + string(work) + `","event_uid":"` + made.UID + `","start":"2026-12-03T11:00","rrule":"FREQ=DAILY"`,
		"create_task":     `"calendar_id":"` + string(home) + `","title":"X","start":"2026-12-03T11:00","rrule":"FREQ=DAILY"`,
		"create_calendar": `"name":"X"`,
	} {
		if said := refusalOf(t, door, "alice", tool, `{"timezone":"UTC+9",`+args+`}`); !strings.Contains(said, "only an offset") {
			t.Errorf("%s: %s", tool, said)
		}
	}
}

// TestAbbreviationsAreAskedBack: the refusal of PST names the zone that is meant (mcp B9).
func TestAbbreviationsAreAskedBack(t *testing.T) {
	t.Parallel()
	door := newHouse(t, testdb.SQLite(t))
	for name, want := range map[string]string{"PST": "America/Los_Angeles", "EST": "America/New_York or America/Panama", "IST": "Asia/Kolkata or Europe/Dublin or Asia/Jerusalem"} {
		if said := refusalOf(t, door.open(t, door.config()), "alice", "list_events", `{"timezone":"`+name+`"}`); !strings.Contains(said, want) {
			t.Errorf("%s: %s", name, said)
		}
	}
}
