package planner

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/grid"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/calendar/zone"
)

// Kind is a way to show time.
type Kind string

// The views.
const (
	Day      Kind = "day"
	Days     Kind = "days"
	Workweek Kind = "workweek"
	Week     Kind = "week"
	Month    Kind = "month"
	List     Kind = "list"
)

// Kinds lists the views, in the order of the menu.
var Kinds = []Kind{Day, Days, Workweek, Week, Month, List}

const (
	// mostEntries limits the occurrences of a page.
	mostEntries = 4000
	// listDays is the number of days of a page of the list. The script adds pages to it, up to mostListDays.
	listDays, mostListDays = 30, 360
	// monthLines is the number of events that a day of a month shows, and printLines how many more a print shows.
	monthLines, printLines = 4, 20
	// unit is the grid of positions, in minutes.
	unit = 5
	// MostColumns is the number of blocks beside each other. Further ones cover the last.
	MostColumns = 8
)

// View is a calendar page.
type View struct {
	Kind Kind
	// Title names the time that it shows. Date is the chosen day; Earlier, Later and Today are for the links.
	Title                       string
	Date, Earlier, Later, Today string
	Kinds                       []KindLink
	// Days are the columns of a day or week, or the days of a list. Weeks are the rows of a month.
	Days  []*DayView
	Weeks []WeekView
	// Weekdays are the names above a month.
	Weekdays []string
	// Length is the number of days.
	Length int
	// Lanes is the number of lines of the whole-day section.
	Lanes int
	// Hours are the labels of a day. SecondHours are in the second zone.
	Hours, SecondHours []string
	Zone, SecondZone   string
	// SecondNote names the day when the hours of the second zone are right, if the clocks change in these days.
	SecondNote string
	// Number is the number of the week that the columns show, 0 for none. Numbers is set if weeks have numbers.
	Number  int
	Numbers bool
	// Shortcuts is set if single keys have effects.
	Shortcuts bool
	// NowAt is the line of the present time, in units, and -1 if the page does not show today.
	NowAt int
	Side  Side
	// Short is set if the page lacks events, because there are too many. Unread counts the events that cannot be read.
	Short  bool
	Unread int
}

// KindLink leads to another view of the same day.
type KindLink struct {
	Kind Kind
	Name string
	Here bool
}

// WeekView is a row of a month.
type WeekView struct {
	Number int
	Days   []*DayView
}

// DayView is a day of a page.
type DayView struct {
	// Date is 2026-11-23, Name is the weekday, Number the day of the month, Title the whole date.
	Date, Name, Title              string
	Number                         int
	Today, Weekend, Other, Holiday bool
	// Bars are the lanes of events that last whole days; nil if a lane is empty.
	Bars []*BarView
	// Blocks are the other events of a day or a week. Entries are the events of a list.
	Blocks  []BlockView
	Entries []*Entry
	// Lines are the events of a day of a month.
	Lines []LineView
	// More counts the events that the day of a month does not show. Printed are those of a print, and Left
	// counts the others.
	More, Left int
	Printed    []LineView
	// Tasks are due on this day.
	Tasks []*Task
	// Off are the CSS classes of the times outside of the visitor's working hours.
	Off []string
}

// BarView is a part of an event that lasts whole days. Span is the number of days that its title may cover, 0 if an
// earlier part of the row shows the title.
type BarView struct {
	*Entry
	Before, After bool
	Span          int
}

// Class returns the CSS classes of the part.
func (b BarView) Class() string {
	return "bar " + classes(b.State, b.Before, b.After) + "s" + strconv.Itoa(b.Span)
}

// LineView is an event of a day of a month. Short is the time of its start on this day.
type LineView struct {
	*Entry
	Short string
}

// BlockView is a part of an event between two times. Position are the CSS classes for its place, in units.
type BlockView struct {
	*Entry
	Position      string
	Before, After bool
}

// Class returns the CSS classes of the part.
func (b BlockView) Class() string {
	return "block " + b.Position + classes(b.State, b.Before, b.After)
}

// classes returns the CSS classes for a state and for parts on other days, each with a blank after it.
func classes(state string, before, after bool) string {
	if state != "" {
		state += " "
	}
	if before {
		state += "before "
	}
	if after {
		state += "after "
	}
	return state
}

