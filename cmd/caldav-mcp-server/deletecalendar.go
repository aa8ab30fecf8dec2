package main

import (
	"context"
	"fmt"

	"caldav-mcp-server/calendar"
)

const deleteCalendarDetails = `
CALENDAR is its name, its address or its id. It goes to the trash with all that is in it, for everybody who has a share;
trash restore brings it back, shares and all, for JOURNAL_DAYS. Its public links show nothing meanwhile.
`

func deleteCalendarCommand() command {
	return command{
		name: "delete-calendar", user: "`NAME` of its owner", operands: []string{"CALENDAR"}, settings: storeSettings, json: true,
		summary: "move a calendar to the trash", details: deleteCalendarDetails,
		run: func(ctx context.Context, d *desk, operands []string) error {
			cal, err := d.findInHome(ctx, operands[0])
			if err != nil {
				return err
			}
			if isOthers(cal) {
				return errOthersCalendar(d.who, cal)
			}
			if err := d.calendars.DeleteCalendar(ctx, d.caller(), cal.ID); err != nil {
				return err
			}
			made := deletedCalendarJSON{ID: string(cal.ID), Name: cal.Name, Owner: d.who.Name, Deleted: true}
			return d.done(made, "moved the calendar %q of %s to the trash; %s trash restore --user %s %s brings it back\n",
				shown(cal.Name), d.who.Name, name, d.who.Name, briefID(cal.ID))
		},
	}
}

type deletedCalendarJSON struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Owner   string `json:"owner"`
	Deleted bool   `json:"deleted"`
}

// errOthersCalendar says what to do in place of deleting what is not the user's.
func errOthersCalendar(u calendar.User, cal calendar.Calendar) error {
	return fmt.Errorf("%q is the calendar of %s, who shares it with %s: to end that, %s unshare --user %s --calendar %s --with %s",
		shown(cal.Name), cal.OwnerName, u.Name, name, cal.OwnerName, cal.ID, u.Name)
}
