package main

import (
	"context"
	"flag"
	"time"

	"caldav-mcp-server/calendar"
)

// listedCalendar is a calendar in JSON.
type listedCalendar struct {
	ID      calendar.CalendarID `json:"id"`
	Owner   string              `json:"owner"`
	Name    string              `json:"name"`
	Address calendar.Segment    `json:"address"`
	// Kinds is empty for a subscription.
	Kinds calendar.Kinds `json:"kinds"`
	// Access is what the user who was named may do.
	Access   string           `json:"access"`
	Timezone string           `json:"timezone"`
	Version  calendar.Version `json:"version"`
	Created  *time.Time       `json:"created"`
}

func calendarJSON(c calendar.Calendar) listedCalendar {
	return listedCalendar{
		c.ID, c.OwnerName, c.Name, c.Address(), append(calendar.Kinds{}, c.Kinds...), accessName(c.Access), c.Timezone, c.Version, jsonTime(c.Created),
	}
}

func accessName(a calendar.Access) string {
	return [...]string{
		calendar.NoAccess: "none", calendar.FreeBusyAccess: "freebusy", calendar.ReadAccess: "read",
		calendar.WriteAccess: "write", calendar.OwnerAccess: "owner",
	}[a]
}

const listCalendarsDetails = `
With --user it lists the calendars that the user sees, shared ones too; else those of every user. A subscription is the
address of a feed elsewhere, which the user's apps fetch themselves; it holds nothing here.
`

func listCalendarsCommand() command {
	var user string
	var json bool
	return command{
		name: "list-calendars", settings: storeSettings, summary: "list calendars", details: listCalendarsDetails,
		flags: func(f *flag.FlagSet) {
			f.StringVar(&user, "user", "", "only those that the user `NAME` sees")
			asJSON(f, &json)
		},
		run: func(ctx context.Context, p *program, c config, _ []string) error {
			return p.withHouse(ctx, c, func(h *house) error {
				all, err := h.listCalendars(ctx, user)
				if err != nil {
					return err
				}
				if json {
					return p.printJSON(each(all, calendarJSON))
				}
				return p.printTable([]string{"OWNER", "NAME", "ADDRESS", "KINDS", "ACCESS", "ID"}, each(all, calendarRow))
			})
		},
	}
}

func calendarRow(c calendar.Calendar) []string {
	kinds := c.Kinds.String()
	if c.Subscribed() {
		kinds = "(subscription)"
	}
	return []string{c.OwnerName, c.Name, string(c.Address()), kinds, accessName(c.Access), briefID(c.ID)}
}
