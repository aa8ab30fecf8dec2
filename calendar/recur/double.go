package recur

import (
	"math"

	"caldav-mcp-server/calendar/recur/rule"
	"caldav-mcp-server/calendar/zone"
)

// A moment in a gap of the clocks maps to the instant of a later moment. A daily rule can have both moments, for
// example where Samoa skipped a day. They are one occurrence and count as one: RFC 5545 §3.3.10 does not count dates
// that don't exist.

// counted reports whether the rule has a COUNT.
func (r *recurrence) counted() bool { return r.count < math.MaxInt64 }

// again reports whether a moment of a rule with COUNT is the same instant as an earlier moment.
func (c *clocked) again(wall, unix int64, fit zone.Fit) (bool, error) {
	if !c.counted() || fit == zone.Gap || c.segment.Settled(wall, wall) {
		return false, nil
	}
	return c.doubled(c.meter, wall, unix)
}

// doubled reports whether a moment that the clocks show is the same instant as a moment in the preceding gap.
func (r *recurrence) doubled(meter *rule.Meter, wall, unix int64) (bool, error) {
	segment := r.start.zone.Segment(unix)
	gap := r.gap(segment)
	if unix-segment.From >= gap {
		return false, nil
	}
	skipped := rule.Wall(wall - gap)
	if r.skip && skipped == rule.Wall(r.start.wall) {
		return true, nil
	}
	if skipped < r.first() {
		return false, nil
	}
	return r.rule.Has(meter, skipped)
}

// gap returns how many seconds the clocks skip when a segment begins.
func (r *recurrence) gap(s zone.Segment) int64 {
	if s.From == math.MinInt64 {
		return 0
	}
	return max(0, s.Offset-r.start.zone.Segment(s.From-1).Offset)
}

// doubles counts the moments before a given one that repeat the instant of an earlier moment.
func (r *recurrence) doubles(meter *rule.Meter, before rule.Wall) (int64, error) {
	n := int64(0)
	segment := r.start.zone.Segment(r.start.unix)
	for {
		if segment.From != math.MinInt64 && rule.Wall(segment.From+segment.Offset) >= before {
			return n, nil
		}
		more, err := r.doublesIn(meter, segment, before)
		if n += more; err != nil || segment.To == math.MaxInt64 {
			return n, err
		}
		segment = r.start.zone.Segment(segment.To)
	}
}

// doublesIn counts the repeated moments after the gap at the beginning of a segment.
func (r *recurrence) doublesIn(meter *rule.Meter, s zone.Segment, before rule.Wall) (int64, error) {
	if err := meter.Step(1); err != nil {
		return 0, err
	}
	gap := r.gap(s)
	if gap == 0 {
		return 0, nil
	}
	begin := rule.Wall(s.From + s.Offset)
	end := min(before, begin+rule.Wall(gap))
	cursor, err := r.rule.Seek(meter, max(begin, r.first()), end)
	if err != nil {
		return 0, err
	}
	n := int64(0)
	for {
		wall, ok, err := cursor.Next()
		if err != nil || !ok || wall >= end {
			return n, err
		}
		twice, err := r.doubled(meter, int64(wall), int64(wall)-s.Offset)
		if err != nil {
			return n, err
		}
		if twice {
			n++
		}
	}
}
