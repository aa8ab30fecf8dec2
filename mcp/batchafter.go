package mcp

import (
	"context"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/freebusy"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/ical"
)

// The conflicts of a batch and the answers of its rooms depend on all its changes: one may free the slot that another
// one takes. They are therefore found at the end, in a preview from the planned events.

// lastOf returns the index of the last change of an object in a batch that has a property, or -1.
func lastOf(list []oneOfMany, in calendar.CalendarID, uid shown, has func(oneOfMany) bool) int {
	for i, one := range slices.Backward(list) {
		if one.Calendar == in && one.UID == uid && has(one) {
			return i
		}
	}
	return -1
}

func anyChange(oneOfMany) bool        { return true }
func comparedChange(o oneOfMany) bool { return o.compared }

// finish fills in the conflicts and the refusing rooms of a batch after its commit, and returns the rooms.
func (b toolbox) finish(
	ctx context.Context, c *call, z zoned, list []oneOfMany, told []calendar.Told,
) (all refusals) {
	c.batch, c.comparing = nil, nil // it is committed
	for i, one := range list {
		asks := asksRooms(told) && i == lastOf(list, one.Calendar, one.UID, anyChange)
		compares := i == lastOf(list, one.Calendar, one.UID, comparedChange)
		if !asks && !compares {
			continue
		}
		cal, now, err := b.committed(ctx, c, one)
		if err != nil {
			continue // a later change deleted it
		}
		if compares {
			if beside, err := b.clashes(ctx, c, cal, now, z); err == nil {
				list[i].Conflicts = besides(beside)
			}
		}
		if asks {
			r := b.refusals(ctx, c, cal, now, z, told, list[i].only)
			list[i].Declined = r.shown
			all.merge(refusals{addresses: r.addresses, booked: r.booked})
		}
	}
	return all
}

// besides names the conflicts and the likely duplicates of an event.
func besides(all clashes) []shown {
	list := clashNames(all)
	for _, name := range clashNames(clashes{Conflicts: all.Duplicates}) {
		list = append(list, name+", likely the same event")
	}
	return list
}

// committed reads an event of a batch after the commit.
func (b toolbox) committed(
	ctx context.Context, c *call, one oneOfMany,
) (cal calendar.Calendar, now query.Instance, err error) {
	if cal, err = b.calendarBy(ctx, c, one.Calendar); err != nil {
		return cal, now, err
	}
	o, err := b.service.ObjectByUID(ctx, c.meter, c.caller, cal, calendar.UID(one.UID))
	if err != nil {
		return cal, now, err
	}
	return b.instanceIn(ctx, c, cal, o, one)
}

// instanceIn returns the instance of an object that a change of a batch names.
func (b toolbox) instanceIn(
	ctx context.Context, c *call, cal calendar.Calendar, o calendar.Object, one oneOfMany,
) (calendar.Calendar, query.Instance, error) {
	id, err := recurrenceID(one.RecurrenceID)
	if err != nil {
		return cal, query.Instance{}, err
	}
	now, err := b.service.InstanceOf(ctx, c.meter, cal, o, id)
	if one.only {
		now.Object.Recurring = false
	}
	return cal, now, err
}

// foresee fills in the conflicts and the refusing rooms of a batch that is not committed.
func (b toolbox) foresee(ctx context.Context, c *call, z zoned, list []oneOfMany) {
	c.comparing = nil
	booked := bookings{toolbox: b, call: c, zone: z, taken: map[calendar.UserID][]freebusy.Period{}}
	all := c.batch.All()
	var open [][]roomAsked
	for _, p := range all {
		open = append(open, booked.keep(ctx, p))
	}
	for n, p := range all {
		refused := booked.decide(ctx, open[n])
		i := lastOf(list, p.Calendar.ID, shown(p.Object.UID), anyChange)
		if i < 0 || p.Object.Deleted {
			continue
		}
		list[i].Declined = refused
		if i = lastOf(list, p.Calendar.ID, shown(p.Object.UID), comparedChange); i < 0 {
			continue
		}
		if _, now, err := b.instanceIn(ctx, c, p.Calendar, p.Object, list[i]); err == nil {
			if beside, err := b.clashes(ctx, c, p.Calendar, now, z); err == nil {
				list[i].Conflicts = besides(beside)
			}
		}
	}
}

// replan replaces the stored events of a batch by the planned ones.
func (b toolbox) replan(
	ctx context.Context, c *call, all []query.Occurrence, during query.AgendaQuery,
) []query.Occurrence {
	if c.batch == nil {
		return all
	}
	for _, p := range c.batch.All() {
		all = slices.DeleteFunc(all, func(o query.Occurrence) bool {
			return o.Calendar.ID == p.Calendar.ID && o.Object.UID == p.Object.UID
		})
		concerns := slices.ContainsFunc(during.Calendars, func(cal calendar.Calendar) bool {
			return cal.ID == p.Calendar.ID
		})
		if p.Object.Deleted || p.Object.Kind != calendar.Event || !concerns {
			continue
		}
		found, err := b.service.InstancesIn(ctx, p.Calendar, p.Object, query.InstanceQuery{
			During: filter.TimeRange{Start: during.From, End: during.Until}, Timezone: during.Timezone,
			Most: mostCompared, Meter: c.meter,
		})
		if err != nil {
			continue // too costly to compare
		}
		for _, i := range found {
			if !i.Unclear {
				all = append(all, query.Occurrence{Calendar: p.Calendar, Instance: i})
			}
		}
	}
	return all
}

// bookings foresees the answers of the rooms that a batch invites. As after a commit, they answer in the order of the
// batch, and an event holds a room once the room has accepted it.
type bookings struct {
	toolbox
	call *call
	zone zoned
	// taken are the times that events of the batch hold, by room.
	taken map[calendar.UserID][]freebusy.Period
}