// Entry is one occurrence of an event.
type Entry struct {
	// Href is the address of its page.
	Href  string
	Title string
	// Time is its time of day, Place its location.
	Time, Place string
	Swatch
	// State is a list of CSS classes: cancelled, declined, tentative, open, busy, free, assistant.
	State string
	// Marks are the words for its state. Rest names its calendar and its state after the title, for screen readers.
	Marks []string
	Rest  string
	// Start and End are local times for the script, such as 2026-11-23T09:30. Movable is set if the visitor may change
	// it.
	Start, End string
	AllDay     bool
	Movable    bool
	Repeats    bool
}

// Show returns a page of the calendar for a day.
func (p *Planner) Show(ctx context.Context, kind Kind, day time.Time) (*View, error) {
	from, n := p.extent(kind, day)
	until := grid.Midnight(from, n)
	v := p.frame(kind, day, from, n)
	for _, k := range Kinds {
		v.Kinds = append(v.Kinds, KindLink{k, p.text("planner.view." + string(k)), k == kind})
	}
	all, err := p.calendars(ctx, calendar.Event)
	if err != nil {
		return nil, err
	}
	v.Side = p.side(kind, day, all)
	found := query.Agenda{}
	if shown := p.ticked(all); len(shown) > 0 {
		found, err = p.Service.Agenda(ctx, p.Caller, query.AgendaQuery{
			Calendars: shown, From: from, Until: until, Timezone: p.Zone, Limit: mostEntries, Meter: p.meter,
		})
		if err != nil {
			return nil, err
		}
		found.Occurrences = query.Distinct(found.Occurrences)
	}
	ghosts, err := p.ghosts(ctx, p.ticked(all), from, until)
	if err != nil {
		return nil, err
	}
	entries := p.lay(v, found, ghosts, from, n, day)
	if err := p.markAssistants(ctx, all, entries[:len(found.Occurrences)], found.Occurrences); err != nil {
		return nil, err
	}
	return v, p.addTasks(ctx, v, from, until)
}

// frame returns a page without days.
func (p *Planner) frame(kind Kind, day, from time.Time, n int) *View {
	v := &View{
		Kind: kind, Length: n, Date: iso(day), Today: iso(p.today()), Zone: p.Zone.Name(), NowAt: -1,
		Title:   p.title(kind, from, grid.Midnight(from, n-1), day),
		Numbers: !p.Caller.User.View.WeekNumbersOff, Shortcuts: !p.Caller.User.View.ShortcutsOff,
	}
	v.Earlier, v.Later = p.neighbours(kind, day, n)
	return v
}

// lay adds the days, their events and the ghosts to a page, and returns events and ghosts. A month only counts some;
// they are nil.
func (p *Planner) lay(
	v *View, found query.Agenda, ghosts []ghost, from time.Time, n int, day time.Time,
) []*Entry {
	v.Short, v.Unread = found.More > 0, found.Unread
	shown := slices.Clip(found.Occurrences)
	for _, g := range ghosts {
		shown = append(shown, g.Occurrence)
	}
	items := make([]grid.Item, len(shown))
	entries := &shownEntries{p, shown, ghosts, make([]*Entry, len(items))}
	for i, o := range shown {
		items[i] = grid.Item{Start: p.here(o.Start.Time), End: p.here(o.End.Time), AllDay: o.Start.AllDay}
		if o.Start.AllDay { // a day of 23 hours may begin at 01:00, and its event then ends at 01:00
			items[i].End = grid.Midnight(items[i].End, 0)
		}
	}
	p.place(v, grid.Days(items, from, n), entries, day)
	return entries.ready
}

// shownEntries are the occurrences that a page shows. Each is prepared when it gets its place, because a month only
// counts most events of a busy day.
type shownEntries struct {
	p     *Planner
	shown []query.Occurrence
	// ghosts are the last of them.
	ghosts []ghost
	ready  []*Entry
}

// at returns an occurrence for the page.
func (s *shownEntries) at(i int) *Entry {
	if s.ready[i] != nil {
		return s.ready[i]
	}
	if events := len(s.shown) - len(s.ghosts); i >= events {
		s.ready[i] = s.p.ghostEntry(s.ghosts[i-events])
	} else {
		s.ready[i] = s.p.entry(s.shown[i])
	}
	return s.ready[i]
}

