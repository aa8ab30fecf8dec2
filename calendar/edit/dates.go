package edit

import (
	"slices"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// dated reports whether the fields add instances to a series or exclude some.
func (f Fields) dated() bool { return !f.Left.Left() || !f.Extra.Left() }

// setDates sets the additional dates (RDATE) and then the excluded dates (EXDATE) of a series. Excluded dates must be
// instances of it.
func (e *session) setDates(o *content.Object, f Fields) error {
	if !f.dated() {
		return nil
	}
	if !f.Extra.Left() {
		if o.Master.Property("DTSTART") == nil {
			return fault(BadField, "a recurring event or task needs a start")
		}
		if slices.ContainsFunc(o.Master.All("RDATE"), (*ical.Property).IsPeriods) {
			return fault(Unsupported, "the series has dates with an end of their own, which a list of dates would lose")
		}
		if err := e.setList(o, "RDATE", f.Extra); err != nil {
			return err
		}
	}
	if f.Left.Left() {
		return nil
	}
	if !repeats(o) {
		return fault(NotSeries, "the event does not repeat, so no date can be excluded").
			hint("give it a recurrence rule, too")
	}
	if err := e.setList(o, "EXDATE", f.Left); err != nil {
		return err
	}
	s, err := e.series(o)
	if err != nil {
		return err
	}
	empty, err := s.empty()
	if err == nil && empty {
		err = fault(BadField, "nothing would be left of the series").hint("delete it instead")
	}
	return err
}

// setList writes dates to a property in the form of the series, unless they are unchanged. A date in a series of times
// means the instance on that day.
func (e *session) setList(o *content.Object, name string, f Field[[]ical.Time]) error {
	bare := &content.Object{
		Document: o.Document, Calendar: o.Calendar, Kind: o.Kind, UID: o.UID, Master: o.Master.Clone(),
	}
	bare.Master.Remove("EXDATE")
	s, err := e.series(bare)
	if err != nil {
		return err
	}
	list, _ := f.Value()
	var times []ical.Time
	var unixes []int64
	for _, t := range list {
		unix, err := s.at(t)
		if err != nil {
			return err
		}
		if slices.Contains(unixes, unix) {
			continue
		}
		if name == "EXDATE" {
			found, err := s.within(unix, unix+1)
			if err != nil {
				return err
			}
			if len(found) == 0 {
				return s.missing(t, unix)
			}
		}
		times, unixes = append(times, s.on.at(unix)), append(unixes, unix)
	}
	if same, err := s.hasDates(o.Master, name, unixes); err != nil || same {
		return err
	}
	o.Master.Remove(name)
	for _, group := range byForm(times) {
		p := ical.NewProperty(name, "")
		p.SetTimes(group...)
		o.Master.Add(p)
	}
	if name == "EXDATE" {
		return s.dropApart(o, unixes)
	}
	return nil
}

// byForm groups times that can share a line. The second of a repeated hour is in UTC and needs its own line.
func byForm(times []ical.Time) [][]ical.Time {
	var groups [][]ical.Time
	for _, t := range times {
		i := slices.IndexFunc(groups, func(g []ical.Time) bool { return g[0].Form == t.Form && g[0].TZID == t.TZID })
		if i < 0 {
			groups = append(groups, []ical.Time{t})
			continue
		}
		groups[i] = append(groups[i], t)
	}
	return groups
}

// hasDates reports whether a component's lines contain exactly these dates.
func (s *series) hasDates(c *ical.Component, name string, unixes []int64) (bool, error) {
	var now []int64
	for _, p := range c.All(name) {
		times, err := p.Times()
		if err != nil {
			return false, nil // unreadable dates are rewritten
		}
		for _, t := range times {
			unix, err := s.at(t)
			if err != nil {
				return false, err
			}
			now = append(now, unix)
		}
	}
	slices.Sort(now)
	return slices.Equal(slices.Compact(now), slices.Sorted(slices.Values(unixes))), nil
}

// dropApart drops the overrides of excluded instances; clients would still show them.
func (s *series) dropApart(o *content.Object, unixes []int64) error {
	return s.dropOverrides(o, func(unix int64) (bool, error) { return slices.Contains(unixes, unix), nil })
}

// DatesOf lists the dates of a component's RDATE or EXDATE lines. It skips periods.
func DatesOf(c *ical.Component, name string) []ical.Time {
	var list []ical.Time
	for _, p := range c.All(name) {
		if times, err := p.Times(); err == nil && !p.IsPeriods() {
			list = append(list, times...)
		}
	}
	return list
}
