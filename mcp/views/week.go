package views

import (
	"slices"
	"strconv"
	"time"

	"caldav-mcp-server/calendar/grid"
)

// Event is an event or a busy time.
type Event struct {
	grid.Item
	Title, Place, Calendar string
	// Color is #RRGGBB. Mark says if the event is tentative, cancelled or the like.
	Color, Mark string
}

// weekData is the data of the view of weeks.
type weekData struct {
	common
	Weeks  []weekOf     `json:"weeks"`
	Events []eventShown `json:"events"`
	Note   string       `json:"note,omitempty"`
	Turn   *turning     `json:"turn,omitempty"`
}

// turning is the call for another week. The view adds the days.
type turning struct {
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`
	Before    daysOf         `json:"before"`
	After     daysOf         `json:"after"`
}

type daysOf struct {
	Start string `json:"start"`
	End   string `json:"end"`
}

// weekFrom returns the days of the week that begins on a day.
func weekFrom(start time.Time) daysOf {
	return daysOf{start.Format(time.DateOnly), grid.Midnight(start, 6).Format(time.DateOnly)}
}

// Turning returns the data of Week with a call of a tool, so that the view can get the weeks before and after.
func (m Maker) Turning(events []Event, from time.Time, more bool, tool string, arguments map[string]any) any {
	d, starts := m.weekData(events, from, more)
	d.Turn = &turning{
		tool, arguments, weekFrom(grid.Midnight(starts[0], -7)), weekFrom(grid.Midnight(starts[len(starts)-1], 7)),
	}
	return d
}

// weekOf is one week. From is the first hour that it shows.
type weekOf struct {
	Title string   `json:"title"`
	From  int      `json:"from"`
	Hours []string `json:"hours"`
	Days  []dayOf  `json:"days"`
}

// dayOf is a day with the layout of package grid: the numbers of events that last whole days, by lane, and blocks.
type dayOf struct {
	Name   string    `json:"name"`
	Title  string    `json:"title"`
	Today  bool      `json:"today,omitempty"`
	Bars   []int     `json:"bars"`
	Blocks []blockOf `json:"blocks"`
}

// blockOf is an event of a day, in minutes after midnight.
type blockOf struct {
	Event   int `json:"event"`
	Top     int `json:"top"`
	Bottom  int `json:"bottom"`
	Column  int `json:"column"`
	Columns int `json:"columns"`
}

type eventShown struct {
	Time     string `json:"time"`
	Title    string `json:"title"`
	Place    string `json:"place,omitempty"`
	Calendar string `json:"calendar,omitempty"`
	Color    string `json:"color,omitempty"`
	Mark     string `json:"mark,omitempty"`
}

// mostWeeks limits the weeks of a view.
const mostWeeks = 8

// Week returns the data for events in order of their start. from is the start of the time range, zero if it is open.
// More is set if the result lacks events.
func (m Maker) Week(events []Event, from time.Time, more bool) any {
	d, _ := m.weekData(events, from, more)
	return d
}

func (m Maker) weekData(events []Event, from time.Time, more bool) (weekData, []time.Time) {
	items := make([]grid.Item, len(events))
	for i, e := range events {
		items[i] = grid.Item{Start: e.Start.In(m.zone), End: e.End.In(m.zone), AllDay: e.AllDay}
		if e.AllDay { // a day of 23 hours may begin at 01:00
			items[i].End = grid.Midnight(items[i].End, 0)
		}
	}
	starts, all := m.weeks(items, from.In(m.zone))
	end := grid.Midnight(starts[len(starts)-1], 7)
	shown := slices.IndexFunc(items, func(i grid.Item) bool { return !i.Start.Before(end) })
	if shown < 0 {
		shown = len(items)
	}
	d := weekData{
		common: m.common(m.Text("planner.view.week"), "planner.earlier", "planner.later", "planner.all-day",
			"page.none"),
		Events: []eventShown{},
	}
	d.Zone = m.inZone()
	if more || !all {
		d.Note = m.Text("conversation.cut")
	}
	for i, e := range events[:shown] {
		one := eventShown{m.times(items[i].Start, items[i].End), e.Title, e.Place, e.Calendar, e.Color, e.Mark}
		if e.AllDay {
			one.Time = ""
		}
		d.Events = append(d.Events, one)
	}
	for _, start := range starts {
		d.Weeks = append(d.Weeks, m.week(grid.Days(items[:shown], start, 7)))
	}
	return d, starts
}

// weeks returns the starts of the first weeks that have events, or the week of from. It reports whether these are all.
func (m Maker) weeks(items []grid.Item, from time.Time) (starts []time.Time, all bool) {
	for _, item := range items {
		at := grid.WeekOf(grid.Midnight(later(item.Start, from), 0), m.user.FirstDay())
		for range mostWeeks + 1 {
			if !slices.ContainsFunc(starts, at.Equal) {
				starts = append(starts, at)
			}
			if at = grid.Midnight(at, 7); !at.Before(item.End) {
				break
			}
		}
	}
	if starts == nil {
		if from.IsZero() {
			from = m.now
		}
		starts = append(starts, grid.WeekOf(grid.Midnight(from, 0), m.user.FirstDay()))
	}
	slices.SortFunc(starts, time.Time.Compare)
	return starts[:min(len(starts), mostWeeks)], len(starts) <= mostWeeks
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// The hours that a week shows at least.
const earliestHour, latestHour = 8, 18

func (m Maker) week(days []grid.Day) weekOf {
	w := weekOf{From: earliestHour}
	until := latestHour
	for _, d := range days {
		one := dayOf{
			Name:   m.words.ShortWeekday(d.Start.Weekday()) + " " + strconv.Itoa(d.Start.Day()),
			Title:  m.words.Date(d.Start),
			Today:  d.Start.Equal(grid.Midnight(m.now, 0)),
			Blocks: []blockOf{}, Bars: []int{},
		}
		for _, b := range d.Bars {
			one.Bars = append(one.Bars, b.Item)
		}
		for _, b := range d.Blocks {
			one.Blocks = append(one.Blocks, blockOf{b.Item, b.Top, b.Bottom, b.Column, b.Columns})
			w.From, until = min(w.From, b.Top/60), max(until, (b.Bottom+59)/60)
		}
		w.Days = append(w.Days, one)
	}
	for hour := w.From; hour < until; hour++ {
		w.Hours = append(w.Hours, m.words.Time(time.Date(2000, 1, 1, hour, 0, 0, 0, time.UTC), m.user.View.Clock))
	}
	first, last := days[0].Start, days[6].Start
	w.Title = m.Text("planner.range", "first", m.words.DayMonth(first), "last", m.words.DayMonthYear(last))
	return w
}
