package mcp

import (
	"context"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/mcp/wire"
)

// rows returns the tools for tasks.
func (b taskTools) rows() []tool {
	return []tool{
		reading(tool{
			name: "list_tasks", title: "List tasks",
			description: "Lists tasks by due date; of a recurring one, the next open instance.",
			begin:       doing(b.listTasks), gives: tasksView{},
		}), reading(tool{
			name: "get_task", title: "Get task",
			description: "Returns one task, or instance of a series, with its subtasks.",
			begin:       withSubject(aTask, b.subject, b.getTask), gives: wholeTask{},
		}), b.once(tool{
			name: "create_task", title: "Create task",
			description: "Creates a task, in a calendar that holds tasks.",
			scope:       calendar.ScopeWrite,
			begin:       within(b.toolbox, b.createTask), gives: taskDetailsView{},
		}), sending(b.changing(tool{
			name: "update_task", title: "Change or complete task",
			description: "Changes only the fields you give; an empty text or list removes one.",
			begin:       doing(b.updateTask), gives: changedTask{},
		})), sending(b.changing(tool{
			name: "move_task", title: "Move task",
			description: "Moves a task to another calendar.",
			begin:       doing(b.moveTask), gives: taskDetailsView{},
		})), sending(b.once(tool{
			name: "delete_task", title: "Delete task",
			description: "Deletes a task or instances. To mark it done: update_task with completed.",
			scope:       calendar.ScopeRead | calendar.ScopeWrite | calendar.ScopeDelete,
			hints:       toolHints{destructive: true, idempotent: true},
			begin:       withSubject(aTask, b.aim, b.deleteTask), gives: deletedTask{},
		})),
	}
}

// taskValues holds the arguments of tools that create or change a task.
type taskValues struct {
	due, start edit.Field[string]
	values     edit.Fields
	alarms     edit.Field[[]string]
}

func (in *taskValues) takesTitle() field {
	return fieldTo(&in.values.Summary, "title", "Title.").upTo(longestTitle)
}

func (in *taskValues) takesTimes() []field {
	return []field{fieldTo(&in.due, "due", timeForm), fieldTo(&in.start, "start", "When work begins.")}
}

func (in *taskValues) takesMore() []field {
	return []field{
		fieldTo(&in.values.Description, "description", "Notes.").upTo(longestText),
		fieldTo(&in.values.Location, "location", "Place.").upTo(longestTitle),
		fieldTo(&in.values.Parent, "parent_uid", "Parent task.").upTo(longestID),
		numberFieldTo(&in.values.Priority, "priority", "1 high, 9 low, 0 none.").between(0, mostPriority),
		numberFieldTo(&in.values.Percent, "percent", "0 to 100 done.").between(0, mostPercent),
		fieldTo(&in.values.Rule, "rrule", "FREQ=WEEKLY;BYDAY=MO. Needs start.").upTo(longestTitle),
		listFieldTo(&in.alarms, "alarms", alarmForm, strings.TrimSpace).items(longestList),
		fieldTo(&in.values.URL, "url", "A link.").upTo(longestText),
		listFieldTo(&in.values.Categories, "categories", "All tags.", strings.TrimSpace).items(longestList).
			upTo(longestTitle),
	}
}

// fields returns the values in a call.
func (in *taskValues) fields(z zoned) (f edit.Fields, err error) {
	f = in.values
	if n, given := f.Priority.Value(); given && n == 0 { // RFC 5545 §3.8.1.9: undefined
		f.Priority = edit.Clear[int]()
	}
	f.Alarms, err = readEach(in.alarms, z.alarm)
	return f, err
}

// newTask holds the arguments of create_task.
type newTask struct {
	inCalendar
	taskValues
	inZone
}

func (in *newTask) takes() []field {
	return slices.Concat(in.inCalendar.takes(), []field{in.takesTitle().needed()}, in.takesTimes(),
		[]field{in.takesZone()}, in.takesMore())
}

// taskPatch holds the arguments of update_task.
type taskPatch struct {
	reference
	taskValues
	completed edit.Field[bool]
}

func (in *taskPatch) takes() []field {
	return slices.Concat(in.takesTask(), in.takesSeries(), []field{
		yesFieldTo(&in.completed, "completed", "true: done; false: open."),
		in.takesTitle(),
	}, in.takesTimes(), []field{in.takesZoneKept()},
		in.takesMore(), []field{in.takesMatch()})
}

