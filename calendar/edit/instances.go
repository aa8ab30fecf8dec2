package edit

import (
	"context"
	"errors"
	"slices"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// recurring lists the properties that make a component recur or mark it as one instance.
var recurring = [...]string{"RRULE", "EXRULE", "RDATE", "EXDATE", "RECURRENCE-ID"}

// Instances returns the instances of an object as separate components.
type Instances struct {
	session *session
	series  *series
	// model is the base for instances without an override: the series without its recurrence properties, which may be
	// many lines. periods is set if instances have durations of their own.
	model   *ical.Component
	periods bool
}

// Instances prepares an object for that. It is refused if the object has no dates or cannot be expanded. Instances do
// not inherit the properties in without from the series.
func (e Editor) Instances(ctx context.Context, o *content.Object, without ...string) (*Instances, error) {
	s := e.session(ctx, o)
	all, err := s.series(o)
	if err != nil {
		return nil, err
	}
	i := &Instances{session: s, series: all}
	if o.Master != nil {
		i.model, i.periods = o.Master.Clone(), slices.ContainsFunc(o.Master.All("RDATE"), (*ical.Property).IsPeriods)
		i.model.RemoveFunc(func(p *ical.Property) bool {
			return slices.Contains(recurring[:], p.Name()) || slices.Contains(without, p.Name())
		})
	}
	return i, nil
}

// Key returns the original time of the instance with a recurrence id, in seconds since 1970. The id may have any form.
func (i *Instances) Key(id ical.Time) (int64, error) { return i.series.at(id) }

// ID returns the recurrence id for a key, in the form of the series.
func (i *Instances) ID(key int64) ical.Time { return i.series.on.at(key) }

// At returns the component of an instance: its override, or one derived from the series that is not part of the object.
// It is nil if the series has no such instance.
func (i *Instances) At(id ical.Time) (*ical.Component, error) {
	found, err := i.series.find(id)
	var f *Error
	if errors.As(err, &f) && f.Code == NoInstance {
		return nil, nil
	}
	if err != nil || found.own {
		return found.component, err
	}
	model := found.component
	if model == i.series.object.Master {
		model = i.model
	}
	return i.session.overrideOf(model, &aimed{i.series, found}, i.periods)
}
