package render

import (
	"context"
	"slices"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// expand replaces a series with its instances in a time range. Kinds without recurrence, such as VFREEBUSY, stay
// unchanged.
func (s Shape) expand(ctx context.Context, o *content.Object, in filter.Context) error {
	if s.Expand == nil || o.Kind == content.FreeBusy || o.Kind == content.Availability {
		return nil
	}
	x := expansion{
		object: o, clock: o.Clock(in.Zones, in.Floating), meter: in.Meter, sizes: map[*ical.Component]int64{},
	}
	var instances []*ical.Component
	for found, err := range filter.Instances(ctx, o, *s.Expand, in) {
		if err != nil {
			return err
		}
		if err := x.charge(found.Component); err != nil {
			return err
		}
		c, err := x.instance(found)
		if err != nil {
			return err
		}
		instances = append(instances, c)
	}
	drop := append(o.Calendar.AllComponents("VTIMEZONE"), o.Components()...)
	for _, c := range drop {
		o.Calendar.RemoveComponent(c)
	}
	for _, c := range instances {
		o.Calendar.AddComponent(c)
	}
	return nil
}

// expansion creates the components of the instances of one object.
type expansion struct {
	object *content.Object
	clock  content.Clock
	meter  *meter.Meter
	// sizes are the sizes of the components that have instances.
	sizes map[*ical.Component]int64
}

// charge charges the meter before an instance is created, for three copies: the text, the text in the response, and the
// parsed form.
func (x *expansion) charge(c *ical.Component) error {
	size, known := x.sizes[c]
	if !known {
		size = int64(c.Size())
		x.sizes[c] = size
	}
	if err := x.meter.Instance(1); err != nil {
		return err
	}
	return x.meter.Make(size, 3)
}

// recurrence are the properties that an instance must not have (RFC 4791 §9.6.5).
var recurrence = [...]string{"RRULE", "RDATE", "EXRULE", "EXDATE"}

// instance returns one instance: without recurrence and zones. Dates and floating times stay as they are.
func (x *expansion) instance(found recur.Instance) (*ical.Component, error) {
	c := found.Component.Clone()
	for _, name := range recurrence {
		c.Remove(name)
	}
	if !found.Start.Time.IsZero() {
		if err := x.place(c, found); err != nil {
			return nil, err
		}
	}
	return c, x.utc(c)
}

// place sets the time of the instance and its RECURRENCE-ID.
func (x *expansion) place(c *ical.Component, found recur.Instance) error {
	found = unmistakable(found)
	start := c.Property("DTSTART")
	if start != nil {
		start.SetTime(written(found.Start))
	}
	if start != nil || c.Property("DUE") != nil {
		if err := lasting(c, found.Start, found.End); err != nil {
			return err
		}
	}
	initial, err := x.initial(found)
	if err != nil || !x.object.Recurring() || initial {
		return err
	}
	id := ical.NewTime("RECURRENCE-ID", written(found.RecurrenceID))
	if c.Property("RECURRENCE-ID") != nil {
		c.Set(id) // also removes a RANGE parameter
		return nil
	}
	c.Add(id)
	return nil
}

// unmistakable converts a floating instance to UTC if one of its times is in an hour that the clock repeats:
// without an offset the second hour would be read as the first. All its times must have one form (RFC 5545
// §3.8.2.2).
func unmistakable(found recur.Instance) recur.Instance {
	times := []*recur.Moment{&found.Start, &found.End, &found.RecurrenceID}
	if slices.ContainsFunc(times, func(m *recur.Moment) bool { return m.Floating && m.Repeated() }) {
		for _, m := range times {
			m.Floating = false
		}
	}
	return found
}

// initial reports whether an instance is the first one of the series, which needs no RECURRENCE-ID.
func (x *expansion) initial(found recur.Instance) (bool, error) {
	if found.Component != x.object.Master {
		return false, nil
	}
	start, ok, err := x.clock.Begin(found.Component)
	return ok && start == found.RecurrenceID.Time.Unix(), err
}

// lasting sets the instance's end or duration, depending on the property that the series uses. A day of wall-clock
// time can have 23 hours; a day in UTC cannot.
func lasting(c *ical.Component, start, end recur.Moment) error {
	ending := "DTEND"
	if c.Name() == content.Todo {
		ending = "DUE"
	}
	if p := c.Property(ending); p != nil {
		p.SetTime(written(end))
		return nil
	}
	seconds := end.Time.Unix() - start.Time.Unix()
	if start.AllDay || start.Floating {
		seconds = end.Civil().Seconds() - start.Civil().Seconds()
	}
	p := c.Property("DURATION")
	if p == nil {
		if seconds > 0 && !start.AllDay { // an RDATE period gave it its own end
			c.Add(ical.NewTime(ending, written(end)))
		}
		return nil
	}
	d, err := p.Duration()
	if start.Floating && err == nil && lasts(d, start, end) {
		return nil // a nominal duration must not include clock changes
	}
	if err == nil && int64(d.NominalDays())*secondsPerDay+d.ExactSeconds() != seconds {
		p.SetValue(ical.DurationOf(time.Duration(seconds) * time.Second).String())
	}
	return err
}

// lasts reports whether a duration leads from start to end, with its days counted in wall-clock time.
func lasts(d ical.Duration, start, end recur.Moment) bool {
	wall := start.Civil().Seconds() + int64(d.NominalDays())*secondsPerDay
	at, _ := zone.In(start.Time.Location()).Unix(wall)
	return at+d.ExactSeconds() == end.Time.Unix()
}

const secondsPerDay = 24 * 60 * 60

// written returns a moment in the form that an expansion uses.
func written(m recur.Moment) ical.Time {
	switch {
	case m.AllDay:
		return ical.Date(m.Civil())
	case m.Floating:
		return ical.Floating(m.Civil())
	}
	return ical.Instant(m.Time)
}

// utc converts the times that still have a TZID to UTC, within alarms too.
func (x *expansion) utc(c *ical.Component) error {
	for p := range c.Properties() {
		if _, zoned := p.Param("TZID"); !zoned {
			continue
		}
		if err := x.instants(p); err != nil {
			return err
		}
	}
	for sub := range c.Components() {
		if err := x.utc(sub); err != nil {
			return err
		}
	}
	return nil
}

func (x *expansion) instants(p *ical.Property) error {
	times, err := p.Times()
	if err != nil {
		// The value is not a time, so the TZID is meaningless.
		p.RemoveParam("TZID")
		return nil
	}
	for i, t := range times {
		if t.Form != ical.FormZoned {
			continue
		}
		at, err := x.clock.At(t)
		if err != nil {
			return err
		}
		times[i] = ical.Instant(time.Unix(at, 0).UTC())
	}
	p.SetTimes(times...)
	return nil
}
