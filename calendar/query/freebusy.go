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

// BusyQuery asks for busy times: the caller's own, if both People and Calendars are nil.
type BusyQuery struct {
	// People are the users whose whole time counts: every calendar that is not transparent for them (RFC 6638 §9.1),
	// and their availability (RFC 7953). [Queries.PeopleAt] finds users.
	People []calendar.User
	// Calendars count by themselves, even transparent ones, because the caller named them. Their owners' availability
	// does not count (RFC 4791 §7.10).
	Calendars []calendar.Calendar
	// Only limits the calendars of People to these, and counts them even if they are transparent; nil means no limit.
	Only []calendar.CalendarID
	// From and Until bound the result.
	From, Until time.Time
	// Timezone is the zone of the caller's own dates and floating times; nil means each calendar's own. The calendars
	// of other users always use their own zone.
	Timezone *zone.Zone
	// ByType returns the periods of each type separately, even if they overlap. RFC 4791 §7.10 allows that for clients.
	// A user looking for free time wants one state for each moment.
	ByType bool
	// Apart also returns the busy times of each of the people and calendars.
	Apart bool
	// As are the callers for calendars that the caller uses as a delegate.
	As map[calendar.CalendarID]calendar.Caller
	// Meter counts the cost of the query.
	Meter *meter.Meter
	// Ignored are events that do not count as busy, as far as the caller takes part in them: see mask.
	Ignored []calendar.UID
	// mask lists the events to ignore.
	mask mask
}

// Busy is the result of a [BusyQuery].
type Busy struct {
	// Periods are merged and sorted.
	Periods []freebusy.Period
	// Unread counts the objects that could not be read or expanded completely: they may take more time.
	Unread int
	// Each has the busy times of each of the people, then of each of the calendars, if the query asked for them.
	Each []Busy
}

// FreeBusy returns busy times. The caller needs only free/busy access, and the result contains no titles.
func (s *Queries) FreeBusy(ctx context.Context, c calendar.Caller, q BusyQuery) (Busy, error) {
	if q.From.IsZero() || !q.From.Before(q.Until) {
		return Busy{}, calendar.Errorf(calendar.Invalid, "", "the end of the time range must be after its start")
	}
	if q.Ignored != nil {
		var err error
		if q.mask, err = s.maskOf(ctx, c, q.Ignored); err != nil {
			return Busy{}, err
		}
	}
	parts, err := busyParts(c, q)
	if err != nil {
		return Busy{}, err
	}
	if len(parts) == 1 {
		times, unread, err := s.collect(ctx, parts[0], q)
		found := q.told(times, unread)
		if q.Apart {
			found.Each = []Busy{found}
		}
		return found, err
	}
	all, unread := freebusy.NewTimes(q.Meter, q.From, q.Until), 0
	var each []Busy
	for _, p := range parts {
		times, missed, err := s.collect(ctx, p, q)
		if q.Apart && err == nil {
			each = append(each, q.told(times, missed))
		}
		if err == nil {
			err = refusedAsTooMany(all.Join(times))
		}
		if err != nil {
			return Busy{}, err
		}
		unread += missed
	}
	found := q.told(all, unread)
	found.Each = each
	return found, nil
}

func (q BusyQuery) told(times *freebusy.Times, unread int) Busy {
	switch {
	case times == nil:
		return Busy{}
	case q.ByType:
		return Busy{Periods: times.ByType(), Unread: unread}
	}
	return Busy{Periods: times.Periods(), Unread: unread}
}

// addBusy adds the busy times of one object and reports whether they are complete. An unreadable object counts only as
// far as it was expanded: a guess would block time that is free.
func (s *Queries) addBusy(
	ctx context.Context, p busyPart, q BusyQuery, times *freebusy.Times, c candidate, in freebusy.Context,
) (whole bool, err error) {
	if err := c.weigh(q.Meter); err != nil {
		return false, err
	}
	defer c.unload(q.Meter)
	read, err := c.content()
	if err != nil {
		return false, nil // see above: an older version stored it
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

// mailsOf holds the mail addresses of the owners that a query has read.
type mailsOf map[calendar.UserID][]string

// addresses returns the owner's addresses, to recognize the owner among the attendees.
func (s *Queries) addresses(ctx context.Context, cal calendar.Calendar, known mailsOf) ([]string, error) {
	mails, has := known[cal.Owner]
	if !has {
		var err error
		if mails, err = s.store.Mails(ctx, cal.Owner); err != nil {
			return nil, err
		}
		known[cal.Owner] = mails
	}
	if cal.Origin.Own && cal.Origin.Address != "" {
		return append(slices.Clip(mails), cal.Origin.Address), nil
	}
	return mails, nil
}

// BusyText writes the result of a [BusyQuery] as a calendar object with one VFREEBUSY (RFC 4791 §7.10).
func (s *Queries) BusyText(q BusyQuery, found Busy) []byte {
	answer := freebusy.Answer{
		From: q.From, Until: q.Until, Stamp: s.now(), UID: s.newID() + "@caldav-server", Unread: found.Unread,
	}
	root := content.Root(answer.Component(found.Periods))
	return ical.NewDocument(root).Bytes()
}
