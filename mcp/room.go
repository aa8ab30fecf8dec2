package mcp

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/ical"
)

// A room answers an invitation right after the commit of the change that invites it. The tools read its answer, so that
// a model does not report a room as booked that declined.

// refusals are the rooms that declined an event: how a result shows them, and their addresses.
type refusals struct {
	shown     []shown
	addresses []schedule.Address
}

// asksRooms reports whether a change invited a room.
func asksRooms(told []calendar.Told) bool {
	return slices.ContainsFunc(told, func(t calendar.Told) bool { return t.Room && t.Reached() })
}

// answered returns an object with the answers of the rooms that a change of it invited. If the caller may not read it,
// it is returned as the change left it.
func (b toolbox) answered(
	ctx context.Context, c *call, cal calendar.Calendar, o calendar.Object, told []calendar.Told,
) calendar.Object {
	if asksRooms(told) {
		if now, err := b.service.ObjectByUID(ctx, c.meter, c.caller, cal, o.UID); err == nil {
			return now
		}
	}
	return o
}

// refusals returns the rooms that declined an event after a change. In a batch, which is not stored yet, it returns the
// rooms that are taken at the time of the event. It never fails: the change may be committed.
func (b toolbox) refusals(
	ctx context.Context, c *call, now query.Instance, z zoned, told []calendar.Told,
) (r refusals) {
	if c.batch != nil {
		return b.expectedRefusals(ctx, c, now, z)
	}
	for _, t := range told {
		address := schedule.AddressOf(t.To)
		if !t.Room || !t.Reached() || slices.Contains(r.addresses, address) {
			continue
		}
		name, days, all := declinedDays(now, address)
		switch {
		case all:
			r.add(address, name+": "+b.whyDeclined(ctx, c, now, z, t.To))
		case len(days) > 0:
			r.shown = append(r.shown, shown(name+": taken on "+strings.Join(texts(few(days)), ", ")))
		}
	}
	return r
}

func (r *refusals) add(address schedule.Address, text string) {
	r.shown, r.addresses = append(r.shown, shown(text)), append(r.addresses, address)
}

// declinedDays returns the name of an attendee, and the instances of a series that they declined; all is set if that is
// the event itself or the named instance.
func declinedDays(now query.Instance, address schedule.Address) (name string, days []string, all bool) {
	o, err := content.Read(now.Object.Data, ical.Limits{})
	if err != nil {
		return "", nil, false
	}
	for _, component := range append([]*ical.Component{now.Component}, o.Components()...) {
		a, found := attendeeAt(component, address)
		if !found {
			continue
		}
		name = namedAttendee(a)
		if a.Status != schedule.Declined {
			continue
		}
		id := component.Property("RECURRENCE-ID")
		if id == nil || component == now.Component {
			return name, nil, true
		}
		if at, err := id.Time(); err == nil {
			days = append(days, at.String())
		}
	}
	return name, days, false
}

func attendeeAt(component *ical.Component, address schedule.Address) (edit.Attendee, bool) {
	all := edit.AttendeesOf(component)
	i := slices.IndexFunc(all, func(a edit.Attendee) bool { return schedule.AddressOf(a.Address) == address })
	if i < 0 {
		return edit.Attendee{}, false
	}
	return all[i], true
}

// otherReason explains a refusal at a time when the room is free.
const otherReason = "declined, although it is free then: too many people take part, the series has no end, or the " +
	"user may not book it"

// whyDeclined explains the refusal of a room. A token that is limited to some calendars does not learn busy times.
func (b toolbox) whyDeclined(ctx context.Context, c *call, now query.Instance, z zoned, address string) string {
	people, err := b.service.PeopleAt(ctx, c.caller, []string{address})
	if err != nil || len(people[0]) != 1 {
		return "declined"
	}
	taken, err := b.taken(ctx, c, now, z, people[0][0])
	if err != nil {
		return "declined"
	}
	return cmp.Or(taken, otherReason)
}

// taken says when a room is busy during an event; "" if it is free.
func (b toolbox) taken(
	ctx context.Context, c *call, now query.Instance, z zoned, room calendar.User,
) (string, error) {
	if !now.Start.Time.Before(now.End.Time) {
		return "", nil
	}
	busy, err := b.service.FreeBusy(ctx, c.caller, query.BusyQuery{
		People: []calendar.User{room}, From: now.Start.Time.AddDate(0, 0, -1), Until: now.End.Time.AddDate(0, 0, 1),
		Ignored: []calendar.UID{now.Object.UID}, Meter: c.meter,
	})
	var times []string
	for _, p := range busy.Periods {
		if p.Start.Before(now.End.Time) && now.Start.Time.Before(p.End) {
			times = append(times, z.spellTimes(p.Start, p.End))
		}
	}
	if times == nil {
		return "", err
	}
	return "taken " + strings.Join(texts(few(times)), "; "), err
}

// expectedRefusals returns the rooms that are taken at the time of an event that is not stored yet.
func (b toolbox) expectedRefusals(ctx context.Context, c *call, now query.Instance, z zoned) (r refusals) {
	guests := edit.AttendeesOf(now.Component)
	if len(guests) == 0 || !c.invites() || now.End.Time.Before(b.now()) {
		return r
	}
	people, err := b.service.PeopleAt(ctx, c.caller, each(guests, func(a edit.Attendee) string { return a.Address }))
	if err != nil {
		return r
	}
	for i, found := range people {
		if len(found) != 1 || !found[0].Room.Bookable() || found[0].Room.ByHand {
			continue
		}
		if taken, err := b.taken(ctx, c, now, z, found[0]); err == nil && taken != "" {
			r.add(schedule.AddressOf(guests[i].Address), namedAttendee(guests[i])+": "+taken)
		}
	}
	return r
}

// refusalsIn fills in the rooms that declined the events of a batch after its commit, and returns them all.
func (b toolbox) refusalsIn(
	ctx context.Context, c *call, z zoned, list []oneOfMany, told []calendar.Told,
) (all refusals) {
	c.batch = nil // it is committed
	for i := range list {
		list[i].Declined = nil
		if asksRooms(told) {
			r := b.refusals(ctx, c, b.committed(ctx, c, list[i]), z, told)
			list[i].Declined, all.addresses = r.shown, append(all.addresses, r.addresses...)
		}
	}
	return all
}

// committed reads an event of a batch after the commit. The result is empty if a later change of the batch deleted it.
func (b toolbox) committed(ctx context.Context, c *call, one oneOfMany) (now query.Instance) {
	cal, err := b.calendarBy(ctx, c, one.Calendar)
	if err != nil {
		return now
	}
	o, err := b.service.ObjectByUID(ctx, c.meter, c.caller, cal, calendar.UID(one.UID))
	if err != nil {
		return now
	}
	id, err := recurrenceID(one.RecurrenceID)
	if err != nil {
		return now
	}
	if now, err = b.service.InstanceOf(ctx, c.meter, cal, o, id); err != nil {
		return query.Instance{}
	}
	return now
}

// accepted leaves out the messages to rooms that declined.
func (r refusals) accepted(told []calendar.Told) []calendar.Told {
	return slices.DeleteFunc(slices.Clone(told), func(t calendar.Told) bool {
		return slices.Contains(r.addresses, schedule.AddressOf(t.To))
	})
}
