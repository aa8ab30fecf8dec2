package main

import (
	"context"
	"flag"
	"fmt"

	"caldav-mcp-server/calendar"
)

const deleteCalendarDetails = `
CALENDAR is its name, its address or its id. It goes to the trash with all that is in it, for everybody who has a share;
trash restore brings it back, shares and all, for JOURNAL_DAYS. Its public links show nothing meanwhile.
`

func deleteCalendarCommand() command {
	var user string
	var json bool
	return command{
		name: "delete-calendar", operands: []string{"CALENDAR"}, settings: storeSettings,
		summary: "move a calendar to the trash", details: deleteCalendarDetails,
		flags: func(f *flag.FlagSet) {
			f.StringVar(&user, "user", "", "`NAME` of its owner (needed)")
			asJSON(f, &json)
		},
		run: func(ctx context.Context, p *program, c config, operands []string) error {
			if user == "" {
				return wrongUsage("delete-calendar needs --user (see %s delete-calendar --help)", name)
			}
			return p.withHouse(ctx, c, func(h *house) error {
				u, cal, err := h.findInHome(ctx, user, operands[0])
				if err != nil {
					return err
				}
				if isOthers(cal) {
					return errOthersCalendar(u, cal)
				}
				if err := h.calendars.DeleteCalendar(ctx, caller(u), cal.ID); err != nil {
					return err
				}
				made := deletedCalendarJSON{ID: string(cal.ID), Name: cal.Name, Owner: u.Name, Deleted: true}
				return p.done(json, made, "moved the calendar %q of %s to the trash; %s trash restore --user %s %s brings it back\n",
					shown(cal.Name), u.Name, name, u.Name, briefID(cal.ID))
			})
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
