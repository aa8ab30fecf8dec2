package alarm_test

import (
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar/alarm"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

var now = time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)

// at returns a time of the first days of December 2026.
func at(day, hour, minute int) time.Time {
	return time.Date(2026, 12, day, hour, minute, 0, 0, time.UTC)
}

func read(t *testing.T, lines string) *content.Object {
	t.Helper()
	text := "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\n" + strings.TrimSpace(lines) + "\nEND:VCALENDAR\n"
	o, err := content.Read([]byte(strings.ReplaceAll(text, "\n", "\r\n")), ical.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

const (
	meeting = "UID:1\nSUMMARY:Meeting\nDTSTART;TZID=Europe/Berlin:20261202T100000\n" +
		"DTEND;TZID=Europe/Berlin:20261202T110000\n"
	early = "BEGIN:VALARM\nACTION:DISPLAY\nTRIGGER:-PT15M\nEND:VALARM\n"
	never = "BEGIN:VALARM\nACTION:NONE\nTRIGGER;VALUE=DATE-TIME:19760401T005545Z\nEND:VALARM\n"
)

func event(lines ...string) string {
	return "BEGIN:VEVENT\n" + strings.Join(lines, "") + "END:VEVENT\n"
}

func TestRings(t *testing.T) {
	t.Parallel()
	ten := 10 * time.Minute
	for _, c := range []struct {
		name, text string
		usual      *time.Duration
		want       []time.Time
	}{
		{"before the start", event(meeting, early), nil, []time.Time{at(2, 8, 45)}},
		{
			"after the end", event(meeting, "BEGIN:VALARM\nACTION:DISPLAY\nTRIGGER;RELATED=END:PT5M\n"+
				"END:VALARM\n"), nil,
			[]time.Time{at(2, 10, 5)},
		},
		{
			"repeated", event(meeting, "BEGIN:VALARM\nACTION:AUDIO\nTRIGGER:-PT15M\nREPEAT:2\n"+
				"DURATION:PT5M\nEND:VALARM\n"),
			nil,
			[]time.Time{at(2, 8, 45), at(2, 8, 50), at(2, 8, 55)},
		},
		{
			"at a time", event(meeting, "BEGIN:VALARM\nACTION:DISPLAY\n"+
				"TRIGGER;VALUE=DATE-TIME:20261201T120000Z\nEND:VALARM\n"),
			nil,
			[]time.Time{at(1, 12, 0)},
		},
		{"a day before, on the wall clock", event("UID:1\nDTSTART;VALUE=DATE:20261203\n",
			"BEGIN:VALARM\nACTION:DISPLAY\nTRIGGER:-PT15H\nEND:VALARM\n"), nil, []time.Time{at(2, 8, 0)}},
		{
			"of a series", event(meeting, "RRULE:FREQ=DAILY;COUNT=3\n"+
				"EXDATE;TZID=Europe/Berlin:20261203T100000\n", early), nil,
			[]time.Time{at(2, 8, 45), at(4, 8, 45)},
		},
		{
			"of a moved instance", event(meeting, "RRULE:FREQ=DAILY;COUNT=2\n", early) +
				event("UID:1\nRECURRENCE-ID;TZID=Europe/Berlin:20261203T100000\n"+
					"DTSTART;TZID=Europe/Berlin:20261203T150000\n", early),
			nil,
			[]time.Time{at(2, 8, 45), at(3, 13, 45)},
		},
		{"the default", event(meeting), &ten, []time.Time{at(2, 8, 50)}},
		{"no default beside another", event(meeting, early), &ten, []time.Time{at(2, 8, 45)}},
		{"no default beside Apple's placeholder", event(meeting, never), &ten, nil},
		{"no default for days", event("UID:1\nDTSTART;VALUE=DATE:20261203\n"), &ten, nil},
		{"at a place", event(meeting, "BEGIN:VALARM\nACTION:DISPLAY\nTRIGGER:-PT15M\nPROXIMITY:ARRIVE\n"+
			"END:VALARM\n"), nil, nil},
		{"cancelled", event(meeting, "STATUS:CANCELLED\n", early), nil, nil},
		{"declined", event(meeting, "ATTENDEE;PARTSTAT=DECLINED:mailto:me@example.com\n", early), nil, nil},
		{
			"declined by another", event(meeting, "ATTENDEE;PARTSTAT=DECLINED:mailto:you@example.com\n", early), nil,
			[]time.Time{at(2, 8, 45)},
		},
		{"dismissed", event(meeting, strings.Replace(early, "END", "ACKNOWLEDGED:20261202T084600Z\nEND", 1)), nil, nil},
		{"dismissed before", event(meeting, "RRULE:FREQ=DAILY;COUNT=2\n",
			strings.Replace(early, "END", "ACKNOWLEDGED:20261202T084600Z\nEND", 1)), nil, []time.Time{at(3, 8, 45)}},
		{"dismissed in Thunderbird", event(meeting, "X-MOZ-LASTACK:20261202T084500Z\n", early), nil, nil},
		{"the default dismissed in Thunderbird", event(meeting, "X-MOZ-LASTACK:20261202T085000Z\n"), &ten, nil},
		{
			"snoozed in Thunderbird",
			event(meeting, "X-MOZ-LASTACK:20261202T084500Z\nX-MOZ-SNOOZE-TIME:20261202T085500Z\n", early),
			nil,
			[]time.Time{at(2, 8, 55)},
		},
		{
			"snoozed by RFC 9074", event(meeting, strings.Replace(early, "END", "UID:a\n"+
				"ACKNOWLEDGED:20261202T084600Z\nEND", 1),
				"BEGIN:VALARM\nACTION:DISPLAY\nTRIGGER;VALUE=DATE-TIME:20261202T085600Z\n"+
					"RELATED-TO;RELTYPE=SNOOZE:a\nEND:VALARM\n"),
			nil,
			[]time.Time{at(2, 8, 56)},
		},
		{"of a task", "BEGIN:VTODO\nUID:1\nDUE:20261202T120000Z\nBEGIN:VALARM\nACTION:DISPLAY\n" +
			"TRIGGER;RELATED=END:-PT30M\nEND:VALARM\nEND:VTODO\n", nil, []time.Time{at(2, 11, 30)}},
		{"of a task that is done", "BEGIN:VTODO\nUID:1\nSTATUS:COMPLETED\nDUE:20261202T120000Z\nBEGIN:VALARM\n" +
			"ACTION:DISPLAY\nTRIGGER:-PT30M\nEND:VALARM\nEND:VTODO\n", nil, nil},
		{"of a task without dates", "BEGIN:VTODO\nUID:1\nBEGIN:VALARM\nACTION:DISPLAY\n" +
			"TRIGGER;VALUE=DATE-TIME:20261202T085600Z\nEND:VALARM\nEND:VTODO\n", nil, []time.Time{at(2, 8, 56)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := read(t, c.text)
			q := query(o, c.usual)
			var got []time.Time
			for _, r := range alarm.Within(t.Context(), o, q, now, now.AddDate(0, 0, 14)) {
				got = append(got, r.At.UTC())
			}
			if !equal(got, c.want) {
				t.Errorf("rings at %v, want %v", got, c.want)
			}
			// Next, from one ring to the next, finds the same.
			got = nil
			for next := now; len(got) < 10; got = append(got, next.UTC()) {
				if next = alarm.Next(t.Context(), o, q, next); next.IsZero() {
					break
				}
			}
			if !equal(got, c.want) {
				t.Errorf("one by one at %v, want %v", got, c.want)
			}
		})
	}
}

var zones = zone.NewDB()

func query(o *content.Object, usual *time.Duration) alarm.Query {
	berlin, _ := zones.Lookup("Europe/Berlin")
	return alarm.Query{
		Default: usual, Clock: o.Clock(zones, berlin),
		Mine: func(address string) bool { return address == "mailto:me@example.com" },
	}
}

func equal(a, b []time.Time) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].Equal(b[i]) {
			return false
		}
	}
	return true
}

