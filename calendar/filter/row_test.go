package filter_test

import (
	"testing"
	"time"

	"caldav-mcp-server/calendar/filter"
)

// at says whether a window holds what a test is about.
type at struct {
	window string
	want   bool
}

// TestEventRows is the table of RFC 4791 §9.9 for VEVENT, row by row and edge by edge.
func TestEventRows(t *testing.T) {
	t.Parallel()
	rows(t, "VEVENT", []row{
		{"DTEND", "", []string{"DTSTART:20260310T100000Z", "DTEND:20260310T110000Z"}, hour},
		{
			"DTEND in a zone", "",
			[]string{"DTSTART;TZID=Europe/Berlin:20260310T110000", "DTEND;TZID=Europe/Berlin:20260310T120000"},
			hour,
		},
		{"DTEND, floating", "Europe/Berlin", []string{"DTSTART:20260310T110000", "DTEND:20260310T120000"}, hour},
		{"DURATION", "", []string{"DTSTART:20260310T100000Z", "DURATION:PT1H"}, hour},
		{"DURATION of nothing", "", []string{"DTSTART:20260310T100000Z", "DURATION:PT0S"}, instant},
		{"DTEND at once", "", []string{"DTSTART:20260310T100000Z", "DTEND:20260310T100000Z"}, instant},
		{"DATE-TIME alone", "", []string{"DTSTART:20260310T100000Z"}, instant},
		{"DATE alone", "", []string{"DTSTART;VALUE=DATE:20260310"}, day},
		{"DATE with DTEND", "", []string{"DTSTART;VALUE=DATE:20260310", "DTEND;VALUE=DATE:20260311"}, day},
		{"DATE with DURATION", "", []string{"DTSTART;VALUE=DATE:20260310", "DURATION:P1D"}, day},
		{"DATE in New York", "America/New_York", []string{"DTSTART;VALUE=DATE:20260310"}, dayInNewYork},
		{"cancelled", "", []string{"DTSTART:20260310T100000Z", "DTEND:20260310T110000Z", "STATUS:CANCELLED"}, hour},
		{
			"across a change of the clocks", "",
			[]string{"DTSTART;TZID=America/New_York:20260307T120000", "DURATION:P1D"},
			[]at{
				{"20260308T155959Z/20260309T000000Z", true}, // nominal: 23 hours, until 16:00Z
				{"20260308T160000Z/20260309T000000Z", false},
			},
		},
		{
			"one day, across the change", "",
			[]string{"DTSTART;TZID=America/New_York:20260307T120000", "DURATION:PT24H"},
			[]at{
				{"20260308T165959Z/20260309T000000Z", true},
				{"20260308T170000Z/20260309T000000Z", false},
			},
		},
	})
}

// hour is what windows hold of an hour from 10 to 11.
var hour = []at{
	{"20260310T090000Z/20260310T100000Z", false},
	{"20260310T090000Z/20260310T100001Z", true},
	{"20260310T105959Z/20260310T120000Z", true},
	{"20260310T110000Z/20260310T120000Z", false},
	{"20260310T101500Z/20260310T103000Z", true}, // within it
	{"20260310T100000Z/20260310T110000Z", true},
	{"20260101T000000Z/20270101T000000Z", true},
	{"20260310T105959Z/", true},
	{"20260310T110000Z/", false},
	{"/20260310T100000Z", false},
	{"/20260310T100001Z", true},
	{"/", true},
}

// instant is what windows hold of a moment at 10.
var instant = []at{
	{"20260310T100000Z/20260310T110000Z", true},
	{"20260310T100001Z/20260310T110000Z", false},
	{"20260310T090000Z/20260310T100000Z", false},
	{"20260310T090000Z/20260310T100001Z", true},
	{"20260310T100000Z/", true},
	{"20260310T100001Z/", false},
	{"/20260310T100000Z", false},
	{"/20260310T100001Z", true},
}

// day is what windows hold of March 10th in UTC.
var day = []at{
	{"20260309T000000Z/20260310T000000Z", false},
	{"20260309T000000Z/20260310T000001Z", true},
	{"20260310T235959Z/20260311T120000Z", true},
	{"20260311T000000Z/20260311T120000Z", false},
}

