package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/locale"
	"caldav-mcp-server/store"
)

// ChangeUser changes a user, and lists the calendars that moved to a new time zone. The calendars change first, because
// they are recognized by the user's old zone: an interrupted command can simply be repeated.
func (h *App) ChangeUser(ctx context.Context, name string, e auth.UserEdit) (_ calendar.User, moved string, err error) {
	user, err := h.Auth.User(ctx, name)
	if err != nil {
		return user, "", err
	}
	if err := e.Validate(); err != nil {
		return user, "", err
	}
	if e.Timezone != nil && *e.Timezone != "" {
		if moved, err = h.moveToZone(ctx, user, *e.Timezone); err != nil {
			return user, "", err
		}
	}
	user, err = h.Auth.ChangeUser(ctx, name, e)
	return user, moved, err
}

// DeleteUser cancels a user's coming meetings, hands the calendars over if there is a successor, and deletes the user.
// Rooms are freed; guests are told if wanted. The user's mails are deleted with the user. So while mails to guests
// wait, it disables the user and returns later: FinishDeletions deletes the user.
func (h *App) DeleteUser(
	ctx context.Context, u calendar.User, how calendar.UserDeletion,
) (done calendar.Cancelled, later bool, err error) {
	done, later, err = h.deleteUser(ctx, u, how)
	if err != nil || !later {
		return done, later, err
	}
	if _, err := h.Auth.ChangeUser(ctx, u.Name, auth.UserEdit{Disabled: new(true)}); err != nil {
		return done, later, err
	}
	return done, later, h.Store.DeleteLater(ctx, u.ID, how.Successor)
}

// deleteUser is DeleteUser that changes nothing after it cancelled the meetings if mails wait.
func (h *App) deleteUser(
	ctx context.Context, u calendar.User, how calendar.UserDeletion,
) (done calendar.Cancelled, waits bool, err error) {
	if err := h.Auth.MayDeleteUser(ctx, u); err != nil {
		return done, false, err
	}
	successor, err := h.successor(ctx, u, how.Successor)
	if err != nil {
		return done, false, err
	}
	whom := calendar.TellRooms
	if how.Tell {
		whom = calendar.TellAll
	}
	done, err = h.Calendars.CancelMeetings(ctx, h.caller(u), whom)
	if err != nil {
		return done, false, fmt.Errorf("%s was not deleted: cancelling the meetings: %w", u.Name, err)
	}
	if how.Tell && done.Mails > 0 {
		return done, true, nil
	}
	if how.Successor != "" {
		if done.Given, err = h.Calendars.GiveCalendars(ctx, h.caller(u), successor); err != nil {
			return done, false, fmt.Errorf("%s was not deleted: handing the calendars over: %w", u.Name, err)
		}
	}
	return done, false, h.Auth.DeleteUser(ctx, u.Name)
}

// IsDeletedLater reports whether the server deletes a user once their mails are sent.
func (h *App) IsDeletedLater(ctx context.Context, u calendar.User) (bool, error) {
	if !u.Disabled {
		return false, nil
	}
	all, err := h.Store.Settings(ctx)
	return slices.ContainsFunc(all, func(s store.Setting) bool { return s.Name == store.DeletionOf+string(u.ID) }), err
}

// FinishDeletions deletes the users that DeleteUser left, once their mails are sent. A user who was enabled stays.
// Several processes can run it at once.
func (h *App) FinishDeletions(ctx context.Context) error {
	all, err := h.Store.Settings(ctx)
	if err != nil {
		return fmt.Errorf("looking for users to delete: %w", err)
	}
	for _, s := range all {
		id, ok := strings.CutPrefix(s.Name, store.DeletionOf)
		if !ok {
			continue
		}
		u, failed := h.Store.UserByID(ctx, calendar.UserID(id))
		gone := failed != nil && calendar.ReasonOf(failed) == calendar.NotFound
		if failed == nil && u.Disabled {
			var waits bool
			_, waits, failed = h.deleteUser(ctx, u, calendar.UserDeletion{Successor: s.Value, Tell: true})
			if waits {
				continue
			}
		}
		if failed == nil || gone {
			failed = h.Store.ChangeSettings(ctx, nil, []string{s.Name})
		}
		err = errors.Join(err, failed)
	}
	return err
}