// check refuses contradictory arguments.
func (in *taskPatch) check() error {
	done, said := in.completed.Value()
	percent, counted := in.values.Percent.Value()
	if said && counted && done != (percent == mostPercent) {
		return errArgument(`"completed" is %t and "percent" is %d: give one of them, or make them agree`, done, percent)
	}
	return nil
}

func (in *taskPatch) fields(z zoned) (edit.Fields, error) {
	f, err := in.taskValues.fields(z)
	if done, said := in.completed.Value(); done {
		f.Status = edit.To(edit.Completed)
	} else if said {
		f.Completed = edit.Clear[time.Time]()
	}
	return f, err
}

// checkHoldsTasks refuses a calendar that holds no tasks, and names the calendars that do.
func (b taskTools) checkHoldsTasks(ctx context.Context, c *call, cal calendar.Calendar) error {
	if cal.Kinds.Has(calendar.Todo) {
		return nil
	}
	e := calendar.Errorf(calendar.Forbidden, calendar.RuleSupportedKind, "the calendar %s holds no tasks",
		wire.Quote(cal.Name))
	all, err := b.service.Calendars(ctx, c.caller)
	all = slices.DeleteFunc(all, func(cal calendar.Calendar) bool {
		return !cal.Kinds.Has(calendar.Todo) || cal.Access < calendar.WriteAccess
	})
	if err == nil && len(all) > 0 {
		e.Hint = "give the id of one that does: " + namesWithIDs(c.caller, all)
	}
	return e
}

func (b taskTools) createTask(ctx context.Context, c *call, cal calendar.Calendar, in *newTask) (answer, error) {
	if err := b.checkHoldsTasks(ctx, c, cal); err != nil {
		return answer{}, err
	}
	z, err := b.zoneFor(c, in.inZone, cal)
	if err != nil {
		return answer{}, err
	}
	draft := edit.Draft{Kind: string(calendar.Todo), UID: string(c.uid)}
	if draft.Fields, err = in.fields(z); err != nil {
		return answer{}, err
	}
	if draft.Times, err = in.times(z, in.inZone, query.Instance{}); err != nil {
		return answer{}, err
	}
	made, _, err := b.create(ctx, c, cal, draft)
	if err != nil {
		return answer{}, err
	}
	return same(z.taskDetails(c.caller, cal, made))
}

func (b taskTools) updateTask(ctx context.Context, c *call, in *taskPatch) (answer, error) {
	if err := in.check(); err != nil {
		return answer{}, err
	}
	s, err := b.aim(ctx, c, aTask, in.reference)
	if err != nil {
		return answer{}, err
	}
	change := edit.Change{Target: s.target()}
	if change.Fields, err = in.fields(s.zone); err != nil {
		return answer{}, err
	}
	if change.Times, err = in.times(s.zone, in.inZone, s.found); err != nil {
		return answer{}, err
	}
	edited, now, err := b.editObject(ctx, c, s, change)
	if err != nil {
		return answer{}, err
	}
	v := changedTask{taskDetailsView: s.zone.taskDetails(c.caller, s.cal, now)}
	if edited.Split != nil {
		v.SplitFrom = shown(s.found.Object.UID)
	}
	return same(v)
}

// times parses start and due; an empty one clears the property. They keep the task's time zone, if it has one, unless
// the task changes between all-day and timed.
func (in *taskValues) times(z zoned, asked inZone, was query.Instance) (edit.Times, error) {
	if err := asked.checkZone("due or start", in.due, in.start); err != nil {
		return edit.Times{}, err
	}
	on := was.Start
	if on.Time.IsZero() {
		on = was.End
	}
	_, rule := in.values.Rule.Value()
	z, t := z.repeating(rule), edit.Times{AsGiven: on.Time.IsZero()}
	for _, f := range [...]struct {
		name string
		edit.Field[string]
		into *edit.Field[ical.Time]
	}{{"start", in.start, &t.Start}, {"due", in.due, &t.End}} {
		switch value, given := f.Value(); {
		case f.Cleared():
			*f.into = edit.Clear[ical.Time]()
		case given:
			m, err := z.read(f.name, value)
			if err != nil {
				return t, err
			}
			*f.into = edit.To(z.onClock(m))
			t.AsGiven = t.AsGiven || m.date != on.AllDay
		}
	}
	return t, z.serves(t, rule)
}

// takesTask returns the parameters that identify a task.
func (r *reference) takesTask() []field {
	return []field{takesCalendar(&r.Calendar).needed(), uidTo(&r.UID, "task_uid").needed()}
}

