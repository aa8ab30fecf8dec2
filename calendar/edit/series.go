package edit

import (
	"context"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/ical"
)

// series is an object that recurs, with its instances within reach.
type series struct {
	reader
	ctx    context.Context
	budget recur.Budget
	object *content.Object
	set    *recur.Set
	// start is DTSTART of the master; on is the clock that it is on.
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

// instance is one of a series.
type instance struct {
	// id is what names it, as the series would write it; unix is when that is.
	id   ical.Time
	unix int64
	// from and to are where it is now, and the component what describes it.
	from, to  ical.Time
	component *ical.Component
	// own tells that the component is the override for this very instance.
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

// describes tells whether a component is the override for the instance that is named by a time.
func (s *series) describes(c *ical.Component, unix int64) bool {
	if c == s.object.Master {
		return false
	}
	at, err := s.named(c)
	return err == nil && at == unix
}

// written is a moment on the clock of the series, or the day or floating time that it is.
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

// at is when a RECURRENCE-ID, EXDATE or RDATE of the series is, however it was written: a
// date in a series of times stands for the instance of that day, and so does a midnight at which there is none.
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

// find looks an instance up by its recurrence id, written in any form; a date will do where
// the day has one instance.
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
		return instance{}, fault(NoInstance, "the series has more than one instance on %s", day).hint("name the time, too, such as " + found[0].id.String())
	default:
		return found[0], nil
	}
}

// within lists the instances whose recurrence ids are in a time, wherever they are now.
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

// named is when the instance is that an override describes.
func (s *series) named(c *ical.Component) (int64, error) {
	id, err := timeOf(c, "RECURRENCE-ID")
	if err != nil {
		return 0, err
	}
	return s.at(id)
}

// missing says that there is no such instance, and which there is next.
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

// earlier tells whether there is an instance named before a time.
func (s *series) earlier(unix int64) (bool, error) {
	for _, err := range s.set.Named(s.ctx, time.Time{}, time.Unix(unix, 0), s.budget) {
		return err == nil, recurFault(err)
	}
	return false, nil
}

// empty tells that no instance is left.
func (s *series) empty() (bool, error) {
	for _, err := range s.set.Between(s.ctx, time.Time{}, time.Time{}, s.budget) {
		return false, recurFault(err)
	}
	return true, nil
}

// ranged refuses to change a part of a series of which an override holds for the future, too (RFC
// 5545 §3.2.13), where that override would be part of two halves: hardly any program writes it.
func (a *aimed) ranged(scope Scope) error {
	for _, c := range a.object.Overrides {
		value, _ := c.Property("RECURRENCE-ID").Param("RANGE")
		switch {
		case value == "", scope == This && (c != a.component || !a.own):
			continue
		case scope == This:
			return fault(Unsupported, "at this instance a change with RANGE=%.50s begins, which cannot be changed alone", value).hint(`change "all", or a later instance`)
		default:
			return fault(Unsupported, "the series has a change with RANGE=%.50s, so that it cannot be divided", value).hint(`change "this" instance or "all"`)
		}
	}
	return nil
}
