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

// Done tells whether nothing is left to do of a task. Programs write one or the other.
func (i Instance) Done() bool {
	if i.Unclear {
		return false
	}
	status := content.WordOf(i.Component, "STATUS")
	return status == string(edit.Completed) || status == string(edit.Cancelled) || status == "" && i.Component.Property("COMPLETED") != nil
}

// Due is when a task is due; the zero moment for never.
func (i Instance) Due() recur.Moment {
	if i.Unclear || i.Component.Property("DUE") == nil && i.Component.Property("DURATION") == nil {
		return recur.Moment{}
	}
	return i.End
}

// SearchTasks finds tasks by the words of their titles, texts and places, whenever they are due. Each is there once: as the next
// instance to do that has the words, or the last one. What is to do leads, by when it is due; what is done follows, the latest first.
func (s *Queries) SearchTasks(ctx context.Context, c calendar.Caller, q EventSearch) (Finds, error) {
	q.Past = true
	return s.searchKind(ctx, c, calendar.Todo, q)
}

// task finds the next instance of a task that has the words, or the last one that is done.
func (q search) task(ctx context.Context, o calendar.Object, read *content.Object, wanted []*ical.Component, in filter.Context) (found Instance, ok bool) {
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
	// A task without a start is no series; when it is due, its instance does not say.
	if whole, err := (edit.Editor{Zones: in.Zones, Floating: in.Floating}).Find(ctx, read, ical.Time{}); err == nil {
		found.Instance = whole
	}
	return found, ok
}

// urgency orders tasks: those that are never due come behind those that are, and those that are done behind both.
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
