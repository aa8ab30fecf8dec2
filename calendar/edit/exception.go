package edit

import (
	"slices"

	"caldav-mcp-server/ical"
)

// changeThis changes one instance: its override, or a new one.
func (e *session) changeThis(at *aimed, c Change) (Result, error) {
	if !c.Fields.Rule.Left() {
		return Result{}, fault(BadField, "one instance cannot have a recurrence rule").
			hint(`change "all" or the "following" instances`)
	}
	if c.Fields.dated() {
		return Result{}, fault(BadField, "one instance has no dates of its own that are added or left out").
			hint(`change "all" or the "following" instances`)
	}
	before := e.zonesNamed()
	override, isNew := at.component, false
	if !at.own {
		var err error
		if override, err = e.override(at); err != nil {
			return Result{}, err
		}
		isNew = true
	}
	book := remember(override)
	if err := e.alterOne(override, c); err != nil {
		return Result{}, err
	}
	if isNew && written(override) != book.whole {
		book.isNew = true
		e.object.Overrides = append(e.object.Overrides, override)
		e.object.Calendar.AddComponent(override)
	}
	book.stamp(e.Now)
	return Result{Document: e.object.Document, Instance: at.id}, e.define(before)
}

func (e *session) alterOne(c *ical.Component, change Change) error {
	was, err := timeOf(c, "DTSTART")
	if err != nil {
		return err
	}
	if !change.Times.left() {
		if err := e.apply(c, change.Times); err != nil {
			return err
		}
		if err := e.follow(c, was); err != nil {
			return err
		}
	}
	if change.Fields.invites() {
		e.dress(c)
	}
	for _, p := range change.Fields.patches(c) {
		if err := p.apply(c); err != nil {
			return err
		}
	}
	return nil
}

// override copies the component that describes an instance: the master, or a THISANDFUTURE override. Its RECURRENCE-ID
// has the form of the series' DTSTART (RFC 5545 §3.8.4.4).
func (e *session) override(at *aimed) (*ical.Component, error) {
	return e.overrideOf(at.component, at, slices.ContainsFunc(e.object.Master.All("RDATE"), (*ical.Property).IsPeriods))
}

// overrideOf is override with a given model. periods is set if the series has RDATEs with periods.
func (e *session) overrideOf(model *ical.Component, at *aimed, periods bool) (*ical.Component, error) {
	c := model.Clone()
	for _, name := range recurring {
		c.Remove(name)
	}
	was, err := timeOf(c, "DTSTART")
	if err != nil {
		return nil, err
	}
	p := placement{start: at.from}
	if periods {
		lasting, err := e.between(at.from, at.to)
		if err != nil {
			return nil, err
		}
		p.lasting = &lasting // the instance may be one of the periods
	}
	if err := e.put(c, p); err != nil {
		return nil, err
	}
	if err := e.follow(c, was); err != nil {
		return nil, err
	}
	c.Add(ical.NewTime("RECURRENCE-ID", at.id))
	return c, nil
}

// cancelThis excludes one instance from its series.
func (e *session) cancelThis(at *aimed) (Result, error) {
	o := e.object
	if at.own {
		o.Calendar.RemoveComponent(at.component)
		o.Overrides = slices.DeleteFunc(o.Overrides, func(c *ical.Component) bool { return c == at.component })
	}
	if o.Master == nil {
		if len(o.Overrides) == 0 {
			return Result{}, nil
		}
		return Result{Document: o.Document}, nil
	}
	book := remember(o.Master)
	o.Master.Add(ical.NewTime("EXDATE", at.id))
	book.stamp(e.Now)
	return e.rest()
}

// rest returns the object, or nothing if no instance is left.
func (e *session) rest() (Result, error) {
	s, err := e.series(e.object)
	if err != nil {
		return Result{}, err
	}
	empty, err := s.empty()
	if err != nil || empty {
		return Result{}, err
	}
	return Result{Document: e.object.Document}, nil
}
