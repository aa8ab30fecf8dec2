package mcp

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/mcp/wire"
)

const (
	// mostPriority is the lowest priority of RFC 5545 §3.8.1.9.
	mostPriority = 9
	mostPercent  = 100
)

// taskTools are the tools for tasks.
type taskTools struct{ toolbox }

// The values of the parameter status of list_tasks.
const (
	openTasks = "open"
	doneTasks = "done"
	allTasks  = "all"
)

// taskView is a task in a list.
type taskView struct {
	UID          shown               `json:"uid"`
	Calendar     calendar.CalendarID `json:"calendar_id"`
	Title        shown               `json:"title"`
	Status       string              `json:"status"`
	Due          string              `json:"due,omitempty"`
	DueLocal     string              `json:"due_local,omitempty"`
	DueWeekday   string              `json:"due_weekday,omitempty"`
	Start        string              `json:"start,omitempty"`
	StartLocal   string              `json:"start_local,omitempty"`
	StartWeekday string              `json:"start_weekday,omitempty"`
	Priority     int                 `json:"priority,omitempty"`
	Percent      int                 `json:"percent,omitempty"`
	Completed    string              `json:"completed,omitempty" doc:"When."`
	Recurring    bool                `json:"recurring,omitempty"`
	RecurrenceID string              `json:"recurrence_id,omitempty"`
	Parent       shown               `json:"parent_uid,omitempty"`

	Untrusted shown `json:"untrusted_text_by,omitempty" once:"true"`

	ETag calendar.ETag `json:"etag"`
}

func (v taskView) foreign() bool { return v.Untrusted != "" }

// taskDetailsView is a task with all details.
type taskDetailsView struct {
	taskView
	moreView `in:"get_task"`
	Location shown `json:"location,omitempty" in:"get_task"`
	zoneView
}

// changedTask is a task after a change. SplitFrom is as in changedView.
type changedTask struct {
	taskDetailsView `in:"create_task"`
	SplitFrom       shown `json:"split_from_uid,omitempty"`
}

// tasksView is the result of list_tasks.
type tasksView struct {
	Tasks     []taskView   `json:"tasks"`
	Calendars []legendView `json:"calendars,omitempty"`
	pageView
	Before string `json:"due_before,omitempty"`
	zoneView
}

func (v tasksView) foreign() bool { return anyForeign(v.Tasks) }

// tasksQuestion holds the arguments of list_tasks.
type tasksQuestion struct {
	inCalendar
	status, dueBefore, words string
	paged
	inZone
}

func (in *tasksQuestion) takes() []field {
	return slices.Concat([]field{
		takesCalendar(&in.calendar),
		textTo(&in.status, "status", "Default: open.").oneOf(openTasks, doneTasks, allTasks),
		wordTo(&in.dueBefore, "due_before", "A time, or monday."),
		textTo(&in.words, "query", "Words.").upTo(longestQuery),
	}, in.paged.takes(), []field{in.takesZone()})
}

func (b taskTools) listTasks(ctx context.Context, c *call, in *tasksQuestion) (answer, error) {
	calendars, z, err := b.taskCalendars(ctx, c, in)
	if err != nil {
		return answer{}, err
	}
	before, err := c.fixed("due_before", func() (time.Time, error) {
		return b.readBefore(c, z, "due_before", in.dueBefore)
	})
	if err != nil {
		return answer{}, err
	}
	p, err := in.read(c)
	if err != nil {
		return answer{}, err
	}
	var list []query.Instance
	of := map[calendar.CalendarID]calendar.Calendar{}
	for _, cal := range calendars {
		of[cal.ID] = cal
		found, err := b.tasksIn(ctx, c, cal, z, cmp.Or(in.status, openTasks))
		if err != nil {
			return answer{}, err
		}
		list = append(list, found...)
	}
	words := content.Words(in.words)
	list = slices.DeleteFunc(list, func(i query.Instance) bool {
		late := before.IsZero() || !i.Due().Time.IsZero() && i.Due().Time.Before(before)
		said := len(words) == 0 || !i.Unclear && content.Found(words, content.WordsOf(i.Component))
		return !late || !said
	})
	slices.SortStableFunc(list, byUrgency)
	view := tasksView{Tasks: []taskView{}, Before: z.momentOf(before), zoneView: z.view()}
	list, view.pageView = cutPage(c, list, p, c.room(), sizeOf)
	for _, i := range list {
		view.Tasks = append(view.Tasks, z.taskView(c.caller, of[i.Object.Calendar], i))
		view.Calendars = inLegend(c.caller, view.Calendars, of[i.Object.Calendar])
	}
	return same(view)
}

