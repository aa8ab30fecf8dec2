package planner

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/ical"
)

// Task is a task in a list.
type Task struct {
	// Href is the address of its page, TickHref ticks its box.
	Href, TickHref string
	Title          string
	Swatch
	// Due is the due time in words; "" if there is none. Day is its date.
	Due, Day   string
	Late, Done bool
	// Level is 1 for a subtask, 2 for its subtask and so on.
	Level    int
	Writable bool
	Repeats  bool

	uid, parent calendar.UID
	at          time.Time
}

// TaskList is a calendar with its tasks.
type TaskList struct {
	Swatch
	Owner    string
	Writable bool
	Tasks    []*Task
	// More counts the tasks that are not shown.
	More int
}

const (
	// mostTasks limits the tasks of a list, deepest the levels of subtasks.
	mostTasks = 500
	deepest   = 4
)

// Tasks returns the task lists of the visitor. Finished tasks are included if asked for.
func (p *Planner) Tasks(ctx context.Context, finished bool) ([]*TaskList, error) {
	all, err := p.calendars(ctx, calendar.Todo)
	if err != nil {
		return nil, err
	}
	var lists []*TaskList
	for _, cal := range all {
		if p.Caller.May(calendar.ReadObjects, cal) != nil {
			continue
		}
		list := &TaskList{
			Swatch: SwatchOf(cal), Writable: p.Caller.May(calendar.WriteObjects, cal) == nil,
		}
		if cal.Access != calendar.OwnerAccess {
			list.Owner = clean(cal.OwnerTitle)
		}
		tasks, err := p.tasksIn(ctx, cal, finished)
		if err != nil {
			return nil, err
		}
		list.Tasks = nested(tasks)
		if extra := len(list.Tasks) - mostTasks; extra > 0 {
			list.Tasks, list.More = list.Tasks[:mostTasks], extra
		}
		lists = append(lists, list)
	}
	return lists, nil
}

// tasksIn returns the tasks of a calendar by due time. A series has its next open instance, or its last one.
func (p *Planner) tasksIn(ctx context.Context, cal calendar.Calendar, finished bool) ([]*Task, error) {
	var tasks []*Task
	series := map[calendar.UID]*Task{}
	for i, err := range p.Service.Instances(ctx, p.Caller, cal, query.InstanceQuery{
		Kind: calendar.Todo, Timezone: p.Zone, Most: mostOfSeries, Meter: p.meter,
	}) {
		if err != nil {
			return nil, err
		}
		if i.Unclear {
			continue
		}
		t, err := p.task(ctx, cal, i)
		if err != nil {
			return nil, err
		}
		if known := series[t.uid]; known == nil {
			series[t.uid] = t
			tasks = append(tasks, t)
		} else if known.Done {
			*known = *t
		}
	}
	tasks = slices.DeleteFunc(tasks, func(t *Task) bool { return t.Done && !finished })
	slices.SortStableFunc(tasks, func(a, b *Task) int {
		return cmp.Or(compareBool(a.Done, b.Done), compareBool(a.at.IsZero(), b.at.IsZero()), a.at.Compare(b.at),
			cmp.Compare(a.Title, b.Title))
	})
	return tasks, nil
}

// mostOfSeries limits the instances of a repeating task that are searched for an open one.
const mostOfSeries = 400

// compareBool puts false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// task returns a task for a page.
func (p *Planner) task(ctx context.Context, cal calendar.Calendar, i query.Instance) (*Task, error) {
	at := i.RecurrenceID
	if i.Start.Time.IsZero() {
		// A task without a start does not recur, and its instance lacks the due time.
		whole, err := p.Service.InstanceOf(ctx, nil, cal, i.Object, ical.Time{})
		if err != nil {
			return nil, err
		}
		i = whole
	}
	q := url.Values{"uid": {string(i.Object.UID)}}
	if i.Object.Recurring {
		q.Set("at", Stamp(at))
	}
	t := &Task{
		Title: p.titleOf(i), Swatch: SwatchOf(cal), Done: i.Done(), uid: i.Object.UID,
		Writable: p.Caller.May(calendar.WriteObjects, cal) == nil, Repeats: i.Object.Recurring,
		parent: parentOf(i.Component),
	}
	path := p.Base + "/tasks/" + url.PathEscape(string(cal.ID))
	t.Href, t.TickHref = path+"?"+q.Encode(), path+"/tick?"+q.Encode()
	if due := i.Due(); !due.Time.IsZero() {
		t.at, t.Day = due.Time, iso(p.here(due.Time))
		t.Due, t.Late = p.moment(due.Time), due.Time.Before(p.Now)
		if due.AllDay {
			t.Due, t.Late = p.Language.ShortDate(due.Time), due.Time.Before(p.today())
		}
		t.Late = t.Late && !t.Done
	}
	return t, nil
}

