package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
)

// longestName bounds the name of a calendar that a tool makes.
const longestName = 200

// inCalendar is what tools take that are about one calendar.
type inCalendar struct{ calendar calendar.CalendarID }

func (in *inCalendar) takes() []field { return []field{takesCalendar(&in.calendar).needed()} }

func (in *inCalendar) names() calendar.CalendarID { return in.calendar }

func takesCalendar(into *calendar.CalendarID) field {
	return wordTo(into, "calendar_id", "")
}

// takesOnly is the parameter of tools that look in all calendars unless they are told one.
func takesOnly(into *calendar.CalendarID) field {
	return wordTo(into, "calendar_id", "In this one only.")
}

// newCalendar is what create_calendar takes.
type newCalendar struct {
	name, timezone     string
	description, color edit.Field[string]
}

func (in *newCalendar) takes() []field {
	return []field{
		wordTo(&in.name, "name", "").needed().upTo(longestName),
		fieldTo(&in.description, "description", "").upTo(longestText),
		fieldTo(&in.color, "color", "#RRGGBB."),
		wordTo(&in.timezone, "timezone", "Default: the user's."),
	}
}

// calendarTools are the tools about calendars as such.
func (b toolbox) calendarTools() []tool {
	return []tool{reading(tool{
		name: "list_calendars", title: "List calendars",
		description: "Lists the user's calendars and those shared with them: ids, time zones, what may be done. Other tools need the ids.",
		begin:       doing(b.listCalendars), gives: calendarsView{},
	}), reading(tool{
		name: "get_calendar", title: "Get calendar",
		description: "Returns one calendar, with what list_calendars leaves out: what may be done, what it holds, and the ctag, a since of list_changes.",
		begin:       within(b, b.getCalendar), gives: structuredCalendar{},
	}), b.once(tool{
		name: "create_calendar", title: "Create calendar",
		description: "Makes an empty calendar and returns it with its id.",
		scope:       calendar.ScopeWrite, unbound: true,
		begin: doing(b.createCalendar), gives: structuredCalendar{},
	}), b.changing(tool{
		name: "update_calendar", title: "Change calendar",
		description: "Changes a calendar; one that others share, for the user alone. accept takes an offered one: ask first.",
		begin:       doing(b.updateCalendar), gives: structuredCalendar{},
	}), sending(b.once(tool{
		name: "delete_calendar", title: "Delete calendar",
		description: "Deletes a calendar for everybody, and cancels its meetings. Ask first: only the operator can bring it back.",
		scope:       calendar.ScopeDelete, hints: hints{destructive: true},
		begin: within(b, b.deleteCalendar), gives: deletedCalendar{},
	}))}
}

// calendarView is a calendar as tools show it.
type calendarView struct {
	ID          calendar.CalendarID `json:"id"`
	Name        shown               `json:"name"`
	Description *shown              `json:"description"`
	Color       string              `json:"color"`
	Timezone    string              `json:"timezone"`
	OwnerID     calendar.UserID     `json:"owner_id"`
	Owner       shown               `json:"owner,omitempty" doc:"The user, if missing."`
	Permission  string              `json:"permission,omitempty" doc:"What the user may do; everything, as owner, if missing."`
	Holds       []string            `json:"holds,omitempty" doc:"Events, tasks (todo) and journal entries, if missing."`
	Hidden      bool                `json:"hidden,omitempty" doc:"Hidden in the user's apps: left out unless it is named."`
	IsDefault   bool                `json:"is_default,omitempty" doc:"Where new events go if the user names none."`
	LinkedTo    shown               `json:"linked_to,omitempty" doc:"What is written goes there first."`
	Untrusted   shown               `json:"untrusted_text_by,omitempty" doc:"Others chose its name and description."`
	CTag        string              `json:"ctag,omitempty" doc:"Changes with anything in it; list_changes takes it as since."`
}

// brief leaves out what a list need not say: what most calendars are, and what get_calendar has.
func (v calendarView) brief() calendarView {
	v.CTag = ""
	if v.Permission == permissions[calendar.OwnerAccess] {
		v.Owner, v.Permission = "", ""
	}
	if len(v.Holds) == len(kinds) {
		v.Holds = nil
	}
	if v.Description != nil {
		d := shown(short(string(*v.Description), longestListedText))
		v.Description = &d
	}
	return v
}

