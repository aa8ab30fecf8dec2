package recur

import (
	"math"

	"caldav-mcp-server/calendar/recur/rule"
	"caldav-mcp-server/calendar/zone"
)

// elapsed is the source of a rule of hours or less. It goes from one change of
// the clocks to the next: in between, the wall clock and time are the same but
// for the offset, so that skipped moments are never asked for and repeated ones
// are asked for twice.
type elapsed struct {
	*recurrence
	meter   *rule.Meter
	segment zone.Segment
	cursor  *rule.Cursor
	left    int64
	to      int64 // the instant at which the search ends
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

// countTo takes from left what comes before an instant.
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

// enter seeks an instant.
func (e *elapsed) enter(from int64) error {
	e.segment = e.start.zone.Segment(from)
	var err error
	e.cursor, err = e.rule.Seek(e.meter, rule.Wall(from+e.segment.Offset), wallAfter(e.to))
	return err
}

// next goes on behind a change of the clocks, which may show again what the
// rule's next moment is long after.
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
