package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
)

// longestName bounds the name of a calendar that a tool makes.
const longestName = 200

// calendarID is the parameter of tools that are about one calendar.
var calendarID = field{name: "calendar_id", kind: text, doc: "The calendar's id, from list_calendars."}

// calendarTools are the tools about calendars as such.
func (b toolbox) calendarTools() []tool {
	return []tool{{
		name: "list_calendars", title: "List calendars",
		description: "Lists the calendars that the user owns or that are shared with them, with their ids, time zones and what may be done with each. Call it first: other tools need a calendar's id.",
		scope:       calendar.ScopeRead,
		hints:       hints{readOnly: true, idempotent: true},
		takes:       []field{takesCursor},
		gives:       calendarsView{},
		run:         b.listCalendars,
	}, {
		name: "get_calendar", title: "Get calendar",
		description: "Returns one calendar: its name, time zone, what may be done with it, and the ctag that tells whether anything in it has changed.",
		scope:       calendar.ScopeRead,
		hints:       hints{readOnly: true, idempotent: true},
		takes:       []field{calendarID},
		gives:       structuredCalendar{},
		run:         b.getCalendar,
	}, b.once(tool{
		name: "create_calendar", title: "Create calendar",
		description: "Makes a new, empty calendar that the user owns, and returns it with its id.",
		scope:       calendar.ScopeWrite, unbound: true,
		takes: []field{
			{name: "name", kind: text, doc: "The name that people see.", longest: longestName},
			{name: "description", kind: text, doc: "What it is for.", optional: true, longest: longestText},
			{name: "color", kind: text, doc: "Its colour, #RRGGBB. If missing: " + calendar.DefaultColor + ".", optional: true},
			{name: "timezone", kind: text, doc: "The zone of times that name none (IANA name, such as Europe/Berlin). If missing: the user's, else UTC.", optional: true},
		},
		gives: structuredCalendar{},
		run:   b.createCalendar,
	}), b.once(tool{
		name: "delete_calendar", title: "Delete calendar",
		description: "Deletes a calendar with all its events, for everybody it is shared with. Ask the user first. The server's operator can bring it back for some days; no tool can.",
		scope:       calendar.ScopeDelete,
		hints:       hints{destructive: true},
		takes:       []field{calendarID},
		gives:       deletedCalendar{},
		run:         b.deleteCalendar,
	})}
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
	Holds       []string            `json:"holds"`
	// Hidden calendars are those that the user hides in their app: tools leave them out unless they are told the id.
	Hidden    bool   `json:"hidden,omitempty"`
	IsDefault bool   `json:"is_default"`
	CTag      string `json:"ctag,omitempty"`
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
	return showCalendars(c, found)
}

// calendarsView is a list of calendars, as an object.
type calendarsView struct {
	Calendars []structuredCalendar `json:"calendars"`
	pageView
}

// showCalendars answers with a list of calendars, or as many of them as one answer holds: others may
// share any number with the user.
func showCalendars(c *call, found []calendar.Calendar) (answer, error) {
	p, err := readPage(c)
	if err != nil {
		return answer{}, err
	}
	p.limit = len(found)
	view := calendarsView{Calendars: []structuredCalendar{}}
	views := viewsOf(found)
	for i, v := range views {
		if v.Description != nil {
			d := shown(short(string(*v.Description), longestListedText))
			views[i].Description = &d
		}
	}
	views, view.pageView = cutPage(c, views, p, c.room(), calendarView.size)
	for _, v := range views {
		view.Calendars = append(view.Calendars, structuredCalendar{v, v.Description})
	}
	return answer{noted{views, view.note()}, view}, nil
}

// size is how long the texts are that people wrote.
func (v calendarView) size() int {
	n := len(v.Name) + len(v.Owner)
	if v.Description != nil {
		n += len(*v.Description)
	}
	return n
}

// viewsOf shows all calendars that a caller sees.
func viewsOf(all []calendar.Calendar) []calendarView {
	views := make([]calendarView, len(all))
	first := defaultCalendar(all)
	for i, cal := range all {
		views[i] = viewOf(cal, cal.ID == first)
	}
	return views
}

