package query

import (
	"cmp"
	"context"
	"iter"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// Instance is one time at which an event or a task takes place.
type Instance struct {
	recur.Instance
	// Object is what it is an instance of.
	Object calendar.Object
	// Unclear tells that the object can't be read or followed: that it is there, about then,
	// is all that is known, and there is no Component.
	Unclear bool
}

// InstanceQuery asks for instances of objects of one kind.
type InstanceQuery struct {
	Kind   calendar.Kind
	During filter.TimeRange
	// Timezone is the zone of dates and floating times; nil is the calendar's.
	Timezone *zone.Zone
	// Most bounds the instances of one object; 0 leaves that to the service. The earliest are
	// given.
	Most int
	// Meter counts what the answer costs while it is made.
	Meter *meter.Meter
}

// Instances yields the instances of a calendar's objects that overlap a time, object by
// object. What can't be decided is in the answer as Unclear: a reader who is told nothing
// believes that the time is free.
func (s *Queries) Instances(ctx context.Context, c calendar.Caller, cal calendar.Calendar, q InstanceQuery) iter.Seq2[Instance, error] {
	if err := c.MayLook(cal); err != nil {
		return failed[Instance](err)
	}
	narrowed := filter.Filter{{Name: "VCALENDAR", Components: []filter.CompFilter{
		{Name: filter.ComponentName(q.Kind), TimeRange: &q.During},
	}}}.Prefilter()
	in := filter.Context{Zones: s.zones, Floating: s.floating(cal, q.Timezone), Budget: answerBudget(), Meter: q.Meter}
	return func(yield func(Instance, error) bool) {
		for o, err := range s.seen(ctx, q.Meter, c, cal, calendar.ObjectQuery{
			Kinds: kindsOf(narrowed.Kinds), From: narrowed.From, Until: narrowed.Until, WithData: true,
		}) {
			if err != nil {
				yield(Instance{}, err)
				return
			}
			for i, err := range instancesOf(ctx, o, q, in) {
				if !yield(i, err) || err != nil {
					return
				}
			}
		}
	}
}

// instanceSteps is the work of finding one instance.
const instanceSteps = 20

// instancesOf yields those of one object. Only the end of the caller, or of what the request may cost, is an error.
func instancesOf(ctx context.Context, c candidate, q InstanceQuery, in filter.Context) iter.Seq2[Instance, error] {
	return func(yield func(Instance, error) bool) {
		o := c.Object
		if err := c.weigh(q.Meter); err != nil {
			yield(Instance{}, err)
			return
		}
		defer c.unload(q.Meter)
		read, err := c.content()
		if err != nil {
			yield(Instance{Object: o, Unclear: true}, nil)
			return
		}
		n := 0
		for found, err := range filter.Instances(ctx, read, q.During, in) {
			if failed := cmp.Or(ctx.Err(), q.Meter.Work(instanceSteps)); failed != nil {
				yield(Instance{}, failed)
				return
			}
			if err == nil && content.OutlookDays(found.Component) {
				found = content.AsDays(found, in.Floating)
			}
			if n++; !yield(Instance{Instance: found, Object: o, Unclear: err != nil}, nil) || err != nil || n == q.Most {
				return
			}
		}
	}
}

// InstanceOf finds in an object that was read with its data the instance that an edit with
// this recurrence id would be about; the zero id is the object as such. What was read stays, and the meter knows of it.
func (s *Queries) InstanceOf(ctx context.Context, m *meter.Meter, cal calendar.Calendar, o calendar.Object, id ical.Time) (Instance, error) {
	c := candidate{Object: o}
	if err := c.weigh(m); err != nil {
		return Instance{}, err
	}
	read, err := content.Read(o.Data, ical.Limits{})
	if err != nil {
		return Instance{}, calendar.Errorf(calendar.Unsupported, "", "the object cannot be read: %v", err)
	}
	found, err := edit.Editor{Zones: s.zones, Floating: cal.Floating(s.zones)}.Find(ctx, read, id)
	if err != nil {
		return Instance{}, lookup.Refusal(err)
	}
	if content.OutlookDays(found.Component) {
		found = content.AsDays(found, cal.Floating(s.zones))
	}
	return Instance{Instance: found, Object: o}, nil
}
