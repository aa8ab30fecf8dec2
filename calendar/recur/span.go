package recur

import (
	"math"
	"time"

	"caldav-mcp-server/calendar/recur/rule"
	"caldav-mcp-server/ical"
)

// Span bounds the instances of a set: none starts before Start or ends after End. It may be slightly wider than the
// instances, because it ignores exceptions.
type Span struct {
	Start, End time.Time
	// Open is set if there is no End: the set never ends, or finding its end would cost too much.
	Open bool
	// Local is set if the span depends on the reader's zone, because it has days or floating times.
	Local bool
}

// Span returns the bounds of the set, or false if nothing in it has a time. It spends at most this many steps on each
// rule that ends.
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

// bounds holds a span in seconds since 1970; last is MaxInt64 if there is no end.
type bounds struct {
	first, last int64
	local       bool
}

func (b *bounds) add(start point, end int64) {
	b.first, b.last = min(b.first, start.unix), max(b.last, end)
	b.local = b.local || start.allDay || start.floating
}

// shifted widens the bounds by the shifts of the THISANDFUTURE overrides. They only move later instances, so the
// earliest start is the override's own.
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

// last returns the last instant of a recurrence or a little more, and MaxInt64 if it never ends. It returns false if
// there is no instant after the start.
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
			// Too expensive, or fewer than COUNT until the last year.
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
		// UNTIL itself is a bound, though not the tightest.
		return r.instant(end), true
	}
	return r.instant(int64(wall)), ok && wall >= r.first()
}

// instant returns the latest instant that a moment of the rule can mean. A rule of hours or shorter repeats moments
// when clocks are set back. It also loses some in gaps, which COUNT makes up for later.
func (r *recurrence) instant(wall int64) int64 {
	unix, fit := r.start.zone.Unix(wall)
	if r.rule.Frequency() < ical.Daily && (r.counted() || fit != 0) {
		return unix + slack
	}
	return unix
}