func (b toolbox) getCalendar(ctx context.Context, c *call) (answer, error) {
	cal, err := b.calendarOf(ctx, c)
	if err != nil {
		return answer{}, err
	}
	return b.showCalendar(ctx, c, cal)
}

// showCalendar answers with one calendar. Which is the default one only the whole list tells.
func (b toolbox) showCalendar(ctx context.Context, c *call, cal calendar.Calendar) (answer, error) {
	all, err := b.service.Calendars(ctx, c.caller)
	if err != nil && calendar.ReasonOf(err) != calendar.Forbidden {
		return answer{}, err
	}
	v := viewOf(cal, cal.ID == defaultCalendar(all))
	return answer{v, structuredCalendar{v, v.Description}}, nil
}

func (b toolbox) createCalendar(ctx context.Context, c *call) (answer, error) {
	p := calendar.Properties{Name: strings.TrimSpace(c.args.text("name")), Timezone: c.args.text("timezone"), Color: new(calendar.DefaultColor)}
	if c.args.has("description") {
		text := c.args.text("description")
		p.Description = &text
	}
	if c.args.has("color") {
		color, err := calendar.ParseColor(c.args.text("color"))
		if err != nil {
			return answer{}, err
		}
		p.Color = &color
	}
	if p.Timezone != "" {
		if z, err := b.zones.Ask(p.Timezone); err != nil {
			return answer{}, errArgument("%s", err)
		} else if z.Bare() {
			return answer{}, errArgument(`"timezone" %s is only an offset, which knows no summer: name the zone, such as Europe/Berlin`, quote(p.Timezone))
		}
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
}

func (b toolbox) deleteCalendar(ctx context.Context, c *call) (answer, error) {
	cal, err := b.calendarOf(ctx, c)
	if err != nil {
		return answer{}, err
	}
	if err := b.service.DeleteCalendar(ctx, c.caller, cal.ID); err != nil {
		return answer{}, err
	}
	v := deletedCalendar{cal.ID, true}
	return answer{v, v}, nil
}

func viewOf(cal calendar.Calendar, isDefault bool) calendarView {
	v := calendarView{
		ID: cal.ID, Name: shown(cal.Name), Color: calendar.DefaultColor, Timezone: cal.Timezone,
		OwnerID: cal.Owner, Owner: shown(cal.OwnerName), Permission: permissions[cal.Access], Hidden: cal.Hidden, IsDefault: isDefault, Holds: []string{},
	}
	// Of a calendar that tells of busy times alone, neither what it is for nor that it was changed.
	if cal.Access >= calendar.ReadAccess {
		v.CTag = cal.SyncToken().String()
		if cal.Description != nil {
			d := shown(cut(*cal.Description))
			v.Description = &d
		}
	}
	for _, k := range [...]calendar.Kind{calendar.Event, calendar.Todo, calendar.Journal} {
		if cal.Kinds.Has(k) {
			v.Holds = append(v.Holds, kindWord(k))
		}
	}
	if cal.Color != nil {
		v.Color = visible(*cal.Color)
	}
	return v
}

// defaultCalendar is the first that the user made of their own that take events. Names and order, which
// programs change by themselves, don't move it, nor do calendars that come later.
func defaultCalendar(all []calendar.Calendar) calendar.CalendarID {
	var first calendar.Calendar
	for _, cal := range all {
		if cal.Access != calendar.OwnerAccess || !cal.Kinds.Has(calendar.Event) {
			continue
		}
		if first.ID == "" || cmp.Or(cal.Created.Compare(first.Created), cmp.Compare(cal.ID, first.ID)) < 0 {
			first = cal
		}
	}
	return first.ID
}

// calendarOf finds the calendar that a call names.
func (b toolbox) calendarOf(ctx context.Context, c *call) (calendar.Calendar, error) {
	return b.calendarNamed(ctx, c, calendar.CalendarID(c.args.text("calendar_id")))
}

// calendarNamed finds a calendar, which the call is about.
func (b toolbox) calendarNamed(ctx context.Context, c *call, id calendar.CalendarID) (calendar.Calendar, error) {
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