// markAssistants marks the events of a page that assistants created, which are in some calendars.
func (p *Planner) markAssistants(
	ctx context.Context, in []calendar.Calendar, entries []*Entry, found []query.Occurrence,
) error {
	key := func(i int) calendar.ObjectUID {
		return calendar.ObjectUID{Calendar: found[i].Calendar.ID, UID: found[i].Object.UID}
	}
	var shown []calendar.ObjectUID
	for i, e := range entries {
		if e != nil {
			shown = append(shown, key(i))
		}
	}
	made, err := p.Service.Assistants(ctx, p.Caller, in, shown)
	mark := p.text("planner.mark.assistant")
	for i, e := range entries {
		if e != nil && made[key(i)] != "" {
			e.State = strings.TrimSpace(e.State + " assistant")
			e.Marks, e.Rest = append(e.Marks, mark), e.Rest+", "+mark
		}
	}
	return err
}

// extent returns the first day of a page and the number of days.
func (p *Planner) extent(kind Kind, day time.Time) (time.Time, int) {
	weekStart := p.Caller.User.FirstDay()
	switch kind {
	case Day:
		return day, 1
	case Days:
		return day, 3
	case List:
		return day, min(max(p.ListDays, listDays), mostListDays)
	case Month:
		first, weeks := grid.MonthOf(day, weekStart)
		return first, 7 * weeks
	case Workweek:
		return grid.WeekOf(day, time.Monday), 5
	case Week:
	}
	return grid.WeekOf(day, weekStart), 7
}

// neighbours returns the days of the previous and the next page.
func (p *Planner) neighbours(kind Kind, day time.Time, n int) (earlier, later string) {
	if kind == Month {
		return months(day)
	}
	back := n
	switch kind {
	case Workweek:
		n, back = 7, 7
	case List:
		back = listDays
	case Day, Days, Week, Month:
	}
	return iso(grid.Midnight(day, -back)), iso(grid.Midnight(day, n))
}

// months returns the first days of the months before and after a day's.
func months(day time.Time) (earlier, later string) {
	y, m, _ := day.Date()
	first := time.Date(y, m, 1, 0, 0, 0, 0, time.UTC) // without changes of the clocks
	return iso(first.AddDate(0, -1, 0)), iso(first.AddDate(0, 1, 0))
}

// title names the time that a page shows.
func (p *Planner) title(kind Kind, first, last, day time.Time) string {
	l := p.Language
	switch {
	case kind == Month:
		return l.MonthYear(day)
	case kind == Day:
		return l.Date(first)
	case first.Month() == last.Month():
		return p.text("planner.days-of-month", "first", first.Day(), "last", l.DayMonthYear(last))
	case first.Year() == last.Year():
		return p.text("planner.range", "first", l.DayMonth(first), "last", l.DayMonthYear(last))
	}
	return p.text("planner.range", "first", l.DayMonthYear(first), "last", l.DayMonthYear(last))
}

func iso(day time.Time) string { return day.Format(time.DateOnly) }

// place adds the days to a page.
func (p *Planner) place(v *View, days []grid.Day, entries *shownEntries, chosen time.Time) {
	for _, d := range days {
		view := p.day(d, chosen)
		switch v.Kind {
		case Month:
			p.fillMonth(view, d, entries)
		case List:
			fillList(view, d, entries)
		default:
			fillColumn(view, d, entries)
			v.Lanes = max(v.Lanes, len(view.Bars))
		}
		if view.Today {
			now := p.here(p.Now)
			v.NowAt = (now.Hour()*60 + now.Minute()) / unit
		}
		v.Days = append(v.Days, view)
	}
	switch v.Kind {
	case Month:
		for i := 0; i < len(days); i += 7 {
			addSpans(v.Days[i : i+7])
			v.Weeks = append(v.Weeks, WeekView{grid.WeekNumber(days[i : i+7]), v.Days[i : i+7]})
		}
		for _, d := range v.Weeks[0].Days {
			v.Weekdays = append(v.Weekdays, d.Name)
		}
		v.Days = nil
	case List:
		v.Days = slices.DeleteFunc(v.Days, func(d *DayView) bool {
			return len(d.Entries) == 0 && !d.Today
		})
	default:
		addSpans(v.Days)
		p.addHours(v, days)
		p.addWork(v, days)
		if v.Numbers && len(days) > 3 {
			v.Number = grid.WeekNumber(days)
		}
	}
}

