package service_test

import (
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// instances writes the instances that a question finds as "uid start".
func (h *house) instances(c calendar.Caller, cal calendar.Calendar, q query.InstanceQuery) string {
	h.t.Helper()
	var list []string
	for i, err := range h.Instances(h.ctx, c, cal, q) {
		h.must(err)
		at := "never"
		if !i.Start.Time.IsZero() {
			at = i.Start.Time.UTC().Format("0102T15")
		}
		list = append(list, string(i.Object.UID)+" "+at)
	}
	return strings.Join(list, ", ")
}

func TestInstances(t *testing.T) {
	each(t, func(h *house) {
		cal := h.calendar(h.alice, "work")
		for name, data := range map[string]string{
			"a-early": event("a-early", 2, "x"),
			"b-on-9":  event("b-on-9", 9, "y"),
			"d-weekly": text(calendar.Event, "d-weekly", "DTSTART;TZID=Europe/Berlin:20260105T090000", "DURATION:PT1H",
				"RRULE:FREQ=WEEKLY"),
			"e-day":  text(calendar.Event, "e-day", "DTSTART;VALUE=DATE:20260331"),
			"f-task": text(calendar.Todo, "f-task", "DUE:20260309T000000Z"),
		} {
			h.put(h.alice, cal, calendar.ObjectName(name+".ics"), data)
		}
		tokyo, err := zone.Lookup("Asia/Tokyo")
		h.must(err)
		during := func(from, until int) filter.TimeRange {
			return filter.TimeRange{
				Start: time.Date(2026, 3, from, 0, 0, 0, 0, time.UTC),
				End:   time.Date(2026, 3, until, 0, 0, 0, 0, time.UTC),
			}
		}
		for _, tt := range []struct {
			what string
			q    query.InstanceQuery
			want string
		}{
			{
				"two weeks, over the change of the clocks",
				query.InstanceQuery{Kind: calendar.Event, During: during(22, 32)},
				"d-weekly 0323T08, d-weekly 0330T07, e-day 0331T00",
			},
			{
				"a day elsewhere",
				query.InstanceQuery{Kind: calendar.Event, During: during(31, 32), Timezone: tokyo},
				"e-day 0330T15",
			},
			{
				"the first of each",
				query.InstanceQuery{Kind: calendar.Event, During: filter.TimeRange{Start: during(8, 9).Start}, Most: 1},
				"b-on-9 0309T09, d-weekly 0309T08, e-day 0331T00",
			},
			{"tasks", query.InstanceQuery{Kind: calendar.Todo, During: during(1, 32)}, "f-task never"},
		} {
			if got := h.instances(h.alice, cal, tt.q); got != tt.want {
				t.Errorf("%s: %s, want %s", tt.what, got, tt.want)
			}
		}
		cal.Access = calendar.FreeBusyAccess
		for i, err := range h.Instances(h.ctx, h.bob, cal, query.InstanceQuery{Kind: calendar.Event}) {
			h.must(err)
			if i.Object.Summary != "Busy" {
				t.Errorf("bob is told of %s", i.Object.Summary)
			}
		}
	})
}

// TestInstancesThatAreUnclear: what nobody can expand is there all the same.
func TestInstancesThatAreUnclear(t *testing.T) {
	each(t, func(h *house) {
		cal := h.calendar(h.alice, "work")
		// RFC 7529: kept, but not calculated with.
		h.put(h.alice, cal, "x.ics",
			text(calendar.Event, "x", "DTSTART:20260301T090000Z", "DURATION:PT1H", "RRULE:RSCALE=CHINESE;FREQ=YEARLY"))
		n := 0
		for i, err := range h.Instances(h.ctx, h.alice, cal,
			query.InstanceQuery{Kind: calendar.Event, During: filter.TimeRange{
				Start: time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC), End: time.Date(2027, 4, 1, 0, 0, 0, 0, time.UTC),
			}}) {
			h.must(err)
			if n++; !i.Unclear || i.Object.UID != "x" {
				t.Errorf("it is %+v", i)
			}
		}
		if n != 1 {
			t.Errorf("it is there %d times", n)
		}
	})
}

func TestInstanceOf(t *testing.T) {
	each(t, func(h *house) {
		cal := h.calendar(h.alice, "work")
		h.put(h.alice, cal, "w.ics",
			text(calendar.Event, "w", "DTSTART;TZID=Europe/Berlin:20260105T090000", "DURATION:PT1H",
				"RRULE:FREQ=WEEKLY"))
		o, err := h.ObjectByUID(h.ctx, nil, h.alice, cal, "w")
		h.must(err)
		id := ical.Date(ical.CivilDate(2026, time.March, 30))
		i, err := h.InstanceOf(h.ctx, nil, cal, o, id)
		h.must(err)
		if got := i.Start.Time.Format(time.RFC3339); got != "2026-03-30T09:00:00+02:00" || i.Object.UID != "w" {
			t.Errorf("it is %s at %s", i.Object.UID, got)
		}
		if _, err := h.InstanceOf(h.ctx, nil, cal, o,
			ical.Date(ical.CivilDate(2026, time.March, 31))); calendar.ReasonOf(err) != calendar.NotFound {
			t.Errorf("another day: %v", err)
		}
	})
}