// parentOf returns the UID of the parent of a task; "" if it has none.
func parentOf(c *ical.Component) calendar.UID {
	for _, p := range c.All("RELATED-TO") {
		if kind, _ := p.Param("RELTYPE"); kind == "" || strings.EqualFold(kind, "PARENT") {
			return calendar.UID(strings.TrimSpace(p.Value()))
		}
	}
	return ""
}

// nested puts each subtask below its parent. A task whose parent is not in the list is at the top.
func nested(tasks []*Task) []*Task {
	known, children := map[calendar.UID]bool{}, map[calendar.UID][]*Task{}
	for _, t := range tasks {
		known[t.uid] = true
	}
	var list []*Task
	placed := map[*Task]bool{}
	var place func(t *Task, level int)
	place = func(t *Task, level int) {
		if placed[t] {
			return
		}
		placed[t], t.Level = true, min(level, deepest)
		list = append(list, t)
		for _, child := range children[t.uid] {
			place(child, level+1)
		}
	}
	var roots []*Task
	for _, t := range tasks {
		if t.parent == "" || !known[t.parent] || t.parent == t.uid {
			roots = append(roots, t)
		} else {
			children[t.parent] = append(children[t.parent], t)
		}
	}
	for _, t := range roots {
		place(t, 0)
	}
	for _, t := range tasks {
		place(t, 0) // tasks that are each other's parents
	}
	return list
}

// addTasks adds the open tasks to their due days.
func (p *Planner) addTasks(ctx context.Context, v *View, from, until time.Time) error {
	all, err := p.calendars(ctx, calendar.Todo)
	if err != nil {
		return err
	}
	days := map[string]*DayView{}
	for _, d := range v.Days {
		days[d.Date] = d
	}
	for _, w := range v.Weeks {
		for _, d := range w.Days {
			days[d.Date] = d
		}
	}
	for _, cal := range p.ticked(all) {
		if p.Caller.May(calendar.ReadObjects, cal) != nil {
			continue
		}
		for i, err := range p.Service.Instances(ctx, p.Caller, cal, query.InstanceQuery{
			Kind: calendar.Todo, Timezone: p.Zone, During: filter.TimeRange{Start: from, End: until}, Meter: p.meter,
		}) {
			if err != nil {
				return err
			}
			if i.Unclear || i.Done() || i.Component.Property("DUE") == nil {
				continue
			}
			t, err := p.task(ctx, cal, i)
			if err != nil {
				return err
			}
			if d := days[t.Day]; d != nil {
				d.Tasks = append(d.Tasks, t)
			}
		}
	}
	return nil
}

// TaskForm holds the fields of the form for a task, as typed.
type TaskForm struct {
	Calendar                   calendar.CalendarID
	Title, Notes, Due, DueTime string
	Priority, Parent, Was      string
	Repeat                     Repeat
	ETag                       calendar.ETag
	Done                       bool
}

// ReadTaskForm reads a form.
func ReadTaskForm(v url.Values) TaskForm {
	text := func(name string) string { return strings.TrimSpace(v.Get(name)) }
	return TaskForm{
		Calendar: calendar.CalendarID(text("calendar")), Title: text("title"), Notes: lines(v.Get("notes")),
		Due: text("due"), DueTime: text("due-time"), Priority: text("priority"), Parent: text("parent"),
		ETag: calendar.ETag(v.Get("etag")),
	}
}

// TaskFormOf returns the form of a task.
func (p *Planner) TaskFormOf(s Subject) TaskForm {
	c := s.Component
	f := TaskForm{
		Calendar: s.Calendar.ID, Title: oneLine(content.TextOf(c, "SUMMARY")),
		Notes: lines(content.TextOf(c, "DESCRIPTION")), ETag: s.Object.ETag, Done: s.Instance.Done(),
		Parent: string(parentOf(c)),
	}
	if due := s.Due(); !due.Time.IsZero() {
		f.Due = p.here(due.Time).Format(time.DateOnly)
		if due.AllDay {
			f.Due = due.Civil().Date().String()[:len(time.DateOnly)]
		} else {
			f.DueTime = p.here(due.Time).Format(clockForm)
		}
	}
	if priority := c.Property("PRIORITY"); priority != nil && priority.Value() != "0" {
		f.Priority = clean(priority.Value())
	}
	return f
}

