package mcp

import (
	"context"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/mcp/views"
	"caldav-mcp-server/mcp/wire"
)

// rows returns the tools for single events.
func (b eventTools) rows() []tool {
	return []tool{
		sending(b.once(tool{
			name: "create_event", title: "Create event",
			description: "Creates an event or a series (rrule), tells of conflicts and likely duplicates, and " +
				"writes to its attendees.",
			scope: calendar.ScopeWrite, hints: toolHints{},
			begin: within(b.toolbox, b.createEvent), gives: createdView{},
		})), reading(tool{
			name: "get_event", title: "Get event",
			description: "Returns one event, or instance of a series, with all details and its iCalendar text.",
			begin:       withSubject(anEvent, b.subject, b.getEvent), gives: fullView{},
		}), sending(b.changing(tool{
			name: "update_event", title: "Replace event",
			description: "Replaces title, start, end, description and location; the last two are removed if left " +
				"out. Prefer patch_event.",
			begin: withSubject(anEvent, b.aim, b.updateEvent), gives: patchedView{},
		})), sending(b.changing(tool{
			name: "patch_event", title: "Change event",
			description: "Changes only the fields you give; an empty text or list removes one. Tells attendees.",
			begin:       doing(b.patchEvent), gives: patchedView{},
		})), sending(b.changing(tool{
			name: "move_event", title: "Move event",
			description: "Moves an event to another time (without new_end its length stays) and tells attendees, or " +
				"moves or copies it to another calendar.",
			begin: doing(b.moveEvent), gives: changedView{},
		})), sending(b.once(tool{
			name: "delete_event", title: "Delete event",
			description: "Deletes an event or instances, and tells attendees, or declines to the organizer. " +
				"To mark it cancelled: patch_event with status CANCELLED.",
			scope: calendar.ScopeRead | calendar.ScopeWrite | calendar.ScopeDelete, hints: toolHints{
				destructive: true,
				idempotent:  true,
			},
			begin: withSubject(anEvent, b.aim, b.deleteEvent), gives: deletedView{},
		})), reading(tool{
			name: "query_events", title: "Query events",
			description: "Lists one calendar's events with etags; between start and end each instance of a series, " +
				"else each series once. For all calendars: list_events.",
			begin: within(b.toolbox, b.queryEvents), gives: queryView{}, view: views.Week,
		}),
	}
}

// changedView is an event after a change. Text and structured content are the same, because half of the hosts show
// their model only one of them.
type changedView struct {
	eventView `in:"create_event"`
	SplitFrom shown `json:"split_from_uid,omitempty" doc:"The earlier part keeps this uid."`
	warningsView
	detailsView `in:"create_event"`
	clashes     `in:"create_event"`
	toldView    `in:"create_event"`
}

func (v changedView) foreign() bool { return v.detailsView.foreign() || v.clashes.foreign() }

// patchedView is an event that may have lost properties.
type patchedView struct {
	changedView
	Removed []string `json:"removed,omitempty" doc:"Values that were removed."`
}

func (b eventTools) createEvent(ctx context.Context, c *call, cal calendar.Calendar, in *newEvent) (answer, error) {
	z, err := b.zoneToWrite(c, in.inZone, cal)
	if err != nil {
		return answer{}, err
	}
	if err := b.checkGuests(ctx, c, &in.eventValues, nil); err != nil {
		return answer{}, err
	}
	draft, err := b.draftOf(c, in, z)
	if err != nil {
		return answer{}, err
	}
	made, told, err := b.create(ctx, c, cal, draft)
	if err != nil {
		return answer{}, err
	}
	beside, err := b.clashes(ctx, c, cal, made, z)
	if err != nil {
		return answer{}, err
	}
	rooms := b.refusals(ctx, c, cal, made, z, told, false)
	return same(createdView{
		viewOfEvent(made), leapDays(made.Component), z.details(c.caller, cal, made), beside,
		c.told(told, cal, made.Component, rooms),
	})
}

