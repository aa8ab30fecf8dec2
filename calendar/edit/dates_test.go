package edit_test

import (
	"strings"
	"testing"

	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/ical"
)

// TestDates leaves dates out of a series, puts them back, and adds others; a date stands for the instance of that day.
func TestDates(t *testing.T) {
	t.Parallel()
	weekly := []string{
		"DTSTART;TZID=Europe/Berlin:20260302T090000", "DTEND;TZID=Europe/Berlin:20260302T100000",
		"RRULE:FREQ=WEEKLY;COUNT=4", "EXDATE;TZID=Europe/Berlin:20260316T090000", "SUMMARY:a",
	}
	apart := eventOf("RECURRENCE-ID;TZID=Europe/Berlin:20260309T090000", "DTSTART;TZID=Europe/Berlin:20260310T090000",
		"SUMMARY:moved")
	list := func(texts ...string) edit.Field[[]ical.Time] {
		var times []ical.Time
		for _, text := range texts {
			times = append(times, at(t, text))
		}
		return edit.To(times)
	}
	for _, tt := range []struct {
		name   string
		fields edit.Fields
		want   string
	}{
		{"one more, told apart", edit.Fields{Left: list("20260316", "20260309T080000Z")}, "2 23"},
		{"put back", edit.Fields{Left: list()}, "2 9 16 23"},
		{"the same", edit.Fields{Left: list("20260316")}, "2 9 23"},
		{"beside the rule", edit.Fields{Extra: list("20260304")}, "2 4 9 23"},
	} {
		o := read(t, calendarOf(eventOf(weekly...), apart))
		before := o.Document.String()
		got, err := editor().Change(t.Context(), o, edit.Change{Fields: tt.fields})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if tt.name == "the same" && got.Document.String() != before {
			t.Errorf("%s: %s", tt.name, changed(before, got.Document.String()))
		}
		var days []string
		for _, i := range expand(t, valid(t, got.Document)) {
			days = append(days, strings.TrimLeft(i.String()[6:8], "0"))
		}
		if strings.Join(days, " ") != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, days, tt.want)
		}
	}
	for _, tt := range []struct {
		change edit.Change
		says   string
	}{
		{edit.Change{Fields: edit.Fields{Left: list("20260317")}}, "no instance"},
		{
			edit.Change{Fields: edit.Fields{Left: list("20260302", "20260309", "20260316", "20260323")}},
			"nothing would be left",
		},
		{
			edit.Change{
				Target: edit.Target{Scope: edit.This, Instance: at(t, "20260302T080000Z")},
				Fields: edit.Fields{Extra: list("20260304")},
			},
			"one instance",
		},
	} {
		_, err := editor().Change(t.Context(), read(t, calendarOf(eventOf(weekly...))), tt.change)
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%v, want %s", err, tt.says)
		}
	}
}

// TestOtherAlarms: reminders at a time and before the end are listed and replaced by themselves; those about the start
// leave them.
func TestOtherAlarms(t *testing.T) {
	t.Parallel()
	fixed := edit.Alarm{At: at(t, "20260301T080000Z")}
	ends := edit.Alarm{Minutes: 60, FromEnd: true}
	o := read(t, calendarOf(eventOf("DTSTART:20260302T090000Z", "DTEND:20260302T100000Z")))
	for _, step := range []struct {
		set           []edit.Alarm
		usual, others int
	}{
		{[]edit.Alarm{{Minutes: 5}, fixed, ends}, 1, 2},
		{[]edit.Alarm{{Minutes: 10}, {Minutes: 30}}, 2, 2},
		{[]edit.Alarm{{Minutes: 10}, ends}, 1, 1},
		{[]edit.Alarm{}, 0, 0},
	} {
		got, err := editor().Change(t.Context(), o, edit.Change{Fields: edit.Fields{Alarms: edit.To(step.set)}})
		if err != nil {
			t.Fatal(err)
		}
		o = valid(t, got.Document)
		if usual, others := edit.AlarmsOf(o.Main()), edit.OtherAlarmsOf(o.Main()); len(usual) != step.usual ||
			len(others) != step.others {
			t.Errorf("%v: there are %v and %v\n%s", step.set, usual, others, got.Document)
		}
	}
}

// TestGuestsComeAndGo: anyone who is added or taken off leaves the others as they are, also where an instance has
// guests of its own.
func TestGuestsComeAndGo(t *testing.T) {
	t.Parallel()
	o := read(t, calendarOf(
		eventOf("DTSTART:20260302T090000Z", "DURATION:PT1H", "RRULE:FREQ=DAILY;COUNT=3",
			"ATTENDEE;PARTSTAT=ACCEPTED:mailto:a@example.com", "ATTENDEE:mailto:b@example.com"),
		eventOf("RECURRENCE-ID:20260303T090000Z", "DTSTART:20260303T100000Z", "ATTENDEE:mailto:b@example.com",
			"ATTENDEE:mailto:c@example.com"),
	))
	got, err := editor().Change(t.Context(), o, edit.Change{Fields: edit.Fields{
		Invite:   []edit.Attendee{{Address: "D@example.com", Name: "Dave"}, {Address: "a@example.com"}},
		Uninvite: []edit.Attendee{{Address: "B@example.com"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	o = valid(t, got.Document)
	for i, want := range []string{
		"a@example.com ACCEPTED, D@example.com NEEDS-ACTION",
		"c@example.com , D@example.com NEEDS-ACTION, a@example.com NEEDS-ACTION",
	} {
		var list []string
		for _, a := range edit.AttendeesOf(o.Components()[i]) {
			list = append(list, a.Address+" "+a.Status)
		}
		if got := strings.Join(list, ", "); got != want {
			t.Errorf("%d has %s, want %s", i, got, want)
		}
	}
}

// TestTwoZones: an end may be on a clock of its own, and stays on it.
func TestTwoZones(t *testing.T) {
	t.Parallel()
	tokyo := ical.Zoned(at(t, "20260303T090000").Civil, "Asia/Tokyo")
	o := read(t, calendarOf(eventOf("DTSTART;TZID=Europe/Berlin:20260302T130000", "DURATION:PT1H")))
	got, err := editor().Change(t.Context(), o, edit.Change{Times: edit.Times{End: edit.To(tokyo), EndAsGiven: true}})
	if err != nil {
		t.Fatal(err)
	}
	text := got.Document.String()
	if !strings.Contains(text, "DTEND;TZID=Asia/Tokyo:20260303T090000") ||
		!strings.Contains(text, "DTSTART;TZID=Europe/Berlin:20260302T130000") || strings.Contains(text, "DURATION") {
		t.Errorf("it is\n%s", text)
	}
}

// TestColors: a colour has a name that others know.
func TestColors(t *testing.T) {
	t.Parallel()
	o := read(t, calendarOf(eventOf("DTSTART:20260302T090000Z")))
	got, err := editor().Change(t.Context(), o, edit.Change{Fields: edit.Fields{Color: edit.To("Dark Red")}})
	if err != nil || !strings.Contains(got.Document.String(), "COLOR:darkred\r\n") {
		t.Errorf("%v %v", got.Document, err)
	}
	_, err = editor().Change(t.Context(), o, edit.Change{Fields: edit.Fields{Color: edit.To("#ff0000")}})
	refused(t, err, edit.BadField, "no colour")
}
