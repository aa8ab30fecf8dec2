package recur_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// parseSet makes the set of the components in a calendar's lines; a component
// with a RECURRENCE-ID is an override.
func parseSet(t testing.TB, lines string) *recur.Set {
	t.Helper()
	set, err := trySet(lines, time.UTC)
	if err != nil {
		t.Fatalf("%v\n%s", err, lines)
	}
	return set
}

func trySet(lines string, floating *time.Location) (*recur.Set, error) {
	text := "BEGIN:VCALENDAR\n" + strings.TrimSpace(lines) + "\nEND:VCALENDAR\n"
	document, err := ical.Parse([]byte(text), ical.DefaultLimits())
	if err != nil {
		return nil, err
	}
	calendar, err := document.Calendar()
	if err != nil {
		return nil, err
	}
	var master *ical.Component
	var overrides []*ical.Component
	for c := range calendar.Components() {
		switch {
		case c.Name() == "VTIMEZONE":
		case c.Property("RECURRENCE-ID") != nil:
			overrides = append(overrides, c)
		default:
			master = c
		}
	}
	return recur.FromComponents(master, overrides, zone.FromDocument(calendar), floating)
}

// event puts lines into a VEVENT.
func event(lines ...string) string {
	return "BEGIN:VEVENT\nUID:1\n" + strings.Join(lines, "\n") + "\nEND:VEVENT\n"
}

// starts lists the first instances of a set from an instant on, in their own
// zone: 2026-03-08 01:30 EST, or 2026-03-08 for a day.
func starts(t testing.TB, set *recur.Set, from time.Time, most int) []string {
	t.Helper()
	var list []string
	for instance, err := range set.Between(context.Background(), from, time.Time{}, recur.DefaultBudget()) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, show(instance.Start))
		if len(list) == most {
			break
		}
	}
	return list
}

func show(m recur.Moment) string {
	if m.AllDay {
		return m.Time.Format("2006-01-02")
	}
	if m.Floating {
		return m.Time.Format("2006-01-02 15:04 floating")
	}
	return m.Time.Format("2006-01-02 15:04 MST")
}

// spans shows whole instances: the recurrence id, the start, the end and the
// summary.
func spans(t testing.TB, set *recur.Set, from, to time.Time) []string {
	t.Helper()
	instances, err := set.Instances(context.Background(), from, to, recur.DefaultBudget())
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, i := range instances {
		line := show(i.Start) + " to " + show(i.End)
		if show(i.RecurrenceID) != show(i.Start) {
			line += ", was " + show(i.RecurrenceID)
		}
		if summary := i.Component.Property("SUMMARY"); summary != nil {
			line += " (" + summary.Text() + ")"
		}
		list = append(list, line)
	}
	return list
}

// in2026 is midnight in UTC.
func in2026(month time.Month, day int) time.Time {
	return time.Date(2026, month, day, 0, 0, 0, 0, time.UTC)
}

// instants lists the first starts from an instant on, in UTC.
func instants(t testing.TB, set *recur.Set, from time.Time, most int) []time.Time {
	t.Helper()
	var list []time.Time
	for instance, err := range set.Between(context.Background(), from, time.Time{}, recur.DefaultBudget()) {
		if err != nil {
			t.Fatal(err)
		}
		if len(list) > 0 && !instance.Start.Time.After(list[len(list)-1]) {
			t.Fatalf("%v does not come after %v", instance.Start.Time, list[len(list)-1])
		}
		list = append(list, instance.Start.Time.UTC())
		if len(list) >= most {
			break
		}
	}
	return list
}
