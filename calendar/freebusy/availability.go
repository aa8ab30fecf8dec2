package freebusy

import (
	"cmp"
	"slices"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/ical"
)

// availability collects a VAVAILABILITY (RFC 7953 §3.1): its BUSYTYPE from its start to its end, except for its
// AVAILABLE times, which are free.
func (r *reader) availability(c *ical.Component) error {
	start, end, err := r.clock.Bounds(c)
	if err != nil {
		return err
	}
	whole := mark{max(start, r.from), min(end, r.until), layerOf(c), busyType(c)}
	free, err := r.available(c, whole)
	if err != nil {
		return err
	}
	at := whole.start
	for _, f := range free {
		if err := r.add(mark{at, f.start, whole.layer, whole.kind}); err != nil {
			return err
		}
		if err := r.add(f); err != nil {
			return err
		}
		at = max(at, f.end)
	}
	return r.add(mark{at, whole.end, whole.layer, whole.kind})
}

// available lists the AVAILABLE times of a VAVAILABILITY, sorted by start.
func (r *reader) available(c *ical.Component, whole mark) ([]mark, error) {
	var free []mark
	all := content.SeriesIn(c, "AVAILABLE")
	if len(all) > availableMost {
		return nil, &recur.BudgetError{What: "AVAILABLE series", Limit: availableMost}
	}
	// The parts share the budget of one object.
	shared := *r
	shared.in.Budget.Steps /= max(1, len(all))
	for _, s := range all {
		err := shared.expand(s, func(i recur.Instance) error {
			if len(free) >= instancesMost {
				return ErrTooMany
			}
			free = append(free,
				mark{max(i.Start.Time.Unix(), whole.start), min(i.End.Time.Unix(), whole.end), whole.layer, Free})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	free = slices.DeleteFunc(free, func(m mark) bool { return m.start >= m.end })
	slices.SortFunc(free, func(a, b mark) int { return cmp.Compare(a.start, b.start) })
	return free, nil
}

// availableMost limits the AVAILABLE series of a VAVAILABILITY. Users typically have one for each day of the week.
const availableMost = 200

// busyType returns the type of the times that are not AVAILABLE (RFC 7953 §3.2).
func busyType(c *ical.Component) Type {
	if word := content.WordOf(c, "BUSYTYPE"); word != "" {
		return typeOf(word)
	}
	return Unavailable
}

// layerOf gives an availability with a higher PRIORITY precedence.
func layerOf(c *ical.Component) layer {
	p := c.Property("PRIORITY")
	if p == nil {
		return 0
	}
	n, err := p.Int()
	if err != nil || n < 1 || n > 9 {
		return 0
	}
	return priorities - layer(n)
}