// dayInNewYork is the same day, which begins four hours later there.
var dayInNewYork = []at{
	{"20260310T000000Z/20260310T040000Z", false},
	{"20260310T000000Z/20260310T040001Z", true},
	{"20260311T035959Z/20260311T120000Z", true},
	{"20260311T040000Z/20260311T120000Z", false},
}

// TestTodoRows is the table for VTODO.
func TestTodoRows(t *testing.T) {
	t.Parallel()
	rows(t, "VTODO", []row{
		{"DTSTART and DURATION", "", []string{"DTSTART:20260310T100000Z", "DURATION:PT1H"}, []at{
			{"20260310T110000Z/20260310T120000Z", true}, // start <= DTSTART+DURATION
			{"20260310T110001Z/20260310T120000Z", false},
			{"20260310T090000Z/20260310T100000Z", false},
			{"20260310T090000Z/20260310T100001Z", true},
			{"20260310T101500Z/20260310T103000Z", true},
		}},
		{"DTSTART and no DURATION to speak of", "", []string{"DTSTART:20260310T100000Z", "DURATION:PT0S"}, []at{
			{"20260310T090000Z/20260310T100000Z", true}, // end >= DTSTART+DURATION
			{"20260310T090000Z/20260310T095959Z", false},
			{"20260310T100000Z/20260310T110000Z", true},
			{"20260310T100001Z/20260310T110000Z", false},
		}},
		{"DTSTART and DUE", "", []string{"DTSTART:20260310T100000Z", "DUE:20260310T110000Z"}, []at{
			{"20260310T105959Z/20260310T120000Z", true},
			{"20260310T110000Z/20260310T120000Z", false},
			{"20260310T090000Z/20260310T100000Z", false},
			{"20260310T090000Z/20260310T100001Z", true},
		}},
		{"DTSTART is DUE", "", []string{"DTSTART:20260310T100000Z", "DUE:20260310T100000Z"}, []at{
			{"20260310T100000Z/20260310T110000Z", true}, // start <= DTSTART
			{"20260310T100001Z/20260310T110000Z", false},
			{"20260310T090000Z/20260310T100000Z", true}, // end >= DUE
			{"20260310T090000Z/20260310T095959Z", false},
		}},
		{
			"DTSTART alone", "",
			[]string{"DTSTART:20260310T100000Z", "COMPLETED:20260501T000000Z", "CREATED:20260101T000000Z"},
			instant,
		},
		{
			"DUE alone", "",
			[]string{"DUE:20260310T100000Z", "COMPLETED:20260501T000000Z", "CREATED:20260101T000000Z"},
			[]at{
				{"20260310T090000Z/20260310T100000Z", true}, // end >= DUE
				{"20260310T090000Z/20260310T095959Z", false},
				{"20260310T095959Z/20260310T110000Z", true},
				{"20260310T100000Z/20260310T110000Z", false}, // not start <= DUE
			},
		},
		{"COMPLETED and CREATED", "", []string{"COMPLETED:20260310T100000Z", "CREATED:20260301T100000Z"}, []at{
			{"20260301T000000Z/20260301T100000Z", true},
			{"20260301T000000Z/20260301T095959Z", false},
			{"20260305T000000Z/20260306T000000Z", true},
			{"20260310T100000Z/20260311T000000Z", true},
			{"20260310T100001Z/20260311T000000Z", false},
		}},
		{"COMPLETED alone", "", []string{"COMPLETED:20260310T100000Z"}, []at{
			{"20260310T100000Z/20260310T110000Z", true},
			{"20260310T100001Z/20260310T110000Z", false},
			{"20260310T090000Z/20260310T100000Z", true},
			{"20260310T090000Z/20260310T095959Z", false},
		}},
		{"CREATED alone", "", []string{"CREATED:20260310T100000Z"}, []at{
			{"20260310T090000Z/20260310T100000Z", false},
			{"20260310T090000Z/20260310T100001Z", true},
			{"20300101T000000Z/20300102T000000Z", true},
			{"20300101T000000Z/", true},
		}},
		{
			"nothing", "",
			[]string{"SUMMARY:one day"},
			[]at{{"20260310T090000Z/20260310T100000Z", true}, {"/20260310T100000Z", true}},
		},
	})
}

