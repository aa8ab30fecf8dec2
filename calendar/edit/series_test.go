package edit_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/ical"
)

// night is a series at 02:30 in Berlin, which the clocks skip on 2026-03-29 and show twice on
// 2026-10-25.
func night(rule string) string {
	return calendarOf(eventOf("DTSTART;TZID=Europe/Berlin:20260327T023000", "DTEND;TZID=Europe/Berlin:20260327T030000",
		"RRULE:"+rule, "SUMMARY:usual"))
}

// TestSplitInAGap: the instance that the clocks pushed to 03:30 begins a series at 02:30.
func TestSplitInAGap(t *testing.T) {
	t.Parallel()
	const text = "FREQ=DAILY;COUNT=6"
	before := expand(t, read(t, night(text)))
	got, err := editor().Change(t.Context(), read(t, night(text)), edit.Change{
		Target: edit.Target{Instance: at(t, "20260329T013000Z"), Scope: edit.Following},
		Fields: edit.Fields{Location: edit.To("x")},
	})
	if err != nil {
		t.Fatal(err)
	}
	after := append(expand(t, valid(t, got.Document)), expand(t, valid(t, got.Split))...)
	if diff := cmp.Diff(lines(before), lines(after)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !strings.Contains(got.Split.String(), "DTSTART;TZID=Europe/Berlin:20260329T023000\r\n") {
		t.Errorf("the new series begins otherwise:\n%s", got.Split)
	}
}

// TestMoveOverAGap moves a nightly series by an hour: each instance keeps its clock.
func TestMoveOverAGap(t *testing.T) {
	t.Parallel()
	got, err := editor().Change(t.Context(), read(t, night("FREQ=DAILY;COUNT=5")),
		edit.Change{Times: edit.Times{Start: to(t, "2026-03-27T01:30")}})
	if err != nil {
		t.Fatal(err)
	}
	want := `
20260327T003000Z 2026-03-27T01:30:00 +1800s usual
20260328T003000Z 2026-03-28T01:30:00 +1800s usual
20260329T003000Z 2026-03-29T01:30:00 +1800s usual
20260329T233000Z 2026-03-30T01:30:00 +1800s usual
20260330T233000Z 2026-03-31T01:30:00 +1800s usual
`
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), lines(expand(t, valid(t, got.Document)))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestMoveIntoTheSecondHour: the later of two equal hours can be asked for, and is what one gets.
func TestMoveIntoTheSecondHour(t *testing.T) {
	t.Parallel()
	single := calendarOf(eventOf("DTSTART;TZID=Europe/Berlin:20261024T023000",
		"DTEND;TZID=Europe/Berlin:20261024T033000", "SUMMARY:x"))
	for text, o := range map[string]edit.Target{
		single: {},
		night("FREQ=DAILY;UNTIL=20270101T000000Z"): {Instance: at(t, "2026-10-24"), Scope: edit.This},
	} {
		got, err := editor().Change(t.Context(), read(t, text),
			edit.Change{Target: o, Times: edit.Times{Start: to(t, "2026-10-25T02:30:00+01:00")}})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got.Document.String(), "DTSTART:20261025T013000Z\r\n") {
			t.Errorf("it starts otherwise:\n%s", got.Document)
		}
		valid(t, got.Document)
	}
	// A series goes on by the clock: at 02:30, of which the first hour counts.
	got, err := editor().Change(t.Context(), read(t, night("FREQ=DAILY;COUNT=3")), edit.Change{
		Target: whole(t, "2026-03-27"), Times: edit.Times{Start: to(t, "2026-10-25T02:30:00+01:00")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got.Document.String(), "DTSTART;TZID=Europe/Berlin:20261025T023000\r\n") {
		t.Errorf("it starts otherwise:\n%s", got.Document)
	}
}

// whole aims at all of a series by its first instance.
func whole(t *testing.T, first string) edit.Target {
	t.Helper()
	return edit.Target{Instance: at(t, first), Scope: edit.All}
}

// exact is what a change makes of an event's lines, but for the books.
func exact(t *testing.T, text string, c edit.Change) string {
	t.Helper()
	got, err := editor().Change(t.Context(), read(t, text), c)
	if err != nil {
		t.Fatal(err)
	}
	valid(t, got.Document)
	var kept []string
	for line := range strings.SplitSeq(changed(crlf(text), got.Document.String()), "\n") {
		if !strings.HasPrefix(line[min(1, len(line)):], "DTSTAMP") &&
			!strings.HasPrefix(line[min(1, len(line)):], "SEQUENCE") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

func TestForms(t *testing.T) {
	t.Parallel()
	day := calendarOf(eventOf("DTSTART;VALUE=DATE:20260302", "RRULE:FREQ=WEEKLY;UNTIL=20260330",
		"EXDATE;VALUE=DATE:20260309"))
	flight := calendarOf(eventOf("DTSTART;TZID=Europe/Berlin:20260302T100000",
		"DTEND;TZID=America/New_York:20260302T130000"))
	utc := calendarOf(eventOf("DTSTART:20260302T090000Z", "DURATION:PT1H", "RRULE:FREQ=DAILY;UNTIL=20260305T090000Z",
		"EXDATE:20260303T090000Z"))
	for _, tt := range []struct {
		name, text string
		change     edit.Change
		want       string
	}{
		{
			"whole days get times", day,
			edit.Change{
				Times: edit.Times{Start: to(t, "2026-03-02T09:00"), End: to(t, "2026-03-02T10:00"), AsGiven: true},
			},
			`
+BEGIN:VTIMEZONE
+TZID:Europe/Berlin
+X-LIC-LOCATION:Europe/Berlin
+BEGIN:STANDARD
+TZOFFSETFROM:+0200
+TZOFFSETTO:+0100
+TZNAME:CET
+DTSTART:20241027T030000
+RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU
+END:STANDARD
+BEGIN:DAYLIGHT
+TZOFFSETFROM:+0100
+TZOFFSETTO:+0200
+TZNAME:CEST
+DTSTART:20250330T020000
+RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU
+END:DAYLIGHT
+END:VTIMEZONE
-DTSTART;VALUE=DATE:20260302
-RRULE:FREQ=WEEKLY;UNTIL=20260330
-EXDATE;VALUE=DATE:20260309
+DTSTART;TZID=Europe/Berlin:20260302T090000
+RRULE:FREQ=WEEKLY;UNTIL=20260330T070000Z
+EXDATE;TZID=Europe/Berlin:20260309T090000
+DTEND;TZID=Europe/Berlin:20260302T100000
`,
		},
		{
			"times become whole days", utc,
			edit.Change{
				Target: whole(t, "20260302T090000Z"),
				Times:  edit.Times{Start: to(t, "2026-03-03"), End: to(t, "2026-03-05"), AsGiven: true},
			},
			`
-DTSTART:20260302T090000Z
-DURATION:PT1H
-RRULE:FREQ=DAILY;UNTIL=20260305T090000Z
-EXDATE:20260303T090000Z
+DTSTART;VALUE=DATE:20260303
+DURATION:P2D
+RRULE:FREQ=DAILY;UNTIL=20260306
+EXDATE;VALUE=DATE:20260304
`,
		},
		{"a flight later", flight, edit.Change{Times: edit.Times{Start: to(t, "2026-03-29T10:00")}}, `
-DTSTART;TZID=Europe/Berlin:20260302T100000
-DTEND;TZID=America/New_York:20260302T130000
+DTSTART;TZID=Europe/Berlin:20260329T100000
+DTEND;TZID=America/New_York:20260329T130000
`},
		{"a flight that lands later", flight, edit.Change{Times: edit.Times{End: to(t, "2026-03-02T20:00")}}, `
-DTEND;TZID=America/New_York:20260302T130000
+DTEND;TZID=America/New_York:20260302T140000
`},
		{"a duration", utc, edit.Change{Times: edit.Times{End: to(t, "20260302T103000Z")}}, `
-DURATION:PT1H
+DURATION:PT1H30M
`},
		{"a duration stays one", utc, edit.Change{Times: edit.Times{Start: to(t, "20260302T100000Z")}}, `
-DTSTART:20260302T090000Z
+DTSTART:20260302T100000Z
-RRULE:FREQ=DAILY;UNTIL=20260305T090000Z
-EXDATE:20260303T090000Z
+RRULE:FREQ=DAILY;UNTIL=20260305T100000Z
+EXDATE:20260303T100000Z
`},
		{"no rule any more", utc, edit.Change{Fields: edit.Fields{Rule: edit.Clear[string]()}}, `
-RRULE:FREQ=DAILY;UNTIL=20260305T090000Z
-EXDATE:20260303T090000Z
`},
	} {
		if diff := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), exact(t, tt.text, tt.change)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestNewRule: with a new rule the instances that it does not have go, and those that it has
// keep what is special about them.
func TestNewRule(t *testing.T) {
	t.Parallel()
	text := calendarOf(
		eventOf("DTSTART:20260302T090000Z", "RRULE:FREQ=DAILY", "SUMMARY:usual"),
		eventOf("RECURRENCE-ID:20260303T090000Z", "DTSTART:20260303T120000Z", "SUMMARY:Tuesday"),
		eventOf("RECURRENCE-ID:20260309T090000Z", "DTSTART:20260309T120000Z", "SUMMARY:Monday"),
	)
	got, err := editor().Change(t.Context(), read(t, text),
		edit.Change{Fields: edit.Fields{Rule: edit.To("rrule:FREQ=WEEKLY;COUNT=3")}})
	if err != nil {
		t.Fatal(err)
	}
	want := `
20260302T090000Z 2026-03-02T09:00:00 +0s usual
20260309T090000Z 2026-03-09T12:00:00 +0s Monday
20260316T090000Z 2026-03-16T09:00:00 +0s usual
`
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), lines(expand(t, valid(t, got.Document)))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// The second Monday has no rule that follows it to a Tuesday, unless one is given.
	second := calendarOf(eventOf("DTSTART:20260309T090000Z", "RRULE:FREQ=MONTHLY;BYDAY=2MO"))
	times := edit.Times{Start: to(t, "20260310T090000Z")}
	_, err = editor().Change(t.Context(), read(t, second), edit.Change{Target: whole(t, "2026-03-09"), Times: times})
	refused(t, err, edit.RuleBound,
		"the series repeats by FREQ=MONTHLY;BYDAY=2MO, and no rule names each of its times 1 day later; give the new "+
			"recurrence rule")
	got, err = editor().Change(t.Context(), read(t, second), edit.Change{
		Target: whole(t, "2026-03-09"), Times: times, Fields: edit.Fields{Rule: edit.To("FREQ=MONTHLY;BYDAY=2TU")},
	})
	if err != nil ||
		!strings.Contains(got.Document.String(), "DTSTART:20260310T090000Z\r\nRRULE:FREQ=MONTHLY;BYDAY=2TU\r\n") {
		t.Errorf("%v, %v", got.Document, err)
	}
}

func TestFixedReminders(t *testing.T) {
	t.Parallel()
	text := calendarOf(eventOf("DTSTART:20260302T090000Z", "BEGIN:VALARM", "ACTION:DISPLAY",
		"TRIGGER;VALUE=DATE-TIME:20260302T070000Z", "END:VALARM",
		"BEGIN:VALARM", "ACTION:NONE", "TRIGGER;VALUE=DATE-TIME:19760401T005545Z", "END:VALARM"))
	want := `
-DTSTART:20260302T090000Z
+DTSTART:20260303T100000Z
-TRIGGER;VALUE=DATE-TIME:20260302T070000Z
+TRIGGER;VALUE=DATE-TIME:20260303T080000Z
`
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"),
		exact(t, text, edit.Change{Times: edit.Times{Start: to(t, "20260303T100000Z")}})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestInvitedToSome: anyone who is invited to some instances alone has no master.
func TestInvitedToSome(t *testing.T) {
	t.Parallel()
	text := calendarOf(
		eventOf("RECURRENCE-ID:20260302T090000Z", "DTSTART:20260302T090000Z", "SUMMARY:a"),
		eventOf("RECURRENCE-ID:20260309T090000Z", "DTSTART:20260310T090000Z", "SUMMARY:b"),
	)
	second := edit.Target{Instance: at(t, "20260309T090000Z"), Scope: edit.This}
	if diff := cmp.Diff("-SUMMARY:b\n+SUMMARY:c\n",
		exact(t, text, edit.Change{Target: second, Fields: edit.Fields{Summary: edit.To("c")}})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("-SUMMARY:a\n+SUMMARY:c\n-SUMMARY:b\n+SUMMARY:c\n",
		exact(t, text, edit.Change{Fields: edit.Fields{Summary: edit.To("c")}})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got, err := editor().Cancel(t.Context(), read(t, text), second)
	if err != nil || len(valid(t, got.Document).Overrides) != 1 {
		t.Errorf("%v, %v", got.Document, err)
	}
	following := edit.Target{Instance: second.Instance, Scope: edit.Following}
	if got, err = editor().Cancel(t.Context(), read(t, text), following); err != nil ||
		len(valid(t, got.Document).Overrides) != 1 {
		t.Errorf("%v, %v", got.Document, err)
	}
	_, err = editor().Change(t.Context(), read(t, text), edit.Change{Target: following})
	refused(t, err, edit.Unsupported, "each of them alone")
	_, err = editor().Change(t.Context(), read(t, text),
		edit.Change{Times: edit.Times{Start: to(t, "20260302T100000Z")}})
	refused(t, err, edit.Unsupported, "each of them alone")
}

func TestEmptied(t *testing.T) {
	t.Parallel()
	text := calendarOf(eventOf("DTSTART:20260302T090000Z", "RRULE:FREQ=DAILY;COUNT=2", "EXDATE:20260303T090000Z"))
	got, err := editor().Cancel(t.Context(), read(t, text),
		edit.Target{Instance: at(t, "20260302T090000Z"), Scope: edit.This})
	if err != nil || got.Document != nil {
		t.Errorf("%v, %v", got.Document, err)
	}
}

// TestRefused: what cannot be done, or could mean two things, is not guessed.
func TestRefused(t *testing.T) {
	t.Parallel()
	single := calendarOf(eventOf("DTSTART:20260302T090000Z"))
	daily := calendarOf(eventOf("DTSTART:20260302T090000Z", "RRULE:FREQ=DAILY"))
	hours := calendarOf(eventOf("DTSTART:20260302T090000Z", "RRULE:FREQ=DAILY;BYHOUR=9,15"))
	extra := calendarOf(eventOf("DTSTART:20260302T090000Z", "RRULE:FREQ=WEEKLY", "RDATE:20260304T110000Z"))
	excluded := calendarOf(eventOf("DTSTART:20260302T090000Z", "RRULE:FREQ=DAILY", "EXRULE:FREQ=WEEKLY"))
	chinese := calendarOf(eventOf("DTSTART:20260302T090000Z", "RRULE:RSCALE=CHINESE;FREQ=YEARLY"))
	ranged := calendarOf(eventOf("DTSTART:20260302T090000Z", "RRULE:FREQ=DAILY"),
		eventOf("RECURRENCE-ID;RANGE=THISANDFUTURE:20260304T090000Z", "DTSTART:20260304T100000Z"))
	days := calendarOf(eventOf("DTSTART;VALUE=DATE:20260302"))
	aim := func(text string, s edit.Scope) edit.Target { return edit.Target{Instance: at(t, text), Scope: s} }
	for _, tt := range []struct {
		name, text string
		change     edit.Change
		code       edit.Code
		says       string
	}{
		{
			"no such instance", daily,
			edit.Change{Target: aim("20260303T091500Z", edit.This)},
			edit.NoInstance,
			"the next one is 20260304T090000Z",
		},
		{"no such day", extra, edit.Change{Target: aim("2026-03-03", edit.This)}, edit.NoInstance, "20260303"},
		{"two of a day", hours, edit.Change{Target: aim("2026-03-03", edit.This)}, edit.NoInstance, "more than one"},
		{"no series", single, edit.Change{Target: aim("20260303T090000Z", edit.This)}, edit.NotSeries, "not a series"},
		{"no scope", daily, edit.Change{Target: aim("20260303T090000Z", "")}, edit.NoScope, `"following"`},
		{"a strange scope", daily, edit.Change{Target: aim("20260303T090000Z", "some")}, edit.NoScope, `"some"`},
		{"this of what", daily, edit.Change{Target: aim("", edit.This)}, edit.NoInstance, "recurrence id"},
		{
			"a split at an extra date", extra,
			edit.Change{Target: aim("20260304T110000Z", edit.Following)},
			edit.RuleBound, "extra one",
		},
		{
			"a split of an EXRULE", excluded,
			edit.Change{Target: aim("20260304T090000Z", edit.Following)},
			edit.Unsupported, "EXRULE",
		},
		{
			"the Chinese calendar", chinese,
			edit.Change{Target: aim("20260304T090000Z", edit.This)},
			edit.Unsupported,
			"RSCALE",
		},
		{
			"the Chinese calendar, moved", chinese,
			edit.Change{Times: edit.Times{Start: to(t, "20260303T090000Z")}},
			edit.Unsupported, "RSCALE",
		},
		{
			"where a range begins", ranged,
			edit.Change{Target: aim("20260304T090000Z", edit.This)},
			edit.Unsupported,
			"RANGE",
		},
		{
			"a split of a range", ranged,
			edit.Change{Target: aim("20260306T090000Z", edit.Following)},
			edit.Unsupported, "RANGE",
		},
		{
			"a rule for one", daily,
			edit.Change{Target: aim("20260303T090000Z", edit.This), Fields: edit.Fields{Rule: edit.To("FREQ=DAILY")}},
			edit.BadField, "one instance",
		},
		{"a bad rule", single, edit.Change{Fields: edit.Fields{Rule: edit.To("every day")}}, edit.BadField, "FREQ="},
		{
			"a rule that ends before", single,
			edit.Change{Fields: edit.Fields{Rule: edit.To("FREQ=DAILY;UNTIL=20260101")}},
			edit.BadField,
			"before it begins",
		},
		{
			"hours of days", days,
			edit.Change{Fields: edit.Fields{Rule: edit.To("FREQ=HOURLY")}},
			edit.BadField,
			"whole days",
		},
		{
			"a time for a day", days,
			edit.Change{Times: edit.Times{Start: to(t, "20260303T090000Z")}},
			edit.BadTime,
			"whole days",
		},
		{
			"a day for a time", single,
			edit.Change{Times: edit.Times{Start: to(t, "2026-03-03")}},
			edit.BadTime,
			"is a date",
		},
		{
			"times without an end", days,
			edit.Change{Times: edit.Times{Start: to(t, "20260303T090000Z"), AsGiven: true}},
			edit.BadTime,
			"give its end",
		},
		{
			"an end before the start", single,
			edit.Change{Times: edit.Times{End: to(t, "20260302T080000Z")}},
			edit.BadTime, "before it begins",
		},
		{
			"no start", single,
			edit.Change{Times: edit.Times{Start: edit.Clear[ical.Time]()}},
			edit.BadTime,
			"without a start",
		},
		{
			"a status of a task", single,
			edit.Change{Fields: edit.Fields{Status: edit.To(edit.Completed)}},
			edit.BadField, "CONFIRMED",
		},
		{
			"an event that is done", single,
			edit.Change{Fields: edit.Fields{Completed: edit.To(time.Unix(0, 0))}},
			edit.BadField, "task",
		},
		{"priority 10", single, edit.Change{Fields: edit.Fields{Priority: edit.To(10)}}, edit.BadField, "0 to 9"},
		{
			"an empty category", single,
			edit.Change{Fields: edit.Fields{Categories: edit.To([]string{""})}},
			edit.BadField, "category",
		},
		{
			"years before", single,
			edit.Change{Fields: edit.Fields{Alarms: edit.To([]edit.Alarm{{Minutes: 1_000_000}})}},
			edit.BadField,
			"year",
		},
		{
			"two addresses", single,
			edit.Change{Fields: edit.Fields{Attendees: edit.To([]edit.Attendee{{Address: "a@x, b@x"}})}},
			edit.BadField,
			"a@x, b@x",
		},
		{
			"an unknown zone", single,
			edit.Change{Times: edit.Times{Start: edit.To(ical.Zoned(ical.CivilDate(2026, 3, 3), "Nowhere/City"))}},
			edit.BadTime, "Nowhere/City",
		},
	} {
		_, err := editor().Change(t.Context(), read(t, tt.text), tt.change)
		t.Run(tt.name, func(t *testing.T) { refused(t, err, tt.code, tt.says) })
	}
}

// TestSplitHours splits and thins out a series of hours at each of its instances, also at the
// second of two equal ones, which no local time can name.
func TestSplitHours(t *testing.T) {
	t.Parallel()
	text := calendarOf(eventOf("DTSTART;TZID=Europe/Berlin:20261025T003000", "DURATION:PT10M",
		"RRULE:FREQ=HOURLY;COUNT=6", "SUMMARY:usual"))
	before := expand(t, read(t, text))
	when := func(list []seen) (ids []int64) {
		for _, s := range list {
			ids = append(ids, s.Start)
		}
		return ids
	}
	if len(before) != 6 || before[3].ID-before[2].ID != 3600 || before[3].Wall != before[2].Wall {
		t.Fatalf("the hour does not come twice:\n%s", lines(before))
	}
	for i, s := range before {
		id := ical.UTC(ical.CivilFromSeconds(s.ID))
		got, err := editor().Cancel(t.Context(), read(t, text), edit.Target{Instance: id, Scope: edit.This})
		if err != nil {
			t.Fatalf("cancel %s: %v", id, err)
		}
		rest := append(append([]seen{}, before[:i]...), before[i+1:]...)
		if diff := cmp.Diff(when(rest), when(expand(t, valid(t, got.Document)))); diff != "" {
			t.Errorf("cancel %s (-want +got):\n%s", id, diff)
		}
		for _, scope := range []edit.Scope{edit.This, edit.Following} {
			got, err = editor().Change(t.Context(), read(t, text), edit.Change{
				Target: edit.Target{Instance: id, Scope: scope}, Fields: edit.Fields{Summary: edit.To("x")},
			})
			if err != nil {
				t.Fatalf("%s %s: %v", scope, id, err)
			}
			after := expand(t, valid(t, got.Document))
			if got.Split != nil {
				after = append(after, expand(t, valid(t, got.Split))...)
			}
			if diff := cmp.Diff(when(before), when(after)); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", scope, id, diff)
			}
		}
	}
}

// TestAnyRuleDoesForOne: a series of one instance goes anywhere; of more, the refusal says how far in plain words (time
// N7).
func TestAnyRuleDoesForOne(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ rule, to, want string }{
		{"FREQ=YEARLY;BYWEEKNO=-17;COUNT=1", "20260310T110000Z", "FREQ=YEARLY;COUNT=1"},
		{"freq=MONTHLY;X-A=b;BYDAY=2MO;COUNT=1", "20260310T090000Z", "freq=MONTHLY;X-A=b;COUNT=1"},
		{"FREQ=HOURLY;BYHOUR=9;COUNT=1", "20260310T110000Z", "FREQ=HOURLY;COUNT=1"},
		{"FREQ=WEEKLY;BYDAY=MO;COUNT=1", "20260310T090000Z", "FREQ=WEEKLY;BYDAY=TU;COUNT=1"},
	} {
		text := calendarOf(eventOf("DTSTART:20260309T090000Z", "RRULE:"+tt.rule))
		got, err := editor().Change(t.Context(), read(t, text),
			edit.Change{Target: whole(t, "2026-03-09"), Times: edit.Times{Start: to(t, tt.to)}})
		if err != nil {
			t.Errorf("%s: %v", tt.rule, err)
			continue
		}
		o := valid(t, got.Document)
		if rule, all := o.Master.Property("RRULE").Value(), expand(t, o); rule != tt.want || len(all) != 1 ||
			all[0].Start != at(t, tt.to).Civil.Seconds() {
			t.Errorf("%s: %s, %v; want %s", tt.rule, rule, all, tt.want)
		}
	}
	many := calendarOf(eventOf("DTSTART:20260309T090000Z", "RRULE:FREQ=YEARLY;BYWEEKNO=-17;COUNT=2"))
	_, err := editor().Change(t.Context(), read(t, many),
		edit.Change{Target: whole(t, "2026-03-09"), Times: edit.Times{Start: to(t, "20260310T110000Z")}})
	refused(t, err, edit.RuleBound, "no rule names each of its times 1 day 2 hours later")
}

// TestSplitWhereADayIsSkippedTo: what follows a birthday on a leap day, split in another year, stays one.
func TestSplitWhereADayIsSkippedTo(t *testing.T) {
	t.Parallel()
	text := calendarOf(eventOf("DTSTART;VALUE=DATE:20240229",
		"RRULE:RSCALE=GREGORIAN;FREQ=YEARLY;SKIP=BACKWARD;COUNT=6", "SUMMARY:a"))
	aim := edit.Target{Instance: at(t, "2025-02-28"), Scope: edit.Following}
	got, err := editor().Change(t.Context(), read(t, text),
		edit.Change{Target: aim, Fields: edit.Fields{Summary: edit.To("b")}})
	if err != nil {
		t.Fatal(err)
	}
	var days []string
	for _, s := range expand(t, valid(t, got.Split)) {
		days = append(days, s.Wall.String()[:10])
	}
	if diff := cmp.Diff("2025-02-28 2026-02-28 2027-02-28 2028-02-29 2029-02-28", strings.Join(days, " ")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
