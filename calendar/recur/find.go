package recur

import (
	"context"
	"math"

	"caldav-mcp-server/calendar/recur/rule"
	"caldav-mcp-server/ical"
)

// Find looks for the instance that a RECURRENCE-ID names: the override for it,
// or the one that the series makes; false tells that there is none.
func (s *Set) Find(ctx context.Context, id ical.Time, budget Budget) (Instance, bool, error) {
	at, err := s.id(id, s.reader)
	if err != nil {
		return Instance{}, false, err
	}
	for _, o := range s.overrides {
		if o.from.unix == at.unix {
			found, _, err := (&overrides{list: []*override{o}}).next()
			return found.instance(), true, err
		}
	}
	if s.master == nil || !s.master.dated {
		return Instance{}, false, nil
	}
	stretch := stretch{set: s, from: at.unix, to: math.MaxInt64, latest: at.unix + 1}
	for _, o := range s.ranges {
		if o.from.unix <= at.unix {
			stretch.moved = &o.moved
		}
	}
	stretch.starts = s.master.from(rule.NewMeter(ctx, budget.Steps), at.unix, stretch.latest)
	found, ok, err := stretch.next()
	if err != nil || !ok {
		return Instance{}, false, err
	}
	return found.instance(), true, nil
}
