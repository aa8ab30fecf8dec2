package query

import (
	"context"
	"errors"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/render"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// View is the representation of objects that a reader wants.
type View struct {
	Shape render.Shape
	// Timezone is the zone of dates and floating times; nil means the calendar's.
	Timezone *zone.Zone
	// Meter counts the cost of the text. The caller releases the memory that it holds.
	Meter *meter.Meter
}

// Render returns the text of an object in a given view. The object must have its data. Too many instances break
// RuleTooManyMatches. If the object cannot be expanded, the error is Unsupported; the unexpanded series would be a
// wrong answer.
func (s *Queries) Render(ctx context.Context, cal calendar.Calendar, o calendar.Object, v View) ([]byte, error) {
	if v.Shape.Whole() {
		return o.Data, nil
	}
	weight := readFactor * int64(len(o.Data))
	if err := v.Meter.Text(len(o.Data)); err != nil {
		return nil, err
	}
	if err := v.Meter.Hold(weight); err != nil {
		return nil, err
	}
	defer v.Meter.Free(weight)
	read, err := content.Read(o.Data, ical.Limits{})
	if err != nil {
		return nil, unrendered(err)
	}
	budget := recur.DefaultBudget()
	budget.Instances = s.limits.Instances
	in := filter.Context{Zones: s.zones, Floating: s.floating(cal, v.Timezone), Budget: budget, Meter: v.Meter}
	if err := v.Shape.Apply(ctx, read, in); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if spent(err) {
			return nil, err
		}
		return nil, unrendered(err)
	}
	return read.Document.Bytes(), nil
}

func unrendered(err error) error {
	reason, rule := calendar.Unsupported, calendar.Rule("")
	if errors.Is(err, recur.ErrBudget) {
		reason, rule = calendar.TooLarge, calendar.RuleTooManyMatches
	}
	e := calendar.Errorf(reason, rule, "the object cannot be given in this form: %v", err)
	e.Cause = err
	return e
}
