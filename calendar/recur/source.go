package recur

import (
	"math"

	"caldav-mcp-server/calendar/recur/rule"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// recurrence is an RRULE or EXRULE of a series.
type recurrence struct {
	rule  *rule.Rule
	start point
	// skip leaves out the start, which an RRULE's series has anyway.
	skip  bool
	count int64 // how many moments, MaxInt64 when there is no COUNT
	until limit
	// clocked is set when the rule itself has times of day (BYHOUR, BYMINUTE, BYSECOND).
	clocked bool
}

// limit is an UNTIL: the last instant and the last moment on the wall clock.
type limit struct{ unix, wall int64 }

func newRecurrence(r *ical.Recur, start point, written ical.Time, exclude bool) (*recurrence, error) {
	compiled, err := rule.New(r, written)
	if err != nil {
		return nil, err
	}
	rec := &recurrence{rule: compiled, start: start, skip: !exclude, count: math.MaxInt64, until: newLimit(r.Until, start)}
	rec.clocked = r.Freq < ical.Daily || len(r.ByHour)+len(r.ByMinute)+len(r.BySecond) > 0
	if r.Count > 0 {
		rec.count = int64(r.Count)
		if rec.skip {
			// RFC 5545 §3.3.10: DTSTART counts as the first occurrence, whether the
			// rule names it or not.
			rec.count--
		}
	}
	return rec, nil
}

// newLimit reads UNTIL as clients mean it. RFC 5545 §3.3.10 wants the form of
// DTSTART, and UTC when that has a zone; many write a local time or a date.
func newLimit(until ical.Time, start point) limit {
	l := limit{math.MaxInt64, math.MaxInt64}
	switch {
	case until.IsZero():
	case start.allDay:
		l.wall = dayOf(until, start.zone)
	case until.Form == ical.FormUTC:
		l.unix = until.Civil.Seconds()
	case until.IsDate():
		// The whole day.
		l.wall = until.Civil.Seconds() + secondsPerDay - 1
	default:
		l.wall = until.Civil.Seconds()
	}
	return l
}

func (l limit) allows(unix, wall int64) bool { return unix <= l.unix && wall <= l.wall }

// first is the first moment on the wall clock that can be one of the
// recurrence's.
func (r *recurrence) first() rule.Wall {
	if r.skip {
		return rule.Wall(r.start.wall) + 1
	}
	return rule.Wall(r.start.wall)
}

// source walks over the instants of a recurrence, in order.
type source interface {
	// next is the next instant, or false.
	next() (int64, bool, error)
}

// from makes a source of the instants from one to another. It may go on behind
// that, but searches no further.
//
// A rule of days or more counts on the wall clock: a moment that the clocks skip
// is read with the offset before the gap, one that they show twice is the first
// (RFC 5545 §3.3.10, §3.3.5). A rule of hours or less counts the time that
// passes: no hour that the clocks skip, each hour that they repeat. See
// docs/decisions/0010-recurrence.md.
func (r *recurrence) from(meter *rule.Meter, unix, to int64) (source, error) {
	unix = max(unix, r.start.unix)
	if unix > r.until.unix || r.count <= 0 {
		return empty{}, nil
	}
	if r.rule.Frequency() < ical.Daily {
		return newElapsed(r, meter, unix, to)
	}
	return newClocked(r, meter, unix, to)
}

// wallAfter is behind all that a clock can show until an instant.
func wallAfter(unix int64) rule.Wall {
	if unix > int64(rule.Forever) {
		return rule.Forever
	}
	return rule.Wall(unix) + slack
}

type empty struct{}

func (empty) next() (int64, bool, error) { return 0, false, nil }

// clocked is the source of a rule of days or more.
type clocked struct {
	*recurrence
	meter  *rule.Meter
	cursor *rule.Cursor
	left   int64
	from   int64
	// late holds instants that were in a gap, and so come an hour later than
	// their moment: others may come before them.
	late []int64
	held int64 // the next instant that was not in a gap
	hold bool

	segment zone.Segment // the last one that was needed
}

func newClocked(r *recurrence, meter *rule.Meter, from, to int64) (source, error) {
	at := r.start.zone.Wall(from)
	if !r.start.zone.Segment(from).Settled(at, at) {
		// A moment which the clocks skipped shows up later than it says.
		at -= slack
	}
	c := &clocked{recurrence: r, meter: meter, left: r.count, from: from}
	first := max(rule.Wall(at), r.first())
	if r.counted() {
		before, err := r.rule.Count(meter, r.first(), first)
		if err != nil {
			return nil, err
		}
		twice, err := r.doubles(meter, first)
		if err != nil {
			return nil, err
		}
		c.left -= before - twice
	}
	var err error
	c.cursor, err = r.rule.Seek(meter, first, wallAfter(to))
	return c, err
}

func (c *clocked) next() (int64, bool, error) {
	for {
		at, ok, err := c.ordered()
		if err != nil || !ok || at >= c.from {
			return at, ok, err
		}
	}
}

// ordered merges the late instants with the others.
func (c *clocked) ordered() (int64, bool, error) {
	for !c.hold {
		wall, ok, err := c.moment()
		if err != nil {
			return 0, false, err
		}
		if !ok {
			break
		}
		unix, fit := c.resolve(wall)
		if twice, err := c.again(wall, unix, fit); err != nil {
			return 0, false, err
		} else if twice {
			c.left++
			continue
		}
		if !c.until.allows(unix, wall) {
			c.left = 0
			break
		}
		if fit == zone.Gap {
			c.late = append(c.late, unix)
			continue
		}
		c.held, c.hold = unix, true
	}
	if len(c.late) > 0 && (!c.hold || c.late[0] <= c.held) {
		at := c.late[0]
		c.late = c.late[1:]
		return at, true, nil
	}
	at, ok := c.held, c.hold
	c.hold = false
	return at, ok, nil
}

// resolve spares the zone while the offset does not change.
func (c *clocked) resolve(wall int64) (int64, zone.Fit) {
	if !c.segment.Settled(wall, wall) {
		c.segment = c.start.zone.Segment(wall)
		if !c.segment.Settled(wall, wall) {
			return c.start.zone.Unix(wall)
		}
	}
	return wall - c.segment.Offset, zone.Exact
}

func (c *clocked) moment() (int64, bool, error) {
	if c.left <= 0 {
		return 0, false, nil
	}
	c.left--
	wall, ok, err := c.cursor.Next()
	return int64(wall), ok, err
}
