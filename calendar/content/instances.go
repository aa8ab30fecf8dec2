package content

import (
	"context"
	"errors"
	"time"

	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// The instances of dense series are counted over their first four months, within a limited number of steps. An
// hourly reminder stays below the usual limit in that time.
const (
	countedTime  = 120 * 24 * time.Hour
	countedSteps = 100_000
)

// checkInstances rejects a series that would fill every view. Endless series are accepted, because a client cannot
// know how long they will be needed.
func (o *Object) checkInstances(ctx context.Context, limit int, zones *zone.Resolver) error {
	if limit == 0 || o.Master == nil || !dense(o.Master) {
		return nil
	}
	set, err := recur.FromComponents(o.Master, nil, zones, nil)
	if err != nil {
		return refusedSeries(err)
	}
	start, dated, err := Clock{zones, zone.UTC()}.Begin(o.Master)
	if err != nil || !dated {
		return err
	}
	first := time.Unix(start, 0)
	budget := recur.Budget{Steps: countedSteps, Instances: limit}
	for _, err := range set.Between(ctx, first, first.Add(countedTime), budget) {
		if errors.Is(err, recur.ErrBudget) {
			return fault(RuleMaxInstances,
				"line %d: the series has more than %d instances in its first four months, or takes too long to "+
					"expand; make it rarer",
				o.Master.Property("RRULE").Line(), limit)
		}
		if err != nil {
			return refusedSeries(err)
		}
	}
	return nil
}

// refusedSeries accepts series that are stored although they cannot be expanded (RFC 7529).
func refusedSeries(err error) error {
	if errors.Is(err, recur.ErrUnsupported) {
		return nil
	}
	return invalid(err)
}

// dense reports whether a rule can have several instances a day. Other rules never have too many.
func dense(master *ical.Component) bool {
	for _, p := range master.All("RRULE") {
		r, err := p.Recur()
		if err == nil && (r.Freq < ical.Daily || len(r.ByHour)+len(r.ByMinute)+len(r.BySecond) > 0) {
			return true
		}
	}
	return false
}
