package query

import (
	"cmp"
	"context"
	"iter"
	"strings"

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

// Instance is one occurrence of an event or a task.
type Instance struct {
	recur.Instance
	// Object is the object that it belongs to.
	Object calendar.Object
	// Unclear is set if the object cannot be parsed or expanded. It probably takes place about then, but its times are
	// unknown and Component is nil.
	Unclear bool
}

// Looks reports whether people would see the same as of another instance.
func (i Instance) Looks(other Instance) bool {
	return i.Start == other.Start && i.End == other.End && visibleOf(i) == visibleOf(other)
}

// visibleOf returns the parts of an instance that people compare.
func visibleOf(i Instance) string {
	var texts []string
	if i.Component == nil {
		return ""
	}
	for p := range i.Component.Properties() {
		switch p.Name() {
		case "SUMMARY", "LOCATION", "DESCRIPTION", "STATUS", "TRANSP", "ATTENDEE":
			texts = append(texts, p.String())
		}
	}
	return strings.Join(texts, "\n")
}

// InstanceQuery asks for instances of objects of one kind.
type InstanceQuery struct {
	Kind   calendar.Kind
	During filter.TimeRange
	// Timezone is the zone of dates and floating times; nil means the calendar's.
	Timezone *zone.Zone
	// Most bounds the instances of one object, the earliest first; 0 means the default.
	Most int
	// Meter counts the cost of the query.
	Meter *meter.Meter
	// shape changes each object before it is expanded; nil leaves it unchanged.
	shape func(*ical.Document) error
}

// Instances yields the instances of a calendar's objects that overlap a time range, object by object. Undecidable
// objects are included as Unclear: without them, a reader would believe that the time is free.
func (s *Queries) Instances(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, q InstanceQuery,
) iter.Seq2[Instance, error] {
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
			shown := true
			if err == nil && q.shape != nil {
				o, shown, err = shaped(q.Meter, o, q.shape)
			}
			if err != nil {
				yield(Instance{}, err)
				return
			}
			if !shown {
				continue
			}
			for i, err := range instancesOf(ctx, o, q, in) {
				if !yield(i, err) || err != nil {
					return
				}
			}
		}
	}
}

// shaped returns a candidate in another shape; false if nothing is left of it, or if it cannot be read.
func shaped(m *meter.Meter, c candidate, shape func(*ical.Document) error) (candidate, bool, error) {
	weight := readFactor * int64(len(c.Data))
	if err := m.Text(len(c.Data)); err != nil {
		return candidate{}, false, err
	}
	if err := m.Hold(weight); err != nil {
		return candidate{}, false, err
	}
	defer m.Free(weight)
	doc, err := ical.Parse(c.Data, ical.Limits{})
	if err == nil {
		err = shape(doc)
	}
	if err != nil {
		return candidate{}, false, nil // the text of the calendar leaves it out too
	}
	o, err := content.Of(doc)
	if err != nil || len(o.Components()) == 0 {
		return candidate{}, false, nil
	}
	data := doc.Bytes()
	return candidate{Object: calendar.Object{
		Calendar: c.Calendar, Data: data, Size: int64(len(data)),
		Derived: calendar.Derived{UID: calendar.UID(o.UID), Kind: c.Kind, Recurring: c.Recurring},
	}}, true, nil
}

// instanceSteps is the cost of one instance.
const instanceSteps = 20

// instancesOf yields the instances of one object. The only errors are the end of the context and exceeded limits.
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
			if n++; !yield(Instance{Instance: found, Object: o, Unclear: err != nil}, nil) || err != nil ||
				n == q.Most {
				return
			}
		}
	}
}

// InstancesIn returns the instances of an object in a time range. The object may be one that is not stored.
func (s *Queries) InstancesIn(
	ctx context.Context, cal calendar.Calendar, o calendar.Object, q InstanceQuery,
) (all []Instance, err error) {
	in := filter.Context{Zones: s.zones, Floating: s.floating(cal, q.Timezone), Budget: answerBudget(), Meter: q.Meter}
	for i, err := range instancesOf(ctx, candidate{Object: o}, q, in) {
		if err != nil {
			return nil, err
		}
		all = append(all, i)
	}
	return all, nil
}

// InstanceOf returns the instance of an object that an edit with this recurrence id would change. The zero id means the
// object itself. The object must have its data. The parsed object stays in memory, and the meter counts it.
func (s *Queries) InstanceOf(
	ctx context.Context, m *meter.Meter, cal calendar.Calendar, o calendar.Object, id ical.Time,
) (Instance, error) {
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
