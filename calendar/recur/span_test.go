package recur_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/ical"
)

func TestSpan(t *testing.T) {
	t.Parallel()
	const open = "for ever"
	at := "2006-01-02 15:04"
	tests := []struct{ name, lines, start, end string }{
		{"a single event", event(berlin, "DURATION:PT1H"), "2026-08-03 18:00", "2026-08-03 19:00"},
		{"an endless rule", event(berlin, "RRULE:FREQ=DAILY"), "2026-08-03 18:00", open},
		{
			"a rule that never comes", event(berlin, "RRULE:FREQ=MINUTELY;INTERVAL=60;BYMINUTE=30"), "2026-08-03 18:00",
			"2026-08-03 18:00",
		},
		{"COUNT", event(berlin, "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=4"), "2026-08-03 18:00", "2026-08-24 19:00"},
		{
			"COUNT and a start that the rule does not name", event(berlin, "RRULE:FREQ=WEEKLY;BYDAY=WE;COUNT=3"),
			"2026-08-03 18:00", "2026-08-12 18:00",
		},
		{
			"COUNT of months that have the day", event("DTSTART:20260131T100000Z", "RRULE:FREQ=MONTHLY;COUNT=3"),
			"2026-01-31 10:00", "2026-05-31 10:00",
		},
		{"COUNT=1", event(berlin, "RRULE:FREQ=DAILY;COUNT=1"), "2026-08-03 18:00", "2026-08-03 18:00"},
		{
			"a COUNT that costs too much", event(berlin, "RRULE:FREQ=DAILY;BYMONTH=1;COUNT=100000"), "2026-08-03 18:00",
			open,
		},
		{
			"UNTIL after the last one", event(berlin, "RRULE:FREQ=WEEKLY;UNTIL=20260831T000000Z"), "2026-08-03 18:00",
			"2026-08-24 18:00",
		},
		{
			"UNTIL before the first one", event(berlin, "RRULE:FREQ=WEEKLY;UNTIL=20200101"), "2026-08-03 18:00",
			"2026-08-03 18:00",
		},
		{
			"RDATE before and behind", event(berlin, "RDATE:20260101T100000Z,20270101T100000Z"), "2026-01-01 10:00",
			"2027-01-01 10:00",
		},
		{
			"overrides outside", event(berlin, "RRULE:FREQ=DAILY;COUNT=2") +
				override(":20260803T180000Z", "DTSTART:20250101T000000Z") +
				override(":20260804T180000Z", "DTSTART:20280101T000000Z", "DURATION:P1D"),
			"2025-01-01 00:00", "2028-01-02 00:00",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			span, ok := parseSet(t, test.lines).Span(2000)
			got := []string{span.Start.Format(at), span.End.Format(at)}
			if span.Open {
				got[1] = open
			}
			if diff := cmp.Diff([]string{test.start, test.end}, got); diff != "" || !ok {
				t.Errorf("dated: %v, -want +got\n%s", ok, diff)
			}
		})
	}
	if _, ok := parseSet(t, "BEGIN:VTODO\nSUMMARY:x\nEND:VTODO").Span(2000); ok {
		t.Error("a task without dates has a span")
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	set := parseSet(t, event(berlin, "RRULE:FREQ=DAILY;COUNT=9", "EXDATE:20260804T180000Z")+
		override(";TZID=Europe/Berlin:20260805T200000", "DTSTART;TZID=Europe/Berlin:20260820T080000")+
		override(";TZID=Europe/Berlin;RANGE=THISANDFUTURE:20260807T200000",
			"DTSTART;TZID=Europe/Berlin:20260807T210000"))
	tests := []struct {
		name string
		id   string
		tzid string
		want string // the start, or "" when there is none
	}{
		{"the first one", "20260803T200000", "Europe/Berlin", "2026-08-03 20:00 CEST"},
		{"in UTC", "20260803T180000Z", "", "2026-08-03 20:00 CEST"},
		{"as a date", "20260803", "", "2026-08-03 20:00 CEST"},
		{"an excluded one", "20260804T200000", "Europe/Berlin", ""},
		{"an override", "20260805T200000", "Europe/Berlin", "2026-08-20 08:00 CEST"},
		{"behind an override for the future", "20260808T200000", "Europe/Berlin", "2026-08-08 21:00 CEST"},
		{"one that is not there", "20260808T210000", "Europe/Berlin", ""},
		{"behind the end", "20260901T200000", "Europe/Berlin", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			id, err := ical.ParseTime(test.id, test.tzid)
			if err != nil {
				t.Fatal(err)
			}
			found, ok, err := set.Find(context.Background(), id, recur.DefaultBudget())
			got := ""
			if ok {
				got = show(found.Start)
			}
			if got != test.want || err != nil {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
		})
	}
}

// TestCivil looks at what a moment says on the wall clock.
func TestCivil(t *testing.T) {
	t.Parallel()
	set := parseSet(t, event("DTSTART;TZID=Europe/Berlin:20260803T200000"))
	instances, err := set.Instances(context.Background(), time.Time{}, time.Time{}, recur.DefaultBudget())
	if err != nil {
		t.Fatal(err)
	}
	if got := instances[0].Start.Civil().String(); got != "2026-08-03T20:00:00" {
		t.Errorf("got %s", got)
	}
}
