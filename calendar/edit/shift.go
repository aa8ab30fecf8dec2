package edit

import (
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// shift moves a whole series: all its times by the same distance on the wall clock, whatever the clocks do in between.
// So a meeting at ten becomes one at eleven, in summer and in winter.
type shift struct {
	reader
	from, to clock
	seconds  int64
	// days is the distance in dates: 1 if 23:00 becomes 01:00.
	days int
	// start is the former DTSTART.
	start ical.Civil
	// newRule is set if the edit also replaces the rule.
	newRule bool
	// named is the override of the named instance, if there is one.
	named *ical.Component
}

// shifted returns the shift between an instance's current and its new time.
func (r reader) shifted(master, now, next ical.Time) (shift, error) {
	s := shift{reader: r, start: master.Civil}
	var err error
	if s.from, err = r.clock(master); err != nil {
		return s, err
	}
	if s.to, err = r.seriesClock(master, next); err != nil {
		return s, err
	}
	was, err := r.on(s.from, now)
	if err != nil {
		return s, err
	}
	will, err := r.on(s.to, next)
	if err != nil {
		return s, err
	}
	s.seconds = will.Seconds() - was.Seconds()
	s.days = master.Civil.AddSeconds(s.seconds).Days() - master.Civil.Days()
	return s, nil
}

// seriesClock returns the series' clock after one of its instances moves to a time. An instance can move to the second
// of two equal hours, written in UTC; its series then keeps its own clock.
func (r reader) seriesClock(master, next ical.Time) (clock, error) {
	if next.Form == ical.FormUTC && master.Form == ical.FormZoned {
		own, err := r.clock(master)
		if err != nil || own.at(next.Civil.Seconds()) == next {
			return own, err
		}
	}
	return r.clock(next)
}

// sameForm reports whether dates stay dates and times stay times.
func (s shift) sameForm() bool { return (s.from.form == ical.FormDate) == (s.to.form == ical.FormDate) }

// nothing reports whether the shift changes nothing, not even the form.
func (s shift) nothing() bool {
	return s.seconds == 0 && s.from.form == s.to.form && s.from.tzid == s.to.tzid
}

// time shifts a time of the series: its start, an additional or excluded date, or a recurrence id. If a client wrote
// these in UTC, they stay in UTC.
func (s shift) time(t ical.Time) (ical.Time, error) {
	if t.IsDate() && s.from.form != ical.FormDate && s.to.form != ical.FormDate {
		return ical.Date(t.Civil.AddDays(s.days)), nil // the day means the instance on it
	}
	civil, err := s.on(s.from, t)
	if err != nil {
		return t, err
	}
	moved := s.to.write(civil.AddSeconds(s.seconds))
	switch {
	case s.to.form == ical.FormDate:
		moved = ical.Date(civil.AddDays(s.days))
	case t.Form == ical.FormUTC && s.from.form != ical.FormUTC:
		moved = ical.UTC(ical.CivilFromSeconds(s.to.unix(moved.Civil)))
	case t.Form == ical.FormFloating && s.from.form != ical.FormFloating && s.sameForm():
		moved = ical.Floating(moved.Civil)
	}
	return moved, nil
}

// master shifts the recurring component.
func (s shift) master(c *ical.Component, p placement) error {
	start, err := timeOf(c, "DTSTART")
	if err != nil {
		return err
	}
	if p.start, err = s.time(start); err != nil {
		return err
	}
	for _, name := range [...]string{"RRULE", "EXRULE"} {
		for _, rule := range c.All(name) {
			if s.newRule {
				break
			}
			if err := s.rule(rule); err != nil {
				return err
			}
		}
	}
	for _, name := range [...]string{"RDATE", "EXDATE"} {
		for _, dates := range c.All(name) {
			if err := s.dates(dates); err != nil {
				return err
			}
		}
	}
	return s.component(c, p)
}

// component moves a component, and its reminders at a fixed time.
func (s shift) component(c *ical.Component, p placement) error {
	was, err := timeOf(c, "DTSTART")
	if err != nil {
		return err
	}
	if err := s.put(c, p); err != nil {
		return err
	}
	return s.reader.follow(c, was)
}

// follow shifts the reminders at a fixed time by the distance of the start.
func (r reader) follow(c *ical.Component, was ical.Time) error {
	now, err := timeOf(c, "DTSTART")
	if err != nil || was.IsZero() || now.IsZero() {
		return err
	}
	before, err := r.instant(was)
	if err != nil {
		return err
	}
	after, err := r.instant(now)
	shiftAlarms(c, after-before)
	return err
}

// override shifts an override by the same distance, wherever its instance is. If it lasts as long as the others, it
// still does afterwards. The named instance gets the requested duration.
func (s shift) override(c *ical.Component, p placement, usual length) error {
	id := c.Property("RECURRENCE-ID")
	named, err := id.Time()
	if err != nil {
		return fault(BadTime, "%v", err)
	}
	if named, err = s.time(named); err != nil {
		return err
	}
	setTime(c, "RECURRENCE-ID", named)
	start, err := timeOf(c, "DTSTART")
	if err != nil || start.IsZero() {
		return err
	}
	lasting, err := s.lasts(c, start)
	if err != nil {
		return err
	}
	own := placement{endOn: p.endOn}
	if p.lasting != nil && (lasting == usual || c == s.named) {
		own.lasting = p.lasting
	}
	if own.start, err = s.apart(start); err != nil {
		return err
	}
	return s.component(c, own)
}

// apart shifts a time that may be on another clock than its series: on its own clock.
func (s shift) apart(t ical.Time) (ical.Time, error) {
	switch {
	case t.Form == s.from.form && t.TZID == s.from.tzid:
		civil := t.Civil.AddSeconds(s.seconds)
		if s.to.form == ical.FormDate {
			civil = t.Civil.AddDays(s.days)
		}
		return s.to.write(civil), nil
	case t.IsDate():
		return ical.Date(t.Civil.AddDays(s.days)), nil
	case t.Form == ical.FormUTC && s.from.form == ical.FormZoned && s.sameForm():
		return s.time(t)
	case !s.sameForm():
		return ical.Time{Civil: t.Civil.AddDays(s.days), Form: t.Form, TZID: t.TZID}, nil
	default:
		return ical.Time{Civil: t.Civil.AddSeconds(s.seconds), Form: t.Form, TZID: t.TZID}, nil
	}
}

// dates shifts an RDATE or EXDATE.
func (s shift) dates(p *ical.Property) error {
	if s.nothing() {
		return nil
	}
	if p.IsPeriods() {
		return s.periods(p)
	}
	times, err := p.Times()
	if err != nil {
		return fault(BadTime, "%v", err)
	}
	for i, t := range times {
		if times[i], err = s.time(t); err != nil {
			return err
		}
	}
	if len(times) > 0 {
		p.SetTimes(times...)
	}
	return nil
}

func (s shift) periods(p *ical.Property) error {
	periods, err := p.Periods()
	if err != nil {
		return fault(BadTime, "%v", err)
	}
	if s.to.form == ical.FormDate {
		return fault(RuleBound, "the series has dates with an end of their own, which whole days cannot have")
	}
	for i, period := range periods {
		if periods[i].Start, err = s.time(period.Start); err != nil {
			return err
		}
		if !period.HasEnd() {
			continue
		}
		if periods[i].End, err = s.time(period.End); err != nil {
			return err
		}
	}
	p.SetPeriods(periods...)
	if s.to.form == ical.FormZoned && len(periods) > 0 && periods[0].Start.Form == ical.FormZoned {
		p.SetParam("TZID", s.to.tzid)
	}
	return nil
}

// all shifts an object: the series and its overrides.
func (s shift) all(o *content.Object, p placement) error {
	start, err := timeOf(o.Master, "DTSTART")
	if err != nil {
		return err
	}
	usual, err := s.lasts(o.Master, start)
	if err != nil {
		return err
	}
	for _, c := range o.Overrides {
		if err := s.override(c, p, usual); err != nil {
			return err
		}
	}
	return s.master(o.Master, p)
}
