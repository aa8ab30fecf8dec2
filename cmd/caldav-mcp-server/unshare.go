package main

import (
	"context"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const unshareDetails = `
The calendar disappears from the user's apps, along with the name and color that the user gave it.
`

func unshareCommand() command {
	var o shareOptions
	return command{
		name: "unshare", user: calendarOwner, settings: settings.StoreGroup, json: true,
		summary: "stop sharing a calendar with a user", details: unshareDetails,
		flags: o.declare,
		run: func(ctx context.Context, d *desk, _ []string) error {
			cal, err := d.FindCalendar(ctx, d.who, o.calendar)
			if err != nil {
				return err
			}
			if err := d.Calendars.Unshare(ctx, d.caller(), cal.ID, o.with); err != nil {
				return err
			}
			was := shareLine(calendar.Share{User: calendar.User{Name: o.with}, Status: calendar.ShareWithdrawn}, cal)
			return d.done(was, "the calendar %q of %s is no longer shared with %s\n", cal.Name, cal.OwnerName, o.with)
		},
	}
}
