package main

import (
	"context"
	"flag"
	"fmt"

	"caldav-mcp-server/calendar"
)

const shareDetails = `
CALENDAR is its name, its address or its id. PERMISSION is freebusy (when the owner is busy, not with
what), read or read-write; to share again with the same user changes it. The user is named by the name
or by the mail address. The calendar appears in the user's programs by itself. With --ask it is shared as
if its owner had done it in a program: with SHARES_NEED_ACCEPTANCE=true the user is asked first, see
answer-share.
`

// shareOptions are the flags of share and of unshare.
type shareOptions struct {
	calendar, with, permission string
}

func (o *shareOptions) declare(f *flag.FlagSet) {
	f.StringVar(&o.calendar, "calendar", "", "`CALENDAR` that is meant (needed)")
	f.StringVar(&o.with, "with", "", "`NAME` of the user to share with (needed)")
}

// calendarOwner is the usage of --user for commands that share a calendar.
const calendarOwner = "`NAME` of the calendar's owner"

func shareCommand() command {
	var o shareOptions
	var ask bool
	var access calendar.Access
	return command{
		name: "share", user: calendarOwner, settings: storeSettings, json: true,
		summary: "share a calendar with another user", details: shareDetails,
		flags: func(f *flag.FlagSet) {
			o.declare(f)
			f.StringVar(&o.permission, "permission", "read", "`PERMISSION` to give: freebusy, read or read-write")
			f.BoolVar(&ask, "ask", false, "let the user accept it first, if SHARES_NEED_ACCEPTANCE=true")
		},
		check: func(*desk, []string) error {
			if access = calendar.ParseAccess(o.permission); access == calendar.NoAccess || access == calendar.OwnerAccess {
				return fmt.Errorf("--permission: %q is none of freebusy, read and read-write", o.permission)
			}
			return nil
		},
		run: func(ctx context.Context, d *desk, _ []string) error {
			cal, err := d.findCalendar(ctx, d.who, o.calendar)
			if err != nil {
				return err
			}
			give := d.calendars.Settle
			if ask {
				give = d.calendars.Share
			}
			share, err := give(ctx, d.caller(), cal.ID, o.with, access)
			if err != nil {
				return err
			}
			done := "shared the calendar %q of %s with %s: %s\n"
			if share.Status == calendar.SharePending {
				done = "offered the calendar %q of %s to %s, who is asked: %s\n"
			}
			return d.done(shareLine(share, cal), done, cal.Name, cal.OwnerName, share.User.Name, o.permission)
		},
	}
}
