package ledger

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"caldav-mcp-server/calendar"
)

// Calendar returns the target calendar for an imported one, and creates it if necessary. A calendar that was never used
// takes over the imported properties; with Replace, any calendar does. A calendar that belongs to others, or does not
// accept the kinds of the import, stays untouched, and the import gets an address with a number.
func (i *Importer) Calendar(ctx context.Context, n calendar.NewCalendar) (cal calendar.Calendar, made bool, err error) {
	segment := n.Segment
	for count := 2; ; count++ {
		cal, err = i.at(ctx, n.Segment)
		switch {
		case err != nil && calendar.ReasonOf(err) == calendar.NotFound:
			cal, err = i.make(ctx, n)
			return cal, true, err
		case err != nil:
			return cal, false, err
		case cal.Access != calendar.OwnerAccess || cal.Subscribed():
		case i.Replace || cal.Version == 1:
			cal, err = i.become(ctx, cal, n.Properties)
			return cal, false, err
		case !slices.ContainsFunc(n.Kinds, func(k calendar.Kind) bool { return !cal.Kinds.Has(k) }):
			return cal, false, nil
		}
		n.Segment = calendar.Segment(fmt.Sprintf("%s-%d", segment, count))
	}
}

func (i *Importer) at(ctx context.Context, at calendar.Segment) (calendar.Calendar, error) {
	if cal, ok := i.planned[at]; ok {
		return cal, nil
	}
	return i.CalendarAt(ctx, i.caller, at)
}

func (i *Importer) make(ctx context.Context, n calendar.NewCalendar) (calendar.Calendar, error) {
	cal, err := i.planCalendar(i.caller, n)
	if err != nil {
		return calendar.Calendar{}, err
	}
	if i.Preview {
		return i.plan(ctx, cal)
	}
	return i.createCalendar(ctx, i.caller, cal, n.DeadProperties, &i.unit)
}

// become applies the properties of an imported calendar. Properties that the import does not set stay as they are, and
// no kinds are removed.
func (i *Importer) become(
	ctx context.Context, cal calendar.Calendar, other calendar.Properties,
) (calendar.Calendar, error) {
	next := dressed(cal.Properties, other)
	if err := i.settle(&next, i.caller.User); err != nil {
		return cal, err
	}
	if reflect.DeepEqual(next, cal.Properties) {
		return cal, nil
	}
	if err := i.caller.May(calendar.ChangeCalendar, cal); err != nil {
		return cal, err
	}
	cal.Properties = next
	if i.Preview {
		i.planned[cal.Segment] = cal
		return cal, nil
	}
	return cal, i.changePart(ctx, i.caller, &i.unit, func(w *work) error {
		return w.ChangeSettings(ctx, cal.ID, calendar.Modified,
			func(calendar.Calendar) error { return w.UpdateCalendar(ctx, cal.ID, next) })
	})
}

// dressed returns p with the properties that others sets.
func dressed(p, others calendar.Properties) calendar.Properties {
	if others.Name != "" {
		p.Name = others.Name
	}
	if others.Description != nil {
		p.Description = others.Description
	}
	if others.Color != nil {
		p.Color = others.Color
	}
	if others.Order != nil {
		p.Order = others.Order
	}
	if others.Timezone != "" {
		p.Timezone = others.Timezone
	}
	for _, k := range others.Kinds {
		if !p.Kinds.Has(k) {
			p.Kinds = append(slices.Clone(p.Kinds), k)
		}
	}
	p.Transparent, p.Hidden = others.Transparent, others.Hidden
	return p
}
