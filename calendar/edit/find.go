package edit

import (
	"context"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/ical"
)

// Find returns the instance that an edit with this recurrence id would change, so that callers show the same instance.
// A zero id means the object itself: the master with its own times, or the first override. A component without times
// has zero moments.
func (e Editor) Find(ctx context.Context, o *content.Object, id ical.Time) (recur.Instance, error) {
	s := e.session(ctx, o)
	if id.IsZero() {
		return s.itself()
	}
	if !repeats(o) {
		if err := s.once(Target{Instance: id}); err != nil {
			return recur.Instance{}, err
		}
		return s.itself()
	}
	all, err := s.series(o)
	if err != nil {
		return recur.Instance{}, err
	}
	found, err := all.find(id)
	if err != nil {
		return recur.Instance{}, err
	}
	return s.moments(found)
}

// itself returns the object as written, without its recurrence.
func (e *session) itself() (recur.Instance, error) {
	main := e.object.Main()
	found := instance{component: main}
	var err error
	if found.from, err = timeOf(main, "DTSTART"); err != nil {
		return recur.Instance{}, err
	}
	if found.id, err = timeOf(main, "RECURRENCE-ID"); err != nil {
		return recur.Instance{}, err
	}
	if found.from.IsZero() {
		found.to, err = timeOf(main, endName(main))
	} else {
		found.to, err = e.end(main, found.from)
	}
	if err != nil {
		return recur.Instance{}, err
	}
	return e.moments(found)
}

// end returns the end of a component for a given start.
func (r reader) end(c *ical.Component, start ical.Time) (ical.Time, error) {
	lasting, err := r.lasts(c, start)
	if err != nil {
		return start, err
	}
	if start.IsDate() {
		return ical.Date(start.Civil.AddDays(lasting.days)), nil
	}
	if start.Form == ical.FormFloating {
		return ical.Floating(start.Civil.AddSeconds(lasting.seconds)), nil
	}
	on, err := r.clock(start)
	if err != nil {
		return start, err
	}
	return on.at(on.unix(start.Civil) + lasting.seconds), nil
}

func (e *session) moments(found instance) (i recur.Instance, err error) {
	i.Component = found.component
	for _, m := range [...]struct {
		to   *recur.Moment
		from ical.Time
	}{{&i.RecurrenceID, found.id}, {&i.Start, found.from}, {&i.End, found.to}} {
		if *m.to, err = e.moment(m.from); err != nil {
			return i, err
		}
	}
	return i, nil
}

// moment converts a time. The zero time becomes the zero moment.
func (r reader) moment(t ical.Time) (recur.Moment, error) {
	if t.IsZero() {
		return recur.Moment{}, nil
	}
	on, err := r.clock(t)
	if err != nil {
		return recur.Moment{}, err
	}
	at := time.Unix(on.unix(t.Civil), 0).In(on.zone.Location())
	return recur.Moment{Time: at, AllDay: t.IsDate(), Floating: t.Form == ical.FormFloating}, nil
}
