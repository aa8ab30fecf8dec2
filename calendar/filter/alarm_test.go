package filter_test

import (
	"errors"
	"strings"
	"testing"

	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/recur"
)

// TestAlarms is the table of RFC 4791 §9.9 for VALARM, over all ways to say when.
func TestAlarms(t *testing.T) {
	t.Parallel()
	const event = "DTSTART:20260310T100000Z\nDTEND:20260310T110000Z\n"
	for _, c := range []struct {
		name, text string
		windows    []at
	}{
		{"before the start", event + alarm("TRIGGER:-PT15M"), around("20260310T094500Z", "20260310T094501Z")},
		{"at the start", event + alarm("TRIGGER:PT0S"), around("20260310T100000Z", "20260310T100001Z")},
		{"after the end", event + alarm("TRIGGER;RELATED=END:PT5M"), around("20260310T110500Z", "20260310T110501Z")},
		{
			"at a time", event + alarm("TRIGGER;VALUE=DATE-TIME:20260201T080000Z"),
			around("20260201T080000Z", "20260201T080001Z"),
		},
		{"repeated", event + alarm("TRIGGER:-PT1H", "REPEAT:2", "DURATION:PT10M"), []at{
			{"20260310T090000Z/20260310T090100Z", true},
			{"20260310T090100Z/20260310T091000Z", false},
			{"20260310T090500Z/20260310T091100Z", true},
			{"20260310T092000Z/20260310T092100Z", true},
			{"20260310T093000Z/20260310T100000Z", false},
		}},
		{"repeated nearly forever", event + alarm("TRIGGER:PT0S", "REPEAT:2147483647", "DURATION:P9000D"), []at{
			{"20260311T000000Z/20260312T000000Z", false}, {"20260311T000000Z/20990101T000000Z", true},
		}},
		{"REPEAT without DURATION", event + alarm("TRIGGER:-PT1H", "REPEAT:2"), []at{
			{"20260310T090000Z/20260310T090100Z", true}, {"20260310T090100Z/20260310T120000Z", false},
		}},
		{
			"a day before, across a change of the clocks",
			"DTSTART;TZID=America/New_York:20260308T120000\n" + alarm("TRIGGER:-P1D"),
			around("20260307T170000Z", "20260307T170001Z"),
		},
		{
			"of a whole day", "DTSTART;VALUE=DATE:20260310\n" + alarm("TRIGGER:-PT15H"),
			around("20260309T090000Z", "20260309T090001Z"),
		},
		{"no time that anybody could read", event + alarm("TRIGGER:soon"), []at{{"/", false}}},
		{"none", event, []at{{"/", false}}},
		{"of each instance", "DTSTART:20200106T100000Z\nRRULE:FREQ=WEEKLY\n" + alarm("TRIGGER:-PT15M"), []at{
			{"20260309T094500Z/20260309T094600Z", true},
			{"20260309T100000Z/20260309T110000Z", false},
		}},
		{"of each instance, days ahead", "DTSTART:20200106T100000Z\nRRULE:FREQ=WEEKLY\n" + alarm("TRIGGER:-P3D"), []at{
			{"20260306T100000Z/20260306T100001Z", true}, {"20260307T000000Z/20260313T000000Z", false},
		}},
	} {
		o := object(t, "BEGIN:VEVENT\n"+c.text+"\nEND:VEVENT")
		for _, w := range c.windows {
			f := under(filter.CompFilter{
				Name: "VEVENT", Components: []filter.CompFilter{{Name: "VALARM", TimeRange: during(t, w.window)}},
			})
			if got := match(t, f, o); got != w.want {
				t.Errorf("%s, %s: %v, want %v", c.name, w.window, got, w.want)
			}
		}
	}
}

// TestAlarmOfATask: one with nothing but a DUE goes off before that.
func TestAlarmOfATask(t *testing.T) {
	t.Parallel()
	o := object(t, "BEGIN:VTODO\nDUE:20260310T100000Z\n"+alarm("TRIGGER;RELATED=END:-PT30M")+"\nEND:VTODO")
	for _, w := range around("20260310T093000Z", "20260310T093001Z") {
		f := under(filter.CompFilter{
			Name: "VTODO", Components: []filter.CompFilter{{Name: "VALARM", TimeRange: during(t, w.window)}},
		})
		if got := match(t, f, o); got != w.want {
			t.Errorf("%s: %v, want %v", w.window, got, w.want)
		}
	}
}

// around is what windows hold of a moment, with the second after it.
func around(moment, next string) []at {
	return []at{
		{moment + "/" + next, true},
		{moment + "/", true},
		{next + "/20270101T000000Z", false},
		{"20200101T000000Z/" + moment, false},
		{"/" + next, true},
	}
}

func alarm(lines ...string) string {
	text := "BEGIN:VALARM\nACTION:DISPLAY\n"
	for _, line := range lines {
		text += line + "\n"
	}
	return text + "END:VALARM"
}

// TestTooManyAlarms: an object with thousands of alarms in a series without an end is not
// searched to the end.
func TestTooManyAlarms(t *testing.T) {
	t.Parallel()
	late := strings.Repeat(alarm("TRIGGER:-PT1H", "REPEAT:100000", "DURATION:P100D")+"\n", 2000)
	o := object(t, "BEGIN:VEVENT\nDTSTART:20200101T000000Z\nRRULE:FREQ=MINUTELY;INTERVAL=7\n"+late+"END:VEVENT")
	f := under(filter.CompFilter{Name: "VEVENT", Components: []filter.CompFilter{
		{Name: "VALARM", TimeRange: during(t, "20210101T000000Z/20210101T000001Z")},
	}})
	if _, err := f.Match(t.Context(), o, filter.Context{Zones: zones}); !errors.Is(err, recur.ErrBudget) {
		t.Errorf("%v, want it to be too expensive", err)
	}
}
