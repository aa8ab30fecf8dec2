package filter

import (
	"strings"

	"caldav-mcp-server/ical"
)

// properties reports whether all filters match properties of a component.
func (m *matcher) properties(filters []PropFilter, c *ical.Component) bool {
	for i := range filters {
		if !m.property(&filters[i], c) {
			return false
		}
	}
	return true
}

// property searches for one property that meets all conditions. RFC 4791 §9.7.2 requires the same one for all, even
// for negated conditions: of two ATTENDEEs, one always differs from a given text.
func (m *matcher) property(f *PropFilter, c *ical.Component) bool {
	for p := range c.Properties() {
		if !m.work(1) {
			return false
		}
		if !strings.EqualFold(p.Name(), string(f.Name)) {
			continue
		}
		if f.IsNotDefined {
			return false
		}
		if m.text(f.Text, p) && m.parameters(f.Params, p) && (f.TimeRange == nil || m.during(f.TimeRange.window(), p)) {
			return true
		}
	}
	return f.IsNotDefined
}

// work charges steps; false means that the work must stop.
func (m *matcher) work(steps int64) bool {
	if m.stopped == nil {
		m.stopped = m.meter.Work(steps)
	}
	return m.stopped == nil
}

func (m *matcher) text(t *TextMatch, p *ical.Property) bool {
	return t == nil || m.work(t.cost(p.Value())) && t.matches(p.Text())
}

func (m *matcher) parameters(filters []ParamFilter, p *ical.Property) bool {
	for _, f := range filters {
		value, defined := p.Param(string(f.Name))
		if !m.work(f.Text.cost(value)) || defined == f.IsNotDefined || defined && !f.Text.matches(value) {
			return false
		}
	}
	return true
}

// during reports whether a time in the property's value is in the window (RFC 4791 §9.9): an instant, a whole day,
// or part of a period. A value that is not a time never is.
func (m *matcher) during(w window, p *ical.Property) bool {
	if !m.work(1 + int64(len(p.Value()))/16) {
		return false
	}
	if p.IsPeriods() {
		return m.periods(w, p)
	}
	times, err := p.Times()
	if err != nil {
		return false
	}
	for _, t := range times {
		start, end, err := m.clock.Extent(t)
		if err == nil && w.overlaps(start, end) {
			return true
		}
	}
	return false
}

// periods reports whether one of the property's periods overlaps the window.
func (m *matcher) periods(w window, p *ical.Property) bool {
	periods, err := p.Periods()
	if err != nil {
		return false
	}
	for _, period := range periods {
		start, end, err := m.clock.Period(period)
		if err == nil && w.overlaps(start, end) {
			return true
		}
	}
	return false
}
