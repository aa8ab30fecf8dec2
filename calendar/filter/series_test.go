package filter_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/recur"
)

const weekly = `
	BEGIN:VEVENT
	DTSTART;TZID=Europe/Berlin:20200106T090000
	DTEND;TZID=Europe/Berlin:20200106T100000
	RRULE:FREQ=WEEKLY
	SUMMARY:Stand-up
	END:VEVENT`

// TestSeries decides about series by their instances in the window.
func TestSeries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		windows    []at
	}{
		{"endless, years later", weekly, []at{
			{"20260309T080000Z/20260309T090000Z", true},
			{"20260309T090000Z/20260309T100000Z", false},
			{"20260309T083000Z/20260309T084000Z", true}, // D1: within a running instance
			{"20260310T000000Z/20260316T000000Z", false},
			{"20260706T070000Z/20260706T080000Z", true}, // in summer an hour earlier
			{"20260706T080000Z/20260706T090000Z", false},
			{"20260310T000000Z/", true}, // D1: start only
			{"/20200106T080000Z", false},
			{"/20200106T080001Z", true}, // D1: end only
		}},
		{"moved out and in", weekly + `
			BEGIN:VEVENT
			RECURRENCE-ID;TZID=Europe/Berlin:20260309T090000
			DTSTART;TZID=Europe/Berlin:20260311T140000
			DTEND;TZID=Europe/Berlin:20260311T150000
			END:VEVENT`, []at{
			{"20260309T000000Z/20260310T000000Z", false},
			{"20260311T000000Z/20260312T000000Z", true},
			{"20260311T140000Z/20260312T000000Z", false},
		}},
		{"one cancelled is still an instance", weekly + `
			BEGIN:VEVENT
			RECURRENCE-ID;TZID=Europe/Berlin:20260309T090000
			DTSTART;TZID=Europe/Berlin:20260309T090000
			DTEND;TZID=Europe/Berlin:20260309T100000
			STATUS:CANCELLED
			END:VEVENT`, []at{{"20260309T000000Z/20260310T000000Z", true}}},
		{"one left out is none", `
			BEGIN:VEVENT
			DTSTART:20260302T090000Z
			DURATION:PT1H
			RRULE:FREQ=WEEKLY;COUNT=3
			EXDATE:20260309T090000Z
			END:VEVENT`, []at{
			{"20260309T000000Z/20260310T000000Z", false},
			{"20260316T000000Z/20260317T000000Z", true},
			{"20260317T000000Z/", false},
		}},
		{
			"an added period", `
			BEGIN:VEVENT
			DTSTART:20260302T090000Z
			RDATE;VALUE=PERIOD:20260310T090000Z/PT2H
			END:VEVENT`,
			[]at{{"20260310T103000Z/20260310T120000Z", true}, {"20260310T110000Z/20260310T120000Z", false}},
		},
		{"later for this and the future", weekly + `
			BEGIN:VEVENT
			RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Berlin:20260309T090000
			DTSTART;TZID=Europe/Berlin:20260309T160000
			DTEND;TZID=Europe/Berlin:20260309T170000
			END:VEVENT`, []at{
			{"20260302T080000Z/20260302T090000Z", true},
			{"20260316T080000Z/20260316T090000Z", false},
			{"20260316T150000Z/20260316T160000Z", true},
		}},
		{"overrides alone", `
			BEGIN:VEVENT
			RECURRENCE-ID:20260309T090000Z
			DTSTART:20260309T100000Z
			DURATION:PT1H
			END:VEVENT
			BEGIN:VEVENT
			RECURRENCE-ID:20260316T090000Z
			DTSTART:20260316T100000Z
			DURATION:PT1H
			END:VEVENT`, []at{
			{"20260309T103000Z/20260309T110000Z", true},
			{"20260310T000000Z/20260316T100000Z", false},
			{"20260316T100000Z/20260317T000000Z", true},
		}},
		{"whole days", `
			BEGIN:VEVENT
			DTSTART;VALUE=DATE:20260102
			RRULE:FREQ=MONTHLY
			END:VEVENT`, []at{
			{"20260301T120000Z/20260302T000000Z", false},
			{"20260302T120000Z/20260302T130000Z", true},
			{"20260303T000000Z/20260304T000000Z", false},
		}},
	} {
		o := object(t, c.text)
		for _, w := range c.windows {
			if got := match(t, takesPlace(t, "VEVENT", w.window), o); got != w.want {
				t.Errorf("%s, %s: %v, want %v", c.name, w.window, got, w.want)
			}
		}
	}
}