// CreateTask makes a task.
func (p *Planner) CreateTask(ctx context.Context, f TaskForm) (calendar.Saved, error) {
	cal, err := p.Service.Calendar(ctx, p.Caller, f.Calendar)
	if err != nil {
		return calendar.Saved{}, err
	}
	if f.Title == "" {
		return calendar.Saved{}, p.wrong("title", "planner.no-title")
	}
	d := edit.Draft{Kind: content.Todo, Fields: edit.Fields{Summary: edit.To(f.Title)}}
	if f.Notes != "" {
		d.Fields.Description = edit.To(f.Notes)
	}
	if f.Parent != "" {
		d.Fields.Parent = edit.To(f.Parent)
	}
	if f.Due != "" {
		due, err := p.due(f)
		if err != nil {
			return calendar.Saved{}, err
		}
		d.Times = edit.Times{End: edit.To(due), AsGiven: true}
	}
	return p.Service.CreateTelling(ctx, p.Caller, cal, d, calendar.TellAll)
}

func (p *Planner) due(f TaskForm) (ical.Time, error) {
	return p.time(EventForm{AllDay: f.DueTime == ""}, "due", f.Due, f.DueTime, p.Zone.Name())
}

// TaskChange returns the changes of a form to a task. It is false if nothing differs.
func (p *Planner) TaskChange(f, before TaskForm) (edit.Change, bool, error) {
	var c edit.Change
	if f.Title != before.Title {
		if f.Title == "" {
			return c, false, p.wrong("title", "planner.no-title")
		}
		c.Fields.Summary = edit.To(f.Title)
	}
	if f.Notes != before.Notes {
		c.Fields.Description = textField(f.Notes)
	}
	if f.Priority != before.Priority {
		priority, known := map[string]int{"1": 1, "5": 5, "9": 9}[f.Priority]
		switch {
		case known:
			c.Fields.Priority = edit.To(priority)
		case f.Priority == "":
			c.Fields.Priority = edit.Clear[int]()
		default:
			return c, false, p.wrong("priority", "planner.bad-priority", "text", clean(f.Priority))
		}
	}
	if f.Due != before.Due || f.DueTime != before.DueTime {
		if f.Due == "" {
			c.Times.End = edit.Clear[ical.Time]()
		} else {
			due, err := p.due(f)
			if err != nil {
				return c, false, err
			}
			c.Times = edit.Times{
				End: edit.To(due), AsGiven: (f.DueTime == "") != (before.DueTime == "") || before.Due == "",
			}
		}
	}
	f.ETag, f.Done = before.ETag, before.Done
	return c, f.Title != before.Title || f.Notes != before.Notes || f.Priority != before.Priority ||
		f.Due != before.Due || f.DueTime != before.DueTime, nil
}

// Tick finishes or reopens a task.
func (p *Planner) Tick(done bool) edit.Change {
	if done {
		return edit.Change{Fields: edit.Fields{Status: edit.To(edit.Completed)}}
	}
	return edit.Change{Fields: edit.Fields{Status: edit.To(edit.NeedsAction)}}
}

// Found is an event that a search found, with its day.
type Found struct {
	*Entry
	Date string
	Past bool
}

// Results are the results of a search.
type Results struct {
	Events []Found
	Tasks  []*Task
	// Meant lists the corrected words, if nothing has the given ones. More is set if there are more results.
	Meant []string
	More  bool
}

// Search finds events and tasks by words.
func (p *Planner) Search(ctx context.Context, words string, past bool) (r Results, err error) {
	q := query.EventSearch{Text: words, Timezone: p.Zone, Past: past, Limit: mostFound, Meter: p.meter}
	found, err := p.Service.SearchEvents(ctx, p.Caller, q)
	if err != nil {
		return r, err
	}
	for _, o := range query.Distinct(found.Occurrences) {
		r.Events = append(r.Events, Found{p.entry(o), p.Language.Date(p.here(o.Start.Time)), o.End.Time.Before(p.Now)})
	}
	todo, err := p.Service.SearchTasks(ctx, p.Caller, q)
	if err != nil {
		return r, err
	}
	for _, o := range todo.Occurrences {
		t, err := p.task(ctx, o.Calendar, o.Instance)
		if err != nil {
			return r, err
		}
		r.Tasks = append(r.Tasks, t)
	}
	r.Meant, r.More = slices.Concat(found.Meant, todo.Meant), found.More || todo.More
	return r, nil
}

// mostFound limits the results of a search.
const mostFound = 100
