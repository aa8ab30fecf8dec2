package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
)

// say calls a tool at 2025-03-26 and returns the whole answer.
func (h *house) say(t *testing.T, door, token, tool string, args any) string {
	t.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`,
		tool, data)
	return strings.TrimSpace(do(t, request(t, "POST", door, token, body, wire.VersionHeader, "2025-03-26")).body)
}

func (h *house) count(t *testing.T, id calendar.CalendarID) int {
	t.Helper()
	cal, err := h.service.Calendar(t.Context(), h.callers["alice"], id)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range h.service.Objects(t.Context(), nil, h.callers["alice"], cal, calendar.ObjectQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

func standup(more ...string) map[string]any {
	args := map[string]any{
		"calendar_id": work, "title": "Standup", "start": "2026-03-02T09:00",
		"end": "2026-03-02T09:15", "idempotency_key": "k",
	}
	for i := 0; i < len(more); i += 2 {
		args[more[i]] = more[i+1]
	}
	return args
}

func TestRepeatedCalls(t *testing.T) {
	t.Parallel()
	eachHouse(t, func(t *testing.T, h *house, door string) {
		first := h.say(t, door, "alice", "create_event", standup())
		again := h.say(t, h.open(t, h.config()), "alice", "create_event", standup())
		if first != again || !strings.Contains(first, `"result"`) {
			t.Errorf("first %s\nagain %s", first, again)
		}
		if other := h.say(t, door, "alice", "create_event", standup("title", "Other")); !strings.Contains(other,
			"was used for another call") {
			t.Errorf("another call with the key: %s", other)
		}
		if n := h.count(t, work); n != 1 {
			t.Errorf("there are %d events", n)
		}
		for _, token := range []string{"alice-other", "alice-write"} {
			if other := h.say(t, door, token, "create_event", standup()); other == first ||
				!strings.Contains(other, `"result"`) {
				t.Errorf("with another token: %s", other)
			}
		}
		h.Pass(25 * time.Hour)
		if late := h.say(t, door, "alice", "create_event", standup()); late == first ||
			!strings.Contains(late, `"result"`) {
			t.Errorf("a day later: %s", late)
		}
	})
}

// TestRefusedCallsCanBeMended: a refusal does not use a key up.
func TestRefusedCallsCanBeMended(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	if refused := h.say(t, door, "alice", "create_event", standup("calendar_id", "none")); !strings.Contains(refused,
		"no calendar") {
		t.Errorf("refused: %s", refused)
	}
	if mended := h.say(t, door, "alice", "create_event", standup()); !strings.Contains(mended, `"result"`) {
		t.Errorf("mended: %s", mended)
	}
}

// TestRepeatedChanges: a repeated call does not undo changes made in between.
func TestRepeatedChanges(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.stock(t)
	door := h.open(t, h.config())
	move := map[string]any{
		"calendar_id": home, "event_uid": "party", "new_start": "2026-03-07T20:00",
		"idempotency_key": "k",
	}
	first := h.say(t, door, "alice", "move_event", move)
	h.say(t, door, "alice", "move_event", map[string]any{
		"calendar_id": home, "event_uid": "party",
		"new_start": "2026-03-08T20:00",
	})
	if again := h.say(t, door, "alice", "move_event", move); again != first {
		t.Errorf("first %s\nagain %s", first, again)
	}
	if now := h.say(t, door, "alice", "get_event", map[string]any{
		"calendar_id": home,
		"event_uid":   "party",
	}); !strings.Contains(now, `20260308T190000Z`) {
		t.Errorf("the event was moved back: %s", now)
	}
	gone := map[string]any{"calendar_id": home, "event_uid": "party", "idempotency_key": "k2"}
	first = h.say(t, door, "alice", "delete_event", gone)
	if again := h.say(t, door, "alice", "delete_event", gone); again != first ||
		!strings.Contains(first, `deleted\":true`) {
		t.Errorf("first %s\nagain %s", first, again)
	}
}