// kinds are all that a calendar may hold.
var kinds = [...]calendar.Kind{calendar.Event, calendar.Todo, calendar.Journal}

// structuredCalendar leaves out what a schema without lists of types can't call null, and in lists an id that nothing takes.
type structuredCalendar struct {
	calendarView
	Description *shown          `json:"description,omitempty"`
	OwnerID     calendar.UserID `json:"owner_id,omitempty"`
}

// permissions are the words for the levels of access.
var permissions = [...]string{
	calendar.NoAccess: "none", calendar.FreeBusyAccess: "free-busy", calendar.ReadAccess: "read",
	calendar.WriteAccess: "read-write", calendar.OwnerAccess: "owner",
}

// calendarsView is a list of calendars, as an object.
type calendarsView struct {
	Calendars []structuredCalendar `json:"calendars"`
	pageView
}

func (b toolbox) listCalendars(ctx context.Context, c *call, in *continued) (answer, error) {
	return b.showCalendars(ctx, c, in, b.service.Calendars, func(all []calendarView) noted { return noted{text: calendarViews(all)} })
}

// showCalendars answers with a list of calendars, or as many of them as one answer holds: others may
// share any number with the user. Text makes the answer's text of them.
func (b toolbox) showCalendars(ctx context.Context, c *call, in *continued, find func(context.Context, calendar.Caller) ([]calendar.Calendar, error), text func([]calendarView) noted) (answer, error) {
	found, err := find(ctx, c.caller)
	if err != nil {
		return answer{}, err
	}
	p, err := (paged{continued: *in}).read(c)
	if err != nil {
		return answer{}, err
	}
	p.limit = len(found)
	first, err := b.defaultCalendar(ctx, c, found)
	if err != nil {
		return answer{}, err
	}
	views := each(found, func(cal calendar.Calendar) calendarView { return viewOf(c.caller, cal, cal.ID == first).brief() })
	views, pages := cutPage(c, views, p, c.room(), calendarView.size)
	view := calendarsView{each(views, func(v calendarView) structuredCalendar {
		return structuredCalendar{calendarView: v, Description: v.Description}
	}), pages}
	said := text(views)
	said.note = prose(strings.TrimSpace(string(said.note + " " + view.note())))
	return answer{said, view}, nil
}

// size is how long the texts are that people wrote.
func (v calendarView) size() int {
	n := len(v.Name) + len(v.Owner) + len(v.LinkedTo)
	if v.Description != nil {
		n += len(*v.Description)
	}
	return n
}

func (b toolbox) getCalendar(ctx context.Context, c *call, cal calendar.Calendar, _ *inCalendar) (answer, error) {
	return b.showCalendar(ctx, c, cal)
}

// showCalendar answers with one calendar. Which is the default one only the whole list tells.
func (b toolbox) showCalendar(ctx context.Context, c *call, cal calendar.Calendar) (answer, error) {
	all, err := b.service.Calendars(ctx, c.caller)
	if err != nil && calendar.ReasonOf(err) != calendar.Forbidden {
		return answer{}, err
	}
	first, err := b.defaultCalendar(ctx, c, all)
	if err != nil {
		return answer{}, err
	}
	v := viewOf(c.caller, cal, cal.ID == first)
	return answer{v, structuredCalendar{v, v.Description, v.OwnerID}}, nil
}

func (b toolbox) createCalendar(ctx context.Context, c *call, in *newCalendar) (answer, error) {
	p := calendar.Properties{Name: in.name, Timezone: in.timezone, Color: new(calendar.DefaultColor)}
	if text, _ := in.description.Value(); !in.description.Left() {
		p.Description = &text
	}
	if text, _ := in.color.Value(); !in.color.Left() {
		color, err := calendar.ParseColor(text)
		if err != nil {
			return answer{}, err
		}
		p.Color = &color
	}
	if err := b.checkPlace(p.Timezone); p.Timezone != "" && err != nil {
		return answer{}, err
	}
	cal, err := b.makeCalendar(ctx, c, calendar.NewCalendar{Properties: p})
	if err != nil {
		return answer{}, err
	}
	c.calendar = cal.ID
	return b.showCalendar(ctx, c, cal)
}

