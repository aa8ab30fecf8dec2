package content_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// calendarOf is a VCALENDAR with one event of these lines.
func calendarOf(t *testing.T, lines ...string) *ical.Document {
	t.Helper()
	text := "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n" + strings.Join(lines, "\r\n") + "\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
	doc, err := ical.Parse([]byte(text), ical.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func defined(t *testing.T, doc *ical.Document, m *meter.Meter) error {
	t.Helper()
	root, err := doc.Calendar()
	if err != nil {
		t.Fatal(err)
	}
	return content.DefineZones(root, zone.NewDB(), m)
}

func TestDefineZones(t *testing.T) {
	t.Parallel()
	doc := calendarOf(t, "DTSTART;TZID=W. Europe Standard Time:20270701T100000",
		"DTEND;TZID=Mars/Olympus:20270701T110000",
		"X-A;TZID=\"(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna\":x")
	for range 2 { // the second time there is nothing to add
		if err := defined(t, doc, nil); err != nil {
			t.Fatal(err)
		}
	}
	zone := func(tzid string) string {
		return "BEGIN:VTIMEZONE\r\nTZID:" + tzid + "\r\nX-LIC-LOCATION:Europe/Berlin\r\n" +
			"BEGIN:STANDARD\r\nTZOFFSETFROM:+0200\r\nTZOFFSETTO:+0100\r\nTZNAME:CET\r\nDTSTART:20251026T030000\r\n" +
			"RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU\r\nEND:STANDARD\r\n" +
			"BEGIN:DAYLIGHT\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0200\r\nTZNAME:CEST\r\nDTSTART:20260329T020000\r\n" +
			"RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU\r\nEND:DAYLIGHT\r\nEND:VTIMEZONE\r\n"
	}
	want := "BEGIN:VCALENDAR\r\n" + zone("W. Europe Standard Time") +
		zone(`(UTC+01:00) Amsterdam\, Berlin\, Bern\, Rome\, Stockholm\, Vienna`) + "BEGIN:VEVENT"
	if got := doc.String(); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestDefineZonesIsBounded: one zone can be spelled in many ways.
func TestDefineZonesIsBounded(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 200 {
		lines = append(lines,
			fmt.Sprintf("X-A;TZID=%sEurope/Berlin%s:x", strings.Repeat(" ", i%20), strings.Repeat(" ", i/20)))
	}
	doc := calendarOf(t, lines...)
	if err := defined(t, doc, nil); err != nil || strings.Count(doc.String(), "BEGIN:VTIMEZONE") != 64 {
		t.Errorf("%v, and %d zones", err, strings.Count(doc.String(), "BEGIN:VTIMEZONE"))
	}
	m := meter.NewPool(meter.Config{Limits: meter.Limits{Written: 32 << 10}}).Meter(t.Context(), "")
	defer m.Close()
	if err := defined(t, calendarOf(t, lines...), m); !errors.As(err, new(*meter.OverrunError)) {
		t.Errorf("with a bound of the text that may be written: %v", err)
	}
}
