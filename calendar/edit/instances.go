package edit

import (
	"context"
	"errors"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// Instances gives the instances of an object as components of their own.
type Instances struct {
	session *session
	series  *series
}

// Instances reads an object for that. It is a refusal that it has no dates or cannot be calculated with.
func (e Editor) Instances(ctx context.Context, o *content.Object) (*Instances, error) {
	s := e.session(ctx, o)
	all, err := s.series(o)
	if err != nil {
		return nil, err
	}
	return &Instances{s, all}, nil
}

// Key is when the instance is, in seconds since 1970, that a recurrence id names, however it was written.
func (i *Instances) Key(id ical.Time) (int64, error) { return i.series.at(id) }

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
	return i.session.override(&aimed{i.series, found})
}
