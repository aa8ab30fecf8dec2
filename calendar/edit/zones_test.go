package edit_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/ical"
)

// TestAnotherZone takes a series from Berlin to New York: it is at nine there, in summer and in
// winter, and so is all that belongs to it.
func TestAnotherZone(t *testing.T) {
	t.Parallel()
	text := calendarOf(
		eventOf("DTSTART;TZID=Europe/Berlin:20260302T100000", "DTEND;TZID=Europe/Berlin:20260302T110000",
			"SUMMARY:usual",
			"RRULE:FREQ=WEEKLY;UNTIL=20260413T080000Z", "EXDATE;TZID=Europe/Berlin:20260316T100000",
			"EXDATE:20260330T080000Z"),
		eventOf("RECURRENCE-ID;TZID=Europe/Berlin:20260309T100000", "DTSTART;TZID=Europe/Berlin:20260310T120000",
			"DTEND;TZID=Europe/Berlin:20260310T123000", "SUMMARY:special"),
	)
	nine := ical.Zoned(ical.Civil{Year: 2026, Month: 3, Day: 2, Hour: 9}, "US/Eastern")
	got, err := editor().Change(t.Context(), read(t, text),
		edit.Change{Times: edit.Times{Start: edit.To(nine), AsGiven: true}})
	if err != nil {
		t.Fatal(err)
	}
	want := `
20260302T140000Z 2026-03-02T09:00:00 +3600s usual
20260309T130000Z 2026-03-10T11:00:00 +1800s special
20260323T130000Z 2026-03-23T09:00:00 +3600s usual
20260406T130000Z 2026-04-06T09:00:00 +3600s usual
20260413T130000Z 2026-04-13T09:00:00 +3600s usual
`
	o := valid(t, got.Document)
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), lines(expand(t, o))); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, got.Document)
	}
	// What names the zone in the text is the zone's own name, and its VTIMEZONE stands before.
	zones := o.Calendar.AllComponents("VTIMEZONE")
	tzid, _ := o.Master.Property("DTSTART").Param("TZID")
	if len(zones) != 1 || content.TextOf(zones[0], "TZID") != tzid ||
		strings.Contains(got.Document.String(), "Europe/Berlin") {
		t.Errorf("DTSTART in %q of\n%s", tzid, got.Document)
	}
}

