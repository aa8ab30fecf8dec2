package main

import (
	"context"
	"flag"

	"caldav-mcp-server/calendar"
)

const shareDetails = `
CALENDAR is its name, its address or its id. PERMISSION is freebusy (when the owner is busy, not with
what), read or read-write; to share again with the same user changes it. The user is named by the name
or by the mail address. The calendar appears in the user's programs by itself. With --ask they are
asked first, as if its owner had shared it from a program, see answer-share.
`

// shareOptions are the flags of share and of unshare.
type shareOptions struct {
	user, calendar, with, permission string
	json                             bool
}

func (o *shareOptions) declare(f *flag.FlagSet) {
	f.StringVar(&o.user, "user", "", "`NAME` of the calendar's owner (needed)")
	f.StringVar(&o.calendar, "calendar", "", "`CALENDAR` that is meant (needed)")
	f.StringVar(&o.with, "with", "", "`NAME` of the user to share with (needed)")
	asJSON(f, &o.json)
}

func (o *shareOptions) check(command string) error {
	if o.user == "" || o.calendar == "" || o.with == "" {
		return wrongUsage("%s needs --user, --calendar and --with (see %s %s --help)", command, name, command)
	}
	return nil
}

// find returns the owner and the calendar that are meant.
func (o *shareOptions) find(ctx context.Context, h *house) (calendar.Caller, calendar.Calendar, error) {
	user, err := h.auth.User(ctx, o.user)
	if err != nil {
		return calendar.Caller{}, calendar.Calendar{}, err
	}
	cal, err := h.findCalendar(ctx, user, o.calendar)
	return caller(user), cal, err
}

func shareCommand() command {
	var o shareOptions
	var ask bool
	return command{
		name: "share", settings: storeSettings,
		summary: "share a calendar with another user", details: shareDetails,
		flags: func(f *flag.FlagSet) {
			o.declare(f)
			f.StringVar(&o.permission, "permission", "read", "`PERMISSION` to give: freebusy, read or read-write")
			f.BoolVar(&ask, "ask", false, "let the user accept it first, unless SHARES_NEED_ACCEPTANCE=false")
		},
		run: func(ctx context.Context, p *program, c config, _ []string) error {
			if err := o.check("share"); err != nil {
				return err
			}
			access := calendar.ParseAccess(o.permission)
			if access == calendar.NoAccess || access == calendar.OwnerAccess {
				return wrongUsage("--permission: %q is none of freebusy, read and read-write", o.permission)
			}
			return p.withHouse(ctx, c, func(h *house) error {
				owner, cal, err := o.find(ctx, h)
				if err != nil {
					return err
				}
				give := h.calendars.Settle
				if ask {
					give = h.calendars.Share
				}
				share, err := give(ctx, owner, cal.ID, o.with, access)
				if err != nil {
					return err
				}
				done := "shared the calendar %q of %s with %s: %s\n"
				if share.Status == calendar.SharePending {
					done = "offered the calendar %q of %s to %s, who is asked: %s\n"
				}
				return p.done(o.json, shareLine(share, cal), done, cal.Name, cal.OwnerName, share.User.Name, o.permission)
			})
		},
	}
}
