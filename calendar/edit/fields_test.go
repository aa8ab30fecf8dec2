package edit_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/ical"
)

// TestFields gives an event what it has not, changes what it has, and takes it away.
func TestFields(t *testing.T) {
	t.Parallel()
	full := calendarOf(eventOf("DTSTART:20260302T090000Z", "SUMMARY;LANGUAGE=en:a", "DESCRIPTION:b", "LOCATION:c",
		"URL:https://example.com/d",
		"CATEGORIES:e", "CATEGORIES:f,g", "STATUS:CONFIRMED", "TRANSP:OPAQUE", "CLASS:PUBLIC", "PRIORITY:5",
		"ORGANIZER;CN=h:MAILTO:h@example.com",
		"ATTENDEE;PARTSTAT=DECLINED;X-A=1:MAILTO:i@example.com", "ATTENDEE:mailto:j@example.com"))
	given := edit.Fields{
		Summary: edit.To("A"), Description: edit.To("B"), Location: edit.To("C"), URL: edit.To("https://example.com/D"),
		Categories: edit.To([]string{"E"}),
		Status:     edit.To(edit.Cancelled), Transparency: edit.To(edit.Transparent),
		Class: edit.To(edit.Class("private")), Priority: edit.To(1),
		Organizer: edit.To(edit.Attendee{Address: "H@example.com", Name: "H"}),
		Attendees: edit.To([]edit.Attendee{{Address: "I@example.com"}, {Address: "urn:uuid:k", Status: "accepted"}}),
	}
	cleared := edit.Fields{
		Summary: edit.Clear[string](), Description: edit.Clear[string](), Location: edit.Clear[string](),
		URL:        edit.Clear[string](),
		Categories: edit.Clear[[]string](), Status: edit.Clear[edit.Status](),
		Transparency: edit.Clear[edit.Transparency](),
		Class:        edit.Clear[edit.Class](), Priority: edit.Clear[int](), Organizer: edit.Clear[edit.Attendee](),
		Attendees: edit.Clear[[]edit.Attendee](),
	}
	const all = `-SUMMARY;LANGUAGE=en:a
-DESCRIPTION:b
-LOCATION:c
-URL:https://example.com/d
-CATEGORIES:e
-CATEGORIES:f,g
-STATUS:CONFIRMED
-TRANSP:OPAQUE
-CLASS:PUBLIC
-PRIORITY:5
-ORGANIZER;CN=h:MAILTO:h@example.com
`
	for _, tt := range []struct {
		name   string
		fields edit.Fields
		want   string
	}{
		{"nothing", edit.Fields{}, ""},
		{"other values", given, all + `-ATTENDEE:mailto:j@example.com
+SUMMARY;LANGUAGE=en:A
+DESCRIPTION:B
+LOCATION:C
+URL:https://example.com/D
+CATEGORIES:E
+STATUS:CANCELLED
+TRANSP:TRANSPARENT
+CLASS:PRIVATE
+PRIORITY:1
+ORGANIZER;CN=H:MAILTO:h@example.com
+ATTENDEE;ROLE=REQ-PARTICIPANT;PARTSTAT=ACCEPTED:urn:uuid:k
`},
		{"no values", cleared, all + `-ATTENDEE;PARTSTAT=DECLINED;X-A=1:MAILTO:i@example.com
-ATTENDEE:mailto:j@example.com
`},
		{"a parent", edit.Fields{Parent: edit.To("of,it")}, "+RELATED-TO:of\\,it\n"},
		{"the same values", edit.Fields{
			Summary: edit.To("a"), Categories: edit.To([]string{"e", "f", "g"}), Status: edit.To(edit.Confirmed),
			Attendees: edit.To([]edit.Attendee{{Address: "j@example.com"}, {Address: "i@example.com"}}),
			Organizer: edit.To(edit.Attendee{Address: "h@example.com"}),
		}, ""},
	} {
		got := exact(t, full, edit.Change{Fields: tt.fields})
		if diff := cmp.Diff(sorted(tt.want), sorted(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// sorted is a diff with what goes first: which of two neighbours is named first tells nothing.
func sorted(diff string) []string {
	var gone, come []string
	for _, line := range splitLines(diff) {
		if line[0] == '-' {
			gone = append(gone, line)
		} else {
			come = append(come, line)
		}
	}
	return append(gone, come...)
}

func TestAttendeesOf(t *testing.T) {
	t.Parallel()
	_, o := client(t, "outlook-meeting")
	want := []edit.Attendee{
		{Address: "katja.weber@example.de", Name: "Weber, Katja"},
		{Address: "luis.ortiz@example.es", Name: "Ortiz, Luis", Role: "OPT-PARTICIPANT"},
	}
	if diff := cmp.Diff(want, edit.AttendeesOf(o.Main())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAlarmsOf: what is listed is what can be replaced.
func TestAlarmsOf(t *testing.T) {
	t.Parallel()
	alarm := func(lines ...string) []string {
		return append(append([]string{"BEGIN:VALARM"}, lines...), "END:VALARM")
	}
	var all []string
	for _, lines := range [][]string{
		{"ACTION:DISPLAY", "TRIGGER:-PT15M"},
		{"ACTION:AUDIO", "TRIGGER;RELATED=START:-P1DT1H"},
		{"ACTION:DISPLAY", "TRIGGER:PT9H"},
		{"ACTION:DISPLAY", "TRIGGER;RELATED=END:PT0S"},
		{"ACTION:DISPLAY", "TRIGGER;VALUE=DATE-TIME:20260302T080000Z"},
		{"ACTION:NONE", "TRIGGER:-PT15M"},
		{"ACTION:DISPLAY", "TRIGGER:-PT15S"},
		{"ACTION:DISPLAY", "TRIGGER:-PT5M", "X-APPLE-PROXIMITY:DEPART"},
		{"ACTION:DISPLAY"},
	} {
		all = append(all, alarm(lines...)...)
	}
	o := read(t, calendarOf(eventOf(append([]string{"DTSTART:20260302T090000Z"}, all...)...)))
	want := []edit.Alarm{{Minutes: 15}, {Minutes: 1500}, {Minutes: -540}}
	if diff := cmp.Diff(want, edit.AlarmsOf(o.Main())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got, err := editor().Change(t.Context(), o, edit.Change{Fields: edit.Fields{Alarms: edit.Clear[[]edit.Alarm]()}})
	if err != nil {
		t.Fatal(err)
	}
	left := valid(t, got.Document).Main()
	if n := len(left.AllComponents("VALARM")); n != 6 || len(edit.AlarmsOf(left)) != 0 {
		t.Errorf("%d reminders are left:\n%s", n, got.Document)
	}
}

// taskOf makes a VTODO of lines, in a calendar.
func taskOf(lines ...string) string {
	return calendarOf("BEGIN:VTODO\nUID:first\n" + strings.Join(lines, "\n") + "\nEND:VTODO\n")
}

// TestTaskReminders: RFC 5545 §3.8.6.3 lets a reminder count from the start only where there is one.
func TestTaskReminders(t *testing.T) {
	t.Parallel()
	ten := edit.Fields{Alarms: edit.To([]edit.Alarm{{Minutes: 10}})}
	for _, tt := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"due alone", []string{"DUE:20260302T090000Z"}, "TRIGGER;RELATED=END:-PT10M"},
		{"one day on which it is due", []string{"DUE;VALUE=DATE:20260302"}, "TRIGGER;RELATED=END:-PT10M"},
		{"start and due", []string{"DTSTART:20260302T080000Z", "DUE:20260302T090000Z"}, "TRIGGER:-PT10M"},
		{"start alone", []string{"DTSTART:20260302T080000Z"}, "TRIGGER:-PT10M"},
		{
			"one that is there",
			[]string{
				"DUE:20260302T090000Z", "BEGIN:VALARM", "ACTION:AUDIO", "TRIGGER;RELATED=END:-PT10M", "END:VALARM",
			},
			"ACTION:AUDIO",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := editor().Change(t.Context(), read(t, taskOf(tt.lines...)), edit.Change{Fields: ten})
			if err != nil {
				t.Fatal(err)
			}
			now := valid(t, got.Document).Main()
			if diff := cmp.Diff([]edit.Alarm{{Minutes: 10}}, edit.AlarmsOf(now)); diff != "" {
				t.Errorf("listed (-want +got):\n%s", diff)
			}
			if alarms := now.AllComponents("VALARM"); len(alarms) != 1 ||
				!strings.Contains(got.Document.String(), tt.want+"\r\n") {
				t.Errorf("want one with %s:\n%s", tt.want, got.Document)
			}
		})
	}
	_, err := editor().Change(t.Context(), read(t, taskOf()), edit.Change{Fields: ten})
	refused, ok := errors.AsType[*edit.Error](err)
	if !ok || refused.Code != edit.BadField {
		t.Errorf("a task without a date: %v", err)
	}
}

// TestTaskStates: anyone who looks at STATUS, COMPLETED or PERCENT-COMPLETE sees the same.
func TestTaskStates(t *testing.T) {
	t.Parallel()
	type state struct{ Status, Completed, Percent string }
	now, then := editor().Now, time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	open, done := "STATUS:NEEDS-ACTION", "STATUS:COMPLETED\nCOMPLETED:20260101T000000Z\nPERCENT-COMPLETE:100"
	stamp := now.Format("20060102T150405Z")
	for _, tt := range []struct {
		name, lines string
		fields      edit.Fields
		want        state
	}{
		{"done", open, edit.Fields{Status: edit.To(edit.Completed)}, state{"COMPLETED", stamp, "100"}},
		{"done then", open, edit.Fields{Completed: edit.To(then)}, state{"COMPLETED", "20260201T000000Z", "100"}},
		{"wholly", open, edit.Fields{Percent: edit.To(100)}, state{"COMPLETED", stamp, "100"}},
		{"half", open, edit.Fields{Percent: edit.To(50)}, state{"IN-PROCESS", "", "50"}},
		{"half again", done, edit.Fields{Percent: edit.To(50)}, state{"IN-PROCESS", "", "50"}},
		{"reopened", done, edit.Fields{Status: edit.To(edit.NeedsAction)}, state{"NEEDS-ACTION", "", ""}},
		{"not done", done, edit.Fields{Completed: edit.Clear[time.Time]()}, state{"NEEDS-ACTION", "", ""}},
		{"begun", "PERCENT-COMPLETE:30", edit.Fields{Status: edit.To(edit.InProcess)}, state{"IN-PROCESS", "", "30"}},
		{"called otherwise", done, edit.Fields{Summary: edit.To("x")}, state{"COMPLETED", "20260101T000000Z", "100"}},
	} {
		o := read(t, taskOf(tt.lines))
		got, err := editor().Change(t.Context(), o, edit.Change{Fields: tt.fields})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		task := valid(t, got.Document).Main()
		has := state{
			content.TextOf(task, "STATUS"), content.TextOf(task, "COMPLETED"), content.TextOf(task, "PERCENT-COMPLETE"),
		}
		if diff := cmp.Diff(tt.want, has); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestTaskTimes: a task may have a start, an end, both or neither.
func TestTaskTimes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, lines string
		times       edit.Times
		want        string
	}{
		{
			"due", "DUE;TZID=Europe/Berlin:20260302T090000",
			edit.Times{End: to(t, "20260303T090000Z")},
			"-DUE;TZID=Europe/Berlin:20260302T090000\n+DUE;TZID=Europe/Berlin:20260303T100000\n",
		},
		{"due on a day", "SUMMARY:x", edit.Times{End: to(t, "2026-03-03")}, "+DUE;VALUE=DATE:20260303\n"},
		{
			"due on the day it starts", "DTSTART;VALUE=DATE:20260302",
			edit.Times{End: to(t, "2026-03-02")},
			"+DUE;VALUE=DATE:20260302\n",
		},
		{
			"at some time", "DTSTART:20260302T090000Z\nDUE:20260303T090000Z",
			edit.Times{Start: edit.Clear[ical.Time](), End: edit.Clear[ical.Time]()},
			"-DTSTART:20260302T090000Z\n-DUE:20260303T090000Z\n",
		},
		{
			"later", "DTSTART:20260302T090000Z\nDUE:20260303T090000Z",
			edit.Times{Start: to(t, "20260304T090000Z")},
			"-DTSTART:20260302T090000Z\n-DUE:20260303T090000Z\n+DTSTART:20260304T090000Z\n+DUE:20260305T090000Z\n",
		},
	} {
		text := calendarOf("BEGIN:VTODO\nUID:first\nDTSTAMP:20260101T000000Z\n" + tt.lines + "\nEND:VTODO\n")
		if diff := cmp.Diff(tt.want, exact(t, text, edit.Change{Times: tt.times})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestParent sets, replaces and removes a parent, and leaves relations of other kinds alone.
func TestParent(t *testing.T) {
	t.Parallel()
	data := calendarOf(eventOf("DTSTART:20260302T090000Z", "RELATED-TO;RELTYPE=CHILD:c",
		"RELATED-TO;RELTYPE=parent;X-A=1:p"))
	for _, tt := range []struct {
		name, want string
		parent     edit.Field[string]
	}{
		{"the same", "", edit.To("p")},
		{"another", "-RELATED-TO;RELTYPE=parent;X-A=1:p\n+RELATED-TO:q\n", edit.To("q")},
		{"none", "-RELATED-TO;RELTYPE=parent;X-A=1:p\n", edit.Clear[string]()},
	} {
		if diff := cmp.Diff(sorted(tt.want),
			sorted(exact(t, data, edit.Change{Fields: edit.Fields{Parent: tt.parent}}))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
