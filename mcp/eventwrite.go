package mcp

import (
	"context"
	"slices"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/ical"
)

// changedView is an event after a change. Text and structure are the same, for half of the hosts show their model one of them.
type changedView struct {
	eventView
	SplitFrom shown `json:"split_from_uid,omitempty" doc:"The series was divided: what comes before is still under this uid."`
	detailsView
	toldView
}

// patchedView is an event that may have lost some of what it had.
type patchedView struct {
	changedView
	Removed []string `json:"removed,omitempty" doc:"What it had and has no longer."`
}

func (b toolbox) createEvent(ctx context.Context, c *call, in *newEvent) (answer, error) {
	cal, err := b.calendarNamed(ctx, c, in.calendar)
	if err != nil {
		return answer{}, err
	}
	z, err := b.zoneFor(c, in.inZone, cal)
	if err != nil {
		return answer{}, err
	}
	start, end, err := in.span(z)
	if err != nil {
		return answer{}, err
	}
	end.local = start.local // one clock for both
	if err := in.checkAnswers(nil); err != nil {
		return answer{}, err
	}
	draft := edit.Draft{Kind: string(calendar.Event), UID: string(c.uid), Fields: in.fields()}
	draft.Times = edit.Times{Start: edit.To(z.onClock(start)), End: edit.To(z.onClock(end))}
	if err := z.serves(draft.Times, in.recurs()); err != nil {
		return answer{}, err
	}
	saved, err := b.service.CreateTelling(ctx, c.caller, cal, draft, c.telling())
	o, err := b.made(ctx, c, cal, saved, err)
	if err != nil {
		return answer{}, err
	}
	made, err := b.service.InstanceOf(ctx, c.meter, cal, o, ical.Time{})
	if err != nil {
		return answer{}, err
	}
	beside, err := b.clashes(ctx, c, cal, made, z)
	if err != nil {
		return answer{}, err
	}
	return same(createdView{viewOfEvent(made), z.details(c.caller, cal, made), beside, c.told(saved.Told, made.Component)})
}

// updateEvent replaces what the tool models, as the first version has it: what is left out of
// its own parameters goes, and what it does not know of stays.
func (b toolbox) updateEvent(ctx context.Context, c *call, in *eventReplacement) (answer, error) {
	s, err := b.aim(ctx, c, anEvent, in.reference)
	if err != nil {
		return answer{}, err
	}
	start, end, err := in.span(s.zone)
	if err != nil {
		return answer{}, err
	}
	for _, replaced := range [...]*edit.Field[string]{&in.values.Description, &in.values.Location} {
		if replaced.Left() {
			*replaced = edit.Clear[string]()
		}
	}
	return b.changeEvent(ctx, c, s, &in.eventValues, s.zone.movedTo(s.found.Start, &start, &end))
}

func (b toolbox) patchEvent(ctx context.Context, c *call, in *eventPatch) (answer, error) {
	if err := in.check(); err != nil {
		return answer{}, err
	}
	s, err := b.aim(ctx, c, anEvent, in.reference)
	if err != nil {
		return answer{}, err
	}
	times, err := s.patchedTimes(&in.eventValues)
	if err != nil {
		return answer{}, err
	}
	return b.changeEvent(ctx, c, s, &in.eventValues, times)
}

// patchedTimes are those of a call that may give both, one or none.
func (s subject) patchedTimes(in *eventValues) (edit.Times, error) {
	if !in.start.Left() && !in.end.Left() {
		start, end, err := in.span(s.zone)
		return s.zone.movedTo(s.found.Start, &start, &end), err
	}
	if allDay, given := in.allDay.Value(); given && allDay != s.found.Start.AllDay {
		return edit.Times{}, errArgument(`"all_day" changes what start and end are: give both of them, too`)
	}
	return s.oneTime("start", in.start, "end", in.end)
}

// oneTime reads a start and an end of which either may be missing.
func (s subject) oneTime(from string, start edit.Field[string], to string, end edit.Field[string]) (edit.Times, error) {
	var given [2]*moment
	for i, side := range [...]struct {
		name string
		edit.Field[string]
	}{{from, start}, {to, end}} {
		value, ok := side.Value()
		if !ok {
			continue
		}
		m, err := s.zone.read(side.name, value)
		if err != nil {
			return edit.Times{}, err
		}
		if side.name == to {
			m = m.behind()
		}
		given[i] = &m
	}
	return s.zone.movedTo(s.found.Start, given[0], given[1]), nil
}

func (b toolbox) moveEvent(ctx context.Context, c *call, in *eventMove) (answer, error) {
	if err := in.named(in.id); err != nil {
		return answer{}, err
	}
	if (in.to == "") == (!isTime(in.start) && !isTime(in.end)) {
		return answer{}, errArgument(`give either "new_start", to move the event to another time, or "to_calendar_id", to move it to another calendar`)
	}
	s, err := b.aim(ctx, c, anEvent, in.reference)
	if err != nil {
		return answer{}, err
	}
	if err := in.checkZone("new_start or new_end", in.start, in.end); err != nil {
		return answer{}, err
	}
	if in.to != "" {
		return b.moveToCalendar(ctx, c, s, in.to)
	}
	times, err := s.oneTime("new_start", in.start, "new_end", in.end)
	if err != nil {
		return answer{}, err
	}
	times.AsGiven = false // time only: what takes whole days goes on to do so
	changed, _, err := b.change(ctx, c, s, edit.Change{Times: times}, false)
	if err != nil {
		return answer{}, err
	}
	return same(changed)
}