// TestOtherRows are the tables for VJOURNAL, VFREEBUSY and VAVAILABILITY (RFC 7953 §5).
func TestOtherRows(t *testing.T) {
	t.Parallel()
	rows(t, "VJOURNAL", []row{
		{"DATE-TIME", "", []string{"DTSTART:20260310T100000Z"}, instant},
		{"DATE", "", []string{"DTSTART;VALUE=DATE:20260310"}, day},
		{
			"no DTSTART", "",
			[]string{"SUMMARY:thoughts"},
			[]at{{"20260310T090000Z/20260310T100000Z", false}, {"/", false}},
		},
	})
	rows(t, "VFREEBUSY", []row{
		{"DTSTART and DTEND", "", []string{"DTSTART:20260310T100000Z", "DTEND:20260310T110000Z"}, []at{
			{"20260310T110000Z/20260310T120000Z", true}, // start <= DTEND
			{"20260310T110001Z/20260310T120000Z", false},
			{"20260310T090000Z/20260310T100000Z", false},
			{"20260310T090000Z/20260310T100001Z", true},
		}},
		{"FREEBUSY", "", []string{"FREEBUSY:20260310T080000Z/PT1H,20260310T100000Z/20260310T110000Z"}, []at{
			{"20260310T090000Z/20260310T100000Z", false},
			{"20260310T090000Z/20260310T100001Z", true},
			{"20260310T083000Z/20260310T084000Z", true},
			{"20260310T110000Z/20260310T120000Z", false},
		}},
		{"FREEBUSY of a day", "", []string{"FREEBUSY:20260310T080000Z/P1D"}, []at{
			{"20260311T075959Z/", true}, {"20260311T080000Z/", false},
		}},
		{"neither", "", []string{"COMMENT:none"}, []at{{"/", false}}},
	})
	rows(t, "VAVAILABILITY", []row{
		{"DTSTART and DTEND", "", []string{"DTSTART:20260310T100000Z", "DTEND:20260310T110000Z"}, hour},
		{"DTSTART and DURATION", "", []string{"DTSTART:20260310T100000Z", "DURATION:PT1H"}, hour},
		{"DTSTART alone", "", []string{"DTSTART:20260310T100000Z"}, []at{
			{"20260310T090000Z/20260310T100000Z", false},
			{"20260310T090000Z/20260310T100001Z", true},
			{"20360310T090000Z/", true},
		}},
		{"DTEND alone", "", []string{"DTEND:20260310T100000Z"}, []at{
			{"20260310T100000Z/", false}, {"20260310T095959Z/", true}, {"/19700101T000000Z", true},
		}},
		{"neither", "", []string{"SUMMARY:always"}, []at{{"20260310T090000Z/20260310T100000Z", true}}},
	})
}

type row struct {
	name     string
	floating string
	lines    []string
	windows  []at
}

func rows(t *testing.T, kind filter.ComponentName, list []row) {
	t.Helper()
	for _, r := range list {
		o := component(t, string(kind), r.lines...)
		if r.floating == "" {
			r.floating = "UTC"
		}
		for _, w := range r.windows {
			if got := matchIn(t, takesPlace(t, kind, w.window), o, r.floating); got != w.want {
				t.Errorf("%s %s, %s: %v, want %v", kind, r.name, w.window, got, w.want)
			}
			// A VCALENDAR takes place when what is in it does.
			whole := filter.Filter{{Name: "vcalendar", TimeRange: during(t, w.window)}}
			if got := matchIn(t, whole, o, r.floating); got != w.want {
				t.Errorf("VCALENDAR of %s %s, %s: %v, want %v", kind, r.name, w.window, got, w.want)
			}
		}
	}
}

// TestEndWithinASecond: what begins in the second in which a window ends is in it.
func TestEndWithinASecond(t *testing.T) {
	t.Parallel()
	o := component(t, "VEVENT", "DTSTART:20260310T100000Z")
	ask := func(end time.Time) filter.Filter {
		return under(filter.CompFilter{Name: "VEVENT", TimeRange: &filter.TimeRange{End: end}})
	}
	ten := moment(t, "20260310T100000Z")
	if match(t, ask(ten), o) || !match(t, ask(ten.Add(time.Millisecond)), o) {
		t.Error("the window ends at another time than it says")
	}
}
