package filter_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar/filter"
)

// TestPrefilter tells what an index is asked for. That it is never too little, every other
// test of this package checks.
func TestPrefilter(t *testing.T) {
	t.Parallel()
	seconds := func(value string, more int64) *int64 {
		at := moment(t, value).Unix() + more
		return &at
	}
	const march10 = "20260310T000000Z"
	for _, c := range []struct {
		name string
		ask  filter.Filter
		want filter.Selection
	}{
		{"nothing", nil, filter.Selection{Exact: true}},
		{"any", under(), filter.Selection{Exact: true}},
		{"events", under(filter.CompFilter{Name: "vevent"}), filter.Selection{Kinds: []string{"VEVENT"}, Exact: true}},
		{
			"events and tasks", under(filter.CompFilter{Name: "VEVENT"}, filter.CompFilter{Name: "VTODO"}),
			filter.Selection{Kinds: []string{}, Exact: true},
		},
		{
			"not tasks", under(filter.CompFilter{Name: "VTODO", IsNotDefined: true}),
			filter.Selection{Kinds: []string{"VEVENT", "VJOURNAL", "VFREEBUSY", "VAVAILABILITY"}, Exact: true},
		},
		{
			"an event for the calendar",
			filter.Filter{{Name: "VEVENT"}},
			filter.Selection{Kinds: []string{}, Exact: true},
		},
		{
			"no event for the calendar",
			filter.Filter{{Name: "VEVENT", IsNotDefined: true}},
			filter.Selection{Exact: true},
		},
		{
			"no calendar",
			filter.Filter{{Name: "VCALENDAR", IsNotDefined: true}},
			filter.Selection{Kinds: []string{}, Exact: true},
		},
		{"zones", under(filter.CompFilter{Name: "VTIMEZONE"}), filter.Selection{}},
		{
			"titles", under(filter.CompFilter{Name: "VEVENT", Props: []filter.PropFilter{{Name: "SUMMARY"}}}),
			filter.Selection{Kinds: []string{"VEVENT"}},
		},
		{"alarms, which may be far away", under(filter.CompFilter{Name: "VEVENT", Components: []filter.CompFilter{
			{Name: "VALARM", TimeRange: during(t, march10+"/")},
		}}), filter.Selection{Kinds: []string{"VEVENT"}}},
		{
			"a time", takesPlace(t, "VEVENT", march10+"/20260311T000000Z"),
			filter.Selection{
				Kinds: []string{"VEVENT"}, From: seconds(march10, -1), Until: seconds("20260311T000000Z", 1),
			},
		},
		{
			"start only", takesPlace(t, "VTODO", march10+"/"),
			filter.Selection{Kinds: []string{"VTODO"}, From: seconds(march10, -1)},
		},
		{
			"end only", takesPlace(t, "VTODO", "/"+march10),
			filter.Selection{Kinds: []string{"VTODO"}, Until: seconds(march10, 1)},
		},
		{"two times", under(
			filter.CompFilter{Name: "VEVENT", TimeRange: during(t, "20260101T000000Z/20260401T000000Z")},
			filter.CompFilter{Name: "VEVENT", TimeRange: during(t, march10+"/20260501T000000Z")},
		), filter.Selection{
			Kinds: []string{"VEVENT"}, From: seconds(march10, -1), Until: seconds("20260401T000000Z", 1),
		}},
	} {
		if diff := cmp.Diff(c.want, c.ask.Prefilter()); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}