// addHours adds the labels of the hours. The second zone's are right on the day in the middle: clocks change at the
// ends of weeks.
func (p *Planner) addHours(v *View, days []grid.Day) {
	middle := days[len(days)/2].Start
	y, m, d := middle.Date()
	for hour := range 24 {
		v.Hours = append(v.Hours, p.Language.Time(time.Date(y, m, d, hour, 0, 0, 0, time.UTC), p.cycle()))
		if p.Second != nil {
			there := time.Date(y, m, d, hour, 0, 0, 0, p.Zone.Location()).In(p.Second.Location())
			v.SecondHours = append(v.SecondHours, p.Language.Time(there, p.cycle()))
		}
	}
	if p.Second == nil {
		return
	}
	v.Zone, v.SecondZone = city(p.Zone), city(p.Second)
	for _, day := range days {
		if p.ahead(day.Start) != p.ahead(middle) {
			v.SecondNote = p.text("planner.second-changes", "day", p.Language.Date(middle), "place", v.SecondZone)
		}
	}
}

// ahead returns how many seconds the clocks of the second zone are ahead of the visitor's at noon of a day.
func (p *Planner) ahead(day time.Time) int {
	y, m, d := day.Date()
	noon := time.Date(y, m, d, 12, 0, 0, 0, p.Zone.Location())
	_, here := noon.Zone()
	_, there := noon.In(p.Second.Location()).Zone()
	return there - here
}

// city returns the place that a zone is named by: New York for America/New_York.
func city(z *zone.Zone) string {
	name := z.Name()
	return strings.ReplaceAll(name[strings.LastIndex(name, "/")+1:], "_", " ")
}

// addWork marks the times outside of the visitor's working hours.
func (p *Planner) addWork(v *View, days []grid.Day) {
	if p.Caller.User.View.WorkingHoursOff {
		return
	}
	hours := p.workingHours()
	for i, day := range days {
		from, next := 0, grid.Midnight(day.Start, 1)
		off := func(until int) {
			if from < until {
				v.Days[i].Off = append(v.Days[i].Off, fmt.Sprintf("off t%d h%d", from, until-from))
			}
		}
		for _, open := range hours.Open(day.Start, next) {
			bar := p.bar(day.Start, open.Start, open.End, "")
			off(bar.At / unit)
			from = (bar.At + bar.Width) / unit
		}
		off(24 * 60 / unit)
	}
}

func (p *Planner) day(d grid.Day, chosen time.Time) *DayView {
	at := d.Start
	y, m, n := at.Date()
	cy, cm, _ := chosen.Date()
	weekday := time.Date(y, m, n, 12, 0, 0, 0, time.UTC).Weekday()
	return &DayView{
		Date: iso(at), Name: p.Language.ShortWeekday(weekday), Title: p.Language.Date(at), Number: n,
		Today: iso(at) == iso(p.today()), Weekend: weekday == time.Saturday || weekday == time.Sunday,
		Other: y != cy || m != cm,
	}
}

func fillColumn(view *DayView, d grid.Day, entries *shownEntries) {
	for _, b := range d.Bars {
		view.Bars = append(view.Bars, barOf(b, entries))
	}
	for _, b := range d.Blocks {
		top, bottom := b.Top/unit, (b.Bottom+unit-1)/unit
		view.Blocks = append(view.Blocks, BlockView{entries.at(b.Item), fmt.Sprintf("t%d h%d c%dof%d ", top,
			max(bottom-top, 1), min(b.Column, MostColumns-1), min(b.Columns, MostColumns)), b.Before, b.After})
	}
}

func barOf(b grid.Bar, entries *shownEntries) *BarView {
	if b.Item < 0 {
		return nil
	}
	return &BarView{Entry: entries.at(b.Item), Before: b.Before, After: b.After}
}

// addSpans lets the titles of bars cover the days of a row.
func addSpans(row []*DayView) {
	for i, d := range row {
		for lane, b := range d.Bars {
			if b == nil || b.Before && i > 0 {
				continue
			}
			b.Span = 1
			for n := i + 1; n < len(row) && row[n-1].Bars[lane].After && lane < len(row[n].Bars); n++ {
				b.Span++
			}
		}
	}
}

// clockOf formats minutes after midnight.
func (p *Planner) clockOf(minutes int) string {
	return p.Language.Time(time.Date(2000, 1, 1, 0, minutes, 0, 0, time.UTC), p.cycle())
}

