package admin

import (
	"context"
	"errors"
	"flag"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const setUserDetails = `
Omitted values stay; an empty text removes a value. The change applies at once, also on a running server. A new time
zone also applies to the user's calendars that were in the old one, so that all-day events and floating times stay
right. Calendars in other zones keep them.

A quota limits the user's own calendars, including those in the trash. A user who exceeds a new quota keeps their data,
but can only reduce it.
  caldav-mcp-server set-user alice --timezone Europe/Berlin
  caldav-mcp-server set-user alice --quota-bytes 500MB --quota-calendars none
`

// SetUserCommand is the command set-user.
func SetUserCommand() command.Command {
	var edit auth.UserEdit
	return command.Command{
		Name: "set-user", Operands: []string{"NAME"}, Settings: settings.StoreGroup, JSON: true,
		Summary: "change a user's profile, role, quota or access", Details: setUserDetails,
		Flags: func(f *flag.FlagSet) {
			textFlag(f, &edit.DisplayName, "display-name", "display `NAME`")
			textFlag(f, &edit.Email, "email", "`ADDRESS` for invitations")
			textFlag(f, &edit.Timezone, "timezone", "the user's `ZONE`, such as Europe/Berlin")
			textFlag(f, &edit.WeekStart, "week-start", "first `DAY` of the week, such as mon")
			textFlag(f, &edit.WorkingDays, "working-days", "working `DAYS`, such as \"mon tue wed\"")
			textFlag(f, &edit.WorkingHours, "working-hours", "working `HOURS`, such as 09:00-17:00")
			textFlag(f, &edit.Language, "language", "`LANGUAGE` of pages and mails, such as de; \"\" for the browser's")
			switchFlag(f, &edit.Admin, "admin", "`BOOL`: the user is an administrator")
			switchFlag(f, &edit.Disabled, "disabled", "`BOOL`: the account is locked")
			quotaFlag(f, &edit.QuotaCalendars, "quota-calendars",
				"most own calendars: `N`, none for no limit, or default for the server's setting")
			quotaFlag(f, &edit.QuotaObjects, "quota-objects", "most objects in them: `N`, none or default")
			quotaFlag(f, &edit.QuotaBytes, "quota-bytes", "most bytes in them: a `SIZE` such as 500MB, none or default")
		},
		Check: func(*command.Context, []string) error {
			if edit == (auth.UserEdit{}) {
				return errors.New("it needs something to change, such as --display-name or --timezone")
			}
			return nil
		},
		Run: func(ctx context.Context, d *command.Context, operands []string) error {
			user, moved, err := d.ChangeUser(ctx, operands[0], edit)
			if err != nil {
				return err
			}
			return d.Done(userJSON(user), "changed the user %s%s\n", user.Name, moved)
		},
	}
}

// textFlag declares a flag whose value may be empty, which differs from omitting it.
func textFlag(f *flag.FlagSet, to **string, name, usage string) {
	f.Func(name, usage, func(text string) error {
		*to = &text
		return nil
	})
}

// switchFlag declares a flag that is true, false or omitted.
func switchFlag(f *flag.FlagSet, to **bool, name, usage string) {
	f.Func(name, usage, func(text string) error { return parseSwitch(to, text) })
}

func parseSwitch(to **bool, text string) error {
	if text != "true" && text != "false" {
		return errors.New("is not true or false")
	}
	*to = new(text == "true")
	return nil
}