// TestRecurringTask completes one of a series of tasks.
func TestRecurringTask(t *testing.T) {
	t.Parallel()
	text := calendarOf("BEGIN:VTODO\nUID:first\nDTSTAMP:20260101T000000Z\nDTSTART;VALUE=DATE:20260302\n" +
		"DUE;VALUE=DATE:20260304\n" +
		"RRULE:FREQ=WEEKLY\nSUMMARY:usual\nSTATUS:NEEDS-ACTION\nEND:VTODO\n")
	got, err := editor().Change(t.Context(), read(t, text), edit.Change{
		Target: edit.Target{Instance: at(t, "2026-03-09"), Scope: edit.This},
		Fields: edit.Fields{Percent: edit.To(100)},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `+BEGIN:VTODO
+UID:first
+DTSTAMP:20260301T120000Z
+DTSTART;VALUE=DATE:20260309
+DUE;VALUE=DATE:20260311
+SUMMARY:usual
+STATUS:COMPLETED
+RECURRENCE-ID;VALUE=DATE:20260309
+COMPLETED:20260301T120000Z
+PERCENT-COMPLETE:100
+SEQUENCE:1
+END:VTODO
`
	valid(t, got.Document)
	if diff := cmp.Diff(want, changed(crlf(text), got.Document.String())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestNewForms makes events of each form of time.
func TestNewForms(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		start, end ical.Time
		want       string
		zones      int
	}{
		{
			"in UTC", at(t, "20260302T090000Z"), at(t, "20260302T100000Z"),
			"DTSTART:20260302T090000Z\nDTEND:20260302T100000Z", 0,
		},
		{
			"a day, said twice", at(t, "2026-03-02"), at(t, "2026-03-02"),
			"DTSTART;VALUE=DATE:20260302\nDTEND;VALUE=DATE:20260303", 0,
		},
		{
			"floating", ical.Floating(ical.CivilDate(2026, 3, 2)), ical.Floating(ical.CivilDate(2026, 3, 3)),
			"DTSTART:20260302T000000\nDTEND:20260303T000000", 0,
		},
		{
			"a flight", at(t, "2026-03-02T10:00"),
			ical.Zoned(ical.Civil{Year: 2026, Month: 3, Day: 2, Hour: 13}, "America/New_York"),
			"DTSTART;TZID=Europe/Berlin:20260302T100000\nDTEND;TZID=America/New_York:20260302T130000", 2,
		},
		{"without an end", at(t, "2026-03-02T10:00"), ical.Time{}, "DTSTART;TZID=Europe/Berlin:20260302T100000", 1},
	} {
		times := edit.Times{Start: edit.To(tt.start)}
		if !tt.end.IsZero() {
			times.End = edit.To(tt.end)
		}
		doc, err := editor().New(t.Context(), edit.Draft{Kind: content.Event, UID: "first", Times: times})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		o := valid(t, doc)
		if n := len(o.Calendar.AllComponents("VTIMEZONE")); n != tt.zones {
			t.Errorf("%s: %d VTIMEZONEs, want %d", tt.name, n, tt.zones)
		}
		want := "BEGIN:VEVENT\nUID:first\nDTSTAMP:20260301T120000Z\n" + tt.want + "\nEND:VEVENT\nEND:VCALENDAR\n"
		if !strings.HasSuffix(doc.String(), crlf(want)) {
			t.Errorf("%s: no\n%s in\n%s", tt.name, want, doc)
		}
	}
	_, err := editor().New(t.Context(), edit.Draft{Kind: content.Event, UID: "first"})
	refused(t, err, edit.BadTime, "start")
	_, err = editor().New(t.Context(), edit.Draft{
		Kind: content.Event, UID: "first",
		Times: edit.Times{Start: to(t, "2026-03-02"), End: to(t, "20260302T090000Z")},
	})
	refused(t, err, edit.BadTime, "whole days")
}

// TestApart moves a series of which some instances are written on other clocks: each goes as far
// on its own.
func TestApart(t *testing.T) {
	t.Parallel()
	text := calendarOf(
		eventOf("DTSTART;TZID=Europe/Berlin:20260323T100000", "DTEND;TZID=Europe/Berlin:20260323T110000",
			"RRULE:FREQ=WEEKLY;COUNT=5", "SUMMARY:usual"),
		eventOf("RECURRENCE-ID;TZID=Europe/Berlin:20260330T100000", "DTSTART;TZID=America/New_York:20260330T050000",
			"DTEND;TZID=America/New_York:20260330T060000", "SUMMARY:abroad"),
		eventOf("RECURRENCE-ID:20260406T080000Z", "DTSTART:20260328T093000Z", "DURATION:PT1H", "SUMMARY:in UTC"),
		eventOf("RECURRENCE-ID;TZID=Europe/Berlin:20260413T100000", "DTSTART;VALUE=DATE:20260413", "SUMMARY:all day"),
		eventOf("RECURRENCE-ID;TZID=Europe/Berlin:20260420T100000", "DTSTART:20260420T150000", "DTEND:20260420T160000",
			"SUMMARY:floating"),
	)
	for _, tt := range []struct {
		name, start, end string
		want             string
	}{
		{"an hour", "2026-03-23T11:00", "", `
20260323T100000Z 2026-03-23T11:00:00 +3600s usual
20260330T090000Z 2026-03-30T06:00:00 +3600s abroad
20260406T090000Z 2026-03-28T10:30:00 +3600s in UTC
20260413T090000Z 2026-04-13T00:00:00 +86400s all day
20260420T090000Z 2026-04-20T16:00:00 +3600s floating
`},
		// On the day after 2026-03-28 the clocks of Berlin, by which the series goes, are put forward.
		{"a day, and half as long", "2026-03-24T10:00", "2026-03-24T10:30", `
20260324T090000Z 2026-03-24T10:00:00 +1800s usual
20260331T080000Z 2026-03-31T05:00:00 +1800s abroad
20260407T080000Z 2026-03-29T08:30:00 +1800s in UTC
20260414T080000Z 2026-04-14T00:00:00 +86400s all day
20260421T080000Z 2026-04-21T15:00:00 +1800s floating
`},
	} {
		got, err := editor().Change(t.Context(), read(t, text),
			edit.Change{Target: whole(t, "2026-03-23"), Times: edit.Times{Start: to(t, tt.start), End: to(t, tt.end)}})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if diff := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), lines(expand(t, valid(t, got.Document)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	// What is a day of its own cannot say how far the series of times is to go.
	_, err := editor().Change(t.Context(), read(t, text), edit.Change{
		Target: edit.Target{Instance: at(t, "2026-04-13"), Scope: edit.All},
		Times:  edit.Times{Start: to(t, "2026-04-14")},
	})
	refused(t, err, edit.BadTime, "without naming the instance")
}
