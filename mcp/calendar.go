package mcp

import (
	"context"
	"fmt"
	"strings"

	"caldav-mcp-server/calendar"
)

// calendarTools are the tools about calendars as such.
func (b toolbox) calendarTools() []tool {
	return []tool{{
		name: "list_calendars", title: "List calendars",
		description: "Lists the calendars that the user owns or that are shared with them, with their ids, time zones and what may be done with each. Call it first: other tools need a calendar's id.",
		scope:       calendar.ScopeRead,
		hints:       hints{readOnly: true, idempotent: true},
		gives:       []field{{name: "calendars", kind: listOf, doc: "The calendars, the user's own first.", of: calendarFields}},
		run:         b.listCalendars,
	}}
}

// calendarFields are those of calendarView.
var calendarFields = []field{
	{name: "id", kind: text, doc: "The id that other tools take as calendar_id."},
	{name: "name", kind: text, doc: "The name that people see."},
	{name: "description", kind: text, doc: "What the owner says of it; missing when they say nothing.", optional: true},
	{name: "color", kind: text, doc: "Its colour, #RRGGBB."},
	{name: "timezone", kind: text, doc: "The zone of times that name none (IANA)."},
	{name: "owner_id", kind: text, doc: "The id of the user who owns it."},
	{name: "owner", kind: text, doc: "That user's name."},
	{name: "permission", kind: text, doc: "owner, read-write, read, or free-busy."},
	{name: "is_default", kind: yesNo, doc: "Whether new events go here when the user names no calendar."},
	{name: "ctag", kind: text, doc: "Changes whenever something in the calendar does."},
}

// calendarView is a calendar as tools show it.
type calendarView struct {
	ID          calendar.CalendarID `json:"id"`
	Name        shown               `json:"name"`
	Description *shown              `json:"description"`
	Color       string              `json:"color"`
	Timezone    string              `json:"timezone"`
	OwnerID     calendar.UserID     `json:"owner_id"`
	Owner       shown               `json:"owner"`
	Permission  string              `json:"permission"`
	IsDefault   bool                `json:"is_default"`
	CTag        string              `json:"ctag"`
}

// structuredCalendar leaves out what a schema without lists of types can't call null.
type structuredCalendar struct {
	calendarView
	Description *shown `json:"description,omitempty"`
}

// permissions are the words for the levels of access.
var permissions = [...]string{
	calendar.NoAccess: "none", calendar.FreeBusyAccess: "free-busy", calendar.ReadAccess: "read",
	calendar.WriteAccess: "read-write", calendar.OwnerAccess: "owner",
}

func (b toolbox) listCalendars(ctx context.Context, c *call) (answer, error) {
	found, err := b.service.Calendars(ctx, c.caller)
	if err != nil {
		return answer{}, err
	}
	views := make([]calendarView, len(found))
	structured := make([]structuredCalendar, len(found))
	first := defaultCalendar(found)
	var tag calendar.SyncToken
	for i, cal := range found {
		// The epoch is the whole store's: it is asked for once.
		if i == 0 {
			if tag, err = b.service.SyncToken(ctx, cal); err != nil {
				return answer{}, err
			}
		}
		tag.Calendar, tag.Version = cal.ID, cal.Version
		views[i] = viewOf(cal, tag, cal.ID == first)
		structured[i] = structuredCalendar{views[i], views[i].Description}
	}
	return answer{views, map[string]any{"calendars": structured}}, nil
}

func viewOf(cal calendar.Calendar, tag calendar.SyncToken, isDefault bool) calendarView {
	v := calendarView{
		ID: cal.ID, Name: shown(cal.Name), Color: calendar.DefaultColor, Timezone: cal.Timezone,
		OwnerID: cal.Owner, Owner: shown(cal.OwnerName), Permission: permissions[cal.Access], IsDefault: isDefault, CTag: tag.String(),
	}
	if cal.Description != nil {
		d := shown(*cal.Description)
		v.Description = &d
	}
	if cal.Color != nil {
		v.Color = visible(*cal.Color)
	}
	return v
}

// defaultCalendar is the first of the user's own that takes events, in the order that they
// gave their calendars.
func defaultCalendar(all []calendar.Calendar) calendar.CalendarID {
	for _, cal := range all {
		if cal.Access == calendar.OwnerAccess && cal.Kinds.Has(calendar.Event) {
			return cal.ID
		}
	}
	return ""
}

// calendarOf finds the calendar that a call names.
func (b toolbox) calendarOf(ctx context.Context, c *call) (calendar.Calendar, error) {
	id := calendar.CalendarID(c.args.text("calendar_id"))
	cal, err := b.service.Calendar(ctx, c.caller, id)
	if err == nil {
		c.calendar = cal.ID
		return cal, nil
	}
	if calendar.ReasonOf(err) != calendar.NotFound {
		return cal, err
	}
	return cal, b.errNoCalendar(ctx, c.caller, id)
}

// maxNamed is how many calendars an error names.
const maxNamed = 10

// errNoCalendar says which calendars there are instead. It is the same for a calendar of
// somebody else's and for one that never was.
func (b toolbox) errNoCalendar(ctx context.Context, caller calendar.Caller, asked calendar.CalendarID) error {
	e := calendar.Errorf(calendar.NotFound, "", "no calendar %s", quote(string(asked)))
	all, err := b.service.Calendars(ctx, caller)
	switch {
	case calendar.ReasonOf(err) == calendar.Forbidden && err != nil:
		return e // a token without the scope to read must not learn their names
	case err != nil:
		return err
	case len(all) == 0:
		e.Message += ": you have none"
		return e
	}
	names := make([]string, 0, maxNamed)
	for _, cal := range all[:min(len(all), maxNamed)] {
		names = append(names, fmt.Sprintf("%s (%s)", quote(cal.Name), cal.ID))
	}
	e.Message += ": yours are " + strings.Join(names, ", ")
	if more := len(all) - len(names); more > 0 {
		e.Message += fmt.Sprintf(" and %d more", more)
	}
	e.Hint = "give the id that stands in parentheses"
	return e
}
