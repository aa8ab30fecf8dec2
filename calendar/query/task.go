package query

import (
	"context"
	"math"
	"slices"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/ical"
)

// Done reports whether a task is finished or cancelled. Clients write STATUS or COMPLETED.
func (i Instance) Done() bool {
	if i.Unclear {
		return false
	}
	status := content.WordOf(i.Component, "STATUS")
	return status == string(edit.Completed) || status == string(edit.Cancelled) ||
		status == "" && i.Component.Property("COMPLETED") != nil
}

// Due returns when a task is due, or the zero moment if never.
func (i Instance) Due() recur.Moment {
	if i.Unclear || i.Component.Property("DUE") == nil && i.Component.Property("DURATION") == nil {
		return recur.Moment{}
	}
	return i.End
}

// SearchTasks finds tasks by words in their titles, texts and places, whenever they are due. Each task appears once:
// its next open instance with the words, or the last one. Open tasks come first, by due time; then finished ones, the
// latest first.
func (s *Queries) SearchTasks(ctx context.Context, c calendar.Caller, q EventSearch) (Finds, error) {
	q.Past = true
	return s.searchKind(ctx, c, calendar.Todo, q)
}

// task returns the next open instance of a task with the words, or the last finished one.
func (q search) task(
	ctx context.Context, o calendar.Object, read *content.Object, wanted []*ical.Component, in filter.Context,
) (found Instance, ok bool) {
	n := 0
	for i, err := range filter.Instances(ctx, read, filter.TimeRange{}, in) {
		if n++; err != nil || n > searchInstances {
			break
		}
		if !slices.Contains(wanted, i.Component) {
			continue
		}
		if found, ok = (Instance{Instance: i, Object: o}), true; !found.Done() {
			break
		}
	}
	if !ok || !found.Start.Time.IsZero() {
		return found, ok
	}
	// A task without a start does not recur, and its instance lacks the due time.
	if whole, err := (edit.Editor{Zones: in.Zones, Floating: in.Floating}).Find(ctx, read, ical.Time{}); err == nil {
		found.Instance = whole
	}
	return found, ok
}

// urgency orders tasks: open ones by due time, then open ones without a due time, then finished ones.
func urgency(i Instance) int64 {
	switch due := i.Due().Time; {
	case i.Done() && due.IsZero():
		return math.MaxInt64
	case i.Done():
		return math.MaxInt64/2 - due.Unix()
	case due.IsZero():
		return math.MaxInt64 / 4
	default:
		return due.Unix()
	}
}