// TestTaskSeries: the dates of a task move with its rule.
func TestTaskSeries(t *testing.T) {
	t.Parallel()
	o := object(t, `
		BEGIN:VTODO
		DTSTART:20260302T090000Z
		DUE:20260303T090000Z
		RRULE:FREQ=WEEKLY
		END:VTODO
		BEGIN:VTODO
		RECURRENCE-ID:20260316T090000Z
		STATUS:COMPLETED
		COMPLETED:20260401T000000Z
		END:VTODO`)
	for _, w := range []at{
		{"20260309T000000Z/20260309T090000Z", false},
		{"20260310T080000Z/20260310T090000Z", true},
		{"20260310T090000Z/20260311T090000Z", false},
		{"20260316T090000Z/20260316T100000Z", true}, // done, with no dates but the series'
		{"20260317T000000Z/20260317T090000Z", false},
	} {
		if got := match(t, takesPlace(t, "VTODO", w.window), o); got != w.want {
			t.Errorf("%s: %v, want %v", w.window, got, w.want)
		}
	}
}

// TestTaskSeriesByDue: a task without a start that recurs is due again and again.
func TestTaskSeriesByDue(t *testing.T) {
	t.Parallel()
	o := object(t, `
		BEGIN:VTODO
		DUE;TZID=Europe/Berlin:20260302T170000
		RRULE:FREQ=WEEKLY
		END:VTODO`)
	for _, w := range []at{
		{"20260309T150000Z/20260309T160000Z", true}, // end >= DUE
		{"20260309T150000Z/20260309T155959Z", false},
		{"20260309T160000Z/20260309T170000Z", false}, // not start < DUE
	} {
		if got := match(t, takesPlace(t, "VTODO", w.window), o); got != w.want {
			t.Errorf("%s: %v, want %v", w.window, got, w.want)
		}
	}
}

// TestSameComponent: the time and the properties that are asked for are those of one
// component. Only one override has another summary.
func TestSameComponent(t *testing.T) {
	t.Parallel()
	o := object(t, weekly+`
		BEGIN:VEVENT
		RECURRENCE-ID;TZID=Europe/Berlin:20260309T090000
		DTSTART;TZID=Europe/Berlin:20260309T090000
		DTEND;TZID=Europe/Berlin:20260309T100000
		SUMMARY:Party
		END:VEVENT`)
	for _, c := range []struct {
		summary, window string
		want            bool
	}{
		{"party", "20260309T000000Z/20260310T000000Z", true},
		{"party", "20260316T000000Z/20260317T000000Z", false},
		{"party", "20260316T000000Z/", false}, // without a search through all time
		{"stand-up", "20260309T000000Z/20260310T000000Z", false},
		{"stand-up", "20260309T000000Z/20260317T000000Z", true},
	} {
		f := under(filter.CompFilter{
			Name: "VEVENT", TimeRange: during(t, c.window),
			Props: []filter.PropFilter{{Name: "SUMMARY", Text: &filter.TextMatch{Text: c.summary}}},
		})
		if got := match(t, f, o); got != c.want {
			t.Errorf("%s in %s: %v, want %v", c.summary, c.window, got, c.want)
		}
	}
	// An override for the future too has instances after its own.
	o = object(t, weekly+`
		BEGIN:VEVENT
		RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Berlin:20260309T090000
		DTSTART;TZID=Europe/Berlin:20260309T160000
		DURATION:PT1H
		SUMMARY:Party
		END:VEVENT`)
	for window, want := range map[string]bool{
		"20260302T000000Z/20260303T000000Z": false, "20260316T000000Z/20260317T000000Z": true,
	} {
		f := under(filter.CompFilter{
			Name: "VEVENT", TimeRange: during(t, window),
			Props: []filter.PropFilter{{Name: "SUMMARY", Text: &filter.TextMatch{Text: "party"}}},
		})
		if got := match(t, f, o); got != want {
			t.Errorf("party from now on in %s: %v, want %v", window, got, want)
		}
	}
}

