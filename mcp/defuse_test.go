package mcp

import (
	"cmp"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/mcp/wire"
)

// TestGapsAreTakenBack: text that a model copies out of an answer is stored without our gaps.
func TestGapsAreTakenBack(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "<https://zoom.us/j/1>", "![x](https://a.example) [b][c] <b>x</b> <!-- -->",
		"a ] (b) < c",
	} {
		if got := restored(defused(s)); got != s {
			t.Errorf("%q comes back as %q", s, got)
		}
		plain := strings.ReplaceAll(defused(s), gap, " ")
		if got := restoredFrom(s, plain+"\nmy note"); got != s+"\nmy note" {
			t.Errorf("%q over it is %q", plain, got)
		}
	}
	for stored, written := range map[string]string{
		"soft\u00adhyphen \u202bright\u202c a\u200bb \U000e0041": "",
		`it has \u200b` + "\u200b":                               `it has \u200b\u200b`,
		"bell\a":                                                 `bell\u0007`,
		"x \U0001F468\u200d\U0001F469":                           "",
	} {
		if got := restoredFrom(stored, wire.Visible(stored)+", added"); got != cmp.Or(written, stored)+", added" {
			t.Errorf("%q over %q is %q", wire.Visible(stored), stored, got)
		}
	}
	if own := `C:\u200b`; restoredFrom("else", own) != own {
		t.Error("an escape that nobody was shown is one no longer")
	}
	for _, own := range []string{"[x] (optional)", "a < b", `]\\u202f(`} {
		if got := restoredFrom("else", own); got != own {
			t.Errorf("%q is %q", own, got)
		}
	}
	eachHouse(t, func(t *testing.T, h *house, door string) {
		h.put(t, work, "call", wrapped(calendar.Event, "call", "DTSTART:20260303T090000Z", "DURATION:PT1H",
			"SUMMARY:[a](b)", "DESCRIPTION:Join <https://zoom.us/j/1>"))
		args := params{
			"calendar_id": work, "event_uid": "call", "title": "[a] (b)", "start": "20260303T090000Z",
			"end": "20260303T100000Z", "description": "Join < https://zoom.us/j/1>",
		}
		use(t, door, "alice", "update_event", args, &struct{}{})
		h.expectText(t, work, "call", "SUMMARY:[a](b)", "DESCRIPTION:Join <https://zoom.us/j/1>")
		var made struct{ UID calendar.UID }
		use(t, door, "alice", "create_event", params{
			"calendar_id": work, "title": defused("[a](b)"),
			"start": "2026-03-04",
		}, &made)
		h.expectText(t, work, made.UID, "SUMMARY:[a](b)")
	})
}