// successor returns the user who gets the calendars of a deleted user; zero if name is empty.
func (h *App) successor(ctx context.Context, of calendar.User, name string) (calendar.User, error) {
	if name == "" {
		return calendar.User{}, nil
	}
	to, err := h.Auth.User(ctx, name)
	if err == nil && (to.ID == of.ID || to.Room.Bookable() || to.Disabled) {
		err = calendar.Errorf(calendar.Invalid, "", "%q cannot get the calendars: choose another user who can sign in",
			to.Name)
	}
	return to, err
}

// moveToZone changes the time zone of the user's calendars that are in the user's current zone. It skips a calendar
// whose zone definition was set by a client.
func (h *App) moveToZone(ctx context.Context, u calendar.User, zone string) (string, error) {
	all, err := h.OwnCalendars(ctx, u)
	if err != nil {
		return "", err
	}
	former := cmp.Or(u.Timezone, "UTC")
	var moved strings.Builder
	for _, cal := range all {
		if !strings.EqualFold(cal.Timezone, former) || cal.TimezoneData != nil {
			continue
		}
		err := h.Calendars.PatchCalendar(ctx, h.caller(u),
			cal.ID, func(p *calendar.Properties) ([]calendar.DeadProperty, error) {
				p.Timezone = zone
				return nil, nil
			})
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&moved, "\nthe calendar %q is now in %s", console.Shown(cal.Name), zone)
	}
	return moved.String(), nil
}

// CreateUser creates a user with the defaults of new users, together with the first calendars, or nothing.
func (h *App) CreateUser(ctx context.Context, n auth.NewUser) (calendar.User, error) {
	user, err := h.Auth.CreateUser(ctx, h.Service().NewUsers.Fill(n))
	if err != nil {
		return user, err
	}
	if err := h.createFirstCalendars(ctx, h.caller(user)); err != nil {
		return user, errors.Join(err, h.Auth.DeleteUser(context.WithoutCancel(ctx), user.Name))
	}
	return user, nil
}

// CreateRoom creates a room together with its calendar, or nothing.
func (h *App) CreateRoom(ctx context.Context, n auth.NewUser) (calendar.User, error) {
	if n.Email == "" {
		return calendar.User{}, calendar.Errorf(calendar.Invalid, "",
			"a room needs a mail address for its invitations")
	}
	n.Invited = true // without a password no sign-in is possible
	room, err := h.Auth.CreateUser(ctx, n)
	if err != nil {
		return room, err
	}
	at := calendar.NewCalendar{
		Segment: "bookings", Properties: calendar.Properties{
			Name: "Bookings", Kinds: calendar.Kinds{calendar.Event}, Timezone: n.Timezone,
		},
	}
	if _, err := h.Calendars.CreateCalendar(ctx, h.caller(room), at); err != nil {
		undone := h.Auth.DeleteUser(context.WithoutCancel(ctx), room.Name)
		return room, errors.Join(fmt.Errorf("creating its calendar: %w", err), undone)
	}
	return room, nil
}

// createFirstCalendars creates the first calendars. The first one becomes the default calendar by name: otherwise the
// oldest is the default, and a client that creates a calendar within the same second could take its place.
func (h *App) createFirstCalendars(ctx context.Context, c calendar.Caller) error {
	for i, first := range firstCalendars(locale.Match(c.User.Language, c.User.BrowserLanguage)) {
		cal, err := h.Calendars.CreateCalendar(ctx, c, first)
		if err != nil {
			return fmt.Errorf("creating the calendar %q: %w", first.Name, err)
		}
		if i > 0 {
			continue
		}
		err = h.Calendars.PatchScheduling(ctx, c, func(s *calendar.Scheduling) error {
			s.Default = cal.ID
			return nil
		})
		if err != nil {
			return fmt.Errorf("making %q the default calendar: %w", first.Name, err)
		}
	}
	return nil
}

// firstCalendars are the calendars of a new user. Each takes one kind, because Apple's clients show a calendar either
// in Calendar or in Reminders. Their names are in the user's language; the addresses are the same in all languages.
func firstCalendars(l *locale.Language) []calendar.NewCalendar {
	events, tasks := calendar.Kinds{calendar.Event}, calendar.Kinds{calendar.Todo}
	return []calendar.NewCalendar{
		{Segment: "personal", Properties: calendar.Properties{Name: l.Text("first.personal"), Kinds: events}},
		{Segment: "tasks", Properties: calendar.Properties{Name: l.Text("first.tasks"), Kinds: tasks}},
	}
}
