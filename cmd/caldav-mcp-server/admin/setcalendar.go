package admin

import (
	"context"
	"errors"
	"flag"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const setCalendarDetails = `
CALENDAR is its name, its address or its id. Omitted values stay; an empty --color or --description removes the value,
and an empty --timezone means the user's. The address stays, so that clients keep working. For a calendar that another
user shares, the name, color and description apply only to this user; an empty --name restores the owner's.
  caldav-mcp-server set-calendar Work --user alice --name Office --color '#0E61B9'
`

// calendarEdit holds the changes of set-calendar; nil keeps a value.
type calendarEdit struct {
	name, color, timezone, description *string
	isDefault                          bool
}

// SetCalendarCommand is the command set-calendar.
func SetCalendarCommand() command.Command {
	var edit calendarEdit
	return command.Command{
		Name: "set-calendar", User: "`NAME` of the user", Operands: []string{"CALENDAR"}, Settings: settings.StoreGroup,
		JSON:    true,
		Summary: "rename a calendar, or change its color, time zone or description", Details: setCalendarDetails,
		Flags: func(f *flag.FlagSet) {
			textFlag(f, &edit.name, "name", "its `NAME`")
			textFlag(f, &edit.color, "color", "its `COLOR`, such as #0E61B9")
			textFlag(f, &edit.timezone, "timezone", "time `ZONE`, such as Europe/Berlin")
			textFlag(f, &edit.description, "description", "description `TEXT`")
			f.BoolVar(&edit.isDefault, "default", false, "make it the default for new events and invitations")
		},
		Check: func(*command.Context, []string) error {
			if edit == (calendarEdit{}) {
				return errors.New("it needs --name, --color, --timezone, --description or --default")
			}
			return nil
		},
		Run: func(ctx context.Context, d *command.Context, operands []string) error {
			cal, err := setCalendar(ctx, d, operands[0], edit)
			if err != nil {
				return err
			}
			return d.Done(calendarJSON(cal), "changed the calendar %q of %s\n", console.Shown(cal.Name), cal.OwnerName)
		},
	}
}

func setCalendar(ctx context.Context, d *command.Context, word string, e calendarEdit) (calendar.Calendar, error) {
	cal, err := findInHome(ctx, d, word)
	if err != nil {
		return cal, err
	}
	if err := d.Calendars.PatchCalendar(ctx, d.Caller(), cal.ID, e.apply(cal)); err != nil {
		return cal, err
	}
	if e.isDefault {
		err := d.Calendars.PatchScheduling(ctx, d.Caller(), func(s *calendar.Scheduling) error {
			s.Default = cal.ID
			return nil
		})
		if err != nil {
			return cal, err
		}
	}
	return d.Calendars.Calendar(ctx, d.Caller(), cal.ID)
}

// apply returns the function that makes the changes.
func (e calendarEdit) apply(cal calendar.Calendar) func(*calendar.Properties) ([]calendar.DeadProperty, error) {
	return func(p *calendar.Properties) ([]calendar.DeadProperty, error) {
		if e.name != nil {
			if *e.name == "" && !app.IsOthers(cal) {
				return nil, console.WrongUsage("--name: a user's own calendar needs a name")
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

// findInHome is FindCalendar for commands that also work on subscriptions.
func findInHome(ctx context.Context, d *command.Context, word string) (calendar.Calendar, error) {
	all, err := d.Calendars.CalendarsInHome(ctx, d.Caller())
	if err != nil {
		return calendar.Calendar{}, err
	}
	return app.Pick(d.Who, all, word)
}
