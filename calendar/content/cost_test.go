package content_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

func costly(t *testing.T, before, within string) *content.Object {
	t.Helper()
	text := "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\n" + before +
		"BEGIN:VEVENT\nUID:1\nDTSTAMP:20260101T000000Z\nDTSTART:20260101T000000Z\n" +
		within + "END:VEVENT\nEND:VCALENDAR\n"
	o, err := content.Read([]byte(text), ical.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestZonesOfAnObjectAreBounded: each has to be understood again by whoever asks for the object (security M4).
func TestZonesOfAnObjectAreBounded(t *testing.T) {
	t.Parallel()
	for zones, fits := range map[int]bool{10: true, 64: true, 65: false, 500: false} {
		var before, within strings.Builder
		for i := range zones {
			fmt.Fprintf(&before,
				"BEGIN:VTIMEZONE\nTZID:Own %d\nBEGIN:STANDARD\nDTSTART:20200101T000000\nTZOFFSETFROM:+0100\n"+
					"TZOFFSETTO:+0%d%02d\nRRULE:FREQ=YEARLY\nEND:STANDARD\nEND:VTIMEZONE\n", i, i/60, i%60)
			fmt.Fprintf(&within, "RDATE;TZID=Own %d:20260201T%02d%02d00\n", i, i/60%24, i%60)
		}
		err := costly(t, before.String(), within.String()).Check(t.Context(), content.Limits{}, zone.NewDB())
		if fits != (err == nil) {
			t.Errorf("%d zones: %v", zones, err)
		}
	}
}

// TestZonesOfAnObjectShareTheirCost: each of these may be understood by itself.
func TestZonesOfAnObjectShareTheirCost(t *testing.T) {
	t.Parallel()
	var before, within strings.Builder
	for i := range 60 {
		fmt.Fprintf(&before,
			"BEGIN:VTIMEZONE\nTZID:Own %d\nBEGIN:STANDARD\nDTSTART:19000101T00%02d00\nTZOFFSETFROM:+0100\n"+
				"TZOFFSETTO:+0100\nRRULE:FREQ=MONTHLY;INTERVAL=2\nEND:STANDARD\nBEGIN:DAYLIGHT\n"+
				"DTSTART:20000101T000000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\n"+
				"RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30,31;COUNT=9\nEND:DAYLIGHT\nEND:VTIMEZONE\n", i, i)
		fmt.Fprintf(&within, "RDATE;TZID=Own %d:20260201T00%02d00\n", i, i)
	}
	if err := costly(t, before.String(), within.String()).Check(t.Context(), content.Limits{}, zone.NewDB()); err ==
		nil {
		t.Error("sixty zones that each take many steps were taken")
	}
}

// TestWordsOfALongTextAreBounded: its first part is what it is found by (security M4).
func TestWordsOfALongTextAreBounded(t *testing.T) {
	t.Parallel()
	o := costly(t, "", "SUMMARY:first"+strings.Repeat(" \ufdfa", 100_000)+" last\n")
	words := content.WordsOf(o.Master)
	if !slices.Contains(words, "first") || slices.Contains(words, "last") {
		t.Errorf("%d words", len(words))
	}
}
