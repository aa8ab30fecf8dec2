package web

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/grid"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/ical"
)

const (
	// agendaDays is the number of days on the home page: this week and the next, or two weeks from a chosen day.
	agendaDays = 14
	// overdueDays is how long an overdue task stays on it.
	overdueDays = 60
	// mostEvents and mostTasks limit the lists, longestTitle the length of each title.
	mostEvents, mostTasks, longestTitle = 100, 50, 200
)

// agenda lists the coming days for the home page.
type agenda struct {
	// From is the first day in words; "" for today.
	From string
	// Earlier and Later are the first days of the previous and the next page, as dates.
	Earlier, Later string
	Days           []agendaDay
	Tasks          []agendaTask
	// Short is set if the page ends early because it is full, Crowded if it lacks events of its only day.
	Short, Crowded bool
	// Unread counts the unparsable events.
	Unread int
}

// agendaDay is a day with its events.
type agendaDay struct {
	Title  string
	Events []agendaEvent
}

// agendaEvent is one occurrence of an event.
type agendaEvent struct {
	When, Title, Place string
	Calendar           swatch
	Cancelled          bool
}

// agendaTask is a task that is due or overdue.
type agendaTask struct {
	Due, Title string
	Late       bool
	Calendar   swatch
	at         time.Time
}

// swatch is a calendar's name and colour.
type swatch struct{ Name, Color string }

func swatchOf(cal calendar.Calendar) swatch {
	color := calendar.DefaultColor
	if cal.Color != nil {
		if parsed, err := calendar.ParseColor(*cal.Color); err == nil {
			color = parsed
		}
	}
	return swatch{calendarName(cal), color}
}

// Hue returns the colour for a colour input, which does not support transparency.
func (s swatch) Hue() string {
	if len(s.Color) < len(calendar.DefaultColor) {
		// "#RGB" is short for "#RRGGBB".
		return fmt.Sprintf("#%c%c%c%c%c%c", s.Color[1], s.Color[1], s.Color[2], s.Color[2], s.Color[3], s.Color[3])
	}
	return s.Color[:len(calendar.DefaultColor)]
}

// calendarName returns a calendar's name for a page.
func calendarName(cal calendar.Calendar) string {
	return cmp.Or(excerpt(cal.Name), string(cal.Address()))
}

// agenda collects the events from the chosen day on, and the tasks that are due.
func (p homePages) agenda(c clock) (agenda, error) {
	m := p.Service.Meter(p.r.Context(), p.caller())
	defer m.Close()
	from, err := p.firstDay(c)
	if err != nil {
		return agenda{}, err
	}
	days := agendaDays
	found, err := p.Service.Agenda(p.r.Context(), p.caller(), query.AgendaQuery{
		From: from, Until: grid.Midnight(from, days), Timezone: c.zone, Limit: mostEvents, Meter: m,
	})
	if err != nil {
		return agenda{}, err
	}
	a := agenda{Unread: found.Unread, Earlier: isoDate(grid.Midnight(from, -agendaDays))}
	if !from.Equal(c.midnight()) {
		a.From = c.date(from)
	}
	if last := len(found.Occurrences) - 1; found.More > 0 {
		// The last day may lack events, so it belongs to the next page.
		days = daysBetween(from, c.in(found.Occurrences[last].Start.Time))
		a.Short, a.Crowded, days = days > 0, days <= 0, max(1, days)
	}
	a.Later = isoDate(grid.Midnight(from, days))
	found.Occurrences = query.Distinct(found.Occurrences)
	for day := range days {
		a.add(c, grid.Midnight(from, day), found.Occurrences)
	}
	a.Tasks, err = p.tasksDue(m, c)
	return a, err
}

// firstDay returns the start of the agenda's first day, which the address names; without a name it is today.
func (p homePages) firstDay(c clock) (time.Time, error) {
	text := p.r.URL.Query().Get("from")
	if text == "" {
		return c.midnight(), nil
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil || day.Year() < 1900 || day.Year() > 9000 {
		return day, p.wrong("planner.bad-day", "day", excerpt(text), "example", isoDate(c.midnight()))
	}
	y, m, d := day.Date()
	return grid.Midnight(time.Date(y, m, d, 12, 0, 0, 0, c.zone.Location()), 0), nil
}

func isoDate(day time.Time) string { return day.Format(time.DateOnly) }

// add appends a day with all events that take place on it.
func (a *agenda) add(c clock, midnight time.Time, all []query.Occurrence) {
	day := agendaDay{Title: c.heading(midnight)}
	for _, o := range all {
		if daysBetween(c.in(o.Start.Time), midnight) < 0 || daysBetween(midnight, c.lastDay(o.Start, o.End)) < 0 {
			continue
		}
		day.Events = append(day.Events, agendaEvent{
			When: c.spanOn(midnight, o.Start, o.End), Title: c.titleOf(o.Instance),
			Place:    excerpt(content.TextOf(o.Component, "LOCATION")),
			Calendar: swatchOf(o.Calendar), Cancelled: content.WordOf(o.Component, "STATUS") == "CANCELLED",
		})
	}
	if len(day.Events) > 0 {
		a.Days = append(a.Days, day)
	}
}

// heading returns the heading of a day.
func (c clock) heading(t time.Time) string {
	day := c.day(t)
	if date := c.date(t); date != day {
		return sentenceCase(day) + ", " + date
	}
	return day
}

func (c clock) titleOf(i query.Instance) string {
	return cmp.Or(excerpt(content.TextOf(i.Component, "SUMMARY")), c.lang.Text("planner.untitled"))
}

// tasksDue lists the overdue tasks and those due by the end of the agenda.
func (p homePages) tasksDue(m *meter.Meter, c clock) ([]agendaTask, error) {
	all, err := p.Service.Calendars(p.r.Context(), p.caller())
	if err != nil {
		return nil, err
	}
	from := c.midnight()
	during := query.InstanceQuery{
		Kind: calendar.Todo, Timezone: c.zone, Meter: m,
		During: filter.TimeRange{Start: grid.Midnight(from, -overdueDays), End: grid.Midnight(from, agendaDays)},
	}
	var due []agendaTask
	for _, cal := range all {
		if cal.Hidden || !cal.Kinds.Has(calendar.Todo) || p.caller().May(calendar.ReadObjects, cal) != nil {
			continue
		}
		for i, err := range p.Service.Instances(p.r.Context(), p.caller(), cal, during) {
			if err != nil {
				return nil, err
			}
			if i.Unclear || i.Done() || i.Component.Property("DUE") == nil {
				continue
			}
			if i.Start.Time.IsZero() {
				// A task without a start does not recur, and its instance does not have the due date.
				if i, err = p.Service.InstanceOf(p.r.Context(), nil, cal, i.Object, ical.Time{}); err != nil {
					return nil, err
				}
			}
			due = append(due, c.task(i, cal))
		}
	}
	slices.SortStableFunc(due, func(a, b agendaTask) int { return a.at.Compare(b.at) })
	return due[:min(len(due), mostTasks)], nil
}

// task returns a task with its due time. One that is due on a date has the whole day.
func (c clock) task(i query.Instance, in calendar.Calendar) agendaTask {
	at := i.End.Time
	t := agendaTask{c.Moment(at), c.titleOf(i), at.Before(c.now), swatchOf(in), at}
	if i.End.AllDay {
		t.Due, t.Late = c.day(at), at.Before(c.midnight())
	}
	return t
}