// fillMonth shows the first events of a day.
func (p *Planner) fillMonth(view *DayView, d grid.Day, entries *shownEntries) {
	lines := monthLines
	if len(d.Bars)+len(d.Blocks) > lines {
		lines-- // for the link to the others
	}
	for i, b := range d.Bars {
		switch {
		case i < lines:
			view.Bars = append(view.Bars, barOf(b, entries))
		case b.Item >= 0:
			view.rest(func() LineView { return LineView{Entry: entries.at(b.Item)} })
		}
	}
	for i, b := range d.Blocks {
		line := func() LineView {
			line := LineView{Entry: entries.at(b.Item)}
			if !b.Before {
				line.Short = p.clockOf(b.Top)
			}
			return line
		}
		if len(view.Bars)+i < lines {
			view.Lines = append(view.Lines, line())
		} else {
			view.rest(line)
		}
	}
}

// rest adds an event that only a print of the month shows.
func (d *DayView) rest(line func() LineView) {
	d.More++
	if len(d.Printed) < printLines {
		d.Printed = append(d.Printed, line())
	} else {
		d.Left++
	}
}

func fillList(view *DayView, d grid.Day, entries *shownEntries) {
	for _, b := range d.Bars {
		if b.Item >= 0 {
			view.Entries = append(view.Entries, entries.at(b.Item))
		}
	}
	for _, b := range d.Blocks {
		view.Entries = append(view.Entries, entries.at(b.Item))
	}
}

// entry returns an occurrence for a page.
func (p *Planner) entry(o query.Occurrence) *Entry {
	c := o.Component
	e := &Entry{
		Href: p.eventHref(o.Calendar.ID, o.Instance), Title: p.titleOf(o.Instance),
		Place: clean(content.TextOf(c, "LOCATION")), Swatch: SwatchOf(o.Calendar), AllDay: o.Start.AllDay,
		Movable: p.Caller.May(calendar.WriteObjects, o.Calendar) == nil, Repeats: o.Object.Recurring,
	}
	start, end := p.here(o.Start.Time), p.here(o.End.Time)
	e.Start, e.End = start.Format(localForm), end.Format(localForm)
	e.Time = p.timesOf(o.Instance)
	var states []string
	add := func(state string) {
		states = append(states, state)
		e.Marks = append(e.Marks, p.text("planner.mark."+state))
	}
	switch answer := p.answerIn(o.Calendar, o.Instance); {
	case p.Caller.SeesBusyAlone(o.Calendar):
		add("busy")
		e.Movable = false
	case content.WordOf(c, "STATUS") == string(edit.Cancelled):
		add("cancelled")
	case answer == schedule.Declined:
		add("declined")
	case answer == schedule.NeedsAction:
		add("open")
	case answer == schedule.Tentative || content.WordOf(c, "STATUS") == string(edit.Tentative):
		add("tentative")
	}
	if content.Transparent(c) {
		states = append(states, "free")
	}
	e.State = strings.Join(states, " ")
	e.Rest = strings.Join(append([]string{"", e.Name}, e.Marks...), ", ")
	return e
}

// localForm is a local time, as inputs of forms write it.
const localForm = "2006-01-02T15:04"

// titleOf returns the title of an event or a task.
func (p *Planner) titleOf(i query.Instance) string {
	return cmp.Or(clean(content.TextOf(i.Component, "SUMMARY")), p.text("planner.untitled"))
}

// timesOf returns the time of day of an occurrence; "" if it lasts whole days.
func (p *Planner) timesOf(i query.Instance) string {
	start, end := p.here(i.Start.Time), p.here(i.End.Time)
	switch {
	case i.Start.AllDay:
		return ""
	case !end.After(start):
		return p.clock(start)
	case iso(start) != iso(end.Add(-1)):
		return p.moment(start) + " – " + p.moment(end)
	}
	return p.clock(start) + "–" + p.clock(end)
}

// eventHref returns the address of an event's page.
func (p *Planner) eventHref(in calendar.CalendarID, i query.Instance) string {
	q := url.Values{"uid": {string(i.Object.UID)}}
	if i.Object.Recurring {
		q.Set("at", Stamp(i.RecurrenceID))
	}
	return p.Base + "/calendar/event/" + url.PathEscape(string(in)) + "?" + q.Encode()
}

// answerIn returns the visitor's answer to an invitation; "" if the event does not invite them.
func (p *Planner) answerIn(cal calendar.Calendar, i query.Instance) string {
	for _, a := range edit.AttendeesOf(i.Component) {
		if lookup.IsOwn(p.Caller, cal, a.Address) {
			return cmp.Or(a.Status, schedule.NeedsAction)
		}
	}
	return ""
}
