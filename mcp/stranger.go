package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/ical"
)

// A message to an address that the user has never written to could leak data to the author of a text that a model has
// read. Therefore the user must confirm such a message, if the client can ask. The change runs until its recipients are
// known, and is rolled back. If the user knows all of them, or agrees, it runs again. See
// docs/decisions/0099-strangers-by-mail.md.

// recipientsError aborts a change whose recipients were not cleared yet.
type recipientsError struct{ all []calendar.Recipient }

// Error implements error.
func (e *recipientsError) Error() string { return "the recipients are not checked yet" }

// checkRecipients accepts a change that writes to cleared recipients only.
func (c *call) checkRecipients(all []calendar.Recipient) error {
	if slices.Equal(all, c.consent.cleared) {
		return nil
	}
	e := calendar.Errorf(calendar.Invalid, "", "the recipients of this change differed when it was repeated: nothing was changed").Advising("try it again")
	e.Cause = &recipientsError{all}
	return e
}

// confirmStrangers asks the user to confirm a first message to any of the addresses: one question for all of them.
func (b toolbox) confirmStrangers(ctx context.Context, c *call, all []calendar.Recipient) error {
	c.meter = b.service.Meter(ctx, c.caller)
	defer c.meter.Close()
	var strangers, shown []string
	for _, r := range all {
		known, err := b.hasWritten(ctx, c, r)
		if err != nil {
			return err
		}
		if known {
			continue
		}
		strangers = append(strangers, string(r.To))
		if len(shown) < mostInQuestion {
			shown = append(shown, quotedShort(string(r.To)))
		}
	}
	if len(strangers) == 0 {
		return nil
	}
	if more := len(strangers) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("%d more", more))
	}
	return c.confirm(question{
		text: willHave("sent a message about an event to "+strings.Join(shown, ", ")) +
			"You have never written to these addresses before. They get the event with its title, time, place and notes.",
		state: strings.Join(strangers, " "),
	})
}

// mostRecalled limits the earlier events with an address that are checked.
const mostRecalled = 50

// hasWritten reports whether the user has written to an address: the server has mailed it in their name, or it is an
// attendee of a meeting that they organize in a calendar of their own. Calendars that others fill, such as feeds, prove
// nothing.
func (b toolbox) hasWritten(ctx context.Context, c *call, r calendar.Recipient) (bool, error) {
	wrote, err := b.service.WroteTo(ctx, r)
	if err != nil || wrote {
		return wrote, err
	}
	own, err := b.service.Calendars(ctx, c.caller)
	own = slices.DeleteFunc(own, func(cal calendar.Calendar) bool {
		return cal.Access != calendar.OwnerAccess || cal.Origin.Mirrors() && !cal.Origin.Writable || !cal.Kinds.Has(calendar.Event)
	})
	if len(own) == 0 || err != nil && calendar.ReasonOf(err) == calendar.Forbidden {
		return false, nil // the token may not read
	}
	if err != nil {
		return false, err
	}
	found, err := b.service.SearchEvents(ctx, c.caller, query.EventSearch{Text: string(r.To), Calendars: own, Past: true, Limit: mostRecalled, Meter: c.meter})
	if err != nil && calendar.ReasonOf(err) == calendar.Forbidden {
		return false, nil
	}
	return slices.ContainsFunc(found.Occurrences, func(o query.Occurrence) bool { return invitedBy(c.caller.User, o, r.To) }), err
}

// invitedBy reports whether a user invited an address to an event. A cancelled event does not count, nor does one that
// sends the address no messages. The organizer of an event in a linked calendar may be the account.
func invitedBy(user calendar.User, o query.Occurrence, to calendar.MailAddress) bool {
	organizer := o.Component.Property("ORGANIZER")
	if organizer == nil || !isOwn(user, organizer.Value()) && !isAccount(o.Calendar, organizer) {
		return false
	}
	if content.WordOf(o.Component, "STATUS") == string(edit.Cancelled) {
		return false
	}
	return slices.ContainsFunc(o.Component.All("ATTENDEE"), func(p *ical.Property) bool {
		agent, _ := p.Param("SCHEDULE-AGENT")
		return !strings.EqualFold(agent, "NONE") && strings.EqualFold(schedule.AddressOf(p.Value()).Mail(), string(to))
	})
}

// isAccount reports whether an address belongs to the account of a linked calendar.
func isAccount(cal calendar.Calendar, p *ical.Property) bool {
	return cal.Origin.Mirrors() && strings.EqualFold(schedule.AddressOf(p.Value()).Mail(), cal.Origin.From)
}
