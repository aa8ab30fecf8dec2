package content

import (
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// Recurring tells whether the object can have more than one instance.
func (o *Object) Recurring() bool {
	if o.Master == nil {
		return len(o.Overrides) > 1
	}
	return o.Master.Property("RRULE") != nil || o.Master.Property("RDATE") != nil || len(o.Overrides) > 0
}

const (
	// zoneSlack is how far the clocks of a zone are from UTC, and a little more: the caller
	// decides in which zone a date or a floating time is read.
	zoneSlack = 16 * 3600
	// spanSteps is what finding the end of a rule may cost. A rule that is worth more goes on
	// forever as far as an index is concerned.
	spanSteps = 50_000
)

// Span returns the time in which RFC 4791 §9.9 can find the object, in Unix seconds, both
// ends included: start is nil where there is no beginning, end where there is no end. What
// cannot be read has neither, so that an index never hides it.
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

// span grows to hold all that it is given.
type span struct{ start, end int64 }

func (s *span) add(start, end int64) { s.start, s.end = min(s.start, start), max(s.end, end) }

// spans are how the kinds of components take place: those with a table of their own in
// §9.9, or in RFC 7953 §5. The others are sets of instances.
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
	// Their times are in UTC, but for those of a few clients: it is not worth a look.
	s.start, s.end = moved(s.start, -zoneSlack), moved(s.end, zoneSlack)
	return nil
}

// moved is another time, but infinity where it was.
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

// tasks adds what each VTODO goes by: its dates, or else when it was made and done.
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

// Placed tells whether a VTODO has an effective DTSTART: its own or, in an override without
// dates, that of the series; one that recurs without either does so by its DUE.
func Placed(c *ical.Component) bool {
	if c.Property("DTSTART") != nil {
		return true
	}
	if c.Property("DUE") == nil {
		return c.Property("RECURRENCE-ID") != nil
	}
	return c.Property("RRULE") != nil || c.Property("RDATE") != nil
}

// undatedTask is the last four rows of the table of VTODO: one that is not done is there
// from the time when it was made, or always.
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

// busyTime is the table of VFREEBUSY.
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
