package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/mcp/wire"
)

// checkGuests refuses attendees without an address, and names the people and rooms that the caller may mean.
func (b toolbox) checkGuests(ctx context.Context, c *call, in *eventValues, event *ical.Component) error {
	list, _ := in.attendees.Value()
	var there []edit.Attendee
	if event != nil {
		there = edit.AttendeesOf(event)
	}
	for _, text := range slices.Concat(list, in.more) {
		a := attendeeOf(text)
		known := slices.ContainsFunc(there, func(o edit.Attendee) bool {
			return strings.EqualFold(o.Address, a.Address)
		})
		if strings.ContainsAny(a.Address, "@:/") || known {
			continue
		}
		e := errArgument(`"attendees": %s has no mail address`, wire.Quote(a.Address))
		e.Hint = "write it as Bob Ray <bob@example.com>; ask the user for the address"
		if people := b.meant(ctx, c, a.Address); people != nil {
			e.Hint = "write " + strings.Join(people, " or ") + ", if the user means that"
		}
		return e
	}
	return nil
}

// meant lists the people and rooms with an address that a name may mean, as far as the caller knows them.
func (b toolbox) meant(ctx context.Context, c *call, name string) (list []string) {
	people, err := b.service.People(ctx, c.caller)
	said := content.Words(name)
	if err != nil || len(said) == 0 {
		return nil
	}
	for _, u := range people {
		words := append(content.Words(u.DisplayName), strings.ToLower(u.Name))
		if u.Email == "" || u.Group || len(list) == maxNamed || slices.ContainsFunc(said, func(word string) bool {
			return !slices.Contains(words, word)
		}) {
			continue
		}
		list = append(list, wire.Visible(namedAttendee(edit.Attendee{Name: u.DisplayName, Address: u.Email})))
	}
	return list
}

// adviseUser adds the people whom a name may mean to the refusal of an unknown user.
func (b toolbox) adviseUser(ctx context.Context, c *call, name string, err error) error {
	if err == nil || calendar.ReasonOf(err) != calendar.NotFound {
		return err
	}
	people, failed := b.service.People(ctx, c.caller)
	said := content.Words(name)
	if failed != nil || len(said) == 0 {
		return err
	}
	var list []string
	for _, u := range people {
		words := append(content.Words(u.DisplayName), strings.ToLower(u.Name))
		if u.ID == c.caller.User.ID || u.Room.Bookable() || len(list) == maxNamed ||
			slices.ContainsFunc(said, func(word string) bool { return !slices.Contains(words, word) }) {
			continue
		}
		list = append(list, fmt.Sprintf("%s (%s)", wire.Quote(u.Name), wire.Visible(u.DisplayName)))
	}
	if list == nil {
		return err
	}
	e := calendar.Errorf(calendar.NotFound, "", "no user has the login name or mail address %s", wire.Quote(name))
	e.Hint, e.Cause = "the user may mean "+strings.Join(list, " or ")+": give the login name in quotation marks", err
	return e
}
