package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/change"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/mcp/wire"
)

// newCalendar holds the arguments of create_calendar.
type newCalendar struct {
	name, timezone     string
	description, color edit.Field[string]
}

func (in *newCalendar) takes() []field {
	return []field{
		wordTo(&in.name, "name", "Its name.").needed().upTo(longestName),
		fieldTo(&in.description, "description", "Notes.").upTo(longestText),
		fieldTo(&in.color, "color", "#RRGGBB."),
		wordTo(&in.timezone, "timezone", "Default: the user's."),
	}
}

// calendarTools are the tools for calendars and their shares.
type calendarTools struct{ toolbox }

// rows returns the tools that manage calendars.
func (b calendarTools) rows() []tool {
	return []tool{reading(tool{
		name: "list_calendars", title: "List calendars",
		description: "Lists the user's calendars and those shared with them: ids, time zones, what may be done.",
		begin:       doing(b.listCalendars), gives: calendarsView{},
	}), reading(tool{
		name: "get_calendar", title: "Get calendar",
		description: "Returns one calendar with all details, and the ctag, a since of list_changes.",
		begin:       within(b.toolbox, b.getCalendar), gives: structuredCalendar{},
	}), b.once(tool{
		name: "create_calendar", title: "Create calendar",
		description: "Makes an empty calendar and returns it with its id.",
		scope:       calendar.ScopeWrite, unbound: true,
		begin: doing(b.createCalendar), gives: structuredCalendar{},
	}), b.changing(tool{
		name: "update_calendar", title: "Change calendar",
		description: "Changes a calendar; one shared by others, only for the user. Ask before you accept.",
		begin:       doing(b.updateCalendar), gives: structuredCalendar{},
	}), sending(b.once(tool{
		name: "delete_calendar", title: "Delete calendar",
		description: "Deletes a calendar for everybody, and cancels its meetings. Ask first: only the operator can " +
			"bring it back.",
		scope: calendar.ScopeDelete, hints: toolHints{destructive: true},
		begin: within(b.toolbox, b.deleteCalendar), gives: deletedCalendar{},
	}))}
}

// calendarView is a calendar in a result.
type calendarView struct {
	ID          calendar.CalendarID `json:"id"`
	Name        shown               `json:"name"`
	Description *shown              `json:"description"`
	Color       string              `json:"color"`
	Timezone    string              `json:"timezone"`
	OwnerID     calendar.UserID     `json:"owner_id"`
	Owner       shown               `json:"owner,omitempty" doc:"The user, if missing."`
	Permission  string              `json:"permission,omitempty" doc:"The user's access; owner, if missing."`
	Holds       []string            `json:"holds,omitempty" doc:"Events, tasks (todo) and journal entries, if missing."`

	Hidden bool `json:"hidden,omitempty" doc:"Hidden in the user's apps: left out unless it is named."`

	IsDefault bool  `json:"is_default,omitempty" doc:"Where new events go if the user names none."`
	LinkedTo  shown `json:"linked_to,omitempty" doc:"Changes are written there first."`
	Untrusted shown `json:"untrusted_text_by,omitempty" once:"true"`

	CTag string `json:"ctag,omitempty" doc:"Changes with anything in it; list_changes takes it as since."`
}

func (v calendarView) foreign() bool { return v.Untrusted != "" }

// calendarViews are the text of list_calendars.
type calendarViews []calendarView

func (v calendarViews) foreign() bool { return anyForeign(v) }