// updateEvent replaces the properties that the first version's tool has: missing arguments clear them. Other properties
// stay.
func (b eventTools) updateEvent(ctx context.Context, c *call, s subject, in *eventReplacement) (answer, error) {
	s.zone = s.zone.repeating(in.recurs())
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

func (b eventTools) patchEvent(ctx context.Context, c *call, in *eventPatch) (answer, error) {
	if err := in.check(); err != nil {
		return answer{}, err
	}
	s, err := b.aim(ctx, c, anEvent, in.reference)
	if err != nil {
		return answer{}, err
	}
	s.zone = s.zone.repeating(in.recurs())
	times, err := b.patchedTimes(s, &in.eventValues)
	if err != nil {
		return answer{}, err
	}
	return b.changeEvent(ctx, c, s, &in.eventValues, times)
}

func (b eventTools) moveEvent(ctx context.Context, c *call, in *eventMove) (answer, error) {
	if err := in.named(in.id); err != nil {
		return answer{}, err
	}
	if (in.to == "") == (!isTime(in.start) && !isTime(in.end)) {
		return answer{}, errArgument(`give either "new_start", to move the event to another time,` +
			` or "to_calendar_id", to move it to another calendar`)
	}
	s, err := b.aim(ctx, c, anEvent, in.reference)
	if err != nil {
		return answer{}, err
	}
	if err := in.checkZone("new_start or new_end", in.start, in.end); err != nil {
		return answer{}, err
	}
	if in.copy && in.to == "" {
		return answer{}, errArgument(`"copy" needs "to_calendar_id", the calendar to copy to`)
	}
	if in.to != "" {
		return b.moveToCalendar(ctx, c, s, in)
	}
	times, err := s.oneTime("new_start", in.start, "new_end", in.end)
	if err != nil {
		return answer{}, err
	}
	times.AsGiven = false // only the time changes: an all-day event stays one
	changed, _, err := b.change(ctx, c, s, edit.Change{Times: times}, false)
	if err != nil {
		return answer{}, err
	}
	return same(changed)
}

// moveToCalendar moves or copies an event to another calendar. Instances stay with their series.
func (b eventTools) moveToCalendar(ctx context.Context, c *call, s subject, in *eventMove) (answer, error) {
	if s.found.Object.Recurring && s.scope != edit.All {
		return answer{}, errArgument(`an instance can't leave its series: "scope" must be "all" with `+
			`"to_calendar_id", not %s`, wire.Quote(string(s.scope))).
			Advising("to have one instance elsewhere, delete it with the scope this and create an event")
	}
	carry := b.service.CopyToCalendar
	if !in.copy {
		carry = func(ctx context.Context, who calendar.Caller, from calendar.Calendar, uid calendar.UID,
			to calendar.Calendar, when calendar.Precondition,
		) (calendar.Saved, error) {
			if err := c.confirmCarry(s, to); s.found.Object.Recurring && err != nil {
				return calendar.Saved{}, err
			}
			return b.service.MoveToCalendar(ctx, who, from, uid, to, when)
		}
	}
	now, to, err := b.carried(ctx, c, s, in.to, carry)
	if err != nil {
		return answer{}, err
	}
	return same(changedView{eventView: viewOfEvent(now), detailsView: s.zone.details(c.caller, to, now)})
}

// carry is CopyToCalendar or MoveToCalendar.
type carry func(context.Context, calendar.Caller, calendar.Calendar, calendar.UID, calendar.Calendar,
	calendar.Precondition) (calendar.Saved, error)

// carried moves or copies an object to another calendar, and returns it as it is there.
func (b toolbox) carried(
	ctx context.Context, c *call, s subject, id calendar.CalendarID, carry carry,
) (query.Instance, calendar.Calendar, error) {
	to, err := b.calendarBy(ctx, c, id)
	switch {
	case err != nil:
		return query.Instance{}, to, err
	case to.ID == s.cal.ID:
		return query.Instance{}, to, errArgument(`it is already in %s: "to_calendar_id" must be another calendar's id`,
			wire.Quote(to.Name))
	}
	saved, err := carry(ctx, c.caller, s.cal, s.found.Object.UID, to, s.when)
	if err != nil {
		return query.Instance{}, to, b.outdated(ctx, c, s, err)
	}
	now, err := b.service.InstanceOf(ctx, c.meter, to, saved.Object, ical.Time{})
	return now, to, err
}

// changeEvent changes an event and returns all its details.
func (b eventTools) changeEvent(
	ctx context.Context, c *call, s subject, in *eventValues, times edit.Times,
) (answer, error) {
	if err := b.checkGuests(ctx, c, in, s.found.Component); err != nil {
		return answer{}, err
	}
	if err := in.checkAnswers(s.found.Component); err != nil {
		return answer{}, err
	}
	fields, err := in.fields(s.zone, s.guests())
	if err != nil {
		return answer{}, err
	}
	changed, now, err := b.change(ctx, c, s, edit.Change{Fields: fields, Times: times}, in.recurs())
	if err != nil {
		return answer{}, err
	}
	return same(patchedView{changed, removed(s.found.Component, now.Component)})
}

// restoreFields applies restoredFrom to the texts of an edit.
func restoreFields(fields *edit.Fields, stored *ical.Component) {
	for _, f := range [...]struct {
		field    *edit.Field[string]
		property string
	}{{&fields.Summary, "SUMMARY"}, {&fields.Description, "DESCRIPTION"}, {&fields.Location, "LOCATION"}} {
		if text, given := f.field.Value(); given && text != "" {
			*f.field = edit.To(restoredFrom(content.TextOf(stored, f.property), text))
		}
	}
}

// removed names the properties that an event lost.
func removed(before, after *ical.Component) []string {
	var names []string
	for _, f := range [...]struct{ name, property string }{{"description", "DESCRIPTION"}, {"location", "LOCATION"}} {
		if content.TextOf(before, f.property) != "" && content.TextOf(after, f.property) == "" {
			names = append(names, f.name)
		}
	}
	return names
}

// change applies a change and returns the result. rule is set if the change gives a rule.
func (b eventTools) change(
	ctx context.Context, c *call, s subject, change edit.Change, rule bool,
) (changedView, query.Instance, error) {
	if err := s.zone.serves(change.Times, rule || change.Times.AsGiven && s.found.Object.Recurring); err != nil {
		return changedView{}, query.Instance{}, err
	}
	change.Target = s.target()
	edited, now, err := b.editObject(ctx, c, s, change)
	if err != nil {
		return changedView{}, now, err
	}
	rooms := b.refusals(ctx, c, s.cal, now, s.zone, edited.Told, s.one())
	view := changedView{
		viewOfEvent(now), "", b.warnings(ctx, c, s, change.Fields), s.zone.details(c.caller, s.cal, now),
		clashes{},
		c.told(edited.Told, s.cal, now.Component, rooms),
	}
	if edited.Split != nil {
		view.SplitFrom = shown(s.found.Object.UID)
	}
	if !change.Times.Start.Left() || !change.Times.End.Left() {
		view.clashes, err = b.clashesOf(ctx, c, s, now)
	}
	return view, now, err
}

// editObject changes an event or a task, and returns its new state. The user confirms a change that moves more than one
// instance, or that changes the rule.
func (b toolbox) editObject(
	ctx context.Context, c *call, s subject, change edit.Change,
) (ledger.Edited, query.Instance, error) {
	restoreFields(&change.Fields, s.found.Component)
	if err := checkLoss(change.Fields, s.found.Component); err != nil {
		return ledger.Edited{}, query.Instance{}, err
	}
	edit := func(by changer) (ledger.Edited, error) {
		return by.EditObject(ctx, c.caller, s.cal, s.found.Object.UID, ledger.Edit{
			Change: change, When: s.when,
			Telling: c.telling(), Meter: c.meter,
		})
	}
	moves := !change.Times.Start.Left() || !change.Times.End.Left() || !change.Fields.Rule.Left()
	if s.reaches() && moves {
		if err := b.confirmSeries(ctx, c, s, edit); err != nil {
			return ledger.Edited{}, query.Instance{}, err
		}
	}
	edited, err := edit(b.changer(c))
	now, err := b.after(ctx, c, s, edited, err)
	return edited, now, err
}

// create makes an event or a task. If an earlier attempt of the same call was interrupted, it finds the object that the
// attempt created.
func (b toolbox) create(
	ctx context.Context, c *call, cal calendar.Calendar, draft edit.Draft,
) (query.Instance, []calendar.Told, error) {
	saved, err := b.changer(c).CreateTelling(ctx, c.caller, cal, draft, c.telling())
	if c.uid != "" && err != nil && (calendar.ReasonOf(err) == calendar.Stale ||
		calendar.RuleOf(err) == calendar.RuleUIDConflict) {
		saved.Object, err = b.service.ObjectByUID(ctx, c.meter, c.caller, cal, c.uid)
	}
	if err != nil {
		return query.Instance{}, nil, err
	}
	now := b.answered(ctx, c, cal, saved.Object, saved.Told)
	made, err := b.service.InstanceOf(ctx, c.meter, cal, now, ical.Time{})
	return made, saved.Told, err
}

// deletedView describes a deleted event. If only part of a series was deleted, it also describes the rest.
type deletedView struct {
	Deleted      bool                `json:"deleted"`
	Calendar     calendar.CalendarID `json:"calendar_id"`
	UID          shown               `json:"uid"`
	Title        shown               `json:"title"`
	StartLocal   string              `json:"start_local"`
	StartWeekday string              `json:"start_weekday"`
	RecurrenceID string              `json:"recurrence_id,omitempty"`
	ETag         calendar.ETag       `json:"etag,omitempty" doc:"Of the rest of the series."`
	Untrusted    shown               `json:"untrusted_text_by,omitempty" once:"true"`
	toldView
}

// foreign is always true: models never write this text back.
func (deletedView) foreign() bool { return true }

// eventTarget holds the arguments of delete_event.
type eventTarget struct {
	reference
	comment string
}

func (in *eventTarget) takes() []field {
	return slices.Concat(in.takesEvent(), in.takesSeries(), []field{
		textTo(&in.comment, "comment", "For the people told.").upTo(longestTitle), in.takesMatch(),
	})
}

func (b eventTools) deleteEvent(ctx context.Context, c *call, s subject, in *eventTarget) (answer, error) {
	if err := checkComment(c, s, in.comment); err != nil {
		return answer{}, err
	}
	edited, err := b.cancel(ctx, c, s, strings.TrimSpace(in.comment))
	if err != nil {
		return answer{}, err
	}
	was, at := readViewOf(s.found), s.zone.times(s.found)
	v := deletedView{
		Deleted: true, Calendar: s.cal.ID, UID: was.UID, Title: was.Summary, StartLocal: at.StartLocal,
		StartWeekday: at.StartWeekday,
	}
	v.Untrusted = standing(c.caller, s.cal, s.found.Component).Untrusted
	v.toldView = c.told(edited.Told, s.cal, s.found.Component, declinedBefore(s.found, s.one(), edited.Told))
	if !edited.Saved.Object.Deleted {
		v.ETag, v.RecurrenceID = edited.Saved.Object.ETag, stamp(s.found.RecurrenceID)
	}
	return same(v)
}

// checkComment refuses a comment on a deletion that no message would carry.
func checkComment(c *call, s subject, comment string) error {
	switch {
	case strings.TrimSpace(comment) == "":
		return nil
	case !c.hasOthers(s.cal, s.found.Component):
		return errArgument(`"comment" is for the people of an event, and this one has no others: leave it out`)
	case s.cal.Origin.Mirrors():
		return errArgument(`"comment" cannot be sent: the provider of this linked calendar writes to the guests`).
			Advising("leave it out, or ask the user to write to them")
	case c.telling() == calendar.TellNobody:
		return errArgument(`"comment" cannot be sent: this token may not notify attendees (scope invite)`).
			Advising("leave it out")
	}
	return nil
}

// cancel deletes the target of a call, with a comment for the people who are notified.
func (b toolbox) cancel(ctx context.Context, c *call, s subject, comment string) (ledger.Edited, error) {
	cancel := func(by changer) (ledger.Edited, error) {
		return by.CancelObject(ctx, c.caller, s.cal, s.found.Object.UID, ledger.Cancellation{
			Target: s.target(),
			When:   s.when, Telling: c.telling(), Comment: comment, Meter: c.meter,
		})
	}
	if s.reaches() {
		if err := b.confirmSeries(ctx, c, s, cancel); err != nil {
			return ledger.Edited{}, err
		}
	}
	edited, err := cancel(b.changer(c))
	return edited, b.outdated(ctx, c, s, err)
}
