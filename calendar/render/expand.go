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

// expand puts the instances of a time in the place of the series. Kinds that have no
// series, such as VFREEBUSY, stay as they are.
func (s Shape) expand(ctx context.Context, o *content.Object, in filter.Context) error {
	if s.Expand == nil || o.Kind == content.FreeBusy || o.Kind == content.Availability {
		return nil
	}
	x := expansion{object: o, clock: o.Clock(in.Zones, in.Floating), meter: in.Meter, sizes: map[*ical.Component]int64{}}
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

// expansion makes components of the instances of one object.
type expansion struct {
	object *content.Object
	clock  content.Clock
	meter  *meter.Meter
	// sizes are those of the components that have instances.
	sizes map[*ical.Component]int64
}

// charge counts what an instance will cost, before it is made: its text, once as such and once within an answer, and
// its lines as a tree.
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

// instance writes one instance: no recurrence, no zones, dates and floating times as such.
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

// place says when the instance is, and which one it is.
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
		c.Set(id) // also takes away what said that it was for the future
		return nil
	}
	c.Add(id)
	return nil
}

// unmistakable takes an instance off the floating clock that has to do with an hour which the clock shows twice: without an
// offset the second one would be read as the first. All of its times have one form (RFC 5545 §3.8.2.2).
func unmistakable(found recur.Instance) recur.Instance {
	times := []*recur.Moment{&found.Start, &found.End, &found.RecurrenceID}
	if slices.ContainsFunc(times, func(m *recur.Moment) bool { return m.Floating && m.Repeated() }) {
		for _, m := range times {
			m.Floating = false
		}
	}
	return found
}

// initial tells whether an instance is the one that the series is written as; only that one
// needs no RECURRENCE-ID.
func (x *expansion) initial(found recur.Instance) (bool, error) {
	if found.Component != x.object.Master {
		return false, nil
	}
	start, ok, err := x.clock.Begin(found.Component)
	return ok && start == found.RecurrenceID.Time.Unix(), err
}

// lasting says how long the instance is, in the way in which the series says it. A day on
// the wall clock can have 23 hours, and one of UTC cannot.
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
		if seconds > 0 && !start.AllDay { // RDATE has given it an end of its own
			c.Add(ical.NewTime(ending, written(end)))
		}
		return nil
	}
	d, err := p.Duration()
	if start.Floating && err == nil && lasts(d, start, end) {
		return nil // its days are those of the clock, whose changes must not be written into it
	}
	if err == nil && int64(d.NominalDays())*secondsPerDay+int64(d.ExactSeconds()) != seconds {
		p.SetValue(ical.DurationOf(time.Duration(seconds) * time.Second).String())
	}
	return err
}

// lasts tells whether a duration is the way from one moment to another, days on the wall clock first.
func lasts(d ical.Duration, start, end recur.Moment) bool {
	wall := start.Civil().Seconds() + int64(d.NominalDays())*secondsPerDay
	at, _ := zone.In(start.Time.Location()).Unix(wall)
	return at+int64(d.ExactSeconds()) == end.Time.Unix()
}

const secondsPerDay = 24 * 60 * 60

// written is a moment as an expansion has it.
func written(m recur.Moment) ical.Time {
	switch {
	case m.AllDay:
		return ical.Date(m.Civil())
	case m.Floating:
		return ical.Floating(m.Civil())
	}
	return ical.Instant(m.Time)
}

// utc turns the times that still name a zone into instants, within alarms too.
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
		// It is no time, whatever the TZID is there for.
		p.RemoveParam("TZID")
		return nil //nolint:nilerr // see above
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