// makeCalendar makes a calendar, or finds the one that an earlier attempt of the call made before it
// was cut off: the attempt has a name for what it makes, and so has the calendar's address.
func (b toolbox) makeCalendar(ctx context.Context, c *call, n calendar.NewCalendar) (calendar.Calendar, error) {
	name, _, _ := strings.Cut(string(c.uid), "@")
	n.Segment = calendar.Segment(name)
	made, err := b.service.CreateCalendar(ctx, c.caller, n)
	if err == nil || name == "" || calendar.ReasonOf(err) != calendar.Exists {
		return made, err
	}
	all, failed := b.service.Calendars(ctx, c.caller)
	if failed != nil {
		return made, failed
	}
	i := slices.IndexFunc(all, func(cal calendar.Calendar) bool {
		return cal.Access == calendar.OwnerAccess && cal.Segment == n.Segment
	})
	if i < 0 {
		return made, err
	}
	return all[i], nil
}

// deletedCalendar is what delete_calendar returns.
type deletedCalendar struct {
	Calendar calendar.CalendarID `json:"calendar_id"`
	Deleted  bool                `json:"deleted"`
	People   int                 `json:"people_told,omitempty"`
}

func (b toolbox) deleteCalendar(ctx context.Context, c *call, cal calendar.Calendar, _ *inCalendar) (answer, error) {
	if err := b.confirmDeletion(ctx, c, cal); err != nil {
		return answer{}, err
	}
	ctx = ledger.WithRecipientCheck(ctx, nil) // the question above is about these people, too
	told, err := b.service.DeleteCalendarTelling(ctx, c.caller, cal.ID, c.telling())
	if err != nil {
		return answer{}, err
	}
	v := deletedCalendar{cal.ID, true, calendar.People(told)}
	if v.People == 0 {
		return same(v)
	}
	note := fmt.Sprintf("%s got word that their meetings in it are cancelled or declined.\n", calendar.Audience{People: v.People})
	return answer{noted{deletedCalendar{Calendar: cal.ID, Deleted: true}, prose(note)}, v}, nil
}

// readOnlyMark stands behind what a calendar is from that takes no changes.
const readOnlyMark = " (read-only)"

func viewOf(who calendar.Caller, cal calendar.Calendar, isDefault bool) calendarView {
	v := calendarView{
		ID: cal.ID, Name: shown(cal.Name), Color: calendar.DefaultColor, Timezone: cal.Timezone,
		OwnerID: cal.Owner, Owner: shown(cal.OwnerName), Permission: permissions[cal.Access], Hidden: cal.Hidden, IsDefault: isDefault, Holds: []string{},
		Untrusted: authorOf(who, cal),
	}
	if cal.Origin.Mirrors() {
		v.LinkedTo = shown(short(cal.Origin.From, longestListedTitle))
		if !cal.Origin.Writable {
			v.LinkedTo += readOnlyMark
		}
	}
	// Of a calendar that tells of busy times alone, neither what it is for nor that it was changed.
	if cal.Access >= calendar.ReadAccess {
		v.CTag = cal.SyncToken().String()
		if cal.Description != nil {
			d := shown(cut(*cal.Description))
			v.Description = &d
		}
	}
	for _, k := range kinds {
		if cal.Kinds.Has(k) {
			v.Holds = append(v.Holds, kindWord(k))
		}
	}
	if cal.Color != nil {
		v.Color = visible(*cal.Color)
	}
	return v
}

// defaultCalendar is the one that the user chose, or else the first that they made of their own that take events. Names and
// order, which programs change by themselves, don't move it, nor do calendars that come later.
func (b toolbox) defaultCalendar(ctx context.Context, c *call, all []calendar.Calendar) (calendar.CalendarID, error) {
	said, err := b.service.Scheduling(ctx, c.caller)
	if err != nil && calendar.ReasonOf(err) == calendar.Forbidden {
		// A token for certain calendars must not learn of others.
		return calendar.Scheduling{}.Reception(all), nil
	}
	return said.Default, err
}

// calendarNamed finds a calendar, which the call is about.
func (b toolbox) calendarNamed(ctx context.Context, c *call, id calendar.CalendarID) (calendar.Calendar, error) {
	cal, err := b.calendarBy(ctx, c, id)
	if err == nil {
		c.calendar = cal.ID
	}
	return cal, err
}