// moveToCalendar takes an event to another calendar. Instances stay with their series.
func (b toolbox) moveToCalendar(ctx context.Context, c *call, s subject, id calendar.CalendarID) (answer, error) {
	if s.found.Object.Recurring && s.scope != edit.All {
		e := errArgument(`an instance can't leave its series: "scope" must be "all" with "to_calendar_id", not %s`, quote(string(s.scope)))
		e.Hint = "to have one instance elsewhere, delete it with the scope this and create an event"
		return answer{}, e
	}
	now, to, err := b.moved(ctx, c, s, id)
	if err != nil {
		return answer{}, err
	}
	return same(changedView{eventView: viewOfEvent(now), detailsView: s.zone.details(c.caller, to, now)})
}

// moved moves what a call is about to another calendar, and returns it as it is there.
func (b toolbox) moved(ctx context.Context, c *call, s subject, id calendar.CalendarID) (query.Instance, calendar.Calendar, error) {
	to, err := b.service.Calendar(ctx, c.caller, id)
	switch {
	case err != nil && calendar.ReasonOf(err) == calendar.NotFound:
		return query.Instance{}, to, b.errNoCalendar(ctx, c.caller, id)
	case err != nil:
		return query.Instance{}, to, err
	case to.ID == s.cal.ID:
		return query.Instance{}, to, errArgument(`that is in %s already: "to_calendar_id" must be another calendar's id`, quote(to.Name))
	}
	saved, err := b.service.MoveToCalendar(ctx, c.caller, s.cal, s.found.Object.UID, to, s.when)
	if err != nil {
		return query.Instance{}, to, b.outdated(ctx, c, s, err)
	}
	now, err := b.service.InstanceOf(ctx, c.meter, to, saved.Object, ical.Time{})
	return now, to, err
}

// changeEvent makes a change and shows all that the event is now.
func (b toolbox) changeEvent(ctx context.Context, c *call, s subject, in *eventValues, times edit.Times) (answer, error) {
	if err := in.checkAnswers(s.found.Component); err != nil {
		return answer{}, err
	}
	changed, now, err := b.change(ctx, c, s, edit.Change{Fields: in.fields(), Times: times}, in.recurs())
	if err != nil {
		return answer{}, err
	}
	return same(patchedView{changed, removed(s.found.Component, now.Component)})
}

// removed names what an event had and has no longer.
func removed(before, after *ical.Component) []string {
	var names []string
	for _, f := range [...]struct{ name, property string }{{"description", "DESCRIPTION"}, {"location", "LOCATION"}} {
		if content.TextOf(before, f.property) != "" && content.TextOf(after, f.property) == "" {
			names = append(names, f.name)
		}
	}
	return names
}

// change makes a change, which may give a rule, and returns what has come of it.
func (b toolbox) change(ctx context.Context, c *call, s subject, change edit.Change, rule bool) (changedView, query.Instance, error) {
	if err := s.zone.serves(change.Times, rule || change.Times.AsGiven && s.found.Object.Recurring); err != nil {
		return changedView{}, query.Instance{}, err
	}
	change.Target = s.target()
	edited, err := b.service.EditObject(ctx, c.caller, s.cal, s.found.Object.UID, ledger.Edit{Change: change, When: s.when, Telling: c.telling(), Meter: c.meter})
	if err != nil {
		return changedView{}, query.Instance{}, b.outdated(ctx, c, s, err)
	}
	now, err := b.after(ctx, c, s, edited)
	if err != nil {
		return changedView{}, now, err
	}
	view := changedView{viewOfEvent(now), "", s.zone.details(c.caller, s.cal, now), c.told(edited.Told, now.Component)}
	if edited.Split != nil {
		view.SplitFrom = shown(s.found.Object.UID)
	}
	return view, now, nil
}

// deletedView is what is said of an event that was deleted; when a part of a series was, of what is left, too.
type deletedView struct {
	Deleted      bool                `json:"deleted"`
	Calendar     calendar.CalendarID `json:"calendar_id"`
	UID          shown               `json:"uid"`
	Title        shown               `json:"title"`
	StartLocal   string              `json:"start_local"`
	StartWeekday string              `json:"start_weekday"`
	RecurrenceID string              `json:"recurrence_id,omitempty"`
	ETag         calendar.ETag       `json:"etag,omitempty" doc:"Of what is left of the series."`
	toldView
}

// eventTarget is what delete_event takes.
type eventTarget struct{ reference }

func (in *eventTarget) takes() []field {
	return slices.Concat(in.takesEvent(), in.takesSeries(), []field{in.takesMatch()})
}

func (b toolbox) deleteEvent(ctx context.Context, c *call, in *eventTarget) (answer, error) {
	s, err := b.aim(ctx, c, anEvent, in.reference)
	if err != nil {
		return answer{}, err
	}
	edited, err := b.cancel(ctx, c, s)
	if err != nil {
		return answer{}, err
	}
	was, at := readViewOf(s.found), s.zone.times(s.found)
	v := deletedView{Deleted: true, Calendar: s.cal.ID, UID: was.UID, Title: was.Summary, StartLocal: at.StartLocal, StartWeekday: at.StartWeekday}
	v.toldView = c.told(edited.Told, s.found.Component)
	if !edited.Saved.Object.Deleted {
		v.ETag, v.RecurrenceID = edited.Saved.Object.ETag, stamp(s.found.RecurrenceID)
	}
	return same(v)
}

// cancel deletes what a call is about.
func (b toolbox) cancel(ctx context.Context, c *call, s subject) (ledger.Edited, error) {
	edited, err := b.service.CancelObject(ctx, c.caller, s.cal, s.found.Object.UID, ledger.Cancellation{Target: s.target(), When: s.when, Telling: c.telling(), Meter: c.meter})
	return edited, b.outdated(ctx, c, s, err)
}
