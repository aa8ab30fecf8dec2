package content

import (
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// Recurring reports whether the object can have more than one instance.
func (o *Object) Recurring() bool {
	if o.Master == nil {
		return len(o.Overrides) > 1
	}
	return o.Master.Property("RRULE") != nil || o.Master.Property("RDATE") != nil || len(o.Overrides) > 0
}

const (
	// zoneSlack is a little more than the largest offset of a zone from UTC. The index must allow for it, because
	// the caller chooses the zone of dates and floating times.
	zoneSlack = 16 * 3600
	// spanSteps limits the search for the end of a rule. The index treats a rule that exceeds it as endless.
	spanSteps = 50_000
)

// Span returns the time where RFC 4791 §9.9 can find the object, in inclusive Unix seconds. start is nil without
// a beginning, end is nil without an end. Both are nil for an object that cannot be evaluated, so that an index
// never hides it.
func (o *Object) Span(zones *zone.DB) (start, end *int64) {
	s, err := o.span(o.Clock(zones, nil))
	if err != nil || s.start > s.end {
		return nil, nil
	}
	if s.start != Beginning {
		start = &s.start
	}
	if s.end != Forever {
		end = &s.end
	}
	return start, end
}

// span grows to include all added times.
type span struct{ start, end int64 }

func (s *span) add(start, end int64) { s.start, s.end = min(s.start, start), max(s.end, end) }

// span handles the kinds that have their own table in RFC 4791 §9.9 or RFC 7953 §5. Other kinds are recurrence
// sets.
func (o *Object) span(k Clock) (span, error) {
	s := span{Forever, Beginning}
	var err error
	switch o.Kind {
	case Todo:
		err = o.tasks(k, &s)
	case FreeBusy:
		err = o.each(k, &s, busyTime)
	case Availability:
		err = o.each(k, &s, func(c *ical.Component, k Clock, s *span) error {
			start, end, err := k.Bounds(c)
			s.add(start, end)
			return err
		})
	default:
		err = o.instances(k, &s)
	}
	return s, err
}

func (o *Object) each(k Clock, s *span, add func(*ical.Component, Clock, *span) error) error {
	for _, c := range o.Components() {
		if err := add(c, k, s); err != nil {
			return err
		}
	}
	// Most clients write these times in UTC. Allowing for other zones costs less than checking.
	s.start, s.end = moved(s.start, -zoneSlack), moved(s.end, zoneSlack)
	return nil
}

// moved shifts a time, except Beginning and Forever.
func moved(at, seconds int64) int64 {
	if at == Beginning || at == Forever {
		return at
	}
	return at + seconds
}

// instances adds the recurrence set of the object.
func (o *Object) instances(k Clock, s *span) error {
	set, err := recur.FromComponents(o.Master, o.Overrides, k.Zones, k.Floating.Location())
	if err != nil {
		return err
	}
	found, dated := set.Span(spanSteps)
	if !dated {
		return nil
	}
	slack := int64(0)
	if found.Local {
		slack = zoneSlack
	}
	end := int64(Forever)
	if !found.Open {
		end = found.End.Unix() + slack
	}
	s.add(found.Start.Unix()-slack, end)
	return nil
}

// tasks adds the dates of each VTODO, or else the times of its creation and completion.
func (o *Object) tasks(k Clock, s *span) error {
	err := o.each(k, s, func(c *ical.Component, k Clock, s *span) error {
		if Placed(c) || c.Property("DUE") != nil {
			return nil
		}
		return undatedTask(c, k, s)
	})
	if err != nil {
		return err
	}
	return o.instances(k, s)
}

// Placed reports whether a VTODO has an effective DTSTART: its own, or the series' in an override without dates. A
// recurring task with only a DUE recurs by that.
func Placed(c *ical.Component) bool {
	if c.Property("DTSTART") != nil {
		return true
	}
	if c.Property("DUE") == nil {
		return c.Property("RECURRENCE-ID") != nil
	}
	return c.Property("RRULE") != nil || c.Property("RDATE") != nil
}

// undatedTask implements the last four rows of the table for VTODO: an open task exists from its creation on, or
// always.
func undatedTask(c *ical.Component, k Clock, s *span) error {
	created, isCreated, err := k.Time(c, "CREATED")
	if err != nil {
		return err
	}
	completed, isCompleted, err := k.Time(c, "COMPLETED")
	switch {
	case err != nil:
		return err
	case isCreated && isCompleted:
		s.add(min(created, completed), max(created, completed))
	case isCompleted:
		s.add(completed, completed)
	case isCreated:
		s.add(created, Forever)
	default:
		s.add(Beginning, Forever)
	}
	return nil
}

// busyTime implements the table for VFREEBUSY.
func busyTime(c *ical.Component, k Clock, s *span) error {
	start, started, err := k.Time(c, "DTSTART")
	if err != nil {
		return err
	}
	end, ended, err := k.Time(c, "DTEND")
	if err != nil {
		return err
	}
	if started && ended {
		s.add(start, end)
		return nil
	}
	for _, p := range c.All("FREEBUSY") {
		periods, err := p.Periods()
		if err != nil {
			return err
		}
		for _, period := range periods {
			start, end, err := k.Period(period)
			if err != nil {
				return err
			}
			s.add(start, end)
		}
	}
	return nil
}
