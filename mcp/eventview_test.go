package mcp

import (
	"testing"
	"time"

	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/zone"
)

// TestFloatingEndIsNeverBeforeItsBegin: from 2:45 on half an hour, as the clock goes from 3 back to 2. The end is the
// second 2:15, which without an offset would be read as the first.
func TestFloatingEndIsNeverBeforeItsBegin(t *testing.T) {
	t.Parallel()
	berlin, err := zone.Lookup("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string][2]string{
		"2026-10-25T00:45:00Z": {"20261025T024500", "2026-10-25T02:45:00"},
		"2026-10-25T01:15:00Z": {"20261025T011500Z", "2026-10-25T02:15:00+01:00"},
		"2026-10-25T02:15:00Z": {"20261025T031500", "2026-10-25T03:15:00"},
		"2026-03-29T01:30:00Z": {"20260329T033000", "2026-03-29T03:30:00"},
	} {
		when, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		m := recur.Moment{Time: when.In(berlin.Location()), Floating: true}
		local, _ := zoned{Zone: berlin}.local(m)
		if got := [2]string{stamp(m), local}; got != want {
			t.Errorf("%s: %q, want %q", at, got, want)
		}
	}
}
