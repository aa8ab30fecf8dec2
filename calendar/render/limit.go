package render

import (
	"context"
	"strings"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/ical"
)

// limitRecurrences removes the overrides outside of the requested time range: those where neither the override nor
// the instance that it replaces overlaps the range (RFC 4791 §9.6.6). The master stays.
func (s Shape) limitRecurrences(ctx context.Context, o *content.Object, in filter.Context) error {
	if s.Recurrences == nil || len(o.Overrides) == 0 {
		return nil
	}
	l, err := newLimiter(ctx, o, *s.Recurrences, in)
	if err != nil {
		return err
	}
	for _, c := range o.Overrides {
		concerned, err := l.concerns(c)
		if err != nil {
			return err
		}
		if !concerned {
			o.Calendar.RemoveComponent(c)
		}
	}
	return nil
}

// limiter selects the overrides of one object.
type limiter struct {
	ctx    context.Context
	object *content.Object
	during filter.TimeRange
	in     filter.Context
	clock  content.Clock
	// series is the master alone; nil without one.
	series *recur.Set
}

func newLimiter(ctx context.Context, o *content.Object, during filter.TimeRange, in filter.Context) (*limiter, error) {
	l := &limiter{ctx: ctx, object: o, during: during, in: in, clock: o.Clock(in.Zones, in.Floating)}
	if l.in.Budget == (recur.Budget{}) {
		l.in.Budget = recur.DefaultBudget()
	}
	// The overrides share the budget of one object.
	l.in.Budget.Steps /= len(o.Overrides)
	if o.Master == nil {
		return l, nil
	}
	var err error
	l.series, err = recur.FromComponents(o.Master, nil, l.clock.Zones, l.clock.Floating.Location())
	return l, err
}

func (l *limiter) concerns(c *ical.Component) (bool, error) {
	id := c.Property("RECURRENCE-ID")
	if value, _ := id.Param("RANGE"); strings.EqualFold(value, "THISANDFUTURE") {
		return l.begun(c)
	}
	alone := *l.object
	alone.Master, alone.Overrides = nil, []*ical.Component{c}
	for _, err := range filter.Instances(l.ctx, &alone, l.during, l.in) {
		return err == nil, err
	}
	return l.replaces(id)
}

// begun reports whether a THISANDFUTURE override begins before the end of the range.
func (l *limiter) begun(c *ical.Component) (bool, error) {
	if l.during.End.IsZero() {
		return true, nil
	}
	for _, name := range []string{"DTSTART", "RECURRENCE-ID"} {
		at, ok, err := l.clock.Time(c, name)
		if err != nil || ok && at < l.during.End.Unix() {
			return err == nil, err
		}
	}
	return false, nil
}

// replaces reports whether the instance that an override replaces would overlap the range.
func (l *limiter) replaces(id *ical.Property) (bool, error) {
	written, err := id.Time()
	if err != nil {
		return false, err
	}
	if l.series != nil {
		original, found, err := l.series.Find(l.ctx, written, l.in.Budget)
		if found || err != nil {
			return err == nil && l.during.Overlaps(original.Start.Time, original.End.Time), err
		}
	}
	start, end, err := l.clock.Extent(written)
	return err == nil && l.during.Overlaps(time.Unix(start, 0), time.Unix(end, 0)), err
}

// limitFreeBusy removes the FREEBUSY periods outside of the requested time range.
func (s Shape) limitFreeBusy(_ context.Context, o *content.Object, in filter.Context) error {
	if s.FreeBusy == nil || o.Kind != content.FreeBusy {
		return nil
	}
	clock := o.Clock(in.Zones, in.Floating)
	for _, c := range o.Components() {
		for _, p := range c.All("FREEBUSY") {
			if err := limitPeriods(c, p, clock, *s.FreeBusy); err != nil {
				return err
			}
		}
	}
	return nil
}

func limitPeriods(c *ical.Component, p *ical.Property, clock content.Clock, during filter.TimeRange) error {
	all, err := p.Periods()
	if err != nil {
		return err
	}
	return content.KeepOf(c, p, all, p.SetPeriods, func(period ical.Period) (bool, error) {
		start, end, err := clock.Period(period)
		return during.Overlaps(time.Unix(start, 0), time.Unix(end, 0)), err
	})
}
