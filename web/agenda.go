package web

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/ical"
)

const (
	// agendaDays is the number of days on the home page: this week and the next.
	agendaDays = 14
	// overdueDays is how long an overdue task stays on it.
	overdueDays = 60
	// mostEvents and mostTasks limit the lists, longestTitle the length of each title.
	mostEvents, mostTasks, longestTitle = 100, 50, 200
)

// agenda lists the coming days for the home page.
type agenda struct {
	Days  []agendaDay
	Tasks []agendaTask
	// More counts the events that did not fit, Unread the unparsable ones.
	More, Unread int
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

// agenda collects the events and tasks from today on.
func (p homePages) agenda(c clock) (agenda, error) {
	m := p.Service.Meter(p.r.Context(), p.caller())
	defer m.Close()
	from := c.midnight()
	found, err := p.Service.Agenda(p.r.Context(), p.caller(), query.AgendaQuery{
		From: from, Until: from.AddDate(0, 0, agendaDays), Timezone: c.zone, Limit: mostEvents, Meter: m,
	})
	if err != nil {
		return agenda{}, err
	}
	a := agenda{More: found.More, Unread: found.Unread}
	for _, o := range found.Occurrences {
		a.add(c, from, o)
	}
	a.Tasks, err = p.tasksDue(m, c)
	return a, err
}

// add puts an event under the day of its start, or under today if it began earlier.
func (a *agenda) add(c clock, from time.Time, o query.Occurrence) {
	start := o.Start.Time
	if start.Before(from) {
		start = from
	}
	title := c.heading(start)
	if n := len(a.Days); n == 0 || a.Days[n-1].Title != title {
		a.Days = append(a.Days, agendaDay{Title: title})
	}
	day := &a.Days[len(a.Days)-1]
	day.Events = append(day.Events, agendaEvent{
		When: c.span(o.Start, o.End), Title: titleOf(o.Instance),
		Place:    excerpt(content.TextOf(o.Component, "LOCATION")),
		Calendar: swatchOf(o.Calendar), Cancelled: content.WordOf(o.Component, "STATUS") == "CANCELLED",
	})
}

// heading returns the heading of a day.
func (c clock) heading(t time.Time) string {
	day := c.day(t)
	if date := c.date(t); date != day {
		return sentenceCase(day) + ", " + date
	}
	return day
}

func titleOf(i query.Instance) string {
	return cmp.Or(excerpt(content.TextOf(i.Component, "SUMMARY")), "(no title)")
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
		During: filter.TimeRange{Start: from.AddDate(0, 0, -overdueDays), End: from.AddDate(0, 0, agendaDays)},
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
			due = append(due, agendaTask{
				c.Moment(i.End.Time), titleOf(i), i.End.Time.Before(c.now), swatchOf(cal), i.End.Time,
			})
		}
	}
	slices.SortStableFunc(due, func(a, b agendaTask) int { return a.at.Compare(b.at) })
	return due[:min(len(due), mostTasks)], nil
}
