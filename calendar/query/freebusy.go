package query

import (
	"context"
	"errors"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/freebusy"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// BusyQuery asks when somebody is busy.
type BusyQuery struct {
	// Calendars are those that count, also transparent ones: they have been asked for by
	// name. nil are all of the caller's that are not transparent (RFC 6638 §9.1). What others
	// share with the caller is, until the caller says that it takes their time too.
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
}

// Busy is the answer to a [BusyQuery].
type Busy struct {
	// Periods are merged and in order.
	Periods []freebusy.Period
	// Unread are objects that could not be read or expanded, or not to the end: they may take
	// more time.
	Unread int
}

// FreeBusy tells when the owners of some calendars are busy. It takes no more than leave to
// see busy times.
func (s *Queries) FreeBusy(ctx context.Context, c calendar.Caller, q BusyQuery) (Busy, error) {
	if q.From.IsZero() || !q.From.Before(q.Until) {
		return Busy{}, calendar.Errorf(calendar.Invalid, "", "busy times are asked for from one time to a later one")
	}
	calendars, err := s.busyCalendars(ctx, c, q)
	if err != nil {
		return Busy{}, err
	}
	times, unread := freebusy.NewTimes(q.Meter, q.From, q.Until), 0
	for _, cal := range calendars {
		missed, err := s.collectBusy(ctx, c, cal, q, times)
		if err != nil {
			return Busy{}, err
		}
		unread += missed
	}
	if q.Calendars == nil {
		if err := s.collectAvailability(ctx, c, q, times); err != nil {
			return Busy{}, err
		}
	}
	if q.ByType {
		return Busy{times.ByType(), unread}, nil
	}
	return Busy{times.Periods(), unread}, nil
}

func (s *Queries) busyCalendars(ctx context.Context, c calendar.Caller, q BusyQuery) ([]calendar.Calendar, error) {
	if q.Calendars != nil {
		return q.Calendars, nil
	}
	all, err := s.Calendars(ctx, c)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(cal calendar.Calendar) bool { return cal.Transparent }), nil
}

// collectBusy adds the busy times of one calendar, and counts the objects that did not tell
// all of theirs.
func (s *Queries) collectBusy(ctx context.Context, c calendar.Caller, cal calendar.Calendar, q BusyQuery, times *freebusy.Times) (unread int, err error) {
	if err := c.May(calendar.SeeBusy, cal); err != nil {
		return 0, err
	}
	own, err := s.addresses(ctx, cal)
	if err != nil {
		return 0, err
	}
	if cal.Owner != c.User.ID {
		q.Timezone = nil
	}
	in := freebusy.Context{Zones: s.zones, Floating: s.floating(cal, q.Timezone), Own: own, Budget: answerBudget(), Meter: q.Meter}
	from, until := q.From.Unix(), q.Until.Unix()
	narrowed := calendar.ObjectQuery{Kinds: calendar.Kinds{calendar.Event, calendar.FreeBusy, calendar.Availability}, From: &from, Until: &until, WithData: true}
	all, mine := s.objects(ctx, q.Meter, cal, narrowed), q.Calendars == nil && cal.Owner != c.User.ID
	if mine {
		// It is the caller's own time that is asked for: what takes it is theirs to say.
		all = s.asOwn(ctx, q.Meter, c, cal, true, all)
	}
	for o, err := range all {
		if err != nil {
			return 0, err
		}
		if !mine && !o.Recurring && (o.Transparent || o.Status == "CANCELLED") {
			continue
		}
		whole, err := addBusy(ctx, q.Meter, times, o, in)
		if err != nil {
			return 0, err
		}
		if !whole {
			unread++
		}
	}
	return unread, nil
}

// addBusy adds what one object says, and tells whether that was all. What cannot be read or
// expanded counts as far as it was: a guess would keep others from a time that is free.
func addBusy(ctx context.Context, m *meter.Meter, times *freebusy.Times, c candidate, in freebusy.Context) (whole bool, err error) {
	if err := c.weigh(m); err != nil {
		return false, err
	}
	defer c.unload(m)
	read, err := c.content()
	if err != nil {
		return false, nil // see above: an older program has stored it
	}
	err = times.Add(ctx, read, in)
	if spent(err) {
		return false, err
	}
	if errors.Is(err, freebusy.ErrTooMany) {
		return false, calendar.Errorf(calendar.TooLarge, calendar.RuleTooManyMatches, "%v", err).Advising("ask for a shorter time")
	}
	return err == nil, ctx.Err()
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