// taskCalendars returns the calendars of a call: the named one, or all visible ones that hold tasks.
func (b taskTools) taskCalendars(ctx context.Context, c *call, in *tasksQuestion) ([]calendar.Calendar, zoned, error) {
	cal, err := b.oneCalendar(ctx, c, in.calendar)
	if err != nil {
		return nil, zoned{}, err
	}
	z, err := b.zoneFor(c, in.inZone, cal)
	if err == nil && cal.ID != "" {
		err = c.caller.May(calendar.ReadObjects, cal) // free/busy access reveals no tasks
	}
	if err != nil || cal.ID != "" {
		return []calendar.Calendar{cal}, z, err
	}
	all, err := b.service.Calendars(ctx, c.caller)
	return slices.DeleteFunc(all, func(cal calendar.Calendar) bool {
		return cal.Hidden || cal.Access < calendar.ReadAccess || !cal.Kinds.Has(calendar.Todo)
	}), z, err
}

// mostInstances limits the instances of a recurring task that are searched for an open one.
const mostInstances = 500

// tasksIn lists the tasks of a calendar with the wanted status. For a series these are the completed instances and the
// first open one.
func (b taskTools) tasksIn(
	ctx context.Context, c *call, cal calendar.Calendar, z zoned, want string,
) ([]query.Instance, error) {
	var list []query.Instance
	briefs := query.Briefs{Meter: c.meter}
	opened := map[calendar.UID]bool{}
	for i, err := range b.service.Instances(ctx, c.caller, cal, query.InstanceQuery{
		Kind:     calendar.Todo,
		Timezone: z.Zone, Most: mostInstances, Meter: c.meter,
	}) {
		if err != nil {
			return nil, err
		}
		// A task without a start is no series, and its instance lacks the due date.
		if !i.Unclear && i.Start.Time.IsZero() {
			if whole, err := b.service.InstanceOf(ctx, nil, cal, i.Object, ical.Time{}); err == nil {
				i = whole
			}
		}
		done := i.Done()
		if done && want == openTasks || !done && (want == doneTasks || opened[i.Object.UID]) {
			continue
		}
		opened[i.Object.UID] = opened[i.Object.UID] || !done
		if i, err = briefs.Of(i); err != nil {
			return nil, err
		}
		list = append(list, i)
	}
	return list, nil
}

// byUrgency orders tasks by due date, then by priority.
func byUrgency(a, b query.Instance) int {
	dueA, dueB := a.Due().Time, b.Due().Time
	if never := dueA.IsZero(); never != dueB.IsZero() {
		if never {
			return 1
		}
		return -1
	}
	return cmp.Or(dueA.Compare(dueB), cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Object.UID, b.Object.UID))
}

// rank is the priority; no priority ranks lowest.
func rank(i query.Instance) int {
	if n := numberOf(i, "PRIORITY"); n > 0 {
		return n
	}
	return mostPriority + 1
}

func numberOf(i query.Instance, name string) int {
	if i.Unclear {
		return 0
	}
	n, err := strconv.Atoi(content.TextOf(i.Component, name))
	if err != nil {
		return 0
	}
	return n
}

// taskStatus is the task's status, or the one that clients infer from its other properties.
func taskStatus(i query.Instance) string {
	switch {
	case !i.Unclear && content.WordOf(i.Component, "STATUS") != "":
		return wire.Visible(content.WordOf(i.Component, "STATUS"))
	case i.Done():
		return string(edit.Completed)
	default:
		return string(edit.NeedsAction)
	}
}

// taskView shows a task to the caller.
func (z zoned) taskView(who calendar.Caller, cal calendar.Calendar, i query.Instance) taskView {
	r := readViewOf(i)
	v := taskView{
		UID: r.UID, Calendar: r.Calendar, Title: r.Summary, ETag: r.ETag, Status: taskStatus(i),
		Due: stamp(i.Due()), Start: stamp(i.Start), Priority: numberOf(i, "PRIORITY"), Percent: numberOf(i,
			"PERCENT-COMPLETE"),
		Recurring: isSeries(i), RecurrenceID: r.RecurrenceID,
	}
	v.DueLocal, v.DueWeekday = z.local(i.Due())
	v.StartLocal, v.StartWeekday = z.local(i.Start)
	v.Untrusted = standing(who, cal, i.Component).Untrusted
	if i.Unclear {
		return v
	}
	v.Parent = shown(cut(edit.ParentOf(i.Component)))
	if p := i.Component.Property("COMPLETED"); p != nil {
		// RFC 5545 §3.8.2.1: always in UTC.
		if at, err := p.Time(); err == nil {
			v.Completed = time.Unix(at.Civil.Seconds(), 0).In(z.Location()).Format(time.RFC3339)
		}
	}
	return v
}

// taskDetails shows all details of a task.
func (z zoned) taskDetails(who calendar.Caller, cal calendar.Calendar, i query.Instance) taskDetailsView {
	return taskDetailsView{
		taskView: z.taskView(who, cal, i), moreView: z.moreOf(i.Component),
		Location: shown(cut(content.TextOf(i.Component, "LOCATION"))), zoneView: z.view(),
	}
}
