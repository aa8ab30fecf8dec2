package query

import (
	"context"
	"errors"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/freebusy"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// BusyQuery asks when people are busy: the caller, if it has neither People nor Calendars.
type BusyQuery struct {
	// People are the users whose whole time counts: every calendar that is not transparent for them (RFC 6638 §9.1), and
	// the availability that they have set (RFC 7953). [Queries.PeopleAt] finds them.
	People []calendar.User
	// Calendars count by themselves, even transparent ones, since the caller named them. The availability of their owners
	// does not count (RFC 4791 §7.10).
	Calendars []calendar.Calendar
	// From and Until bound the answer.
	From, Until time.Time
	// Timezone is the zone in which the caller reads their own dates and floating times; nil is
	// each calendar's. Those of others are where their calendar is, wherever the caller may be.
	Timezone *zone.Zone
	// ByType tells each type by itself, though they overlap. RFC 4791 §7.10 allows it in answers to
	// programs; a person who looks for free time wants one answer for each moment.
	ByType bool
	// Meter counts what the answer costs.
	Meter *meter.Meter
	// mask lists events that do not count.
	mask mask
}

// Busy is the answer to a [BusyQuery].
type Busy struct {
	// Periods are merged and in order.
	Periods []freebusy.Period
	// Unread are objects that could not be read or expanded, or not to the end: they may take
	// more time.
	Unread int
}

// FreeBusy returns when people are busy. The caller needs access to busy times only, and the answer holds no titles.
func (s *Queries) FreeBusy(ctx context.Context, c calendar.Caller, q BusyQuery) (Busy, error) {
	if q.From.IsZero() || !q.From.Before(q.Until) {
		return Busy{}, calendar.Errorf(calendar.Invalid, "", "busy times are asked for from one time to a later one")
	}
	parts, err := busyParts(c, q)
	if err != nil {
		return Busy{}, err
	}
	if len(parts) == 1 {
		times, unread, err := s.collect(ctx, parts[0], q)
		return q.told(times, unread), err
	}
	all, unread := freebusy.NewTimes(q.Meter, q.From, q.Until), 0
	for _, p := range parts {
		times, missed, err := s.collect(ctx, p, q)
		if err == nil {
			err = refusedAsTooMany(all.Join(times))
		}
		if err != nil {
			return Busy{}, err
		}
		unread += missed
	}
	return q.told(all, unread), nil
}

func (q BusyQuery) told(times *freebusy.Times, unread int) Busy {
	switch {
	case times == nil:
		return Busy{}
	case q.ByType:
		return Busy{times.ByType(), unread}
	}
	return Busy{times.Periods(), unread}
}

// addBusy adds what one object says, and tells whether that was all. What cannot be read or
// expanded counts as far as it was: a guess would keep others from a time that is free.
func (s *Queries) addBusy(ctx context.Context, p busyPart, q BusyQuery, times *freebusy.Times, c candidate, in freebusy.Context) (whole bool, err error) {
	if err := c.weigh(q.Meter); err != nil {
		return false, err
	}
	defer c.unload(q.Meter)
	read, err := c.content()
	if err != nil {
		return false, nil // see above: an older program has stored it
	}
	if s.hides(q.mask, p.as.User.ID, read) {
		return true, nil
	}
	err = times.Add(ctx, read, in)
	if spent(err) {
		return false, err
	}
	if errors.Is(err, freebusy.ErrTooMany) {
		return false, refusedAsTooMany(err)
	}
	return err == nil, ctx.Err()
}

// refusedAsTooMany converts ErrTooMany to an error for clients, and returns every other error unchanged.
func refusedAsTooMany(err error) error {
	if !errors.Is(err, freebusy.ErrTooMany) {
		return err
	}
	return calendar.Errorf(calendar.TooLarge, calendar.RuleTooManyMatches, "%v", err).Advising("ask for a shorter time")
}

// addresses are those by which the owner of a calendar is invited.
func (s *Queries) addresses(ctx context.Context, cal calendar.Calendar) ([]string, error) {
	return s.store.Mails(ctx, cal.Owner)
}

// BusyText writes the answer to a [BusyQuery] as a calendar object with one VFREEBUSY
// (RFC 4791 §7.10).
func (s *Queries) BusyText(q BusyQuery, found Busy) []byte {
	answer := freebusy.Answer{From: q.From, Until: q.Until, Stamp: s.now(), UID: s.newID() + "@caldav-server", Unread: found.Unread}
	root := content.Root(answer.Component(found.Periods))
	return ical.NewDocument(root).Bytes()
}
