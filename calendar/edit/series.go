package edit

import (
	"context"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/ical"
)

// series is a recurring object with access to its instances.
type series struct {
	reader
	ctx    context.Context
	budget recur.Budget
	object *content.Object
	set    *recur.Set
	// start is the master's DTSTART, on is its clock.
	start ical.Time
	on    clock
}

func (e *session) series(o *content.Object) (*series, error) {
	s := &series{reader: e.reader, ctx: e.ctx, budget: e.budget(), object: o}
	first := o.Main()
	var err error
	if o.Master == nil {
		s.start, err = timeOf(first, "RECURRENCE-ID")
	} else if s.start, err = timeOf(first, "DTSTART"); s.start.IsZero() && err == nil {
		s.start, err = timeOf(first, endName(first))
	}
	if err != nil {
		return nil, err
	}
	if s.start.IsZero() {
		return nil, fault(NotSeries, "the %s has no date", o.Kind)
	}
	if s.on, err = s.clock(s.start); err != nil {
		return nil, err
	}
	s.set, err = s.setOf(o.Master, o.Overrides)
	return s, err
}

func (s *series) setOf(master *ical.Component, overrides []*ical.Component) (*recur.Set, error) {
	set, err := recur.FromComponents(master, overrides, s.zones, s.floating.Location())
	return set, recurFault(err)
}

// instance is one instance of a series.
type instance struct {
	// id is its recurrence id in the form of the series, unix the same in seconds.
	id   ical.Time
	unix int64
	// from and to are its current times, component is its description.
	from, to  ical.Time
	component *ical.Component
	// own is set if the component is the override of exactly this instance.
	own bool
}

func (s *series) instance(i recur.Instance) instance {
	at := instance{
		id: s.on.at(i.RecurrenceID.Time.Unix()), unix: i.RecurrenceID.Time.Unix(),
		from: s.written(i.Start), to: s.written(i.End), component: i.Component,
	}
	at.own = s.describes(i.Component, at.unix)
	return at
}

// describes reports whether a component is the override of the instance with this original time.
func (s *series) describes(c *ical.Component, unix int64) bool {
	if c == s.object.Master {
		return false
	}
	at, err := s.named(c)
	return err == nil && at == unix
}

// written converts a moment to the series' clock. Days and floating times stay as they are.
func (s *series) written(m recur.Moment) ical.Time {
	switch {
	case m.AllDay:
		return ical.Date(m.Civil())
	case m.Floating:
		return ical.Floating(m.Civil())
	case s.on.form == ical.FormDate || s.on.form == ical.FormFloating:
		return ical.Instant(m.Time)
	default:
		return s.on.at(m.Time.Unix())
	}
}

// at returns the instant of a RECURRENCE-ID, EXDATE or RDATE of the series, whatever its form. In a series of times, a
// date means the instance on that day, and so does a midnight without an instance.
func (s *series) at(t ical.Time) (int64, error) {
	civil, err := s.reader.on(s.on, t)
	if err != nil {
		return 0, err
	}
	switch {
	case s.on.form == ical.FormDate:
		civil = civil.Date()
	case t.IsDate(), s.set.NamesDay(civil):
		civil = civil.AddSeconds(int64(s.start.Civil.SecondOfDay()))
	case t.Form == ical.FormUTC:
		return t.Civil.Seconds(), nil // the second of two equal hours is on no clock
	}
	return s.on.unix(civil), nil
}

// find returns the instance with a recurrence id, in any form. A date is enough if the day has one instance.
func (s *series) find(id ical.Time) (instance, error) {
	if id.IsDate() && s.on.form != ical.FormDate {
		return s.onDay(id)
	}
	if !id.IsDate() && s.on.form == ical.FormDate && id.Form == ical.FormFloating {
		id = ical.Date(id.Civil)
	}
	unix, err := s.at(id)
	if err != nil {
		return instance{}, err
	}
	found, err := s.within(unix, unix+1)
	if err != nil {
		return instance{}, err
	}
	if len(found) == 0 {
		return instance{}, s.missing(id, unix)
	}
	return found[0], nil
}

func (s *series) onDay(day ical.Time) (instance, error) {
	from, to := s.on.unix(day.Civil), s.on.unix(day.Civil.AddDays(1))
	found, err := s.within(from, to)
	switch {
	case err != nil:
		return instance{}, err
	case len(found) == 0:
		return instance{}, s.missing(day, from)
	case len(found) > 1:
		return instance{}, fault(NoInstance, "the series has more than one instance on %s", day).
			hint("name the time, too, such as " + found[0].id.String())
	default:
		return found[0], nil
	}
}

// within lists the instances whose recurrence ids are in a time range, wherever they have been moved.
func (s *series) within(from, to int64) ([]instance, error) {
	var list []instance
	for i, err := range s.set.Named(s.ctx, time.Unix(from, 0), time.Unix(to, 0), s.budget) {
		if err != nil {
			return nil, recurFault(err)
		}
		list = append(list, s.instance(i))
	}
	return list, nil
}

// named returns the original time of an override's instance.
func (s *series) named(c *ical.Component) (int64, error) {
	id, err := timeOf(c, "RECURRENCE-ID")
	if err != nil {
		return 0, err
	}
	return s.at(id)
}

// missing returns the error for a missing instance and names the next one.
func (s *series) missing(id ical.Time, unix int64) error {
	f := fault(NoInstance, "the series has no instance at %s", id)
	for i, err := range s.set.Named(s.ctx, time.Unix(unix, 0), time.Time{}, s.budget) {
		if err == nil {
			f = f.hint("the next one is " + s.instance(i).id.String())
		}
		break
	}
	return f
}

// earlier reports whether the series has an instance with an earlier recurrence id.
func (s *series) earlier(unix int64) (bool, error) {
	for _, err := range s.set.Named(s.ctx, time.Time{}, time.Unix(unix, 0), s.budget) {
		return err == nil, recurFault(err)
	}
	return false, nil
}

// empty reports whether no instance is left.
func (s *series) empty() (bool, error) {
	for _, err := range s.set.Between(s.ctx, time.Time{}, time.Time{}, s.budget) {
		return false, recurFault(err)
	}
	return true, nil
}

// ranged refuses to divide a series at a THISANDFUTURE override (RFC 5545 §3.2.13), because the override would belong
// to both halves. Hardly any client writes such overrides.
func (a *aimed) ranged(scope Scope) error {
	for _, c := range a.object.Overrides {
		value, _ := c.Property("RECURRENCE-ID").Param("RANGE")
		switch {
		case value == "", scope == This && (c != a.component || !a.own):
			continue
		case scope == This:
			return fault(Unsupported,
				"at this instance a change with RANGE=%.50s begins, which cannot be changed alone", value).
				hint(`change "all", or a later instance`)
		default:
			return fault(Unsupported, "the series has a change with RANGE=%.50s, so that it cannot be divided", value).
				hint(`change "this" instance or "all"`)
		}
	}
	return nil
}
