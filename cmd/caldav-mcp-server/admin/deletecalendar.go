package admin

import (
	"context"
	"fmt"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const deleteCalendarDetails = `
CALENDAR is its name, its address or its id. The calendar moves to the trash with its content, for all users who share
it. trash restore brings it back, including its shares, for JOURNAL_DAYS. Its public links show nothing in the meantime.
Its meetings are cancelled and its invitations declined, as if each event was deleted. The default calendar of a user
cannot be deleted: choose another one first, with set-calendar --default.
`

// DeleteCalendarCommand is the command delete-calendar.
func DeleteCalendarCommand() command.Command {
	return command.Command{
		Name: "delete-calendar", User: "`NAME` of its owner", Operands: []string{"CALENDAR"},
		Settings: settings.StoreGroup | settings.PostGroup, JSON: true,
		Summary: "move a calendar to the trash", Details: deleteCalendarDetails,
		Run: func(ctx context.Context, d *command.Context, operands []string) error {
			cal, err := findInHome(ctx, d, operands[0])
			if err != nil {
				return err
			}
			if app.IsOthers(cal) {
				return errOthersCalendar(d.Who, cal)
			}
			told, err := d.Calendars.DeleteCalendarTelling(ctx, d.Caller(), cal.ID, calendar.TellAll)
			if calendar.RuleOf(err) == calendar.RuleDefaultNeeded {
				return fmt.Errorf("%w; to do so: %s set-calendar CALENDAR --user %s --default", err, console.Program,
					d.Who.Name)
			}
			if err != nil {
				return err
			}
			made := deletedCalendarJSON{
				ID: string(cal.ID), Name: cal.Name, Owner: d.Who.Name, Deleted: true, Told: calendar.People(told),
			}
			return d.Done(made,
				"moved the calendar %q of %s to the trash%s; %s trash restore --user %s %s brings it back\n",
				console.Shown(cal.Name), d.Who.Name, toldOf(told, "cancelled or declined"), console.Program, d.Who.Name,
				console.BriefID(cal.ID))
		},
	}
}

type deletedCalendarJSON struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Owner   string `json:"owner"`
	Deleted bool   `json:"deleted"`
	Told    int    `json:"people_told"`
}

// toldOf says how many people were notified about their meetings; "" for none.
func toldOf(told []calendar.Told, became string) string {
	n := calendar.People(told)
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", and told %s that their meetings are %s", calendar.Audience{People: n}, became)
}

// errOthersCalendar refuses to delete another user's calendar, and says how to leave the share.
func errOthersCalendar(u calendar.User, cal calendar.Calendar) error {
	return fmt.Errorf("%q is the calendar of %s, who shares it with %s: to end that, %s unshare --user %s --calendar "+
		"%s --with %s",
		console.Shown(cal.Name), cal.OwnerName, u.Name, console.Program, cal.OwnerName, cal.ID, u.Name)
}