// TestRepeatedUndo: an undo is a change too, and repeating it does not undo later changes.
func TestRepeatedUndo(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.stock(t)
	h.discard(t)
	door := h.open(t, h.config())
	for _, call := range []struct {
		tool string
		args map[string]any
	}{
		{"restore_event", map[string]any{"calendar_id": home, "event_uid": "gone", "idempotency_key": "r"}},
		{"undo_change", map[string]any{"since": "2026-03-01T11:00:00Z", "token": "own", "idempotency_key": "u"}},
	} {
		first := h.say(t, door, "alice", call.tool, call.args)
		if again := h.say(t, door, "alice", call.tool, call.args); again != first ||
			!strings.Contains(first, `"result"`) {
			t.Errorf("%s: first %s\nagain %s", call.tool, first, again)
		}
		delete(call.args, "idempotency_key")
		if anew := h.say(t, door, "alice", call.tool, call.args); anew == first {
			t.Errorf("%s without the key is answered alike: %s", call.tool, anew)
		}
	}
}

// TestRepeatedCalendars: a calendar is made once, also when the first call was cut off.
func TestRepeatedCalendars(t *testing.T) {
	t.Parallel()
	eachHouse(t, func(t *testing.T, h *house, door string) {
		digest, err := digestOf("create_calendar", map[string]json.RawMessage{"name": json.RawMessage(`"Choir"`)})
		if err != nil {
			t.Fatal(err)
		}
		attempt, _, err := h.service.BeginAttempt(t.Context(), h.callers["alice"], "k", digest)
		if err != nil {
			t.Fatal(err)
		}
		address, _, _ := strings.Cut(string(attempt.UID), "@")
		h.calendar(t, "alice", calendar.Properties{Name: "Other"})
		cut, err := h.service.CreateCalendar(t.Context(), h.callers["alice"],
			calendar.NewCalendar{Segment: calendar.Segment(address), Properties: calendar.Properties{Name: "Choir"}})
		if err != nil {
			t.Fatal(err)
		}
		h.Pass(2 * time.Minute)
		args := map[string]any{"name": "Choir", "idempotency_key": "k"}
		first := h.say(t, door, "alice", "create_calendar", args)
		if again := h.say(t, door, "alice", "create_calendar", args); again != first ||
			!strings.Contains(first, string(cut.ID)) {
			t.Errorf("first %s\nagain %s\nwant %s", first, again, cut.ID)
		}
		args["idempotency_key"] = "k2"
		if other := h.say(t, door, "alice", "create_calendar", args); strings.Contains(other, string(cut.ID)) ||
			!strings.Contains(other, `"result"`) {
			t.Errorf("with another key: %s", other)
		}
	})
}

// TestCutOffCalls: a call whose process died after it had made the event is finished by the
// next one, with the event that there is.
func TestCutOffCalls(t *testing.T) {
	t.Parallel()
	eachHouse(t, func(t *testing.T, h *house, door string) {
		caller := h.callers["alice"]
		args, sent := standup(), map[string]json.RawMessage{}
		for name, value := range args {
			sent[name], _ = json.Marshal(value)
		}
		digest, err := digestOf("create_event", sent)
		if err != nil {
			t.Fatal(err)
		}
		attempt, _, err := h.service.BeginAttempt(t.Context(), caller, "k", digest)
		if err != nil {
			t.Fatal(err)
		}
		cal, err := h.service.Calendar(t.Context(), caller, work)
		if err != nil {
			t.Fatal(err)
		}
		start, err := zoned{Zone: zone.UTC()}.read("start", "20260302T080000Z")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.service.Create(t.Context(), caller, cal, edit.Draft{
			Kind: string(calendar.Event), UID: string(attempt.UID),
			Times:  edit.Times{Start: edit.To(zoned{Zone: zone.UTC()}.onClock(start))},
			Fields: edit.Fields{Summary: edit.To("Standup")},
		}); err != nil {
			t.Fatal(err)
		}
		if early := h.say(t, door, "alice", "create_event", args); !strings.Contains(early, "has no answer yet") {
			t.Errorf("at once: %s", early)
		}
		h.Pass(2 * time.Minute)
		late := h.say(t, door, "alice", "create_event", args)
		if !strings.Contains(late, string(attempt.UID)) || h.count(t, work) != 1 {
			t.Errorf("later, with %d events: %s", h.count(t, work), late)
		}
	})
}
