package mcp

import (
	"maps"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// TestUninvitedGuestsAreNamed: guests whom a token without the scope invite added are sent nothing by later calls,
// which say so and how to invite them.
func TestUninvitedGuestsAreNamed(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice", "bob")
		door := h.open(t, h.config())
		var made, now struct {
			UID     string
			Told    []string
			Missed  []string `json:"not_reached"`
			Nothing string   `json:"nobody_told"`
		}
		use(t, door, "alice-write", "create_event", params{
			"calendar_id": work, "title": "Sync", "start": "2026-03-04T10:00", "attendees": []string{"bob@example.com"},
		}, &made)
		one := func(more params) params {
			more["calendar_id"], more["event_uid"] = work, made.UID
			return more
		}
		use(t, door, "alice", "patch_event", one(params{"title": "Other"}), &now)
		if len(now.Missed) != 1 || !strings.Contains(now.Missed[0], "SCHEDULE-AGENT=NONE") || now.Told != nil {
			t.Errorf("%+v", now)
		}
		use(t, door, "alice", "patch_event", one(params{"remove_attendees": []string{"bob@example.com"}}), &now)
		now.Missed, now.Told = nil, nil
		use(t, door, "alice", "patch_event", one(params{"add_attendees": []string{"bob@example.com"}}), &now)
		if len(now.Told) != 1 || now.Missed != nil {
			t.Errorf("added again: %+v", now)
		}
	})
}

// TestRulesWarn: a new rule for a series that began in the past, and a yearly 29 February, have effects that a user may
// not expect.
func TestRulesWarn(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.put(t, work, "one", wrapped(calendar.Event, "one", "DTSTART:20250106T090000Z", "DURATION:PT1H", "SUMMARY:1:1",
		"RRULE:FREQ=WEEKLY;BYDAY=MO"))
	door := h.open(t, h.config())
	patch := params{"calendar_id": work, "event_uid": "one", "scope": "all", "rrule": "FREQ=WEEKLY;BYDAY=TU"}
	var many struct{ Changes []warningsView }
	change := params{"tool": "patch_event"}
	maps.Copy(change, patch)
	text := contentText(t, use(t, door, "alice", "change_many", params{
		"changes": []any{change}, "preview": true,
	}, &many))
	var v warningsView
	use(t, door, "alice", "patch_event", patch, &v)
	for _, got := range []string{
		text, strings.Join(v.Warnings, " "), strings.Join(many.Changes[0].Warnings, " "),
	} {
		if !strings.Contains(got, "also applies to past instances") ||
			!strings.Contains(got, "stays on Monday 2025-01-06") {
			t.Errorf("%q", got)
		}
	}
	v = warningsView{}
	use(t, door, "alice", "create_event", params{
		"calendar_id": work, "title": "Birthday", "start": "2028-02-29", "rrule": "FREQ=YEARLY",
	}, &v)
	if len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0], "every four years") {
		t.Errorf("29 February: %q", v.Warnings)
	}
}

// TestCutTextsAreRefused: a description that is only the shown beginning of the stored one would delete the rest.
func TestCutTextsAreRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	stored := strings.Repeat("All work and no play. ", 400)
	h.put(t, work, "long", wrapped(calendar.Event, "long", "DTSTART:20260303T090000Z", "DURATION:PT1H", "SUMMARY:Long",
		"DESCRIPTION:"+stored+"End"))
	door := h.open(t, h.config())
	for _, text := range []string{
		stored[:maxShown], stored[:longestListedText], stored[:maxShown] + "\nAnd Bob brings cake.",
	} {
		said := h.say(t, door, "alice", "patch_event", params{
			"calendar_id": work, "event_uid": "long", "description": text,
		})
		if !strings.Contains(said, "only the beginning of the stored one") {
			t.Errorf("%d characters: %.300s", len(text), said)
		}
	}
	for _, text := range []string{stored + "End\nMore", "Quite another text", stored[:4000]} {
		var v changedView
		use(t, door, "alice", "patch_event", params{"calendar_id": work, "event_uid": "long", "description": text}, &v)
	}
}
