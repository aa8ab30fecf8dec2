package views_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/grid"
	"caldav-mcp-server/mcp/views"
)

var berlin = func() *time.Location {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		panic(err)
	}
	return zone
}()

func at(day, hour int) time.Time { return time.Date(2026, time.March, day, hour, 0, 0, 0, berlin) }

func event(title string, start, end time.Time, allDay bool) views.Event {
	return views.Event{Title: title, Item: grid.Item{Start: start, End: end, AllDay: allDay}}
}

// weeks describes each week: its hours, and the events of its days.
func weeks(t *testing.T, events []views.Event, from time.Time) (all []string) {
	t.Helper()
	data, err := json.Marshal(views.For(calendar.User{}, at(2, 12)).In(berlin).Week(events, from, false))
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Weeks []struct {
			Title string
			From  int
			Hours []string
			Days  []struct {
				Name   string
				Today  bool
				Bars   []int
				Blocks []struct{ Event, Top, Bottom, Column, Columns int }
			}
		}
		Events []struct{ Title, Time string }
		Note   string
	}
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	for _, w := range v.Weeks {
		all = append(all, fmt.Sprintf("%s: %d+%d", w.Title, w.From, len(w.Hours)))
		for _, d := range w.Days {
			for _, b := range d.Bars {
				if b >= 0 {
					all = append(all, fmt.Sprintf("%s %v: %s", d.Name, d.Today, v.Events[b].Title))
				}
			}
			for _, b := range d.Blocks {
				all = append(all, fmt.Sprintf("%s %v: %s %s %d-%d %d/%d", d.Name, d.Today, v.Events[b.Event].Title,
					v.Events[b.Event].Time, b.Top, b.Bottom, b.Column, b.Columns))
			}
		}
	}
	if v.Note != "" {
		all = append(all, v.Note)
	}
	return all
}

func TestWeek(t *testing.T) {
	got := weeks(t, []views.Event{
		event("Trip", at(1, 0), at(4, 0), true),
		event("A", at(2, 7), at(2, 9), false), event("B", at(2, 8), at(2, 10), false),
		event("Night", at(16, 22), at(17, 2), false),
	}, at(2, 0))
	want := []string{
		"2 March – 8 March 2026: 7+11",
		"Mon 2 true: Trip", "Mon 2 true: A 07:00–09:00 420-540 0/2", "Mon 2 true: B 08:00–10:00 480-600 1/2",
		"Tue 3 false: Trip",
		"16 March – 22 March 2026: 0+24",
		"Mon 16 false: Night Mon 16 Mar, 22:00 – Tue 17 Mar, 02:00 1320-1440 0/1",
		"Tue 17 false: Night Mon 16 Mar, 22:00 – Tue 17 Mar, 02:00 0-120 0/1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("weeks (-want +got):\n%s", diff)
	}
}

func TestWeekWithoutEvents(t *testing.T) {
	for _, from := range []time.Time{at(5, 0), {}} {
		got := weeks(t, nil, from)
		if diff := cmp.Diff([]string{"2 March – 8 March 2026: 8+10"}, got); diff != "" {
			t.Errorf("from %v (-want +got):\n%s", from, diff)
		}
	}
}

// TestLongWeeks: a view has a limit, and says so.
func TestLongWeeks(t *testing.T) {
	var events []views.Event
	for week := range 20 {
		events = append(events, event(fmt.Sprint(week), at(2+7*week, 9), at(2+7*week, 10), false))
	}
	got := weeks(t, events, at(2, 0))
	if len(got) != 17 || got[16] != "Not everything is shown." {
		t.Errorf("%d lines: %q", len(got), got)
	}
	got = weeks(t, []views.Event{event("Years", at(2, 0), at(2, 0).AddDate(20, 0, 0), true)}, time.Time{})
	if got[len(got)-1] != "Not everything is shown." {
		t.Errorf("%q", got)
	}
}
