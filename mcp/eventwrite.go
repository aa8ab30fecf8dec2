package mcp

import (
	"context"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/ical"
)

// changedView is an event after a change, as text.
type changedView struct {
	eventView
	// SplitFrom is the uid of a series that was divided: what comes before is still under it.
	SplitFrom shown `json:"split_from_uid,omitempty"`
}

// patchedView is an event that may have lost some of what it had.
type patchedView struct {
	changedView
	Removed []string `json:"removed,omitempty"`
}

// structuredChange is the same as an object.
type structuredChange struct {
	patchedView
	detailsView
}

// structuredMove is a changedView, as an object, of an event that was only moved.
type structuredMove struct {
	changedView
	placedView
}

func (b toolbox) createEvent(ctx context.Context, c *call) (answer, error) {
	cal, err := b.calendarOf(ctx, c)
	if err != nil {
		return answer{}, err
	}
	z, err := b.zoneFor(c, cal)
	if err != nil {
		return answer{}, err
	}
	start, end, err := z.readEventSpan(c.args)
	if err != nil {
		return answer{}, err
	}
	end.local = start.local // one clock for both
	if err := c.args.checkAnswers(nil); err != nil {
		return answer{}, err
	}
	draft := edit.Draft{Kind: string(calendar.Event), UID: string(c.uid), Fields: c.args.fields()}
	draft.Times = edit.Times{Start: edit.To(z.onClock(start)), End: edit.To(z.onClock(end))}
	if err := z.serves(draft.Times, c.args.text("rrule") != ""); err != nil {
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
	beside, err := b.clashes(ctx, c, cal, made, z)
	if err != nil {
		return answer{}, err
	}
	view := viewOfEvent(made)
	return answer{createdView{view, beside}, structuredCreation{view, z.details(made), beside}}, nil
}

// updateEvent replaces what the tool models, as the first version has it: what is left out of
// its own parameters goes, and what it does not know of stays.
func (b toolbox) updateEvent(ctx context.Context, c *call) (answer, error) {
	s, err := b.aim(ctx, c, anEvent, c.named(anEvent))
	if err != nil {
		return answer{}, err
	}
	start, end, err := s.zone.readEventSpan(c.args)
	if err != nil {
		return answer{}, err
	}
	fields := c.args.fields()
	for _, replaced := range [...]*edit.Field[string]{&fields.Description, &fields.Location} {
		if replaced.Left() {
			*replaced = edit.Clear[string]()
		}
	}
	return b.changeEvent(ctx, c, s, edit.Change{Fields: fields, Times: s.zone.movedTo(s.found.Start, &start, &end)})
}

func (b toolbox) patchEvent(ctx context.Context, c *call) (answer, error) {
	if err := c.args.checkPatch(); err != nil {
		return answer{}, err
	}
	s, err := b.aim(ctx, c, anEvent, c.named(anEvent))
	if err != nil {
		return answer{}, err
	}
	times, err := s.patchedTimes(c.args)
	if err != nil {
		return answer{}, err
	}
	return b.changeEvent(ctx, c, s, edit.Change{Fields: c.args.fields(), Times: times})
}

// patchedTimes are those of a call that may give both, one or none.
func (s subject) patchedTimes(a arguments) (edit.Times, error) {
	if a.has("start") && a.has("end") {
		start, end, err := s.zone.readEventSpan(a)
		return s.zone.movedTo(s.found.Start, &start, &end), err
	}
	if a.has("all_day") && a.yes("all_day") != s.found.Start.AllDay {
		return edit.Times{}, errArgument(`"all_day" changes what start and end are: give both of them, too`)
	}
	return s.oneTime(a, "start", "end")
}

// oneTime reads a start and an end of which either may be missing.
func (s subject) oneTime(a arguments, from, to string) (edit.Times, error) {
	var given [2]*moment
	for i, name := range [...]string{from, to} {
		if a.text(name) == "" {
			continue
		}
		m, err := s.zone.read(name, a.text(name))
		if err != nil {
			return edit.Times{}, err
		}
		if name == to {
			m = m.behind()
		}
		given[i] = &m
	}
	return s.zone.movedTo(s.found.Start, given[0], given[1]), nil
}

func (b toolbox) moveEvent(ctx context.Context, c *call) (answer, error) {
	id, err := c.eventID()
	if err != nil {
		return answer{}, err
	}
	to, from, until := given(c, "to_calendar_id"), given(c, "new_start"), given(c, "new_end")
	if (to == "") == (from+until == "") {
		return answer{}, errArgument(`give either "new_start", to move the event to another time, or "to_calendar_id", to move it to another calendar`)
	}
	s, err := b.aim(ctx, c, anEvent, id)
	if err != nil {
		return answer{}, err
	}
	if err := c.args.checkZone("new_start", "new_end"); err != nil {
		return answer{}, err
	}
	if to != "" {
		return b.moveToCalendar(ctx, c, s, calendar.CalendarID(to))
	}
	times, err := s.oneTime(c.args, "new_start", "new_end")
	if err != nil {
		return answer{}, err
	}
	times.AsGiven = false // time only: what takes whole days goes on to do so
	view, now, err := b.change(ctx, c, s, edit.Change{Times: times})
	if err != nil {
		return answer{}, err
	}
	return answer{view, structuredMove{view, s.zone.placed(now)}}, nil
}

// moveToCalendar takes an event to another calendar. Instances stay with their series.
func (b toolbox) moveToCalendar(ctx context.Context, c *call, s subject, id calendar.CalendarID) (answer, error) {
	if s.found.Object.Recurring && s.scope != edit.All {
		e := errArgument(`an instance can't leave its series: "scope" must be "all" with "to_calendar_id", not %s`, quote(string(s.scope)))
		e.Hint = "to have one instance elsewhere, delete it with the scope this and create an event"
		return answer{}, e
	}
	to, err := b.service.Calendar(ctx, c.caller, id)
	switch {
	case err != nil && calendar.ReasonOf(err) == calendar.NotFound:
		return answer{}, b.errNoCalendar(ctx, c.caller, id)
	case err != nil:
		return answer{}, err
	case to.ID == s.cal.ID:
		return answer{}, errArgument(`the event is in %s already: "to_calendar_id" must be another calendar's id`, quote(to.Name))
	}
	saved, err := b.service.MoveToCalendar(ctx, c.caller, s.cal, s.found.Object.UID, to, c.when())
	if err != nil {
		return answer{}, b.outdated(ctx, c, s, err)
	}
	now, err := b.service.InstanceOf(ctx, c.meter, to, saved.Object, ical.Time{})
	if err != nil {
		return answer{}, err
	}
	view := changedView{eventView: viewOfEvent(now)}
	return answer{view, structuredMove{view, s.zone.placed(now)}}, nil
}

// changeEvent makes a change and shows all that the event is now.
func (b toolbox) changeEvent(ctx context.Context, c *call, s subject, change edit.Change) (answer, error) {
	if err := c.args.checkAnswers(s.found.Component); err != nil {
		return answer{}, err
	}
	changed, now, err := b.change(ctx, c, s, change)
	if err != nil {
		return answer{}, err
	}
	view := patchedView{changed, removed(s.found.Component, now.Component)}
	return answer{view, structuredChange{view, s.zone.details(now)}}, nil
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

// change makes a change and returns what has come of it.
func (b toolbox) change(ctx context.Context, c *call, s subject, change edit.Change) (changedView, query.Instance, error) {
	if err := s.zone.serves(change.Times, c.args.text("rrule") != "" || change.Times.AsGiven && s.found.Object.Recurring); err != nil {
		return changedView{}, query.Instance{}, err
	}
	change.Target = s.target()
	edited, err := b.service.EditObject(ctx, c.caller, s.cal, s.found.Object.UID, ledger.Edit{Change: change, When: c.when(), Meter: c.meter})
	if err != nil {
		return changedView{}, query.Instance{}, b.outdated(ctx, c, s, err)
	}
	now, err := b.after(ctx, c, s, edited)
	if err != nil {
		return changedView{}, now, err
	}
	view := changedView{eventView: viewOfEvent(now)}
	if edited.Split != nil {
		view.SplitFrom = shown(s.found.Object.UID)
	}
	return view, now, nil
}

// deletedText is what is said of an event that was deleted; when a part of a series was, of
// what is left, too.
type deletedText struct {
	Deleted      bool          `json:"deleted"`
	RecurrenceID string        `json:"recurrence_id,omitempty"`
	ETag         calendar.ETag `json:"etag,omitempty"`
}

// deletedView is the same as an object.
type deletedView struct {
	deletedText
	Calendar calendar.CalendarID `json:"calendar_id"`
	UID      shown               `json:"uid"`
}

func (b toolbox) deleteEvent(ctx context.Context, c *call) (answer, error) {
	s, err := b.aim(ctx, c, anEvent, c.named(anEvent))
	if err != nil {
		return answer{}, err
	}
	edited, err := b.service.CancelObject(ctx, c.caller, s.cal, s.found.Object.UID, ledger.Cancellation{Target: s.target(), When: c.when(), Meter: c.meter})
	if err != nil {
		return answer{}, b.outdated(ctx, c, s, err)
	}
	text := deletedText{Deleted: true}
	if !edited.Saved.Object.Deleted {
		text.ETag, text.RecurrenceID = edited.Saved.Object.ETag, stamp(s.found.RecurrenceID)
	}
	return answer{text, deletedView{text, s.cal.ID, shown(s.found.Object.UID)}}, nil
}
