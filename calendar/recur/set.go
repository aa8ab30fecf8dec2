package recur

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// rulesMost bounds the RRULEs and EXRULEs of a component, because each of them costs time. RFC 5545 §3.8.5.3 recommends
// at most one RRULE.
const rulesMost = 32

// ErrNoComponent is the error if there is nothing to expand.
var ErrNoComponent = errors.New("a recurrence needs a component")

// Set is the recurrence set of the components with one UID: the series and its overrides. It is immutable.
type Set struct {
	reader reader
	master *series // nil if there are only overrides
	// overrides are sorted by start, ranges by RECURRENCE-ID.
	overrides []*override
	ranges    []*override
	replaced  ids
}

// series is a component that recurs.
type series struct {
	shape
	recurring bool
	include   []*recurrence
	exclude   []*recurrence
	dates     []date
	excluded  ids
	// timed is set when all instances start at the time of day of DTSTART, and that is not midnight.
	timed   bool
	longest int64 // upper bound of an instance's duration
}

// date is an RDATE, with the end from its PERIOD if it has one.
type date struct {
	start, end point
	period     bool
}

// override is a component with a RECURRENCE-ID.
type override struct {
	moved
	future bool // RANGE=THISANDFUTURE
}

// FromComponents returns the set of a master and its overrides; either may be missing. Floating times and days are read
// in the location floating; nil means UTC.
func FromComponents(
	master *ical.Component, overrides []*ical.Component, zones Zones, floating *time.Location,
) (*Set, error) {
	if master == nil && len(overrides) == 0 {
		return nil, ErrNoComponent
	}
	if floating == nil {
		floating = time.UTC
	}
	r := reader{zones: zones, floating: zone.In(floating)}
	s := &Set{reader: r}
	if master != nil {
		series, err := readSeries(master, r)
		if err != nil {
			return nil, err
		}
		s.master = series
	}
	for _, component := range overrides {
		if err := s.override(component, r); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(s.overrides, func(a, b *override) int {
		return cmp.Compare(a.shape.start.unix, b.shape.start.unix)
	})
	slices.SortStableFunc(s.ranges, func(a, b *override) int { return cmp.Compare(a.from.unix, b.from.unix) })
	return s, nil
}

// Recurring reports whether the set can have more than one instance.
func (s *Set) Recurring() bool {
	return s.master == nil || s.master.recurring || len(s.overrides) > 0
}

// Dated reports whether anything in the set has a time. A task may have none.
func (s *Set) Dated() bool {
	return s.master != nil && s.master.dated || len(s.overrides) > 0
}

func (s *Set) override(c *ical.Component, r reader) error {
	property := c.Property("RECURRENCE-ID")
	if property == nil {
		return fmt.Errorf("%s: a second component of the same UID needs a RECURRENCE-ID", c.Name())
	}
	written, err := property.Time()
	if err != nil {
		return err
	}
	id, err := s.id(written, r)
	if err != nil {
		return fmt.Errorf("RECURRENCE-ID: %w", err)
	}
	shape, err := readShape(c, r)
	if err != nil {
		return err
	}
	if !shape.dated {
		// A task without dates of its own keeps the time from the series.
		shape.start, shape.dated = id, true
	}
	o := &override{moved: newMoved(shape, id)}
	if value, _ := property.Param("RANGE"); strings.EqualFold(value, "THISANDFUTURE") && s.master != nil {
		o.future = true
		s.ranges = append(s.ranges, o)
	}
	s.overrides = append(s.overrides, o)
	if s.master != nil {
		s.replaced.add(written, id, s.master.start)
	}
	return nil
}

// id returns the point that a RECURRENCE-ID names.
func (s *Set) id(written ical.Time, r reader) (point, error) {
	if s.master == nil || !s.master.dated {
		return r.point(written)
	}
	start := s.master.start
	switch {
	case start.allDay:
		return start.at(dayOf(written, start.zone)), nil
	case written.IsDate():
		return start.at(written.Civil.Seconds() + start.wall - start.day()), nil
	case written.Form == ical.FormFloating:
		// Some clients forget the TZID, others drop it on purpose.
		return s.master.onDay(start.at(written.Civil.Seconds())), nil
	default:
		p, err := r.point(written)
		return s.master.onDay(start.instant(p.unix)), err
	}
}

// NamesDay reports whether a time on the clock of the series is a midnight without an instance, and so stands for its
// day. Outlook and Exchange write RECURRENCE-ID;TZID=…:20260721T000000 for the instance at 9:00.
func (s *Set) NamesDay(clock ical.Civil) bool {
	return s.master != nil && s.master.timed && clock.SecondOfDay() == 0
}

// onDay maps a midnight that no instance can have to the start of that day's instance. Other points stay as they are.
func (s *series) onDay(p point) point {
	if !s.timed || p.wall != p.day() {
		return p
	}
	return p.at(p.wall + s.start.wall - s.start.day())
}

// isTimed computes timed. It is false for a series with RDATE or BYHOUR, where midnight is a time like any other.
func (s *series) isTimed() bool {
	return s.recurring && !s.start.allDay && s.start.wall != s.start.day() && len(s.dates) == 0 &&
		!slices.ContainsFunc(s.include, func(r *recurrence) bool { return r.clocked })
}

func readSeries(c *ical.Component, r reader) (*series, error) {
	shape, err := readShape(c, r)
	if err != nil {
		return nil, err
	}
	s := &series{shape: shape, longest: shape.longest()}
	if !s.dated {
		return s, nil
	}
	if s.include, err = s.recurrences(c, "RRULE"); err != nil {
		return nil, err
	}
	if s.exclude, err = s.recurrences(c, "EXRULE"); err != nil {
		return nil, err
	}
	if err := s.readDates(c, r); err != nil {
		return nil, err
	}
	s.recurring = len(s.include) > 0 || len(s.dates) > 0
	s.timed = s.isTimed()
	return s, s.readExceptions(c, r)
}

func (s *series) recurrences(c *ical.Component, name string) ([]*recurrence, error) {
	var list []*recurrence
	written := ical.Floating(ical.CivilFromSeconds(s.start.wall))
	if s.start.allDay {
		written = ical.Date(written.Civil)
	}
	for property := range c.Properties() {
		if property.Name() != name {
			continue
		}
		r, err := property.Recur()
		if err != nil {
			return nil, err
		}
		recurrence, err := newRecurrence(&r, s.start, written, name == "EXRULE")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if list = append(list, recurrence); len(list) > rulesMost {
			return nil, fmt.Errorf("%s: more than %d rules: %w", name, rulesMost, ErrUnsupported)
		}
	}
	return list, nil
}

func (s *series) readDates(c *ical.Component, r reader) error {
	for property := range c.Properties() {
		if property.Name() != "RDATE" {
			continue
		}
		read := s.times
		if property.IsPeriods() {
			read = s.periods
		}
		if err := read(property, r); err != nil {
			return err
		}
	}
	slices.SortStableFunc(s.dates, date.compare)
	return nil
}

// compare orders by start. A date with its own end comes before one that takes the duration of the series.
func (d date) compare(other date) int {
	if c := cmp.Compare(d.start.unix, other.start.unix); c != 0 || d.period == other.period {
		return c
	}
	if d.period {
		return -1
	}
	return 1
}

func (s *series) times(p *ical.Property, r reader) error {
	times, err := p.Times()
	if err != nil {
		return err
	}
	for _, t := range times {
		at, err := s.date(t, r)
		if err != nil {
			return fmt.Errorf("RDATE: %w", err)
		}
		s.dates = append(s.dates, date{start: at})
	}
	return nil
}

// date converts an RDATE to the form of the series: a date in a series of times gets the time of DTSTART, a time in a
// series of days becomes its day.
func (s *series) date(t ical.Time, r reader) (point, error) {
	switch {
	case s.start.allDay:
		return s.start.at(dayOf(t, s.start.zone)), nil
	case t.IsDate():
		return s.start.at(t.Civil.Seconds() + s.start.wall - s.start.day()), nil
	case t.Form == ical.FormFloating:
		return s.start.at(t.Civil.Seconds()), nil
	default:
		p, err := r.point(t)
		return s.start.instant(p.unix), err
	}
}

func (s *series) periods(p *ical.Property, r reader) error {
	periods, err := p.Periods()
	if err != nil {
		return err
	}
	for _, period := range periods {
		start, err := s.date(period.Start, r)
		if err != nil {
			return fmt.Errorf("RDATE: %w", err)
		}
		d := date{start: start, end: start, period: !s.start.allDay}
		if period.HasEnd() {
			d.end, err = s.date(period.End, r)
		} else if d.period {
			span := shape{days: int64(period.Duration.NominalDays()), seconds: period.Duration.ExactSeconds()}
			d.end = span.end(start)
		}
		if err != nil {
			return fmt.Errorf("RDATE: %w", err)
		}
		s.longest = max(s.longest, d.end.unix-start.unix)
		s.dates = append(s.dates, d)
	}
	return nil
}

func (s *series) readExceptions(c *ical.Component, r reader) error {
	for property := range c.Properties() {
		if property.Name() != "EXDATE" {
			continue
		}
		times, err := property.Times()
		if err != nil {
			return err
		}
		for _, t := range times {
			at, err := s.date(t, r)
			if err != nil {
				return fmt.Errorf("EXDATE: %w", err)
			}
			s.excluded.add(t, s.onDay(at), s.start)
		}
	}
	return nil
}

// ids is a set of occurrences identified by their start: by the instant or, if either side is a date, by the day on the
// series' wall clock.
type ids struct {
	instants map[int64]struct{}
	days     map[int64]struct{}
}

func (s *ids) add(written ical.Time, at, start point) {
	if start.allDay || written.IsDate() {
		if s.days == nil {
			s.days = make(map[int64]struct{})
		}
		s.days[at.day()] = struct{}{}
		return
	}
	if s.instants == nil {
		s.instants = make(map[int64]struct{})
	}
	s.instants[at.unix] = struct{}{}
}

func (s *ids) has(p point) bool {
	if len(s.instants) > 0 {
		if _, ok := s.instants[p.unix]; ok {
			return true
		}
	}
	if len(s.days) == 0 {
		return false
	}
	_, ok := s.days[p.day()]
	return ok
}
