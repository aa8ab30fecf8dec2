package recur

import (
	"math"

	"caldav-mcp-server/calendar/recur/rule"
	"caldav-mcp-server/calendar/zone"
)

// elapsed is the source of a rule with FREQ=HOURLY or shorter. It works from one change of the clocks to the next: in
// between, wall clock and time differ by a constant offset. So skipped moments are never produced, and repeated ones
// are produced twice.
type elapsed struct {
	*recurrence
	meter   *rule.Meter
	segment zone.Segment
	cursor  *rule.Cursor
	left    int64
	to      int64 // the end of the search
}

func newElapsed(r *recurrence, meter *rule.Meter, from, to int64) (source, error) {
	e := &elapsed{recurrence: r, meter: meter, left: r.count, to: to}
	if r.skip {
		from = max(from, r.start.unix+1)
	}
	if r.counted() {
		if err := e.countTo(from); err != nil {
			return nil, err
		}
	}
	return e, e.enter(from)
}

// countTo subtracts from left the moments before an instant.
func (e *elapsed) countTo(to int64) error {
	from := e.start.unix
	if e.skip {
		from++
	}
	for from < to && e.left > 0 {
		segment := e.start.zone.Segment(from)
		end := min(to, segment.To)
		n, err := e.rule.Count(e.meter, rule.Wall(from+segment.Offset), rule.Wall(end+segment.Offset))
		if err != nil {
			return err
		}
		if err := e.meter.Step(1); err != nil {
			return err
		}
		e.left -= n
		from = end
	}
	return nil
}

// enter seeks to an instant.
func (e *elapsed) enter(from int64) error {
	e.segment = e.start.zone.Segment(from)
	var err error
	e.cursor, err = e.rule.Seek(e.meter, rule.Wall(from+e.segment.Offset), wallAfter(e.to))
	return err
}

// next continues after a change of the clocks. The clocks may then show moments again that are long before the rule's
// next moment.
func (e *elapsed) next() (int64, bool, error) {
	for e.left > 0 {
		wall, ok, err := e.cursor.Next()
		if err != nil {
			return 0, false, err
		}
		if !ok && (e.to == math.MaxInt64 || e.segment.To >= e.to) {
			return 0, false, nil
		}
		if unix := int64(wall) - e.segment.Offset; ok && unix < e.segment.To {
			e.left--
			if !e.until.allows(unix, int64(wall)) {
				e.left = 0
			}
			return unix, e.until.allows(unix, int64(wall)), nil
		}
		if err := e.enter(e.segment.To); err != nil {
			return 0, false, err
		}
	}
	return 0, false, nil
}
