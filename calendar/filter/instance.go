package filter

import (
	"iter"
	"strings"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/ical"
)

// instances reports whether an instance of one of the components satisfies a row of a table.
func (m *matcher) instances(w window, parent *ical.Component, list []*ical.Component, row instanceRow) (bool, error) {
	var failed error
	for found, err := range m.walk(w.wider(), parent, list) {
		if !m.work(1) {
			return false, m.stopped
		}
		if err != nil {
			failed = err
		} else if row(w, found.Component, found.Start.Time.Unix(), found.End.Time.Unix()) {
			return true, nil
		}
	}
	return false, failed
}

// instanceRow reports whether an instance of a component from start to end overlaps the window.
type instanceRow func(w window, c *ical.Component, start, end int64) bool

// walk yields the instances of the components that may overlap the window. An error concerns one series; the walk
// continues with the next one.
func (m *matcher) walk(w window, parent *ical.Component, list []*ical.Component) iter.Seq2[recur.Instance, error] {
	return func(yield func(recur.Instance, error) bool) {
		wanted := make(map[*ical.Component]bool, len(list))
		for _, c := range list {
			wanted[c] = true
		}
		for _, s := range m.series(parent, wanted) {
			for found, err := range m.expand(w, s) {
				if err == nil && !wanted[found.Component] {
					continue
				}
				if !yield(found, err) {
					return
				}
			}
		}
	}
}

// expand yields the instances of a series that may overlap the window.
func (m *matcher) expand(w window, s content.Series) iter.Seq2[recur.Instance, error] {
	budget, err := m.share(s)
	if err != nil {
		return func(yield func(recur.Instance, error) bool) { yield(recur.Instance{}, err) }
	}
	set, err := m.object.Set(s, m.clock)
	if err != nil {
		return func(yield func(recur.Instance, error) bool) { yield(recur.Instance{}, err) }
	}
	return set.Between(m.ctx, instant(w.start), instant(w.end), budget)
}

// expansionsMost limits the expansions of series per Match.
const expansionsMost = 200

// share returns the budget for expanding a series. All expansions share the object's budget. Untrusted objects and
// queries determine their number, so the n-th expansion gets one n-th of the budget. More than expansionsMost are
// an error.
func (m *matcher) share(s content.Series) (recur.Budget, error) {
	budget := m.budget
	if s.Master == nil {
		return budget, nil // overrides need no search
	}
	if m.expansions++; m.expansions > expansionsMost {
		return budget, &recur.BudgetError{What: "expansions", Limit: expansionsMost}
	}
	budget.Steps /= m.expansions
	return budget, nil
}

// series returns the series to expand for the wanted components, which have the same parent.
func (m *matcher) series(parent *ical.Component, wanted map[*ical.Component]bool) []content.Series {
	var list []content.Series
	for _, s := range m.families(parent, wanted) {
		if s.Master == nil || wanted[s.Master] {
			list = append(list, s)
			continue
		}
		list = append(list, withoutMaster(s, wanted)...)
	}
	return list
}

// withoutMaster returns the series to expand when only overrides are wanted. An override of a single instance is
// expanded without the master, so that an endless series is not searched for it.
func withoutMaster(s content.Series, wanted map[*ical.Component]bool) []content.Series {
	alone, whole := content.Series{}, []content.Series{}
	for _, c := range s.Overrides {
		switch {
		case !wanted[c]:
		case future(c):
			whole = []content.Series{s}
		default:
			alone.Overrides = append(alone.Overrides, c)
		}
	}
	if len(alone.Overrides) == 0 {
		return whole
	}
	return append([]content.Series{alone}, whole...)
}

// future reports whether an override also applies to all later instances (RFC 5545 §3.2.13).
func future(c *ical.Component) bool {
	id := c.Property("RECURRENCE-ID")
	if id == nil {
		return false
	}
	value, _ := id.Param("RANGE")
	return strings.EqualFold(value, "THISANDFUTURE")
}

// families groups a parent's components of the wanted name by their UID. An object has one group; a VAVAILABILITY
// has one for each AVAILABLE series.
func (m *matcher) families(parent *ical.Component, wanted map[*ical.Component]bool) []content.Series {
	if parent == m.object.Calendar {
		return []content.Series{m.object.Series()}
	}
	return content.SeriesIn(parent, nameOf(wanted))
}

func nameOf(set map[*ical.Component]bool) string {
	for c := range set {
		return c.Name()
	}
	return ""
}
