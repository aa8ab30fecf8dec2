package mcp

import (
	"fmt"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
)

// furnishBatch creates the objects for the changes of one call.
func (h *house) furnishBatch(t *testing.T) {
	t.Helper()
	h.put(t, work, "lunch", wrapped(calendar.Event, "lunch", "DTSTART:20260303T120000Z", "DURATION:PT1H",
		"SUMMARY:Lunch"))
	h.put(t, work, "board", wrapped(calendar.Event, "board", "DTSTART:20260304T090000Z", "DURATION:PT1H",
		"SUMMARY:Board"))
	h.put(t, home, "yoga", wrapped(calendar.Event, "yoga", "DTSTART:20260302T180000Z", "DURATION:PT1H", "SUMMARY:Yoga",
		"RRULE:FREQ=DAILY;COUNT=5"))
}

func changesOfBatch() []any {
	return []any{
		params{"tool": "move_event", "calendar_id": work, "event_uid": "lunch", "new_start": "2026-03-04T10:30"},
		params{
			"tool": "delete_event", "calendar_id": home, "event_uid": "yoga", "recurrence_id": "20260303T180000Z",
			"scope": "this",
		},
		params{
			"tool": "delete_event", "calendar_id": home, "event_uid": "yoga", "recurrence_id": "20260305T180000Z",
			"scope": "this",
		},
		params{"tool": "create_event", "calendar_id": "Work", "title": "Retro", "start": "2026-03-06T15:00"},
		params{"tool": "patch_event", "calendar_id": work, "event_uid": "lunch", "title": "Long lunch"},
	}
}

// TestManyChangesAreOne: they are seen before they are made, made together, seen by each other, and taken back
// together. It is mcp C7.
func TestManyChangesAreOne(t *testing.T) {
	t.Parallel()
	eachHouse(t, func(t *testing.T, h *house, door string) {
		h.furnishBatch(t)
		before := h.history(t)
		var v manyView
		text := contentText(t, use(t, door, "alice", "change_many", params{
			"changes": changesOfBatch(),
			"preview": true,
		}, &v))
		for _, half := range []string{text, fmt.Sprint(v)} {
			for _, word := range []string{"Lunch", "Long lunch", "13:00", "10:30", "Board", "Yoga", "Retro"} {
				if !strings.Contains(half, word) {
					t.Errorf("the preview does not say %s: %s", word, half)
				}
			}
		}
		if n := len(h.history(t)) - len(before); n != 0 {
			t.Errorf("the preview made %d changes", n)
		}
		use(t, door, "alice", "change_many", params{"changes": changesOfBatch(), "idempotency_key": "k"}, &v)
		use(t, door, "alice", "change_many", params{"changes": changesOfBatch(), "idempotency_key": "k"}, &v)
		if n := len(h.history(t)) - len(before); n != 3 {
			t.Errorf("%d objects were changed, not 3", n)
		}
		h.expectText(t, work, "lunch", "DTSTART:20260304T093000Z", "SUMMARY:Long lunch")
		h.expectText(t, home, "yoga", "EXDATE:20260303T180000Z", "EXDATE:20260305T180000Z")
		var got fullView
		use(t, door, "alice", "get_event", params{"calendar_id": work, "event_uid": "lunch"}, &got)
		if v.Changes[4].ETag != got.ETag {
			t.Errorf("the etag is %s, it was said %s", got.ETag, v.Changes[4].ETag)
		}
		var undone undoView
		use(t, door, "alice", "undo_change", params{"change_id": h.history(t)[0].ID().String()}, &undone)
		h.expectText(t, work, "lunch", "DTSTART:20260303T120000Z", "SUMMARY:Lunch")
		if len(undone.Undone) != 3 {
			t.Errorf("taken back were %+v", undone.Undone)
		}
	})
}

