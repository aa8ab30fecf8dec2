// Package planner prepares the calendar pages. It turns events and tasks into the data of the templates, and forms into
// edits. It knows the service and the texts of a language, but no HTTP.
package planner

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/grid"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/locale"
)

// Planner prepares pages for one visitor.
type Planner struct {
	Service *service.Service
	Caller  calendar.Caller
	// Zone is the visitor's time zone. Second is another zone to show; nil if there is none.
	Zone, Second *zone.Zone
	Now          time.Time
	Language     *locale.Language
	// ListDays is the number of days of a list, if it is more than usual.
	ListDays int
	// Base is the path before the addresses of pages: "" or "/cal".
	Base string
	// Unticked are the calendars that the visitor does not want to see at present.
	Unticked []calendar.CalendarID

	meter *meter.Meter
	// names are the names of people by their addresses in lower case. People the visitor met are in it if met is set.
	names map[string]string
	met   bool
}

// Begin starts to count the cost of a page. The caller calls the result at the end.
func (p *Planner) Begin(ctx context.Context) (end func()) {
	p.meter = p.Service.Meter(ctx, p.Caller)
	return p.meter.Close
}

// text returns a text in the visitor's language.
func (p *Planner) text(id string, pairs ...any) string { return p.Language.Text(id, pairs...) }

// here returns a time in the visitor's zone.
func (p *Planner) here(t time.Time) time.Time { return t.In(p.Zone.Location()) }

// today returns the start of the present day.
func (p *Planner) today() time.Time { return grid.Midnight(p.here(p.Now), 0) }

// learnNames finds names for the people of events that have only an address: of users whom the visitor sees and, if
// met is set, of people in the visitor's own events.
func (p *Planner) learnNames(ctx context.Context, met bool, events ...*ical.Component) {
	missing := func() bool {
		return slices.ContainsFunc(events, func(c *ical.Component) bool {
			return slices.ContainsFunc(edit.PeopleOf(c), func(a edit.Attendee) bool {
				return p.nameOf(a.Name, a.Address) == clean(a.Address)
			})
		})
	}
	if p.names == nil && missing() {
		p.names = map[string]string{}
		people, err := p.Service.People(ctx, p.Caller)
		if err != nil {
			return // the page is useful without names
		}
		for _, u := range people {
			if u.Email != "" && !u.Group {
				p.names[strings.ToLower(u.Email)] = clean(u.Title())
			}
		}
	}
	if !met || p.met || !missing() {
		return
	}
	p.met = true
	others, err := p.Service.Met(ctx, p.Caller, p.meter, mostMet)
	if err != nil {
		return
	}
	for _, a := range others {
		if at := strings.ToLower(a.Address); p.names[at] == "" && a.Name != "" {
			p.names[at] = clean(a.Name)
		}
	}
}

// nameOf returns the name of a person in an event: the event's, the one that learnNames found, or the address.
func (p *Planner) nameOf(name, address string) string {
	address = bare(address)
	if name = strings.TrimSpace(name); name != "" && !strings.EqualFold(name, address) {
		return clean(name)
	}
	return cmp.Or(p.names[strings.ToLower(address)], clean(address))
}

// readDay reads a date and returns the start of that day. Where the clocks skip midnight, it is later.
func (p *Planner) readDay(text string) (time.Time, error) {
	day, err := time.Parse(time.DateOnly, text)
	y, m, d := day.Date()
	return grid.Midnight(time.Date(y, m, d, 12, 0, 0, 0, p.Zone.Location()), 0), err
}

// Day reads a date in an address; an empty one is today.
func (p *Planner) Day(text string) (time.Time, error) {
	if text == "" {
		return p.today(), nil
	}
	day, err := p.readDay(text)
	if err != nil || day.Year() < 1900 || day.Year() > 9000 {
		return day, calendar.Errorf(calendar.Invalid, "", "%s", p.text("planner.bad-day", "day", clean(text),
			"example", p.today().Format(time.DateOnly)))
	}
	return day, nil
}

// Moment formats a day and a time.
func (p *Planner) moment(t time.Time) string {
	t = p.here(t)
	return p.Language.ShortDate(t) + ", " + p.clock(t)
}

// cycle returns the visitor's choice of 12 or 24 hours; "" is as usual in the language.
func (p *Planner) cycle() string { return p.Caller.User.View.Clock }

// clock formats a time of day.
func (p *Planner) clock(t time.Time) string { return p.Language.Time(p.here(t), p.cycle()) }

// Swatch is a calendar's name and colour.
type Swatch struct {
	ID          calendar.CalendarID
	Name, Color string
}

// SwatchOf returns a calendar's name and colour.
func SwatchOf(cal calendar.Calendar) Swatch {
	color := calendar.DefaultColor
	if cal.Color != nil {
		if parsed, err := calendar.ParseColor(*cal.Color); err == nil {
			color = parsed
		}
	}
	return Swatch{cal.ID, cmp.Or(clean(cal.Name), string(cal.Address())), color}
}

// longestTitle is the longest text in a view, in characters.
const longestTitle = 200

// clean shortens a user's text to one line without control characters, which could reverse or hide other text.
func clean(text string) string {
	text = strings.Join(strings.Fields(visible(text)), " ")
	if runes := []rune(text); len(runes) > longestTitle {
		return string(runes[:longestTitle]) + "…"
	}
	return text
}

// visible replaces the control and direction characters of a text, except line breaks.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ', r >= 0x7f && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e,
			r == 0x200f, r == 0x061c:
			return -1
		}
		return r
	}, strings.ReplaceAll(text, "\r\n", "\n"))
}

// Stamp writes a recurrence id for an address: in UTC, or as a date or a floating time. [ReadStamp] reads it.
func Stamp(m recur.Moment) string {
	switch {
	case m.Time.IsZero():
		return ""
	case m.AllDay:
		return ical.Date(m.Civil()).String()
	case m.Floating && !m.Repeated():
		return ical.Floating(m.Civil()).String()
	}
	return ical.Instant(m.Time).String()
}

// calendars returns the calendars of the visitor that hold a kind of component, in their order.
func (p *Planner) calendars(ctx context.Context, kind calendar.Kind) ([]calendar.Calendar, error) {
	all, err := p.Service.CalendarsInHome(ctx, p.Caller)
	return slices.DeleteFunc(all, func(cal calendar.Calendar) bool {
		return !cal.Kinds.Has(kind) || p.Caller.MayLook(cal) != nil
	}), err
}

// ticked returns the calendars that the visitor wants to see.
func (p *Planner) ticked(all []calendar.Calendar) []calendar.Calendar {
	return slices.DeleteFunc(slices.Clone(all), func(cal calendar.Calendar) bool {
		return slices.Contains(p.Unticked, cal.ID)
	})
}
