package filter

import (
	"context"
	"iter"
	"slices"
	"strings"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// Context holds the settings for finding the times of an object.
type Context struct {
	Zones *zone.DB
	// Floating is the zone of dates and floating times; nil is UTC.
	Floating *zone.Zone
	// Budget limits the expansion of one object; the zero Budget is the default.
	Budget recur.Budget
	// Meter measures the cost of the whole request.
	Meter *meter.Meter
}

// Match reports whether an object matches the filter. It returns a [*CollationError], the errors of [recur] for a
// series that exceeds the budget, a [*zone.UnknownError], or the meter's errors.
func (f Filter) Match(ctx context.Context, o *content.Object, in Context) (bool, error) {
	if err := f.Check(); err != nil {
		return false, err
	}
	m := newMatcher(ctx, o, in)
	ok, err := m.components(f, place{components: one(o.Calendar)})
	if m.stopped != nil {
		return false, m.stopped
	}
	return ok, err
}

// matcher matches one object.
type matcher struct {
	ctx        context.Context
	object     *content.Object
	clock      content.Clock
	budget     recur.Budget
	expansions int
	meter      *meter.Meter
	// stopped is the meter's error that stopped the work; the result so far is invalid then.
	stopped error
}

func newMatcher(ctx context.Context, o *content.Object, in Context) *matcher {
	if in.Budget == (recur.Budget{}) {
		in.Budget = recur.DefaultBudget()
	}
	return &matcher{ctx: ctx, object: o, clock: o.Clock(in.Zones, in.Floating), budget: in.Budget, meter: in.Meter}
}

// place is a set of components to search: the components of a parent, or without a parent of the text.
type place struct {
	parent     *ical.Component
	components iter.Seq[*ical.Component]
}

func in(parent *ical.Component) place { return place{parent, parent.Components()} }

func one(c *ical.Component) iter.Seq[*ical.Component] {
	return func(yield func(*ical.Component) bool) { yield(c) }
}

// components reports whether all filters match in a place. They are combined with AND, and each may match a
// different component.
func (m *matcher) components(filters []CompFilter, at place) (bool, error) {
	for i := range filters {
		if ok, err := m.component(&filters[i], at); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// component searches for one component that meets all conditions. It checks cheap conditions first and expands
// series last.
func (m *matcher) component(f *CompFilter, at place) (bool, error) {
	defined := false
	var left []*ical.Component
	for c := range at.components {
		if !strings.EqualFold(c.Name(), string(f.Name)) {
			continue
		}
		defined = true
		if !f.IsNotDefined && m.properties(f.Props, c) {
			left = append(left, c)
		}
	}
	if f.IsNotDefined || len(left) == 0 {
		return !defined && f.IsNotDefined, nil
	}
	left, err := m.nested(f.Components, left)
	if err != nil || len(left) == 0 || f.TimeRange == nil {
		return len(left) > 0, err
	}
	return m.takesPlace(f.TimeRange.window(), at.parent, left)
}

// nested keeps the components whose own components match the filters.
func (m *matcher) nested(filters []CompFilter, left []*ical.Component) ([]*ical.Component, error) {
	if len(filters) == 0 {
		return left, nil
	}
	var failed error
	left = slices.DeleteFunc(left, func(c *ical.Component) bool {
		ok, err := m.components(filters, in(c))
		if err != nil && failed == nil {
			failed = err
		}
		return !ok
	})
	if len(left) > 0 {
		// One match suffices, even if other components failed.
		return left, nil
	}
	return nil, failed
}