// taskQuestion holds the arguments of get_task.
type taskQuestion struct{ reference }

func (in *taskQuestion) takes() []field {
	return append(in.takesTask(), wordTo(&in.RecurrenceID, "recurrence_id", "Of a series."), in.takesZone())
}

// wholeTask is the result of get_task.
type wholeTask struct {
	taskDetailsView
	Subtasks []taskView `json:"subtasks,omitempty"`
	// More is set if there are more subtasks.
	More bool `json:"more_subtasks,omitempty"`
}

func (v wholeTask) foreign() bool { return v.taskView.foreign() || anyForeign(v.Subtasks) }

func (b taskTools) getTask(ctx context.Context, c *call, s subject, _ *taskQuestion) (answer, error) {
	parts, more, err := b.subtasks(ctx, c, s)
	if err != nil {
		return answer{}, err
	}
	views := each(parts, func(part query.Instance) taskView { return s.zone.taskView(c.caller, s.cal, part) })
	return same(wholeTask{s.zone.taskDetails(c.caller, s.cal, s.found), views, more})
}

// subtasks returns the tasks whose parent is the target.
func (b taskTools) subtasks(ctx context.Context, c *call, s subject) (list []query.Instance, more bool, err error) {
	uid := string(s.found.Object.UID)
	relates := filter.PropFilter{Name: "RELATED-TO", Text: &filter.TextMatch{Text: uid}}
	q := query.Query{Meter: c.meter, Timezone: s.zone.Zone, Filter: filter.Filter{{
		Name: "VCALENDAR",
		Components: []filter.CompFilter{
			{Name: filter.ComponentName(calendar.Todo), Props: []filter.PropFilter{relates}},
		},
	}}}
	for o, err := range b.service.Query(ctx, c.caller, s.cal, q) {
		if err != nil {
			return nil, false, err
		}
		part, err := b.service.InstanceOf(ctx, c.meter, s.cal, o, ical.Time{})
		if err != nil {
			return nil, false, err
		}
		if part.Unclear || edit.ParentOf(part.Component) != uid {
			continue
		}
		if len(list) == mostItems {
			return list, true, nil
		}
		list = append(list, part)
	}
	return list, false, nil
}

// taskMove holds the arguments of move_task.
type taskMove struct {
	reference
	to calendar.CalendarID
}

func (in *taskMove) takes() []field {
	return append(in.takesTask(), wordTo(&in.to, "to_calendar_id", "Where it goes.").needed(), in.takesMatch())
}

func (b taskTools) moveTask(ctx context.Context, c *call, in *taskMove) (answer, error) {
	in.scope = edit.All // only a whole task can be moved
	s, err := b.subject(ctx, c, aTask, in.reference)
	if err != nil {
		return answer{}, err
	}
	now, to, err := b.carried(ctx, c, s, in.to, b.service.MoveToCalendar)
	if err != nil {
		return answer{}, err
	}
	return same(s.zone.taskDetails(c.caller, to, now))
}

// taskTarget holds the arguments of delete_task.
type taskTarget struct{ reference }

func (in *taskTarget) takes() []field {
	return slices.Concat(in.takesTask(), in.takesSeries(), []field{in.takesMatch()})
}

// deletedTask is the result of delete_task. If part of a series is left, it also describes the rest.
type deletedTask struct {
	Deleted      bool                `json:"deleted"`
	Calendar     calendar.CalendarID `json:"calendar_id"`
	UID          shown               `json:"uid"`
	Title        shown               `json:"title"`
	RecurrenceID string              `json:"recurrence_id,omitempty"`
	ETag         calendar.ETag       `json:"etag,omitempty"`
	Untrusted    shown               `json:"untrusted_text_by,omitempty" once:"true"`
}

// foreign is always true: models never write this text back.
func (deletedTask) foreign() bool { return true }

func (b taskTools) deleteTask(ctx context.Context, c *call, s subject, _ *taskTarget) (answer, error) {
	edited, err := b.cancel(ctx, c, s, "")
	if err != nil {
		return answer{}, err
	}
	was := readViewOf(s.found)
	v := deletedTask{Deleted: true, Calendar: s.cal.ID, UID: was.UID, Title: was.Summary}
	v.Untrusted = standing(c.caller, s.cal, s.found.Component).Untrusted
	if !edited.Saved.Object.Deleted {
		v.ETag, v.RecurrenceID = edited.Saved.Object.ETag, stamp(s.found.RecurrenceID)
	}
	return same(v)
}
