package main

import (
	"context"
	"flag"
	"fmt"

	"caldav-mcp-server/calendar"
)

const setCalendarDetails = `
CALENDAR is its name, its address or its id. What is not named stays; an empty --color or --description takes away what
there is, an empty --timezone stands for the user's. The address stays, so that programs go on. Of a calendar that
somebody shares with the user, the name, colour and description are set for the user's own eyes; an empty --name is its
owner's again.

  caldav-mcp-server set-calendar Work --user alice --name Office --color '#0E61B9'
`

// calendarEdit is what set-calendar is to change; nil leaves it.
type calendarEdit struct {
	name, color, timezone, description *string
	isDefault                          bool
}

func setCalendarCommand() command {
	var edit calendarEdit
	var user string
	var json bool
	return command{
		name: "set-calendar", operands: []string{"CALENDAR"}, settings: storeSettings,
		summary: "rename a calendar, or change its colour, time zone or description", details: setCalendarDetails,
		flags: func(f *flag.FlagSet) {
			f.StringVar(&user, "user", "", "`NAME` of whose it is (needed)")
			textFlag(f, &edit.name, "name", "`TEXT` that people see")
			textFlag(f, &edit.color, "color", "its `COLOR`, such as #0E61B9")
			textFlag(f, &edit.timezone, "timezone", "`ZONE` of times that name none, such as Europe/Berlin")
			textFlag(f, &edit.description, "description", "`TEXT` about it")
			f.BoolVar(&edit.isDefault, "default", false, "new events and invitations go into it")
			asJSON(f, &json)
		},
		run: func(ctx context.Context, p *program, c config, operands []string) error {
			if user == "" || edit == (calendarEdit{}) {
				return wrongUsage("set-calendar needs --user, and --name, --color, --timezone, --description or --default (see %s set-calendar --help)", name)
			}
			return p.withHouse(ctx, c, func(h *house) error {
				cal, err := h.setCalendar(ctx, user, operands[0], edit)
				if err != nil {
					return err
				}
				if json {
					return p.printJSON(calendarJSON(cal))
				}
				_, err = fmt.Fprintf(p.stdout, "changed the calendar %q of %s\n", shown(cal.Name), cal.OwnerName)
				return err
			})
		},
	}
}

func (h *house) setCalendar(ctx context.Context, user, word string, e calendarEdit) (calendar.Calendar, error) {
	u, cal, err := h.findInHome(ctx, user, word)
	if err != nil {
		return cal, err
	}
	if err := h.calendars.PatchCalendar(ctx, caller(u), cal.ID, e.apply(cal)); err != nil {
		return cal, err
	}
	if e.isDefault {
		err := h.calendars.PatchScheduling(ctx, caller(u), func(s *calendar.Scheduling) error {
			s.Default = cal.ID
			return nil
		})
		if err != nil {
			return cal, err
		}
	}
	return h.calendars.Calendar(ctx, caller(u), cal.ID)
}

// apply returns what makes the change.
func (e calendarEdit) apply(cal calendar.Calendar) func(*calendar.Properties) ([]calendar.DeadProperty, error) {
	return func(p *calendar.Properties) ([]calendar.DeadProperty, error) {
		if e.name != nil {
			if *e.name == "" && !isOthers(cal) {
				return nil, wrongUsage("--name: a calendar of one's own cannot be without a name")
			}
			p.Name = *e.name
		}
		if e.timezone != nil {
			p.Timezone, p.TimezoneData = *e.timezone, nil
		}
		for _, text := range [...]struct{ from, to **string }{{&e.color, &p.Color}, {&e.description, &p.Description}} {
			if *text.from == nil {
				continue
			}
			if *text.to = *text.from; **text.from == "" {
				*text.to = nil
			}
		}
		return nil, nil
	}
}

// findInHome is findCalendar for what is done to a calendar as such, which may be a subscription.
func (h *house) findInHome(ctx context.Context, user, word string) (calendar.User, calendar.Calendar, error) {
	u, err := h.auth.User(ctx, user)
	if err != nil {
		return u, calendar.Calendar{}, err
	}
	all, err := h.calendars.CalendarsInHome(ctx, caller(u))
	if err != nil {
		return u, calendar.Calendar{}, err
	}
	cal, err := pick(u, all, word)
	return u, cal, err
}
