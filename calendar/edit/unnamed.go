package edit

import (
	"time"

	"caldav-mcp-server/ical"
)

// unnamed checks a move of a series without a named instance: the series must keep its days. A start on another date
// would move the whole series there and delete the earlier instances. A user who gives the date of the next instance
// means only that instance.
func (e *session) unnamed(was ical.Time, move shift, p placement) error {
	if move.days == 0 && p.lasting == nil {
		return nil
	}
	s, err := e.series(e.object)
	if err != nil {
		return err
	}
	if move.days != 0 {
		return s.elsewhere(was, p.start)
	}
	lasting, err := e.lasts(e.object.Master, was)
	if err != nil {
		return err
	}
	return s.overlong(p, lasting)
}

// elsewhere refuses a start on another date than the series' own.
func (s *series) elsewhere(was, start ical.Time) error {
	f := fault(BadTime,
		"the series begins on %s, and no instance of it was named: with a start on %s all of it would move there",
		dateText(was), dateText(start))
	name, own := "by its recurrence id", s.firstText(start, was)
	if at, err := s.onDay(ical.Date(start.Civil)); err == nil {
		name += " (on that day: " + at.id.String() + ")"
	}
	return f.hint("name the instance that shall be at that time " + name +
		", or keep the days and give a start on the series' first one: " + own)
}

// overlong refuses instances that would newly last into the next one: the given end belongs to another instance.
func (s *series) overlong(p placement, lasting length) error {
	long := p.lasting.exact()
	if long <= lasting.exact() {
		return nil
	}
	first := s.on.unix(s.start.Civil)
	for next, err := range s.set.Named(s.ctx, time.Unix(first+1, 0), time.Time{}, s.budget) {
		if err != nil {
			return recurFault(err)
		}
		if long <= next.RecurrenceID.Time.Unix()-first {
			return nil
		}
		return fault(BadTime,
			"the series begins on %s, and no instance of it was named: with that end each instance would last into "+
				"the next one", dateText(p.start)).
			hint("name the instance that shall end then by its recurrence id, or give the end of the series' first one")
	}
	return nil
}

// exact returns the length in seconds, approximate for days.
func (l length) exact() int64 { return l.seconds + int64(l.days)*secondsPerDay }

func dateText(t ical.Time) string { return t.Civil.Weekday().String() + " " + day(t) }

func day(t ical.Time) string { return t.Civil.Date().String()[:len(time.DateOnly)] }

// firstText formats the time of day of t on the day of first, the series' first day. It includes the offset, because
// the caller who sends it back may use another zone.
func (s *series) firstText(t, first ical.Time) string {
	if t.IsDate() {
		return day(first)
	}
	civil := first.Civil.Date().AddSeconds(int64(t.Civil.SecondOfDay()))
	if first.Form == ical.FormFloating {
		return civil.String()
	}
	unix := s.on.unix(civil)
	return time.Unix(unix, 0).In(time.FixedZone("", int(civil.Seconds()-unix))).Format(time.RFC3339)
}