// roomAsked is a room that a planned event invites, and the times that it has not answered yet.
type roomAsked struct {
	name   string
	room   calendar.User
	open   []query.Instance
	people int
	far    bool
}

const (
	// mostForeseen limits the instances of a series that are checked against rooms in advance.
	mostForeseen = 500
	// bookedAhead is how far ahead rooms can be booked.
	bookedAhead = 2 * 366 * 24 * time.Hour
)

// keep returns the rooms that an event asks. The times that they accepted before, and that the batch does not change,
// stay taken.
func (f bookings) keep(ctx context.Context, p ledger.Place) (asked []roomAsked) {
	if p.Object.Deleted || p.Object.Kind != calendar.Event || !f.call.invites() {
		return nil
	}
	o, err := content.Read(p.Object.Data, ical.Limits{})
	if err != nil {
		return nil
	}
	guests := edit.AttendeesOf(o.Main())
	if len(guests) == 0 {
		return nil
	}
	addresses := each(guests, func(a edit.Attendee) string { return a.Address })
	found, err := f.service.PeopleAt(ctx, f.call.caller, addresses)
	if err != nil {
		return nil
	}
	now, err := f.instances(ctx, p.Calendar, p.Object)
	if err != nil {
		return nil
	}
	var before []query.Instance
	if was := f.call.batch.Before(p.Calendar.ID, p.Object.UID); was != nil {
		before, _ = f.instances(ctx, p.Calendar, *was)
	}
	people := map[string]bool{strings.ToLower(bareAddress(string(schedule.OrganizerOf(o)))): true}
	for i, a := range guests {
		if len(found[i]) != 1 || !found[i][0].Room.Bookable() {
			people[strings.ToLower(a.Address)] = true
		}
	}
	delete(people, "")
	for i, a := range guests {
		if len(found[i]) != 1 || !found[i][0].Room.Bookable() || found[i][0].Room.ByHand {
			continue
		}
		room := roomAsked{name: namedAttendee(a), room: found[i][0], people: len(people)}
		room.far = p.Object.Span.End == nil || *p.Object.Span.End > f.now().Add(bookedAhead).Unix()
		for _, day := range now {
			switch answerIn(before, day, schedule.AddressOf(a.Address)) {
			case schedule.Accepted:
				f.hold(room.room, day)
			case schedule.Declined:
			default:
				room.open = append(room.open, day)
			}
		}
		asked = append(asked, room)
	}
	return asked
}

// answerIn returns the answer of an attendee to an instance at the same time; "" if there was none.
func answerIn(before []query.Instance, day query.Instance, address schedule.Address) string {
	for _, was := range before {
		if !was.Start.Time.Equal(day.Start.Time) || !was.End.Time.Equal(day.End.Time) {
			continue
		}
		for _, a := range edit.AttendeesOf(was.Component) {
			if schedule.AddressOf(a.Address) == address && !strings.EqualFold(a.Status, noAnswer) {
				return strings.ToUpper(a.Status)
			}
		}
	}
	return ""
}

// instances returns the bookable instances of an event.
func (f bookings) instances(
	ctx context.Context, cal calendar.Calendar, o calendar.Object,
) ([]query.Instance, error) {
	all, err := f.service.InstancesIn(ctx, cal, o, query.InstanceQuery{
		During: filter.TimeRange{Start: f.now(), End: f.now().Add(bookedAhead)}, Timezone: f.zone.Zone,
		Most: mostForeseen, Meter: f.call.meter,
	})
	return slices.DeleteFunc(all, func(i query.Instance) bool { return i.Unclear || !blocksTime(i) }), err
}

func (f bookings) hold(room calendar.User, day query.Instance) {
	f.taken[room.ID] = append(f.taken[room.ID], freebusy.Period{
		Start: day.Start.Time, End: day.End.Time, Type: freebusy.Busy,
	})
}

// decide returns the rooms that will decline an event, with their reasons.
func (f bookings) decide(ctx context.Context, asked []roomAsked) (refused []shown) {
	for _, a := range asked {
		switch {
		case len(a.open) == 0:
		case a.room.Room.Capacity > 0 && a.people > int(a.room.Room.Capacity):
			refused = append(refused, shown(a.name+": "+schedule.TooMany(int(a.room.Room.Capacity), a.people)))
		case a.far:
			refused = append(refused, shown(a.name+": "+schedule.TooFar()))
		default:
			if times := f.clashing(ctx, a); times != nil {
				refused = append(refused, shown(a.name+": taken "+strings.Join(texts(few(times)), "; ")))
			}
		}
	}
	return refused
}

// clashing returns the times when a room is taken and an event wants it, and holds the others for the event.
func (f bookings) clashing(ctx context.Context, a roomAsked) (times []string) {
	var uids []calendar.UID
	for _, p := range f.call.batch.All() {
		uids = append(uids, p.Object.UID)
	}
	busy, err := f.service.FreeBusy(ctx, f.call.caller, query.BusyQuery{
		People: []calendar.User{a.room}, From: a.open[0].Start.Time.AddDate(0, 0, -1),
		Until: a.open[len(a.open)-1].End.Time.AddDate(0, 0, 1), Ignored: uids, Meter: f.call.meter,
	})
	if err != nil {
		return nil
	}
	periods := slices.Concat(busy.Periods, f.taken[a.room.ID])
	for _, day := range a.open {
		free := true
		for _, p := range periods {
			if p.Start.Before(day.End.Time) && day.Start.Time.Before(p.End) {
				times, free = append(times, f.zone.spellTimes(p.Start, p.End)), false
			}
		}
		if free {
			f.hold(a.room, day)
		}
	}
	return distinct(times)
}
