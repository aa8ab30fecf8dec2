package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/mcp/wire"
)

// primary is the name that assistants use for the default calendar.
const primary = "primary"

// calendarBy finds a calendar by its id, by its name, or as the primary one. Another user's calendar goes by the name
// that lists show. A name shared by two calendars is refused.
func (b toolbox) calendarBy(ctx context.Context, c *call, id calendar.CalendarID) (calendar.Calendar, error) {
	cal, err := b.service.Calendar(ctx, c.caller, id)
	if err == nil || calendar.ReasonOf(err) != calendar.NotFound {
		c.about(authorOf(c.caller, cal))
		return cal, err
	}
	all, err := b.service.Calendars(ctx, c.caller)
	if err != nil && calendar.ReasonOf(err) == calendar.Forbidden {
		return cal, b.errNoCalendar(ctx, c.caller, id) // a token without the read scope must not learn names
	}
	if err != nil {
		return cal, err
	}
	named := slices.DeleteFunc(slices.Clone(all), func(cal calendar.Calendar) bool { return !calls(cal, string(id)) })
	if strings.EqualFold(string(id), primary) && !slices.ContainsFunc(named, func(cal calendar.Calendar) bool { return cal.Access == calendar.OwnerAccess }) {
		first, err := b.defaultCalendar(ctx, c, all)
		if err != nil {
			return cal, err
		}
		named = slices.DeleteFunc(all, func(cal calendar.Calendar) bool { return cal.ID != first })
	}
	switch len(named) {
	case 0:
		return cal, b.errNoCalendar(ctx, c.caller, id)
	case 1:
		c.about(authorOf(c.caller, named[0]))
		return named[0], nil
	}
	return cal, errArgument("%d calendars are called %s: %s", len(named), wire.Quote(string(id)), namesWithIDs(c.caller, named)).Advising("give the id in parentheses")
}

// calls reports whether a text is a calendar's name. The listed name of another user's calendar ends with its owner,
// because its own name could be anything.
func calls(cal calendar.Calendar, name string) bool {
	name = strings.TrimSpace(name)
	return name != "" && (strings.EqualFold(name, strings.TrimSpace(cal.Name)) || name == wire.Visible(cal.Name))
}

// namesWithIDs names the first maxNamed calendars of a list, with their ids.
func namesWithIDs(who calendar.Caller, all []calendar.Calendar) string {
	names := each(all[:min(len(all), maxNamed)], func(cal calendar.Calendar) string {
		return fmt.Sprintf("%s (%s)%s", wire.Quote(defused(cal.Name)), cal.ID, authorOf(who, cal).mark())
	})
	text := strings.Join(names, ", ")
	if more := len(all) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// maxNamed is the highest number of calendars that an error names.
const maxNamed = 10

// errNoCalendar lists the calendars that the caller has. It is the same for another user's calendar and for one that
// never existed.
func (b toolbox) errNoCalendar(ctx context.Context, caller calendar.Caller, asked calendar.CalendarID) error {
	e := calendar.Errorf(calendar.NotFound, "", "no calendar %s", wire.Quote(string(asked)))
	all, err := b.service.Calendars(ctx, caller)
	switch {
	case calendar.ReasonOf(err) == calendar.Forbidden && err != nil:
		return e // a token without the read scope must not learn names
	case err != nil:
		return err
	case len(all) == 0:
		e.Message += ": you have none"
		return e
	}
	e.Message += ": yours are " + namesWithIDs(caller, all)
	e.Hint = "give the id in parentheses"
	return e
}
