package query

import (
	"context"
	"slices"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/freebusy"
	"caldav-mcp-server/calendar/zone"
)

// busyPart is the time of one person, or the named calendars of one owner. Parts are collected separately: the
// availability of one person must not free the time of another.
type busyPart struct {
	// as is the caller who reads the calendars; for another person's time, it is that person.
	as calendar.Caller
	// person is set if all of that user's time counts, including availability.
	person bool
	// calendars are the named calendars; a person's calendars are looked up.
	calendars []calendar.Calendar
	// floating is the zone of the user's own dates and floating times; nil means each calendar's zone.
	floating *zone.Zone
}

// busyParts splits a query by person and owner. It is the only place that decides whose time a caller may ask for: the
// caller's own, as far as the credential reaches, and any other user's under the rules of the scheduling outbox.
func busyParts(c calendar.Caller, q BusyQuery) ([]busyPart, error) {
	people := q.People
	if people == nil && q.Calendars == nil {
		people = []calendar.User{c.User}
	}
	var parts []busyPart
	for _, u := range people {
		part := busyPart{as: c, person: true, floating: q.Timezone}
		if u.ID != c.User.ID {
			if err := c.MayOwn(calendar.SeeBusy); err != nil {
				return nil, err
			}
			part = busyPart{as: calendar.Caller{User: u, Scopes: calendar.ScopeRead}, person: true}
		}
		parts = append(parts, part)
	}
	for _, cal := range q.Calendars {
		at := slices.IndexFunc(parts, func(p busyPart) bool {
			return !q.Apart && !p.person && p.calendars[0].Owner == cal.Owner
		})
		if at < 0 {
			at = len(parts)
			as, acts := q.As[cal.ID]
			if !acts {
				as = c
			}
			parts = append(parts, busyPart{as: as, floating: q.Timezone})
		}
		parts[at].calendars = append(parts[at].calendars, cal)
	}
	return parts, nil
}

// collect returns the busy times of one part, and the number of objects that were not read to the end.
func (s *Queries) collect(ctx context.Context, p busyPart, q BusyQuery) (*freebusy.Times, int, error) {
	times, unread := freebusy.NewTimes(q.Meter, q.From, q.Until), 0
	if p.person {
		if err := s.collectAvailability(ctx, p, q, times); err != nil {
			return nil, 0, err
		}
		all, err := s.Calendars(ctx, p.as)
		if err != nil {
			return nil, 0, err
		}
		p.calendars = slices.DeleteFunc(all, func(cal calendar.Calendar) bool {
			if q.Only != nil {
				return !slices.Contains(q.Only, cal.ID)
			}
			return cal.Transparent
		})
	}
	mails := mailsOf{}
	for _, cal := range p.calendars {
		missed, err := s.collectBusy(ctx, p, cal, q, mails, times)
		if err != nil {
			return nil, 0, err
		}
		unread += missed
	}
	return times, unread, nil
}

// collectBusy adds the busy times of one calendar, and returns the number of objects that were not read to the end.
func (s *Queries) collectBusy(
	ctx context.Context, p busyPart, cal calendar.Calendar, q BusyQuery, mails mailsOf, times *freebusy.Times,
) (unread int, err error) {
	if err := p.as.May(calendar.SeeBusy, cal); err != nil || cal.Proposed() {
		return 0, err
	}
	own, err := s.addresses(ctx, cal, mails)
	if err != nil {
		return 0, err
	}
	in := freebusy.Context{
		Zones: s.zones, Floating: s.floatingIn(p, cal), Own: own, Budget: answerBudget(), Meter: q.Meter,
	}
	from, until := q.From.Unix(), q.Until.Unix()
	narrowed := calendar.ObjectQuery{
		Kinds: calendar.Kinds{calendar.Event, calendar.FreeBusy, calendar.Availability}, From: &from, Until: &until,
		WithData: true,
	}
	all, mine := s.objects(ctx, q.Meter, cal, narrowed), p.person && cal.Owner != p.as.User.ID
	if mine {
		// In a shared calendar each user sets which events take their own time.
		all = s.asOwn(ctx, q.Meter, p.as, cal, true, all)
	}
	for o, err := range all {
		if err != nil {
			return 0, err
		}
		if !mine && !o.Recurring && (o.Transparent || o.Status == "CANCELLED") {
			continue
		}
		whole, err := s.addBusy(ctx, p, q, times, o, in)
		if err != nil {
			return 0, err
		}
		if !whole {
			unread++
		}
	}
	return unread, nil
}

// floatingIn returns the zone for dates and floating times in a calendar. If a person's calendar has no zone, the
// person's zone applies, as it does for their availability.
func (s *Queries) floatingIn(p busyPart, cal calendar.Calendar) *zone.Zone {
	if cal.Owner != p.as.User.ID {
		return s.floating(cal, nil)
	}
	if p.person && cal.Timezone == "" && p.floating == nil {
		cal.Timezone = p.as.User.Timezone
	}
	return s.floating(cal, p.floating)
}
