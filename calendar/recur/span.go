package recur

import (
	"math"
	"time"

	"caldav-mcp-server/calendar/recur/rule"
	"caldav-mcp-server/ical"
)

// Span is where a set lies: no instance starts before Start or ends after End.
// It may be a little wider than the instances, because it does not look at
// exceptions.
type Span struct {
	Start, End time.Time
	// Open tells that there is no End: the set goes on for ever, or for longer
	// than it was worth to find out.
	Open bool
	// Local tells that the span moves with the reader's zone: there are days or
	// floating times in it.
	Local bool
}

// Span finds where the set lies; false tells that nothing in it has a time. It
// spends no more than so many steps on each rule that ends.
func (s *Set) Span(steps int) (Span, bool) {
	if !s.Dated() {
		return Span{}, false
	}
	b := bounds{first: math.MaxInt64, last: math.MinInt64}
	for _, o := range s.overrides {
		b.add(o.shape.start, o.end(o.shape.start).unix)
	}
	if s.master != nil && s.master.dated {
		s.master.bounds(&b, steps)
		s.shifted(&b)
	}
	span := Span{Start: time.Unix(b.first, 0).UTC(), Open: b.last == math.MaxInt64, Local: b.local}
	if !span.Open {
		span.End = time.Unix(b.last, 0).UTC()
	}
	return span, true
}

// bounds are those of a span in seconds since 1970; last is MaxInt64 when there
// is no end.
type bounds struct {
	first, last int64
	local       bool
}

func (b *bounds) add(start point, end int64) {
	b.first, b.last = min(b.first, start.unix), max(b.last, end)
	b.local = b.local || start.allDay || start.floating
}

// shifted widens the bounds by what the overrides for the future move. They
// move what comes after them, so that the start is that of the override itself.
func (s *Set) shifted(b *bounds) {
	last := b.last
	if last == math.MaxInt64 {
		return
	}
	for _, o := range s.ranges {
		b.last = max(b.last, last+o.shift+slack+o.longest())
	}
}

func (s *series) bounds(b *bounds, steps int) {
	b.add(s.start, s.end(s.start).unix)
	for _, d := range s.dates {
		end := d.end.unix
		if !d.period {
			end = s.end(d.start).unix
		}
		b.add(d.start, end)
	}
	for _, r := range s.include {
		last, any := r.last(rule.Steps(steps))
		switch {
		case !any:
		case last == math.MaxInt64:
			b.last = last
		default:
			b.last = max(b.last, s.end(s.start.instant(last)).unix)
		}
	}
}

// last is about the last instant of a recurrence, never earlier; MaxInt64 when
// there is none. False tells that there is no instant behind the start.
func (r *recurrence) last(meter *rule.Meter) (int64, bool) {
	switch {
	case r.rule.Never() || r.count <= 0:
		return 0, false
	case r.counted():
		return r.lastCounted(meter)
	case r.until == limit{math.MaxInt64, math.MaxInt64}:
		return math.MaxInt64, true
	default:
		return r.lastUntil(meter)
	}
}

func (r *recurrence) lastCounted(meter *rule.Meter) (int64, bool) {
	before, err := r.rule.Count(meter, rule.Wall(r.start.wall), r.first())
	if err != nil {
		return math.MaxInt64, true
	}
	for twice := int64(0); ; {
		wall, ok, err := r.rule.Nth(meter, r.count-1+before+twice)
		if err != nil || !ok {
			// Too expensive, or fewer than COUNT until the end of the years.
			return math.MaxInt64, true
		}
		if r.rule.Frequency() < ical.Daily {
			return r.instant(int64(wall)), true
		}
		more, err := r.doubles(meter, wall+1)
		if err != nil {
			return math.MaxInt64, true
		}
		if more == twice {
			return r.instant(int64(wall)), true
		}
		twice = more
	}
}

func (r *recurrence) lastUntil(meter *rule.Meter) (int64, bool) {
	end := r.until.wall
	if end == math.MaxInt64 {
		end = r.start.zone.Wall(r.until.unix)
		if !r.start.zone.Segment(r.until.unix).Settled(end, end) {
			end += slack
		}
	}
	wall, ok, err := r.rule.Last(meter, rule.Wall(end)+1)
	if err != nil {
		// UNTIL itself is a bound, if not the nearest one.
		return r.instant(end), true
	}
	return r.instant(int64(wall)), ok && wall >= r.first()
}

// instant is the latest that a moment of the rule can mean. Rules of hours or
// less have moments twice when clocks are put back, and lose some to gaps, which
// a COUNT then makes up for.
func (r *recurrence) instant(wall int64) int64 {
	unix, fit := r.start.zone.Unix(wall)
	if r.rule.Frequency() < ical.Daily && (r.counted() || fit != 0) {
		return unix + slack
	}
	return unix
}
