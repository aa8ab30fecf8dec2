package mcp

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
)

// The longest texts that an event made by a tool may have. What people write is shorter; what
// is longer was pasted, and would come back with every reading of the event.
const (
	longestTitle = 1000
	longestText  = 50_000
)

// timeForms tells a model how to write a time.
const timeForms = "as iCalendar UTC (20260301T090000Z), RFC 3339 (2026-03-01T09:00:00+01:00), local time (2026-03-01T09:00:00, in the zone of timezone), or a date (2026-03-01) for an all-day event"

// eventTools are the tools about single events.
func (b toolbox) eventTools() []tool {
	return []tool{{
		name: "create_event", title: "Create event",
		description: "Creates an event in one calendar, and returns it as it was stored, with its uid and weekday. It invites nobody and sends nothing.",
		scope:       calendar.ScopeWrite,
		hints:       hints{},
		takes: []field{
			{name: "calendar_id", kind: text, doc: "The calendar's id, from list_calendars."},
			{name: "title", kind: text, doc: "What the event is called.", longest: longestTitle},
			{name: "start", kind: text, doc: "When it starts: " + timeForms + "."},
			{name: "end", kind: text, doc: "When it ends, in a form like that of start. Of an all-day event, the day after its last; the same day as start makes it one day long."},
			{name: "description", kind: text, doc: "Notes.", optional: true, longest: longestText},
			{name: "location", kind: text, doc: "Where it is.", optional: true, longest: longestText},
			{name: "timezone", kind: text, doc: "The zone of local times (IANA name, such as Europe/Berlin). If missing: the user's own, else the calendar's, else UTC.", optional: true},
		},
		gives: []field{
			{name: "uid", kind: text, doc: "The event's id within the calendar."},
			{name: "calendar_id", kind: text, doc: "The calendar it was put in."},
			{name: "title", kind: text, doc: "Its title."},
			{name: "start", kind: text, doc: "Its start as iCalendar: in UTC, or a date."},
			{name: "end", kind: text, doc: "Its end as iCalendar: in UTC, or the day after the last."},
			{name: "etag", kind: text, doc: "Changes with every change of the event."},
			{name: "all_day", kind: yesNo, doc: "Whether it takes whole days."},
			{name: "start_local", kind: text, doc: "Its start in timezone, as RFC 3339, or its first day."},
			{name: "start_weekday", kind: text, doc: "The weekday of start_local."},
			{name: "end_local", kind: text, doc: "Its end in timezone, as RFC 3339, or its last day."},
			{name: "end_weekday", kind: text, doc: "The weekday of end_local."},
			{name: "timezone", kind: text, doc: "The zone of the local times."},
			{name: "timezone_source", kind: text, doc: "Where that zone is from: argument, user, calendar, or default."},
		},
		run: b.createEvent,
	}}
}

// eventView is an event in the form of the first version.
type eventView struct {
	UID      calendar.UID        `json:"uid"`
	Calendar calendar.CalendarID `json:"calendar_id"`
	Title    shown               `json:"title"`
	Start    string              `json:"start"`
	End      string              `json:"end"`
	ETag     calendar.ETag       `json:"etag"`
}

// structuredEvent has each time twice: for programs, and for people and models, which get
// weekdays wrong when they work them out.
type structuredEvent struct {
	eventView
	AllDay         bool       `json:"all_day"`
	StartLocal     string     `json:"start_local"`
	StartWeekday   string     `json:"start_weekday"`
	EndLocal       string     `json:"end_local"`
	EndWeekday     string     `json:"end_weekday"`
	Timezone       string     `json:"timezone"`
	TimezoneSource zoneSource `json:"timezone_source"`
}

func (b toolbox) createEvent(ctx context.Context, c *call) (answer, error) {
	cal, err := b.calendarOf(ctx, c)
	if err != nil {
		return answer{}, err
	}
	z, err := b.zoneFor(c.args.text("timezone"), c.caller.User, cal)
	if err != nil {
		return answer{}, err
	}
	start, end, err := z.readSpan(c.args.text("start"), c.args.text("end"))
	if err != nil {
		return answer{}, err
	}
	draft := calendar.EventDraft{
		Title: c.args.text("title"), Description: c.args.text("description"), Location: c.args.text("location"),
		Start: start.at, End: end.at, AllDay: start.date,
	}
	if start.local || z.source == zoneOfArgument {
		draft.Zone = z.Name()
	}
	saved, err := b.service.CreateEvent(ctx, c.caller, cal, draft)
	if err != nil {
		return answer{}, err
	}
	view := eventView{
		UID: saved.Object.UID, Calendar: cal.ID, Title: shown(draft.Title),
		Start: start.String(), End: end.String(), ETag: saved.Object.ETag,
	}
	return answer{view, z.describe(view, start, end)}, nil
}

// describe adds to an event what people read.
func (z zoned) describe(v eventView, start, end moment) structuredEvent {
	first, last := start.at.In(z.Location()), end.at.In(z.Location())
	form := time.RFC3339
	if start.date {
		first, last, form = start.at, end.at.AddDate(0, 0, -1), time.DateOnly
	}
	return structuredEvent{
		eventView: v, AllDay: start.date,
		StartLocal: first.Format(form), StartWeekday: first.Weekday().String(),
		EndLocal: last.Format(form), EndWeekday: last.Weekday().String(),
		Timezone: z.Name(), TimezoneSource: z.source,
	}
}
