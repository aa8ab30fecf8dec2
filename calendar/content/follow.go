package content

import (
	"context"
	"errors"
	"time"

	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/zone"
)

// followed limits the indexed instances of a series: ten years of weekly ones. Later instances are found by
// expanding the object. followedSteps limits the cost.
const (
	followed      = 530
	followedSteps = 20_000
)

// Follow calls add for each instance of a recurring event, both ends inclusive. known is the end of the covered time in
// Unix seconds, or Forever if all instances are covered. ok is false if the instances cannot be determined: then the
// index must expand the object itself.
//
// It takes no context: the indexed instances must not depend on the deadline of a request. The steps are limited.
func (o *Object) Follow(zones *zone.DB, add func(start, end int64)) (known int64, ok bool) {
	if o.Kind != Event || !o.Recurring() {
		return 0, false
	}
	k := o.Clock(zones, nil)
	set, err := recur.FromComponents(o.Master, o.Overrides, k.Zones, k.Floating.Location())
	if err != nil {
		return 0, false
	}
	slack := int64(0)
	if found, dated := set.Span(spanSteps); !dated {
		return 0, false
	} else if found.Local {
		slack = zoneSlack
	}
	known = Forever
	last, any := int64(0), false
	budget := recur.Budget{Steps: followedSteps, Instances: followed}
	for i, err := range set.Between(context.Background(), time.Time{}, time.Time{}, budget) {
		// A rule that exceeds its steps is dropped while the RDATEs continue, so instances between them would be
		// missing.
		if short := new(recur.BudgetError); errors.As(err, &short) && short.What == recur.OfInstances && any {
			known = last - slack
			break
		}
		if err != nil {
			return 0, false
		}
		last, any = i.Start.Time.Unix(), true
		add(last-slack, max(last, i.End.Time.Unix())+slack)
	}
	return known, any
}
