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

// Context is what it takes to know when an object takes place.
type Context struct {
	Zones *zone.DB
	// Floating is the zone of dates and of times without one; nil is UTC.
	Floating *zone.Zone
	// Budget bounds the expansion of one object; the zero Budget is the default.
	Budget recur.Budget
	// Meter counts what all of the request costs.
	Meter *meter.Meter
}

// Match tells whether an object is one that the filter asks for. It fails with a
// [*CollationError], with what [recur] says of a series that it cannot expand within the
// budget, with a [*zone.UnknownError], or with what the meter says.
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

// matcher decides about one object.
type matcher struct {
	ctx        context.Context
	object     *content.Object
	clock      content.Clock
	budget     recur.Budget
	expansions int
	meter      *meter.Meter
	// stopped is why the meter let nothing more be done: what was found by then is no answer.
	stopped error
}

func newMatcher(ctx context.Context, o *content.Object, in Context) *matcher {
	if in.Budget == (recur.Budget{}) {
		in.Budget = recur.DefaultBudget()
	}
	return &matcher{ctx: ctx, object: o, clock: o.Clock(in.Zones, in.Floating), budget: in.Budget, meter: in.Meter}
}

// place is where a component is looked for: among the components of its parent, or, with
// no parent, of the text.
type place struct {
	parent     *ical.Component
	components iter.Seq[*ical.Component]
}

func in(parent *ical.Component) place { return place{parent, parent.Components()} }

func one(c *ical.Component) iter.Seq[*ical.Component] {
	return func(yield func(*ical.Component) bool) { yield(c) }
}

// components tells whether all filters match in a place. Several are AND, and each may
// be met by another component.
func (m *matcher) components(filters []CompFilter, at place) (bool, error) {
	for i := range filters {
		if ok, err := m.component(&filters[i], at); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// component looks for one component that has all that is asked for: first what costs
// little, last what has to be expanded.
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

// nested keeps those components that match what is asked of their own components.
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
		// One that matches decides, whatever became of the others.
		return left, nil
	}
	return nil, failed
}
