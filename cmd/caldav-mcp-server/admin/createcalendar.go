package admin

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const createCalendarDetails = `
--address is the last part of the calendar's URL; the default is random. --kinds lists the component types that the
calendar takes: VEVENT, VTODO, VJOURNAL, VFREEBUSY. Apple's clients need a calendar per type.
`

// calendarOptions are the flags of create-calendar.
type calendarOptions struct {
	name, address, kinds, color, timezone, description string
}

// CreateCalendarCommand is the command create-calendar.
func CreateCalendarCommand() command.Command {
	var o calendarOptions
	return command.Command{
		Name: "create-calendar", User: "`NAME` of its owner", Settings: settings.StoreGroup, JSON: true,
		Summary: "create a calendar for a user", Details: createCalendarDetails,
		Flags: o.declare, Check: o.check,
		Run: func(ctx context.Context, d *command.Context, _ []string) error {
			made, err := d.Calendars.CreateCalendar(ctx, d.Caller(), o.calendar())
			if err != nil {
				return err
			}
			if err := warnOfNamesake(ctx, d, made); err != nil {
				return err
			}
			return d.Done(calendarJSON(made), "created the calendar %q of %s at /dav/calendars/%s/%s/\n",
				console.Shown(made.Name), d.Who.Name, url.PathEscape(d.Who.Name), url.PathEscape(string(made.Segment)))
		},
	}
}

// warnOfNamesake warns if the user has another calendar of the same name. That is allowed, but commands can then no
// longer use the name.
func warnOfNamesake(ctx context.Context, d *command.Context, cal calendar.Calendar) error {
	own, err := d.OwnCalendars(ctx, d.Who)
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(own, func(c calendar.Calendar) bool {
		return c.ID == cal.ID || !strings.EqualFold(c.Name, cal.Name)
	})
	if len(others) > 0 {
		d.Say("%s now has several calendars %q; use their addresses in commands: %s\n", d.Who.Name,
			console.Shown(cal.Name), app.NameAll(append(others, cal)))
	}
	return nil
}

func (o *calendarOptions) declare(f *flag.FlagSet) {
	f.StringVar(&o.name, "name", "", "its `NAME` (needed)")
	f.StringVar(&o.address, "address", "", "last part of its `URL`")
	f.StringVar(&o.kinds, "kinds", string(calendar.Event), "`LIST` of component types")
	f.StringVar(&o.color, "color", "", "its `COLOR`, such as #0E61B9")
	f.StringVar(&o.timezone, "timezone", "", "time `ZONE`, such as Europe/Berlin; default the user's")
	f.StringVar(&o.description, "description", "", "description `TEXT`")
}

// check refuses an address that does not survive in a URL; the service checks the rest.
func (o *calendarOptions) check(*command.Context, []string) error {
	if strings.Contains(o.address, "/") || o.address == "." || o.address == ".." ||
		(o.address != "" && o.address != console.Shown(o.address)) {
		return fmt.Errorf("--address: %q cannot be the last part of a URL", o.address)
	}
	return nil
}

// calendar converts the flags for the service.
func (o *calendarOptions) calendar() calendar.NewCalendar {
	n := calendar.NewCalendar{
		Segment: calendar.Segment(o.address), Properties: calendar.Properties{Name: o.name, Timezone: o.timezone},
	}
	for kind := range strings.SplitSeq(o.kinds, ",") {
		n.Kinds = append(n.Kinds, calendar.Kind(strings.ToUpper(strings.TrimSpace(kind))))
	}
	if o.color != "" {
		n.Color = &o.color
	}
	if o.description != "" {
		n.Description = &o.description
	}
	return n
}
