package edit

import (
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// Times holds the new times of an event or task.
type Times struct {
	// Start moves it and keeps its duration, unless End is given. DTEND is exclusive: a whole-day event that ends on
	// the day of its start takes that day.
	Start, End Field[ical.Time]
	// AsGiven keeps the form of the times, to change to another zone or between times and whole days. Otherwise they
	// are converted to the event's clock.
	AsGiven bool
	// EndAsGiven keeps the form of the end only: a flight lands in another zone.
	EndAsGiven bool
}

func (t Times) left() bool { return t.Start.Left() && t.End.Left() }

// length is a duration: days for whole-day events, exact seconds for others.
type length struct {
	days    int
	seconds int64
}

// placement is the new position of a component.
type placement struct {
	start ical.Time
	// lasting is the new duration; nil keeps it.
	lasting *length
	// endOn is the clock of the end; nil keeps it.
	endOn *clock
}

// endName returns the name of the end property: DUE for tasks, DTEND otherwise.
func endName(c *ical.Component) string {
	if c.Name() == content.Todo {
		return "DUE"
	}
	return "DTEND"
}

// timeOf reads a time property. The zero time means that there is none.
func timeOf(c *ical.Component, name string) (ical.Time, error) {
	p := c.Property(name)
	if p == nil {
		return ical.Time{}, nil
	}
	t, err := p.Time()
	if err != nil {
		return t, fault(BadTime, "%v", err)
	}
	return t, nil
}

// setTime sets a time property. An unchanged one keeps its bytes.
func setTime(c *ical.Component, name string, t ical.Time) {
	p := c.Property(name)
	if p == nil {
		c.Add(ical.NewTime(name, t))
		return
	}
	if now, err := p.Time(); err != nil || now != t {
		p.SetTime(t)
	}
}

// lasts returns the duration of a component with a start. RFC 5545 §3.6.1: without an end, a DATE lasts the day and a
// DATE-TIME has no duration.
func (r reader) lasts(c *ical.Component, start ical.Time) (length, error) {
	end, err := timeOf(c, endName(c))
	if err != nil {
		return length{}, err
	}
	if !end.IsZero() {
		return r.between(start, end)
	}
	if p := c.Property("DURATION"); p != nil {
		d, err := p.Duration()
		if err != nil {
			return length{}, fault(BadTime, "%v", err)
		}
		return r.nominal(start, d)
	}
	if start.IsDate() && c.Name() != content.Todo {
		return length{days: 1}, nil
	}
	return length{}, nil
}

// between returns the duration between two times of the same kind.
func (r reader) between(start, end ical.Time) (length, error) {
	if start.IsDate() {
		return length{days: max(0, end.Civil.Days()-start.Civil.Days())}, nil
	}
	if start.Form == ical.FormFloating && end.Form == ical.FormFloating {
		return length{seconds: max(0, end.Civil.Seconds()-start.Civil.Seconds())}, nil
	}
	from, err := r.instant(start)
	if err != nil {
		return length{}, err
	}
	to, err := r.instant(end)
	return length{seconds: max(0, to-from)}, err
}

// nominal converts a DURATION for a given start: its days end at the same time on the wall clock (RFC 5545 §3.3.6).
func (r reader) nominal(start ical.Time, d ical.Duration) (length, error) {
	if start.IsDate() {
		return length{days: d.NominalDays() + int(d.ExactSeconds()/secondsPerDay)}, nil
	}
	c, err := r.clock(start)
	if err != nil {
		return length{}, err
	}
	end := c.unix(start.Civil.AddDays(d.NominalDays())) + d.ExactSeconds()
	return length{seconds: end - c.unix(start.Civil)}, nil
}

// place computes the new position of a component whose current start is now.
func (r reader) place(now ical.Time, t Times) (placement, error) {
	p := placement{start: now}
	if start, ok := t.Start.Value(); ok {
		p.start = start
		if !t.AsGiven && !now.IsZero() {
			on, err := r.clock(now)
			if err != nil {
				return p, err
			}
			if p.start, err = r.rewrite(on, start); err != nil {
				return p, err
			}
		}
	}
	end, ok := t.End.Value()
	if !ok {
		return p, nil
	}
	if p.start.IsZero() {
		return p, fault(BadTime, "an end needs a start")
	}
	return r.ending(p, end, t.AsGiven || t.EndAsGiven)
}

// ending adds an end to a placement.
func (r reader) ending(p placement, end ical.Time, asGiven bool) (placement, error) {
	on, err := r.clock(p.start)
	if err != nil {
		return p, err
	}
	if end.IsDate() != p.start.IsDate() || end.Form == ical.FormFloating {
		if end, err = r.rewrite(on, end); err != nil {
			return p, err
		}
	}
	from, err := r.instant(p.start)
	if err != nil {
		return p, err
	}
	to, err := r.instant(end)
	if err != nil {
		return p, err
	}
	if to < from {
		return p, fault(BadTime, "it would end (%s) before it begins (%s)", end, p.start)
	}
	lasting, err := r.between(p.start, end)
	if err != nil {
		return p, err
	}
	p.lasting = &lasting
	if asGiven {
		ends, err := r.clock(end)
		p.endOn = &ends
		return p, err
	}
	return p, nil
}

// put moves a component. Unchanged properties keep their bytes.
func (r reader) put(c *ical.Component, p placement) error {
	now, err := timeOf(c, "DTSTART")
	if err != nil {
		return err
	}
	if p.lasting != nil && p.start.IsDate() && c.Name() != content.Todo {
		p.lasting = &length{days: max(1, p.lasting.days)}
	}
	if now.IsZero() {
		now = p.start
	} else if p.lasting, err = r.toLast(c, p, now); err != nil {
		return err
	}
	setTime(c, "DTSTART", p.start)
	return r.putEnd(c, p, now)
}

// toLast returns the duration to write, or nil if the component's end or duration can stay as written.
func (r reader) toLast(c *ical.Component, p placement, now ical.Time) (*length, error) {
	before, err := r.lasts(c, now)
	if err != nil {
		return nil, err
	}
	if p.lasting != nil {
		said, err := r.says(c, p, now, before)
		if said {
			return nil, err
		}
		return p.lasting, err
	}
	turns := now.IsDate() != p.start.IsDate() // between times and whole days
	moves := now != p.start && c.Property(endName(c)) != nil
	switch {
	case turns:
		return converted(before, p.start)
	case moves:
		return &before, nil
	}
	return nil, nil // a DURATION needs no change
}

// says reports whether the written end already expresses the requested duration.
func (r reader) says(c *ical.Component, p placement, now ical.Time, lasting length) (bool, error) {
	if c.Property(endName(c)) != nil {
		return *p.lasting == lasting && now == p.start && p.endOn == nil, nil
	}
	// An event has an implied end; a task has none.
	if now.IsDate() != p.start.IsDate() || c.Name() != content.Event && c.Property("DURATION") == nil {
		return false, nil
	}
	// The clocks at the new position decide how long a day is.
	there, err := r.lasts(c, p.start)
	return err == nil && *p.lasting == there, err
}

// converted converts times to whole days: every day that they touch. The reverse is refused, because the duration is
// unknown.
func converted(l length, start ical.Time) (*length, error) {
	if !start.IsDate() {
		return nil, fault(BadTime, "the event changes from whole days to times").hint("give its end, too")
	}
	return &length{days: max(1, int((l.seconds+secondsPerDay-1)/secondsPerDay))}, nil
}

// putEnd writes the end in its former form: as a DURATION, or on its own clock.
func (r reader) putEnd(c *ical.Component, p placement, was ical.Time) error {
	if p.lasting == nil {
		return nil
	}
	if d := c.Property("DURATION"); d != nil && p.apart() {
		c.Remove("DURATION") // a DURATION has no zone
	} else if d != nil {
		d.SetValue(ical.Duration{Days: p.lasting.days, Seconds: p.lasting.seconds}.String())
		return nil
	}
	if p.start.IsDate() {
		setTime(c, endName(c), ical.Date(p.start.Civil.AddDays(p.lasting.days)))
		return nil
	}
	on, err := r.endClock(c, p, was)
	if err != nil {
		return err
	}
	if on.form == ical.FormFloating && p.start.Form == ical.FormFloating {
		setTime(c, endName(c), ical.Floating(p.start.Civil.AddSeconds(p.lasting.seconds)))
		return nil
	}
	from, err := r.instant(p.start)
	if err != nil {
		return err
	}
	setTime(c, endName(c), on.at(from+p.lasting.seconds))
	return nil
}

// apart reports whether the end needs another clock than the start.
func (p placement) apart() bool {
	return p.endOn != nil && (p.endOn.form != p.start.Form || p.endOn.tzid != p.start.TZID)
}

// endClock returns the clock for the end. A different clock than the start's is kept (a flight lands in another zone);
// otherwise the end follows the start.
func (r reader) endClock(c *ical.Component, p placement, was ical.Time) (clock, error) {
	if p.endOn != nil {
		return *p.endOn, nil
	}
	start, err := r.clock(p.start)
	if err != nil {
		return start, err
	}
	end, err := timeOf(c, endName(c))
	if err != nil || end.IsZero() || end.IsDate() || end.Form == was.Form && end.TZID == was.TZID {
		return start, err
	}
	return r.clock(end)
}

// apply applies times to one component.
func (r reader) apply(c *ical.Component, t Times) error {
	if t.Start.Cleared() || t.End.Cleared() {
		if err := r.clear(c, t); err != nil {
			return err
		}
	}
	now, err := timeOf(c, "DTSTART")
	if err != nil {
		return err
	}
	if due, ok := t.End.Value(); ok && now.IsZero() && t.Start.Left() && c.Name() == content.Todo {
		return r.due(c, due, t.AsGiven)
	}
	_, starts := t.Start.Value()
	_, ends := t.End.Value()
	if !starts && !ends {
		return nil
	}
	p, err := r.place(now, t)
	if err != nil {
		return err
	}
	return r.put(c, p)
}

// due sets the DUE of a task without a start.
func (r reader) due(c *ical.Component, due ical.Time, asGiven bool) error {
	now, err := timeOf(c, "DUE")
	if err != nil {
		return err
	}
	if !now.IsZero() && !asGiven {
		on, err := r.clock(now)
		if err != nil {
			return err
		}
		if due, err = r.rewrite(on, due); err != nil {
			return err
		}
	}
	setTime(c, "DUE", due)
	return nil
}

// clear removes the start or the end.
func (r reader) clear(c *ical.Component, t Times) error {
	if t.Start.Cleared() {
		if c.Name() == content.Event {
			return fault(BadTime, "an event cannot be without a start")
		}
		if c.Property("RRULE") != nil || c.Property("DURATION") != nil {
			return fault(BadTime, "a task that repeats or has a duration cannot be without a start")
		}
		c.Remove("DTSTART")
	}
	if t.End.Cleared() {
		c.Remove(endName(c))
		c.Remove("DURATION")
	}
	return nil
}
