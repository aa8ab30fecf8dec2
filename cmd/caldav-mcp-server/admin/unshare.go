package admin

import (
	"context"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const unshareDetails = `
The calendar disappears from the user's apps, along with the name and color that the user gave it.
`

// UnshareCommand is the command unshare.
func UnshareCommand() command.Command {
	var o shareOptions
	return command.Command{
		Name: "unshare", User: calendarOwner, Settings: settings.StoreGroup, JSON: true,
		Summary: "stop sharing a calendar with a user", Details: unshareDetails,
		Flags: o.declare,
		Run: func(ctx context.Context, d *command.Context, _ []string) error {
			cal, err := d.FindCalendar(ctx, d.Who, o.calendar)
			if err != nil {
				return err
			}
			if err := d.Calendars.Unshare(ctx, d.Caller(), cal.ID, o.with); err != nil {
				return err
			}
			was := shareLine(calendar.Share{User: calendar.User{Name: o.with}, Status: calendar.ShareWithdrawn}, cal)
			return d.Done(was, "the calendar %q of %s is no longer shared with %s\n", cal.Name, cal.OwnerName, o.with)
		},
	}
}
