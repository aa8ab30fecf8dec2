package edit_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/ical"
)

// TestMovedRules moves series in UTC and looks at the rule, and at all instances: each is as
// much later as the first one. Where want is empty, no rule can say so.
func TestMovedRules(t *testing.T) {
	t.Parallel()
	const hour, day = 3600, 86400
	for _, tt := range []struct {
		start, rule string
		by          int64
		want        string
	}{
		{"20260302T090000Z", "FREQ=DAILY;INTERVAL=2", 3 * day, "FREQ=DAILY;INTERVAL=2"},
		{"20260302T230000Z", "FREQ=WEEKLY;BYDAY=MO", 2 * hour, "FREQ=WEEKLY;BYDAY=TU"},
		{"20260302T090000Z", "freq=weekly;byday=mo,fr;interval=1", day, "freq=weekly;BYDAY=TU,SA;interval=1"},
		{"20260302T090000Z", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,SU", day, "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,MO;WKST=TU"},
		{"20260302T090000Z", "FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=MO,SA", day, "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU"},
		{
			"20260302T090000Z", "FREQ=WEEKLY;BYDAY=MO,TU,FR;BYSETPOS=-1,1", 3 * day,
			"FREQ=WEEKLY;BYDAY=TH,FR,MO;BYSETPOS=-1,1;WKST=TH",
		},
		{"20260302T090000Z", "FREQ=WEEKLY;BYMONTH=3,5", day, ""},
		{"20260302T090000Z", "FREQ=WEEKLY;BYMONTH=3,5", hour, "FREQ=WEEKLY;BYMONTH=3,5"},
		{"20260302T090000Z", "FREQ=DAILY;BYDAY=MO,TU", -day, "FREQ=DAILY;BYDAY=SU,MO"},
		{"20260302T090000Z", "FREQ=DAILY;BYMONTH=3", day, ""},
		{"20260302T090000Z", "FREQ=DAILY;BYHOUR=9,15", 8 * hour, "FREQ=DAILY;BYHOUR=17,23"},
		{"20260302T090000Z", "FREQ=DAILY;BYHOUR=9,15", 9 * hour, ""},
		{"20260302T090000Z", "FREQ=DAILY;BYHOUR=9,15", hour / 2, ""},
		{"20260302T090000Z", "FREQ=DAILY;BYHOUR=9,15", 2 * day, "FREQ=DAILY;BYHOUR=9,15"},
		{"20260302T090000Z", "FREQ=DAILY;BYMINUTE=0,30", hour, "FREQ=DAILY;BYMINUTE=0,30"},
		{"20260302T090000Z", "FREQ=HOURLY;INTERVAL=5", hour / 4, "FREQ=HOURLY;INTERVAL=5"},
		{"20260302T090000Z", "FREQ=HOURLY;BYHOUR=9,10", hour, ""},
		{"20260302T090000Z", "FREQ=MONTHLY", 5 * day, "FREQ=MONTHLY"},
		{"20260330T090000Z", "FREQ=MONTHLY", -5 * day, ""},
		{"20260325T090000Z", "FREQ=MONTHLY", 5 * day, ""},
		{"20260302T090000Z", "FREQ=MONTHLY;BYMONTHDAY=2,15", 13 * day, "FREQ=MONTHLY;BYMONTHDAY=15,28"},
		{"20260302T090000Z", "FREQ=MONTHLY;BYMONTHDAY=2,15", 14 * day, ""},
		{"20260331T090000Z", "FREQ=MONTHLY;BYMONTHDAY=-1", -2 * day, "FREQ=MONTHLY;BYMONTHDAY=-3"},
		{"20260331T090000Z", "FREQ=MONTHLY;BYMONTHDAY=-1", day, ""},
		{"20260302T090000Z", "FREQ=MONTHLY;BYDAY=MO", day, "FREQ=MONTHLY;BYDAY=TU"},
		{"20260302T090000Z", "FREQ=MONTHLY;INTERVAL=2;BYDAY=MO", day, ""},
		{"20260302T090000Z", "FREQ=MONTHLY;BYDAY=1MO", 7 * day, "FREQ=MONTHLY;BYDAY=2MO"},
		{"20260323T090000Z", "FREQ=MONTHLY;BYDAY=4MO", 7 * day, ""},
		{"20260330T090000Z", "FREQ=MONTHLY;BYDAY=-1MO", -14 * day, "FREQ=MONTHLY;BYDAY=-3MO"},
		{"20260302T090000Z", "FREQ=MONTHLY;BYDAY=1MO", day, ""},
		{"20260331T090000Z", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", -day, ""},
		{
			"20260331T090000Z", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", -hour,
			"FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
		},
		{"20260331T090000Z", "FREQ=YEARLY", day, "FREQ=YEARLY"},
		{"20260301T090000Z", "FREQ=YEARLY", -day, ""},
		{"20240229T090000Z", "FREQ=YEARLY", day, ""},
		{"20260331T090000Z", "FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=31", day, "FREQ=YEARLY;BYMONTH=4;BYMONTHDAY=1"},
		{"20260331T090000Z", "FREQ=YEARLY;BYMONTH=3,5;BYMONTHDAY=31", day, ""},
		{"20260302T090000Z", "FREQ=YEARLY;BYMONTH=3,5", day, "FREQ=YEARLY;BYMONTH=3,5"},
		{"20260302T090000Z", "FREQ=YEARLY;BYMONTH=3;BYDAY=1MO", 7 * day, "FREQ=YEARLY;BYMONTH=3;BYDAY=2MO"},
		{"20260302T090000Z", "FREQ=YEARLY;BYDAY=9MO", 7 * day, ""},
		{"20260302T090000Z", "FREQ=YEARLY;BYYEARDAY=61", day, ""},
		{"20260302T090000Z", "FREQ=YEARLY;BYWEEKNO=10;BYDAY=MO", day, ""},
	} {
		text := calendarOf(eventOf("DTSTART:"+tt.start, "RRULE:"+tt.rule))
		o := read(t, text)
		before := expand(t, o)
		start := at(t, tt.start)
		start.Civil = start.Civil.AddSeconds(tt.by)
		got, err := editor().Change(t.Context(), o,
			edit.Change{Target: whole(t, tt.start), Times: edit.Times{Start: edit.To(start)}})
		if tt.want == "" {
			var f *edit.Error
			if !errors.As(err, &f) || f.Code != edit.RuleBound {
				t.Errorf("%s by %d s: %v", tt.rule, tt.by, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s by %d s: %v", tt.rule, tt.by, err)
			continue
		}
		after := valid(t, got.Document)
		if rule := after.Master.Property("RRULE").Value(); rule != tt.want {
			t.Errorf("%s by %d s: %s, want %s", tt.rule, tt.by, rule, tt.want)
		}
		for i := range before {
			before[i] = seen{
				ID: before[i].ID + tt.by, Start: before[i].Start + tt.by, End: before[i].End + tt.by,
				Wall: before[i].Wall.AddSeconds(tt.by),
			}
		}
		if diff := cmp.Diff(lines(before), lines(expand(t, after))); diff != "" {
			t.Errorf("%s by %d s (-want +got):\n%s", tt.rule, tt.by, diff)
		}
	}
}

// TestUntilIsWrittenRight: RFC 5545 §3.3.10 wants UNTIL in the form that goes with DTSTART.
func TestUntilIsWrittenRight(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ start, until, want string }{
		{"DTSTART;TZID=Europe/Berlin:20260302T090000", "20260331", "20260331T215959Z"},
		{"DTSTART;TZID=Europe/Berlin:20260302T090000", "20260331T090000", "20260331T070000Z"},
		{"DTSTART;TZID=Europe/Berlin:20260302T090000", "20260331T070000Z", "20260331T070000Z"},
		{"DTSTART:20260302T090000Z", "20260331", "20260331T235959Z"},
		{"DTSTART:20260302T090000", "20260331T100000Z", "20260331T100000"},
		{"DTSTART;VALUE=DATE:20260302", "20260331T100000Z", "20260331"},
		{"DTSTART;VALUE=DATE:20260302", "20260331T100000", "20260331"},
	} {
		got, err := editor().Change(t.Context(), read(t, calendarOf(eventOf(tt.start))),
			edit.Change{Fields: edit.Fields{Rule: edit.To("FREQ=DAILY;UNTIL=" + tt.until)}})
		if err != nil {
			t.Errorf("%s, %s: %v", tt.start, tt.until, err)
			continue
		}
		if rule := valid(t, got.Document).Master.Property("RRULE").Value(); rule != "FREQ=DAILY;UNTIL="+tt.want {
			t.Errorf("%s, %s: %s, want %s", tt.start, tt.until, rule, tt.want)
		}
	}
}

// TestSplitUntil: so does the end of what comes before a split, and COUNT is divided.
func TestSplitUntil(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ start, rule, left, right string }{
		{"DTSTART;TZID=Europe/Berlin:20260327T090000", "FREQ=DAILY", "FREQ=DAILY;UNTIL=20260330T065959Z", "FREQ=DAILY"},
		{"DTSTART:20260327T070000Z", "FREQ=DAILY", "FREQ=DAILY;UNTIL=20260330T065959Z", "FREQ=DAILY"},
		{"DTSTART:20260327T070000", "FREQ=DAILY", "FREQ=DAILY;UNTIL=20260330T065959", "FREQ=DAILY"},
		{
			"DTSTART;VALUE=DATE:20260327", "FREQ=DAILY;UNTIL=20260405", "FREQ=DAILY;UNTIL=20260329",
			"FREQ=DAILY;UNTIL=20260405",
		},
		{"DTSTART:20260327T070000Z", "FREQ=DAILY;COUNT=7", "FREQ=DAILY;COUNT=3", "FREQ=DAILY;COUNT=4"},
		{"DTSTART:20260327T070000Z", "FREQ=DAILY;COUNT=4", "FREQ=DAILY;COUNT=3", ""},
	} {
		got, err := editor().Change(t.Context(), read(t, calendarOf(eventOf(tt.start, "RRULE:"+tt.rule))), edit.Change{
			Target: edit.Target{Instance: at(t, "2026-03-30"), Scope: edit.Following},
			Fields: edit.Fields{Summary: edit.To("x")},
		})
		if err != nil {
			t.Errorf("%s, %s: %v", tt.start, tt.rule, err)
			continue
		}
		var rules []string
		for _, doc := range []*ical.Document{got.Document, got.Split} {
			rule := ""
			if p := valid(t, doc).Master.Property("RRULE"); p != nil {
				rule = p.Value()
			}
			rules = append(rules, rule)
		}
		if !slices.Equal(rules, []string{tt.left, tt.right}) {
			t.Errorf("%s, %s: %q, want %q", tt.start, tt.rule, rules, []string{tt.left, tt.right})
		}
	}
}

// TestSeveralRules: a rule that has ended before the split stays whole on its side.
func TestSeveralRules(t *testing.T) {
	t.Parallel()
	text := calendarOf(eventOf("DTSTART:20260302T090000Z", "RRULE:FREQ=WEEKLY", "RRULE:FREQ=DAILY;COUNT=3",
		"RDATE:20260305T090000Z,20260404T090000Z"))
	before := expand(t, read(t, text))
	got, err := editor().Change(t.Context(), read(t, text), edit.Change{
		Target: edit.Target{Instance: at(t, "20260316T090000Z"), Scope: edit.Following},
		Fields: edit.Fields{Location: edit.To("x")},
	})
	if err != nil {
		t.Fatal(err)
	}
	after := append(expand(t, valid(t, got.Document)), expand(t, valid(t, got.Split))...)
	if diff := cmp.Diff(lines(before), lines(after[:most])); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want := "RRULE:FREQ=WEEKLY;UNTIL=20260316T085959Z\r\nRRULE:FREQ=DAILY;COUNT=3\r\nRDATE:20260305T090000Z\r\n"
	if !strings.Contains(got.Document.String(), want) ||
		!strings.Contains(got.Split.String(), "RRULE:FREQ=WEEKLY\r\nRDATE:20260404T090000Z\r\n") {
		t.Errorf("%s", fmt.Sprint(got.Document, got.Split))
	}
}
