package mcp

import (
	"context"
	"slices"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/ical"
)

// takesTask returns the parameters that identify a task.
func (r *reference) takesTask() []field {
	return []field{takesCalendar(&r.Calendar).needed(), uidTo(&r.UID, "task_uid").needed()}
}

// taskQuestion holds the arguments of get_task.
type taskQuestion struct{ reference }

func (in *taskQuestion) takes() []field {
	return append(in.takesTask(), wordTo(&in.RecurrenceID, "recurrence_id", "Of a series, as listed."), in.takesZone())
}

// wholeTask is the result of get_task.
type wholeTask struct {
	taskDetailsView
	Subtasks []taskView `json:"subtasks,omitempty"`
	// More is set if there are more subtasks.
	More bool `json:"more_subtasks,omitempty"`
}

func (b toolbox) getTask(ctx context.Context, c *call, s subject, _ *taskQuestion) (answer, error) {
	parts, more, err := b.subtasks(ctx, c, s)
	if err != nil {
		return answer{}, err
	}
	views := each(parts, func(part query.Instance) taskView { return s.zone.taskView(c.caller, s.cal, part) })
	return same(wholeTask{s.zone.taskDetails(c.caller, s.cal, s.found), views, more})
}

// subtasks returns the tasks whose parent is the target.
func (b toolbox) subtasks(ctx context.Context, c *call, s subject) (list []query.Instance, more bool, err error) {
	uid := string(s.found.Object.UID)
	relates := filter.PropFilter{Name: "RELATED-TO", Text: &filter.TextMatch{Text: uid}}
	q := query.Query{Meter: c.meter, Timezone: s.zone.Zone, Filter: filter.Filter{{Name: "VCALENDAR", Components: []filter.CompFilter{
		{Name: filter.ComponentName(calendar.Todo), Props: []filter.PropFilter{relates}},
	}}}}
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
	return append(in.takesTask(), wordTo(&in.to, "to_calendar_id", "").needed(), in.takesMatch())
}

func (b toolbox) moveTask(ctx context.Context, c *call, in *taskMove) (answer, error) {
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
	Untrusted    shown               `json:"untrusted_text_by,omitempty"`
}

func (b toolbox) deleteTask(ctx context.Context, c *call, s subject, _ *taskTarget) (answer, error) {
	edited, err := b.cancel(ctx, c, s)
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
