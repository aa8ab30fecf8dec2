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
	// skip leaves out the start. The series of an RRULE has it anyway.
	skip  bool
	count int64 // number of moments; MaxInt64 without COUNT
	until limit
	// clocked is set if the rule itself has times of day (BYHOUR, BYMINUTE, BYSECOND).
	clocked bool
}

// limit is an UNTIL: the last instant and the last moment on the wall clock.
type limit struct{ unix, wall int64 }

func newRecurrence(r *ical.Recur, start point, written ical.Time, exclude bool) (*recurrence, error) {
	compiled, err := rule.New(r, written)
	if err != nil {
		return nil, err
	}
	rec := &recurrence{
		rule: compiled, start: start, skip: !exclude, count: math.MaxInt64, until: newLimit(r.Until, start),
	}
	rec.clocked = r.Freq < ical.Daily || len(r.ByHour)+len(r.ByMinute)+len(r.BySecond) > 0
	if r.Count > 0 {
		rec.count = int64(r.Count)
		if rec.skip {
			// RFC 5545 §3.3.10: DTSTART counts as the first occurrence, whether or not the rule matches it.
			rec.count--
		}
	}
	return rec, nil
}

// newLimit reads UNTIL the way clients use it. RFC 5545 §3.3.10 requires the form of DTSTART, or UTC if DTSTART has a
// zone; many clients write a local time or a date.
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

// first returns the earliest moment on the wall clock that the recurrence can have.
func (r *recurrence) first() rule.Wall {
	if r.skip {
		return rule.Wall(r.start.wall) + 1
	}
	return rule.Wall(r.start.wall)
}

// source iterates over the instants of a recurrence, in order.
type source interface {
	// next returns the next instant, or false.
	next() (int64, bool, error)
}

// from returns a source of the instants between two instants. It may yield later ones, but does not search for them.
//
// A rule of days or longer counts on the wall clock: a skipped moment is read with the offset before the gap, and a
// repeated moment means the first one (RFC 5545 §3.3.10, §3.3.5). A rule of hours or shorter counts elapsed time: it
// omits the hours that the clocks skip and has every hour that they repeat. See docs/decisions/0010-recurrence.md.
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

// wallAfter returns a time after everything that a clock can show until an instant.
func wallAfter(unix int64) rule.Wall {
	if unix > int64(rule.Forever) {
		return rule.Forever
	}
	return rule.Wall(unix) + slack
}

type empty struct{}

func (empty) next() (int64, bool, error) { return 0, false, nil }

// clocked is the source of a rule of days or longer.
type clocked struct {
	*recurrence
	meter  *rule.Meter
	cursor *rule.Cursor
	left   int64
	from   int64
	// late holds instants whose moments were in a gap. They come later than the moment says, so others may come before
	// them.
	late []int64
	held int64 // the next instant that was not in a gap
	hold bool

	segment zone.Segment // the last segment used
}

func newClocked(r *recurrence, meter *rule.Meter, from, to int64) (source, error) {
	at := r.start.zone.Wall(from)
	if !r.start.zone.Segment(from).Settled(at, at) {
		// A skipped moment appears later than it says.
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

// resolve avoids zone lookups while the offset does not change.
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
