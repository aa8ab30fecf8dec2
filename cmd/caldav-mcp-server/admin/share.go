package admin

import (
	"context"
	"flag"
	"fmt"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const shareDetails = `
CALENDAR is its name, its address or its id. PERMISSION is freebusy (only busy times), read or read-write; sharing again
with the same user changes it. The user is given by name or mail address. The calendar appears in the user's apps by
itself. With --ask the share works as if its owner had made it in an app: if SHARES_NEED_ACCEPTANCE=true, the user must
accept it first; see answer-share.
`

// shareOptions are the flags of share and of unshare.
type shareOptions struct {
	calendar, with, permission string
}

func (o *shareOptions) declare(f *flag.FlagSet) {
	f.StringVar(&o.calendar, "calendar", "", "the `CALENDAR` to share (needed)")
	f.StringVar(&o.with, "with", "", "`NAME` of the user to share with (needed)")
}

// calendarOwner is the usage of --user for commands that share a calendar.
const calendarOwner = "`NAME` of the calendar's owner"

// ShareCommand is the command share.
func ShareCommand() command.Command {
	var o shareOptions
	var ask bool
	var access calendar.Access
	return command.Command{
		Name: "share", User: calendarOwner, Settings: settings.StoreGroup, JSON: true,
		Summary: "share a calendar with another user", Details: shareDetails,
		Flags: func(f *flag.FlagSet) {
			o.declare(f)
			f.StringVar(&o.permission, "permission", "read", "`PERMISSION` to give: freebusy, read or read-write")
			f.BoolVar(&ask, "ask", false, "the user must accept it first, if SHARES_NEED_ACCEPTANCE=true")
		},
		Check: func(*command.Context, []string) error {
			if access = calendar.ParseAccess(o.permission); access == calendar.NoAccess ||
				access == calendar.OwnerAccess {
				return fmt.Errorf("--permission: %q is none of freebusy, read and read-write", o.permission)
			}
			return nil
		},
		Run: func(ctx context.Context, d *command.Context, _ []string) error {
			cal, err := d.FindCalendar(ctx, d.Who, o.calendar)
			if err != nil {
				return err
			}
			give := d.Calendars.Settle
			if ask {
				give = d.Calendars.Share
			}
			share, err := give(ctx, d.Caller(), cal.ID, o.with, access)
			if err != nil {
				return err
			}
			done := "shared the calendar %q of %s with %s: %s\n"
			if share.Status == calendar.SharePending {
				done = "offered the calendar %q of %s to %s, who must accept it: %s\n"
			}
			return d.Done(shareLine(share, cal), done, cal.Name, cal.OwnerName, share.User.Name, o.permission)
		},
	}
}
