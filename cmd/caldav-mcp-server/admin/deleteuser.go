package admin

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/cmd/caldav-mcp-server/transfer"
)

const deleteUserDetails = `
It deletes the user and all their data for good, without the trash: their calendars, also for users who share them,
their trash, tokens and public links. The command lists what it will delete, and asks for the user's name; --yes skips
the question.

Meetings that the user organizes and that are not over are cancelled, so that booked rooms are free again. Guests are
not told, and keep the events in their calendars; --tell-guests tells them, as if the user had deleted the events. Mails
to guests elsewhere must be sent first: the command disables the user, and the running server deletes the user when the
mails are sent, unless an administrator enables the user again.

--hand-over-to gives the calendars to another user, who then owns them with their history, shares and public links. The
meetings are cancelled all the same, because only their organizer can change them; they are in the trash of the
calendars. Linked calendars, subscriptions and the trash of the user are deleted.
  caldav-mcp-server delete-user alice --hand-over-to bob

With --export the calendars are first written to a directory, one file per object, as export --objects does. If that
fails, nothing is deleted.
  caldav-mcp-server delete-user alice --export /backup/alice
`

// deleteUserOptions are the flags of delete-user.
type deleteUserOptions struct {
	yes    bool
	how    calendar.UserDeletion
	export string
}

// DeleteUserCommand is the command delete-user.
func DeleteUserCommand() command.Command {
	var o deleteUserOptions
	return command.Command{
		Name: "delete-user", Operands: []string{"NAME"}, Settings: settings.StoreGroup, JSON: true,
		Summary: "delete a user and all their data", Details: deleteUserDetails, Flags: o.declare,
		Run: func(ctx context.Context, d *command.Context, operands []string) error {
			return deleteUser(ctx, d, operands[0], o)
		},
	}
}

func (o *deleteUserOptions) declare(f *flag.FlagSet) {
	f.BoolVar(&o.yes, "yes", false, "do not ask")
	f.BoolVar(&o.how.Tell, "tell-guests", false, "tell guests that the user's coming meetings are cancelled")
	f.StringVar(&o.how.Successor, "hand-over-to", "", "give the calendars to the user `NAME` instead of deleting them")
	f.StringVar(&o.export, "export", "", "write the calendars to `DIR` first")
}

func deleteUser(ctx context.Context, d *command.Context, name string, o deleteUserOptions) error {
	user, err := d.Auth.User(ctx, name)
	if err != nil {
		return err
	}
	estate, err := estateOf(ctx, d.App, user)
	if err != nil {
		return err
	}
	goes := fmt.Sprintf("this deletes the user %s for good, with\n%s", user.Name, estate)
	if o.how.Successor != "" {
		goes += "\nits calendars go to " + o.how.Successor
	}
	if o.yes {
		d.Say("%s\n", goes)
	} else if err := d.Confirm(ctx, goes, user.Name); err != nil {
		return err
	}
	if o.export != "" {
		d.Who = user
		if err := transfer.ExportAll(ctx, d, o.export); err != nil {
			return fmt.Errorf("%s was not deleted: %w", user.Name, err)
		}
	}
	cancelled, later, err := d.App.DeleteUser(ctx, user, o.how)
	if err != nil {
		return err
	}
	if cancelled.Meetings > 0 {
		d.Say("cancelled %s\n", calendar.Counted(cancelled.Meetings, "coming meeting"))
	}
	if cancelled.Given > 0 {
		d.Say("handed %s over to %s\n", calendar.Counted(cancelled.Given, "calendar"), o.how.Successor)
	}
	done := "deleted the user " + user.Name
	if later {
		done = fmt.Sprintf("disabled the user %s; the server deletes the user when %s to guests left", user.Name,
			calendar.Counted(cancelled.Mails, "mail"))
	}
	return d.Done(map[string]any{
		"user": user.Name, "removed": !later, "removed_later": later, "cancelled": cancelled.Meetings,
		"handed_over": cancelled.Given,
	}, "%s\n", done)
}

// estateOf lists the data that is deleted with a user, one line each.
func estateOf(ctx context.Context, h *app.App, u calendar.User) (string, error) {
	var b strings.Builder
	all, err := h.Calendars.CalendarsInHome(ctx, app.Caller(u))
	if err != nil {
		return "", err
	}
	for _, cal := range slices.DeleteFunc(all, app.IsOthers) {
		holds, err := holdings(ctx, h, u, cal)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "  the calendar %q, %s\n", console.Shown(cal.Name), holds)
	}
	trashed, err := h.Calendars.TrashedCalendars(ctx, app.Caller(u))
	if err != nil {
		return "", err
	}
	for _, t := range trashed {
		fmt.Fprintf(&b, "  the calendar %q, objects: %d, in the trash\n", console.Shown(t.Name), t.Objects)
	}
	tokens, err := h.Auth.Tokens(ctx, u.Name)
	if err != nil {
		return "", err
	}
	links, err := h.Auth.Links(ctx, u.Name)
	fmt.Fprintf(&b, "  access tokens: %d, public links: %d", len(tokens), len(links))
	return b.String(), err
}

// holdings describes the content of a calendar, and names its sharees.
func holdings(ctx context.Context, h *app.App, u calendar.User, cal calendar.Calendar) (string, error) {
	if cal.Subscribed() {
		return "a subscription", nil
	}
	objects, deleted := 0, 0
	for _, err := range h.Calendars.Objects(ctx, nil, app.Caller(u), cal, calendar.ObjectQuery{}) {
		if err != nil {
			return "", err
		}
		objects++
	}
	for _, err := range h.Calendars.TrashedObjects(ctx, app.Caller(u), cal) {
		if err != nil {
			return "", err
		}
		deleted++
	}
	text := fmt.Sprintf("objects: %d, deleted: %d", objects, deleted)
	if !cal.Shared {
		return text, nil
	}
	shares, err := h.Calendars.Shares(ctx, app.Caller(u), cal.ID)
	return text + ", shared with " + strings.Join(console.Each(shares, func(s calendar.Share) string {
		return s.User.Name
	}), ", "), err
}
