package content

import (
	"context"
	"errors"
	"time"

	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/zone"
)

// followed is how many instances an index learns of a series: ten years of weeks. What goes on longer is looked at itself.
// followedSteps is what finding them may cost.
const (
	followed      = 530
	followedSteps = 20_000
)

// Follow calls add with the instances of a series of events, both ends included, and returns until when, in Unix seconds, there are
// no others, Forever where it knows them all. It is false for what it cannot tell: an index must look at that itself.
//
//nolint:contextcheck,nolintlint // what an index holds does not hang on how long somebody waits; its steps are bounded
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
		// A rule that needs more steps gives up while the dates beside it go on: what it has between them is not known.
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
