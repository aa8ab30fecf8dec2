package edit

import (
	"context"
	"errors"
	"slices"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// recurring are the properties by which a component recurs, or stands for one instance.
var recurring = [...]string{"RRULE", "EXRULE", "RDATE", "EXDATE", "RECURRENCE-ID"}

// Instances gives the instances of an object as components of their own.
type Instances struct {
	session *session
	series  *series
	// model is what instances are made of that have no override: the series without what makes it recur, which may be
	// many lines. Periods tells that instances have lengths of their own.
	model   *ical.Component
	periods bool
}

// Instances reads an object for that. It is a refusal that it has no dates or cannot be calculated with. Of the series
// instances do not take over the properties that are named.
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

// Key is when the instance is, in seconds since 1970, that a recurrence id names, however it was written.
func (i *Instances) Key(id ical.Time) (int64, error) { return i.series.at(id) }

// ID names the instance with a key as the series writes its times.
func (i *Instances) ID(key int64) ical.Time { return i.series.on.at(key) }

// At returns what describes an instance: the override for it, or one as it would be made of the series, which is no
// part of the object. It is nil where the series has no such instance.
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