// brief leaves out defaults and the details that get_calendar returns. Names of others are cut: a user who appoints a
// delegate does not ask them.
func (v calendarView) brief() calendarView {
	v.CTag = ""
	if v.Untrusted != "" {
		v.Name = shown(short(string(v.Name), longestListedTitle))
	}
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

// kinds are all component types that a calendar can hold.
var kinds = [...]calendar.Kind{calendar.Event, calendar.Todo, calendar.Journal}

// structuredCalendar omits an empty description, because a schema without type lists cannot allow null. In lists it
// also omits the owner's id, which no tool takes.
type structuredCalendar struct {
	calendarView
	Description *shown          `json:"description,omitempty"`
	OwnerID     calendar.UserID `json:"owner_id,omitempty"`
}

// permissions are the names of the access levels.
var permissions = [...]string{
	calendar.NoAccess: "none", calendar.FreeBusyAccess: "free-busy", calendar.ReadAccess: "read",
	calendar.WriteAccess: "read-write", calendar.OwnerAccess: "owner",
}

// calendarsView is a list of calendars, wrapped in an object.
type calendarsView struct {
	Calendars []structuredCalendar `json:"calendars"`
	pageView
}

func (b calendarTools) listCalendars(ctx context.Context, c *call, in *continued) (answer, error) {
	find := func(ctx context.Context, who calendar.Caller) ([]calendar.Calendar, error) {
		own, err := b.service.Calendars(ctx, who)
		if err != nil {
			return nil, err
		}
		others, err := b.delegatedCalendars(ctx, who)
		others = slices.DeleteFunc(others, func(cal calendar.Calendar) bool {
			return slices.ContainsFunc(own, func(o calendar.Calendar) bool { return o.ID == cal.ID })
		})
		return append(own, others...), err
	}
	return b.showCalendars(ctx, c, in, find,
		func(all []calendarView) noted { return noted{text: calendarViews(all)} })
}

// showCalendars returns a page of calendars: other users may share any number with the caller. text renders them.
func (b calendarTools) showCalendars(
	ctx context.Context, c *call, in *continued, find func(context.Context, calendar.Caller) ([]calendar.Calendar,
		error), text func([]calendarView) noted,
) (answer, error) {
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
	views := each(found, func(cal calendar.Calendar) calendarView {
		return viewOf(c.caller, cal,
			cal.ID == first).brief()
	})
	views, pages := cutPage(c, views, p, c.room(), calendarView.size)
	view := calendarsView{each(views, func(v calendarView) structuredCalendar {
		return structuredCalendar{calendarView: v, Description: v.Description}
	}), pages}
	said := text(views)
	said.note = prose(strings.TrimSpace(string(said.note + " " + view.note())))
	return answer{said, view}, nil
}

// size is the total length of the user-supplied texts.
func (v calendarView) size() int {
	n := len(v.Name) + len(v.Owner) + len(v.LinkedTo)
	if v.Description != nil {
		n += len(*v.Description)
	}
	return n
}

func (b calendarTools) getCalendar(ctx context.Context, c *call, cal calendar.Calendar, _ *inCalendar) (answer, error) {
	return b.showCalendar(ctx, c, cal)
}

// showCalendar returns one calendar. It loads the whole list to find out whether this one is the default.
func (b calendarTools) showCalendar(ctx context.Context, c *call, cal calendar.Calendar) (answer, error) {
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

func (b calendarTools) createCalendar(ctx context.Context, c *call, in *newCalendar) (answer, error) {
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

// makeCalendar creates a calendar. If an earlier attempt of the same call was interrupted, it finds the calendar that
// the attempt created: the attempt's uid gives the path segment.
func (b calendarTools) makeCalendar(ctx context.Context, c *call, n calendar.NewCalendar) (calendar.Calendar, error) {
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

// deletedCalendar is the result of delete_calendar.
type deletedCalendar struct {
	Calendar calendar.CalendarID `json:"calendar_id"`
	Deleted  bool                `json:"deleted"`
	People   int                 `json:"people_told,omitempty"`
}

func (b calendarTools) deleteCalendar(
	ctx context.Context, c *call, cal calendar.Calendar, _ *inCalendar,
) (answer, error) {
	if err := b.confirmDeletion(ctx, c, cal); err != nil {
		return answer{}, err
	}
	ctx = change.WithRecipientCheck(ctx, nil) // the confirmation above covers these recipients too
	told, err := b.service.DeleteCalendarTelling(ctx, c.caller, cal.ID, c.telling())
	if err != nil {
		return answer{}, err
	}
	v := deletedCalendar{cal.ID, true, calendar.People(told)}
	if v.People == 0 {
		return same(v)
	}
	note := fmt.Sprintf("Told %s that their meetings in it are cancelled or declined.\n",
		calendar.Audience{People: v.People})
	return answer{noted{deletedCalendar{Calendar: cal.ID, Deleted: true}, prose(note)}, v}, nil
}

// readOnlyMark follows the source of a linked calendar that cannot be written to.
const readOnlyMark = " (read-only)"

func viewOf(who calendar.Caller, cal calendar.Calendar, isDefault bool) calendarView {
	v := calendarView{
		ID: cal.ID, Name: shown(cal.Name), Color: calendar.DefaultColor, Timezone: cal.Timezone,
		OwnerID: cal.Owner, Owner: shown(cal.OwnerName), Permission: permissions[cal.Access], Hidden: cal.Hidden,
		IsDefault: isDefault, Holds: []string{},
		Untrusted: authorOf(who, cal),
	}
	if who.Rights.In(cal.ID) != calendar.RightWrite && cal.Access > calendar.ReadAccess {
		v.Permission = string(who.RightIn(cal))
	}
	if cal.Origin.Mirrors() {
		v.LinkedTo = shown(short(cal.Origin.From, longestListedTitle))
		if !cal.Origin.Writable {
			v.LinkedTo += readOnlyMark
		}
	}
	// A calendar shared as free/busy only reveals neither its description nor whether it changed.
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
		v.Color = wire.Visible(*cal.Color)
	}
	return v
}

// kindWord is the component type in lower case. If the type is unknown, the object was most likely an event.
func kindWord(k calendar.Kind) string {
	return strings.ToLower(strings.TrimPrefix(string(cmp.Or(k, calendar.Event)), "V"))
}

// calendarPatch holds the arguments of update_calendar.
type calendarPatch struct {
	inCalendar
	name, timezone     string
	description, color edit.Field[string]
	hidden             edit.Field[bool]
	isDefault, accept  bool
}

func (in *calendarPatch) takes() []field {
	return append(in.inCalendar.takes(),
		wordTo(&in.name, "name", "Its name.").upTo(longestName),
		fieldTo(&in.description, "description", "Notes.").upTo(longestText),
		fieldTo(&in.color, "color", "#RRGGBB."),
		wordTo(&in.timezone, "timezone", "IANA name."),
		yesFieldTo(&in.hidden, "hidden", "Not in lists."),
		yesTo(&in.isDefault, "is_default", "New events go here."),
		yesTo(&in.accept, "accept", "Take an offered one."),
	)
}

// says reports whether the call changes a property.
func (in *calendarPatch) says() bool {
	return in.name != "" || in.timezone != "" || !in.description.Left() || !in.color.Left() || !in.hidden.Left() ||
		in.isDefault
}

func (b calendarTools) updateCalendar(ctx context.Context, c *call, in *calendarPatch) (answer, error) {
	switch {
	case in.accept && in.says():
		return answer{}, errArgument(`accept the calendar first, and change it in another call: use "accept" with ` +
			`"calendar_id" alone`)
	case in.accept:
		return b.acceptOffered(ctx, c, in.calendar)
	case !in.says():
		return answer{}, errArgument("nothing to change was given: give name, description, color, timezone, " +
			"hidden, is_default true or accept true")
	}
	cal, err := b.calendarNamed(ctx, c, in.calendar)
	if err != nil {
		return answer{}, err
	}
	if in.timezone != "" {
		if err := b.checkPlace(in.timezone); err != nil {
			return answer{}, err
		}
		if cal.Access != calendar.OwnerAccess {
			return answer{}, errArgument(`only its owner sets the "timezone" of a calendar`)
		}
	}
	err = b.service.PatchCalendar(ctx, c.caller, cal.ID,
		func(p *calendar.Properties) ([]calendar.DeadProperty, error) { return nil, in.change(p) })
	if err != nil {
		return answer{}, err
	}
	if in.isDefault {
		err = b.service.PatchScheduling(ctx, c.caller, func(s *calendar.Scheduling) error {
			s.Default = cal.ID
			return nil
		})
		if err != nil {
			return answer{}, err
		}
	}
	if cal, err = b.service.Calendar(ctx, c.caller, cal.ID); err != nil {
		return answer{}, err
	}
	return b.showCalendar(ctx, c, cal)
}

// change applies the arguments to a calendar's properties.
func (in *calendarPatch) change(p *calendar.Properties) error {
	if in.name != "" {
		p.Name = in.name
	}
	if in.timezone != "" {
		p.Timezone, p.TimezoneData = in.timezone, nil
	}
	if text, given := in.description.Value(); given {
		p.Description = &text
	} else if in.description.Cleared() {
		p.Description = nil
	}
	if text, given := in.color.Value(); given {
		color, err := calendar.ParseColor(text)
		if err != nil {
			return err
		}
		p.Color = &color
	} else if in.color.Cleared() {
		p.Color = nil
	}
	if hidden, given := in.hidden.Value(); given {
		p.Hidden = hidden
	}
	return nil
}

// checkPlace refuses a name that is not a geographic time zone.
func (b calendarTools) checkPlace(name string) error {
	z, err := b.zones.Ask(name)
	if err != nil {
		return errArgument("%s", err)
	}
	if z.Bare() {
		return errArgument(`"timezone" %s is only an offset, without daylight saving time: name the zone, such as `+
			`Europe/Berlin`, wire.Quote(name))
	}
	return nil
}