// TestOneOfManyRefused: if one change fails, none is made, for any reason; scopes are checked for each.
func TestOneOfManyRefused(t *testing.T) {
	t.Parallel()
	eachHouse(t, func(t *testing.T, h *house, door string) {
		h.furnishBatch(t)
		h.lend(t, "bob", "Bob's", calendar.ReadAccess, "DTSTART:20260302T080000Z")
		before := len(h.history(t))
		first := fmt.Sprintf(`{"tool":"patch_event","calendar_id":%q,"event_uid":"lunch","title":"X"}`, work)
		for second, want := range map[string]string{
			fmt.Sprintf(`{"tool":"patch_event","calendar_id":%q,"event_uid":"none","title":"X"}`,
				work): "change 2 (patch_event): no event",
			fmt.Sprintf(`{"tool":"patch_event","calendar_id":%q,"event_uid":"lunch","title":"Y","if_match":"other"}`,
				work): "change 2",
			fmt.Sprintf(`{"tool":"delete_calendar","calendar_id":%q}`,
				work): "must be one of",
			fmt.Sprintf(`{"tool":"move_event","calendar_id":%q,"event_uid":"lunch","to_calendar_id":%q}`, work,
				home): "is not allowed in a list of changes",
			fmt.Sprintf(`{"tool":"create_event","calendar_id":%q,"title":"X"}`,
				work): `\"start\" is missing`,
			`{"tool":"create_event","calendar_id":"Bob's (bob)","title":"X","start":"2026-03-05"}`: "change 2",
			fmt.Sprintf(`{"tool":"delete_event","calendar_id":%q,"event_uid":"yoga"}`, home):       "is a series",
			`{"title":"X"}`: `change 2: \"tool\" is missing`,
			`{}`:            `change 2: \"tool\" is missing`,
			`7`:             "must be a list of objects",
		} {
			said := refusalOf(t, door, "alice", "change_many", `{"changes":[`+first+`,`+second+`]}`)
			if !strings.Contains(said, want) {
				t.Errorf("%s: %s, want %s", second, said, want)
			}
		}
		if n := len(h.history(t)); n != before {
			t.Errorf("%d changes were made", n-before)
		}
		many := strings.Repeat(first+",", mostTogether) + first
		if said := refusalOf(t, door, "alice", "change_many", `{"changes":[`+many+`]}`); !strings.Contains(said,
			"it may have 50") {
			t.Errorf("51 changes: %s", said)
		}
	})
}

// TestManyChangesAskForEachScope: a token that may not delete does not by way of others, and one for certain tools uses
// no other.
func TestManyChangesAskForEachScope(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	h.furnishBatch(t)
	bound := h.callers["alice"]
	bound.Scopes &^= calendar.ScopeDelete
	h.callers["alice-writes"] = bound
	chosen := h.callers["alice"]
	chosen.Tools = []calendar.ToolName{"change_many", "patch_event"}
	h.callers["alice-chosen"] = chosen
	gone := fmt.Sprintf(`{"changes":[{"tool":"delete_event","calendar_id":%q,"event_uid":"lunch"}]}`, work)
	if said := refusalOf(t, door, "alice-writes", "change_many", gone); !strings.Contains(said, `lacks \"delete\"`) {
		t.Errorf("without the scope: %s", said)
	}
	if said := refusalOf(t, door, "alice-chosen", "change_many", gone); !strings.Contains(said,
		"may only use certain tools") {
		t.Errorf("without the tool: %s", said)
	}
}

// TestManyChangesAreBounded: a batch that needs more memory than a request may use is refused, and nothing changes.
func TestManyChangesAreBounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	long := "DESCRIPTION:" + strings.Repeat(strings.Repeat("x", 70)+"\n ", 400) + "end"
	var changes []any
	for i := range 20 {
		uid := fmt.Sprintf("large%d", i)
		h.put(t, work, uid, wrapped(calendar.Event, uid, "DTSTART:20260302T080000Z", "SUMMARY:Fair", long))
		changes = append(changes, params{
			"tool": "patch_event", "calendar_id": work, "event_uid": uid,
			"title": "Market",
		})
	}
	small := calendar.DefaultLimits()
	small.Cost = meter.Limits{Held: 600 << 10}
	h.service = service.New(service.Config{Store: h.Store, Limits: small, Now: h.Now, NewID: h.NewID})
	before := len(h.history(t))
	args, err := wire.EncodeJSON(params{"changes": changes})
	if err != nil {
		t.Fatal(err)
	}
	if said := refusalOf(t, h.open(t, h.config()), "alice", "change_many", string(args)); !strings.Contains(said,
		"more memory than one request may have") {
		t.Errorf("it is not refused: %.300s", said)
	}
	if n := len(h.history(t)); n != before {
		t.Errorf("%d changes were made", n-before)
	}
}