// TestSeveralQuestions: two filters for VEVENT are two questions, which two components
// may answer.
func TestSeveralQuestions(t *testing.T) {
	t.Parallel()
	o := object(t, weekly+`
		BEGIN:VEVENT
		RECURRENCE-ID;TZID=Europe/Berlin:20260309T090000
		DTSTART;TZID=Europe/Berlin:20260309T090000
		DTEND;TZID=Europe/Berlin:20260309T100000
		SUMMARY:Party
		END:VEVENT`)
	two := under(
		filter.CompFilter{Name: "VEVENT", TimeRange: during(t, "20260316T000000Z/20260317T000000Z")},
		filter.CompFilter{
			Name: "VEVENT", Props: []filter.PropFilter{{Name: "SUMMARY", Text: &filter.TextMatch{Text: "party"}}},
		},
	)
	if !match(t, two, o) {
		t.Error("the two do not answer together")
	}
}

// TestBudget: a series that is too expensive is an error, and so is a request that ends.
func TestBudget(t *testing.T) {
	t.Parallel()
	o := object(t, `
		BEGIN:VEVENT
		DTSTART:20200101T000000Z
		RRULE:FREQ=SECONDLY;BYSECOND=1
		EXRULE:FREQ=SECONDLY
		BEGIN:VALARM
		TRIGGER:-PT1M
		END:VALARM
		END:VEVENT`)
	ask := takesPlace(t, "VEVENT", "20260101T000000Z/")
	in := filter.Context{Zones: zones, Budget: recur.Budget{Steps: 2000, Instances: 100}}
	if _, err := ask.Match(t.Context(), o, in); !errors.Is(err, recur.ErrBudget) {
		t.Errorf("%v, want it to be too expensive", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ask.Match(gone, o, filter.Context{Zones: zones}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the request's end", err)
	}
}

// meter is a context that counts how often an expansion looks at it, which is every so
// many steps.
type meter struct {
	context.Context
	looks *int
}

func (m meter) Err() error {
	*m.looks++
	return m.Context.Err()
}

// TestSharedBudget: what one object may cost does not grow with the number of its series.
func TestSharedBudget(t *testing.T) {
	t.Parallel()
	const hopeless = "DTSTART:20200101T000000Z\nRRULE:FREQ=SECONDLY\nEXRULE:FREQ=SECONDLY\nEND:AVAILABLE\n"
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "BEGIN:AVAILABLE\nUID:%d\n%s", i, hopeless)
	}
	o := object(t, "BEGIN:VAVAILABILITY\n"+b.String()+"END:VAVAILABILITY")
	f := under(filter.CompFilter{Name: "VAVAILABILITY", Components: []filter.CompFilter{
		{Name: "AVAILABLE", TimeRange: during(t, "20260101T000000Z/")},
	}})
	looks := 0
	in := filter.Context{Zones: zones, Budget: recur.Budget{Steps: 100_000, Instances: 100}}
	_, err := f.Match(meter{t.Context(), &looks}, o, in)
	if !errors.Is(err, recur.ErrBudget) || looks > 2000 {
		t.Errorf("%v after %d looks", err, looks)
	}
}
