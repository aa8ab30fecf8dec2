package main

import (
	"context"

	"caldav-mcp-server/calendar"
)

const unshareDetails = `
The calendar goes from the user's programs, and with it the name and the colour that they gave it.
`

func unshareCommand() command {
	var o shareOptions
	return command{
		name: "unshare", settings: storeSettings,
		summary: "end a calendar's being shared with a user", details: unshareDetails,
		flags: o.declare,
		run: func(ctx context.Context, p *program, c config, _ []string) error {
			if err := o.check("unshare"); err != nil {
				return err
			}
			return p.withHouse(ctx, c, func(h *house) error {
				owner, cal, err := o.find(ctx, h)
				if err != nil {
					return err
				}
				if err := h.calendars.Unshare(ctx, owner, cal.ID, o.with); err != nil {
					return err
				}
				was := shareLine(calendar.Share{User: calendar.User{Name: o.with}, Status: calendar.ShareWithdrawn}, cal)
				return p.done(o.json, was, "the calendar %q of %s is no longer shared with %s\n", cal.Name, cal.OwnerName, o.with)
			})
		},
	}
}
