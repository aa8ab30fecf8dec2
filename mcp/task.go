package mcp

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/ical"
)

const (
	// mostPriority is the lowest that RFC 5545 §3.8.1.9 has.
	mostPriority = 9
	mostPercent  = 100
)

// taskTools are the tools about tasks.
func (b toolbox) taskTools() []tool {
	return []tool{
		{
			name: "list_tasks", title: "List tasks",
			description: "Lists the user's tasks, those due first on top. Of a task that recurs, the next open instance is listed.",
			scope:       calendar.ScopeRead,
			hints:       hints{readOnly: true, idempotent: true},
			takes: join(optionally(calendarID), []field{
				{name: "status", kind: text, doc: "Which tasks; open if missing.", optional: true, words: []string{openTasks, doneTasks, allTasks}},
				{name: "due_before", kind: text, doc: "Only tasks that are due before it: " + timeForms + ".", optional: true},
			}, takesPage, []field{takesZone}),
			gives: tasksView{},
			run:   b.listTasks,
		}, b.once(tool{
			name: "create_task", title: "Create task",
			description: "Creates a task in a calendar that takes tasks, and returns it as it was stored.",
			scope:       calendar.ScopeWrite,
			takes:       join([]field{calendarID, takesTaskTitle}, takesTask, []field{takesZone}),
			gives:       taskDetailsView{},
			run:         b.createTask,
		}), b.once(tool{
			name: "update_task", title: "Change or complete task",
			description: "Changes only the fields that you give, and keeps the rest. completed: true marks the task as done, false opens it again. An empty text or list removes a field.",
			scope:       calendar.ScopeRead | calendar.ScopeWrite,
			hints:       hints{destructive: true, idempotent: true},
			takes: join([]field{calendarID, {name: "task_uid", kind: text, doc: "The task's uid.", longest: longestID}}, optionally(takesTaskTitle), takesTask,
				[]field{{name: "completed", kind: yesNo, doc: "Whether it is done.", optional: true}, takesZoneKept}, takesTarget),
			gives: changedTask{},
			run:   b.updateTask,
		}),
	}
}

var (
	takesTaskTitle = field{name: "title", kind: text, doc: "What is to be done.", longest: longestTitle}
	takesTask      = []field{
		{name: "due", kind: text, doc: "When it is due: " + timeForms + ".", optional: true},
		{name: "start", kind: text, doc: "When work on it starts.", optional: true},
		{name: "description", kind: text, doc: "Notes.", optional: true, longest: longestText},
		{name: "priority", kind: number, doc: "1 (high) to 9 (low); 0 for none.", optional: true, most: mostPriority},
		{name: "percent", kind: number, doc: "How much is done, 0 to 100.", optional: true, most: mostPercent},
		{name: "rrule", kind: text, doc: "How it recurs: FREQ=WEEKLY;BYDAY=MO. Needs start, not due alone.", optional: true, longest: longestTitle},
		{name: "alarms", kind: listOf, item: number, doc: "All reminders, in minutes before the start, or before due if there is no start.", optional: true, most: longestList},
		{name: "url", kind: text, doc: "A page about it.", optional: true, longest: longestText},
		{name: "categories", kind: listOf, item: text, doc: "All its tags.", optional: true, most: longestList, longest: longestTitle},
	}
)

// taskFields are the values that a call gives a task.
func (a arguments) taskFields() edit.Fields {
	f := a.fields()
	if a.has("priority") {
		f.Priority = edit.To(a.number("priority"))
		if a.number("priority") == 0 { // RFC 5545 §3.8.1.9: undefined
			f.Priority = edit.Clear[int]()
		}
	}
	if a.has("percent") {
		f.Percent = edit.To(a.number("percent"))
	}
	switch {
	case !a.has("completed"):
	case a.yes("completed"):
		f.Status = edit.To(edit.Completed)
	default:
		f.Completed = edit.Clear[time.Time]()
	}
	return f
}

func (b toolbox) createTask(ctx context.Context, c *call) (answer, error) {
	cal, err := b.calendarOf(ctx, c)
	if err != nil {
		return answer{}, err
	}
	z, err := b.zoneFor(c, cal)
	if err != nil {
		return answer{}, err
	}
	if err := c.args.checkTask(); err != nil {
		return answer{}, err
	}
	draft := edit.Draft{Kind: string(calendar.Todo), UID: string(c.uid), Fields: c.args.taskFields()}
	if draft.Times, err = z.taskTimes(c.args, query.Instance{}); err != nil {
		return answer{}, err
	}
	saved, err := b.service.Create(ctx, c.caller, cal, draft)
	o, err := b.made(ctx, c, cal, saved, err)
	if err != nil {
		return answer{}, err
	}
	made, err := b.service.InstanceOf(ctx, c.meter, cal, o, ical.Time{})
	if err != nil {
		return answer{}, err
	}
	v := z.taskDetails(made)
	return answer{v, v}, nil
}

func (b toolbox) updateTask(ctx context.Context, c *call) (answer, error) {
	if err := c.args.checkTask(); err != nil {
		return answer{}, err
	}
	s, err := b.aim(ctx, c, aTask, c.named(aTask))
	if err != nil {
		return answer{}, err
	}
	change := edit.Change{Target: s.target(), Fields: c.args.taskFields()}
	if change.Times, err = s.zone.taskTimes(c.args, s.found); err != nil {
		return answer{}, err
	}
	edited, err := b.service.EditObject(ctx, c.caller, s.cal, s.found.Object.UID, ledger.Edit{Change: change, When: c.when(), Meter: c.meter})
	if err != nil {
		return answer{}, b.outdated(ctx, c, s, err)
	}
	now, err := b.after(ctx, c, s, edited)
	if err != nil {
		return answer{}, err
	}
	v := changedTask{taskDetailsView: s.zone.taskDetails(now)}
	if edited.Split != nil {
		v.SplitFrom = shown(s.found.Object.UID)
	}
	return answer{v, v}, nil
}

// taskTimes reads start and due; an empty one is taken away. They go on the clock that the task
// has, if it has one and it shows such times.
func (z zoned) taskTimes(a arguments, was query.Instance) (edit.Times, error) {
	on := was.Start
	if on.Time.IsZero() {
		on = was.End
	}
	t := edit.Times{AsGiven: on.Time.IsZero()}
	for _, f := range [...]struct {
		name string
		into *edit.Field[ical.Time]
	}{{"start", &t.Start}, {"due", &t.End}} {
		switch {
		case !a.has(f.name):
		case a.text(f.name) == "":
			*f.into = edit.Clear[ical.Time]()
		default:
			m, err := z.read(f.name, a.text(f.name))
			if err != nil {
				return t, err
			}
			*f.into = edit.To(z.onClock(m))
			t.AsGiven = t.AsGiven || m.date != on.AllDay
		}
	}
	return t, z.serves(t, a.text("rrule") != "")
}
