package main

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
)

const createCalendarDetails = `
--address is the last part of the calendar's URL, a random one if not given. --kinds says what the calendar
takes: VEVENT, VTODO, VJOURNAL, VFREEBUSY; Apple's clients want one kind per calendar.
`

// calendarOptions are the flags of create-calendar.
type calendarOptions struct {
	user, name, address, kinds, color, timezone, description string
	json                                                     bool
}

func createCalendarCommand() command {
	var o calendarOptions
	return command{
		name: "create-calendar", settings: storeSettings,
		summary: "make a calendar for a user", details: createCalendarDetails,
		flags: o.declare,
		run: func(ctx context.Context, p *program, c config, _ []string) error {
			n, err := o.calendar()
			if err != nil {
				return usageError{err}
			}
			return p.withHouse(ctx, c, func(h *house) error {
				user, err := h.auth.User(ctx, o.user)
				if err != nil {
					return err
				}
				made, err := h.calendars.CreateCalendar(ctx, caller(user), n)
				if err != nil {
					return err
				}
				if err := p.warnOfNamesake(ctx, h, user, made); err != nil {
					return err
				}
				if o.json {
					return p.printJSON(calendarJSON(made))
				}
				_, err = fmt.Fprintf(p.stdout, "created the calendar %q of %s at /dav/calendars/%s/%s/\n",
					shown(made.Name), user.Name, url.PathEscape(user.Name), url.PathEscape(string(made.Segment)))
				return err
			})
		},
	}
}

// warnOfNamesake says that a user has another calendar of the name: nothing is wrong with that, but a caller that types
// the name has to say more from now on.
func (p *program) warnOfNamesake(ctx context.Context, h *house, u calendar.User, cal calendar.Calendar) error {
	own, err := h.ownCalendars(ctx, u)
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(own, func(c calendar.Calendar) bool { return c.ID == cal.ID || !strings.EqualFold(c.Name, cal.Name) })
	if len(others) > 0 {
		p.say("%s has several calendars %q now; commands take their addresses: %s\n", u.Name, shown(cal.Name), nameAll(append(others, cal)))
	}
	return nil
}

func (o *calendarOptions) declare(f *flag.FlagSet) {
	f.StringVar(&o.user, "user", "", "`NAME` of its owner (needed)")
	f.StringVar(&o.name, "name", "", "`TEXT` that people see (needed)")
	f.StringVar(&o.address, "address", "", "last part of its `URL`")
	f.StringVar(&o.kinds, "kinds", string(calendar.Event), "`LIST` of what it takes")
	f.StringVar(&o.color, "color", "", "its `COLOR`, such as #0E61B9")
	f.StringVar(&o.timezone, "timezone", "", "`ZONE` of times that name none, such as Europe/Berlin; the user's if not given")
	f.StringVar(&o.description, "description", "", "`TEXT` about it")
	asJSON(f, &o.json)
}

// calendar turns the flags into what the service takes; it checks only what would not survive
// in a URL.
func (o *calendarOptions) calendar() (calendar.NewCalendar, error) {
	if o.user == "" || o.name == "" {
		return calendar.NewCalendar{}, fmt.Errorf("create-calendar needs --user and --name (see %s create-calendar --help)", name)
	}
	if strings.Contains(o.address, "/") || o.address == "." || o.address == ".." || (o.address != "" && o.address != shown(o.address)) {
		return calendar.NewCalendar{}, fmt.Errorf("--address: %q cannot be the last part of a URL", o.address)
	}
	n := calendar.NewCalendar{Segment: calendar.Segment(o.address), Properties: calendar.Properties{Name: o.name, Timezone: o.timezone}}
	for kind := range strings.SplitSeq(o.kinds, ",") {
		n.Kinds = append(n.Kinds, calendar.Kind(strings.ToUpper(strings.TrimSpace(kind))))
	}
	if o.color != "" {
		n.Color = &o.color
	}
	if o.description != "" {
		n.Description = &o.description
	}
	return n, nil
}
