package admin

import (
	"context"
	"flag"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// listedCalendar is a calendar in JSON.
type listedCalendar struct {
	ID      calendar.CalendarID `json:"id"`
	Owner   string              `json:"owner"`
	Name    string              `json:"name"`
	Address calendar.Segment    `json:"address"`
	// Kinds is empty for a subscription.
	Kinds calendar.Kinds `json:"kinds"`
	// Access is the access level of the user given with --user.
	Access   string           `json:"access"`
	Timezone string           `json:"timezone"`
	Version  calendar.Version `json:"version"`
	Created  *time.Time       `json:"created"`
}

func calendarJSON(c calendar.Calendar) listedCalendar {
	return listedCalendar{
		c.ID, c.OwnerName, c.Name, c.Address(), append(calendar.Kinds{}, c.Kinds...), c.Access.Word(), c.Timezone,
		c.Version, console.JSONTime(c.Created),
	}
}

const listCalendarsDetails = `
With --user it lists the calendars that the user sees, including shared ones; otherwise all calendars of all users. A
subscription is the URL of a feed that the user's apps fetch themselves; the server stores no events for it.
`

// ListCalendarsCommand is the command list-calendars.
func ListCalendarsCommand() command.Command {
	var user string
	return command.Listing[calendar.Calendar, listedCalendar]{
		Command: command.Command{
			Name: "list-calendars", Summary: "list calendars", Details: listCalendarsDetails,
			Flags: func(f *flag.FlagSet) { f.StringVar(&user, "user", "", "only calendars that the user `NAME` sees") },
		},
		Find:  func(ctx context.Context, h *app.App) ([]calendar.Calendar, error) { return h.ListCalendars(ctx, user) },
		JSON:  calendarJSON,
		Heads: []string{"OWNER", "NAME", "ADDRESS", "KINDS", "ACCESS", "ID"},
		Row:   calendarRow,
	}.AsCommand()
}

func calendarRow(c calendar.Calendar, _ time.Time) []string {
	kinds := c.Kinds.String()
	if c.Subscribed() {
		kinds = "(subscription)"
	}
	return []string{c.OwnerName, c.Name, string(c.Address()), kinds, c.Access.Word(), console.BriefID(c.ID)}
}
