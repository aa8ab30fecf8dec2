package edit

import (
	"context"
	"slices"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// Draft holds the data of a new event or task.
type Draft struct {
	// Kind is content.Event or content.Todo.
	Kind string
	UID  string
	// Times are written as given. An event needs a start.
	Times  Times
	Fields Fields
}

// New creates an object. If the draft is invalid, the error is a [*Error].
func (e Editor) New(ctx context.Context, d Draft) (*ical.Document, error) {
	root := content.Root()
	c := ical.NewComponent(d.Kind)
	c.Add(ical.NewText("UID", d.UID))
	c.Add(ical.NewTime("DTSTAMP", ical.Instant(e.Now)))
	root.AddComponent(c)
	o, err := content.Of(ical.NewDocument(root))
	if err != nil {
		return nil, err
	}
	s := e.session(ctx, o)
	if d.Times, err = s.canonical(d.Times); err != nil {
		return nil, err
	}
	d.Times.AsGiven = true
	if _, ok := d.Times.Start.Value(); !ok && d.Kind == content.Event {
		return nil, fault(BadTime, "an event needs a start")
	}
	d.Fields = d.Fields.complete(d.Kind, e.Now)
	if err := s.alterOne(c, Change{Times: d.Times, Fields: d.Fields}); err != nil {
		return nil, err
	}
	if rule, ok := d.Fields.Rule.Value(); ok {
		if err := s.setRule(c, To(rule)); err != nil {
			return nil, err
		}
	}
	if err := s.setDates(o, d.Fields); err != nil {
		return nil, err
	}
	return o.Document, s.define(nil)
}

// canonical renames the zones of given times to the names in the object, or to IANA names.
func (e *session) canonical(t Times) (Times, error) {
	for _, f := range [...]*Field[ical.Time]{&t.Start, &t.End} {
		at, ok := f.Value()
		if !ok || at.Form != ical.FormZoned || e.defined(at.TZID) {
			continue
		}
		c, err := e.clock(at)
		if err != nil {
			return t, err
		}
		if c.zone.Name() == zone.UTC().Name() {
			*f = To(ical.UTC(at.Civil))
		} else {
			*f = To(ical.Zoned(at.Civil, c.zone.Name()))
		}
	}
	return t, nil
}

// defined reports whether the object has a VTIMEZONE with this name.
func (e *session) defined(tzid string) bool {
	return slices.ContainsFunc(e.object.Calendar.AllComponents("VTIMEZONE"), func(c *ical.Component) bool {
		return content.TextOf(c, "TZID") == tzid
	})
}

// zonesNamed lists the TZIDs of the object's times, in order.
func (e *session) zonesNamed() []string {
	var list []string
	for _, c := range e.object.Components() {
		for p := range c.Properties() {
			if tzid, ok := p.Param("TZID"); ok {
				list = append(list, tzid)
			}
		}
	}
	return list
}

// define adds the VTIMEZONEs of zones that the edit introduced. A VTIMEZONE that was missing before stays missing.
func (e *session) define(before []string) error {
	known := map[string]bool{}
	for _, tzid := range before {
		known[tzid] = true
	}
	for _, tzid := range e.zonesNamed() {
		if known[tzid] || e.defined(tzid) {
			continue
		}
		known[tzid] = true
		z, err := e.zones.Zone(tzid)
		if err != nil {
			return fault(BadTime, "%v", err)
		}
		from, to, err := e.extent()
		if err != nil {
			return err
		}
		e.object.Calendar.InsertComponent(zone.Component(z, from, to), content.FirstOf(e.object.Calendar))
	}
	return nil
}

// extent returns the time range that the object's zones must cover; a zero end means no end.
func (e *session) extent() (from, to time.Time, err error) {
	for _, c := range e.object.Components() {
		for _, name := range [...]string{"DTSTART", endName(c), "RECURRENCE-ID"} {
			t, err := timeOf(c, name)
			if err != nil || t.IsZero() {
				continue
			}
			unix, err := e.instant(t)
			if err != nil {
				return from, to, err
			}
			at := time.Unix(unix, 0).UTC()
			if from.IsZero() || at.Before(from) {
				from = at
			}
			if at.After(to) {
				to = at
			}
		}
		if c.Property("RRULE") != nil || c.Property("RDATE") != nil {
			return from, time.Time{}, nil
		}
	}
	return from, to, nil
}
