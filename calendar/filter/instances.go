package filter

import (
	"context"
	"iter"
	"slices"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/ical"
)

// Instances yields the instances of an event, task or journal entry that overlap a time range. It uses the rules of
// [Filter.Match], because RFC 4791 §9.6.5 requires an expansion to match like a query. A task without a start is
// not a series; it is one instance without times. If an error stops the iteration, it is in the last pair, as in
// [recur.Set.Between].
func Instances(ctx context.Context, o *content.Object, r TimeRange, in Context) iter.Seq2[recur.Instance, error] {
	m, w := newMatcher(ctx, o, in), r.window()
	return func(yield func(recur.Instance, error) bool) {
		all := o.Components()
		placed := all
		row := eventRow
		if o.Kind == content.Todo {
			row = taskRow
			placed = slices.DeleteFunc(slices.Clone(all), func(c *ical.Component) bool { return !content.Placed(c) })
		}
		if len(placed) < len(all) && !m.unstarted(w, all, yield) {
			return
		}
		if len(placed) == 0 {
			return
		}
		for found, err := range m.expand(w.wider(), o.Series()) {
			wanted := err != nil || slices.Contains(placed, found.Component) &&
				row(w, found.Component, found.Start.Time.Unix(), found.End.Time.Unix())
			if wanted && !yield(found, err) {
				return
			}
		}
	}
}

// unstarted yields the tasks without a start; false if the iteration was stopped.
func (m *matcher) unstarted(w window, list []*ical.Component, yield func(recur.Instance, error) bool) bool {
	for _, c := range list {
		if content.Placed(c) {
			continue
		}
		ok, err := m.unstartedRow(w, c)
		if (ok || err != nil) && (!yield(recur.Instance{Component: c}, err) || err != nil) {
			return false
		}
	}
	return true
}

// Overlaps reports whether the time from start to end overlaps the range (RFC 4791 §9.9).
func (r TimeRange) Overlaps(start, end time.Time) bool {
	return r.window().overlaps(start.Unix(), end.Unix())
}