func TestTheNextRingOfARareSeriesIsSearchedAgain(t *testing.T) {
	t.Parallel()
	o := read(t, event("UID:1\nDTSTART:20280229T100000Z\nRRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29\n", early))
	next, looks := now, 0
	for want := time.Date(2028, 2, 29, 9, 45, 0, 0, time.UTC); !next.Equal(want); looks++ {
		next = alarm.Next(t.Context(), o, query(o, nil), next)
		if next.IsZero() || next.After(want) || looks > 5 {
			t.Fatalf("after %d looks: %v", looks, next)
		}
		if !next.Equal(want) && len(alarm.Within(t.Context(), o, query(o, nil), next.Add(-time.Second), next)) > 0 {
			t.Errorf("it rings at %v", next)
		}
	}
}

func TestASeriesThatNeverRingsAgain(t *testing.T) {
	t.Parallel()
	o := read(t, event(meeting, "RRULE:FREQ=DAILY;COUNT=3\n", early))
	if next := alarm.Next(t.Context(), o, query(o, nil), at(4, 8, 45)); !next.IsZero() {
		t.Errorf("after the last one: %v", next)
	}
}

// TestCostlyObjects have many reminders at fixed times, and reminders years before a series of every minute.
func TestCostlyObjects(t *testing.T) {
	t.Parallel()
	fixed := strings.Repeat("BEGIN:VALARM\nACTION:DISPLAY\nTRIGGER;VALUE=DATE-TIME:20261201T120000Z\nEND:VALARM\n", 300)
	text := event(meeting, "RRULE:FREQ=DAILY\n", fixed)
	for i := range 50 {
		text += event("UID:1\nDTSTART:20270101T120000Z\nRECURRENCE-ID;TZID=Europe/Berlin:",
			at(3+i, 0, 0).Format("20060102"), "T100000\n", fixed)
	}
	o := read(t, text)
	if got := len(alarm.Within(t.Context(), o, query(o, nil), now, now.AddDate(0, 0, 14))); got != 200 {
		t.Errorf("%d rings", got)
	}
	o = read(t, event(meeting, "RRULE:FREQ=SECONDLY\n", "BEGIN:VALARM\nACTION:DISPLAY\nTRIGGER:-P9999D\nEND:VALARM\n"))
	alarm.Next(t.Context(), o, query(o, nil), now) // it ends
}

func BenchmarkCostly(b *testing.B) {
	text := "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\n" + event(
		strings.ReplaceAll(meeting, "20261202", "20160602"),
		"RRULE:FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30\n",
		"BEGIN:VALARM\nACTION:DISPLAY\nTRIGGER:-P9999D\nEND:VALARM\n",
	) +
		"END:VCALENDAR\n"
	for b.Loop() {
		o, err := content.Read([]byte(text), ical.Limits{})
		if err != nil {
			b.Fatal(err)
		}
		alarm.Next(b.Context(), o, query(o, nil), now)
	}
}

func BenchmarkNext(b *testing.B) {
	text := "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\n" +
		event(strings.ReplaceAll(meeting, "20261202", "20160602"), "RRULE:FREQ=WEEKLY\n", early) + "END:VCALENDAR\n"
	for b.Loop() {
		o, err := content.Read([]byte(text), ical.Limits{})
		if err != nil {
			b.Fatal(err)
		}
		if alarm.Next(b.Context(), o, query(o, nil), now).IsZero() {
			b.Fatal("it does not ring")
		}
	}
}
