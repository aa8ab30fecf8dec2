// Package render returns calendar objects in the form that a client requests: expanded into instances, limited to a
// time range, or with only some components and properties (RFC 4791 §9.6).
package render

import (
	"context"
	"unicode/utf8"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/ical"
)

// Shape is the requested form of an object. The zero Shape is the unchanged object.
type Shape struct {
	// Expand replaces series with their instances in that time range (RFC 4791 §9.6.5).
	Expand *filter.TimeRange
	// Recurrences removes overrides outside of that time range (§9.6.6).
	Recurrences *filter.TimeRange
	// FreeBusy removes FREEBUSY periods outside of that time range (§9.6.7).
	FreeBusy *filter.TimeRange
	// Select selects parts of the VCALENDAR; nil selects everything.
	Select *Component
}

// Whole reports whether the shape leaves an object unchanged.
func (s Shape) Whole() bool { return s == Shape{} }

// Apply changes an object to the shape; the object's fields then no longer match its tree. It returns the errors of
// [recur] for a series that exceeds the budget, a [*zone.UnknownError], or the meter's errors.
func (s Shape) Apply(ctx context.Context, o *content.Object, in filter.Context) error {
	steps := []func(context.Context, *content.Object, filter.Context) error{
		s.expand, s.limitRecurrences, s.limitFreeBusy,
	}
	if s.Expand == nil {
		// The other steps only make it shorter.
		if err := in.Meter.Make(int64(o.Calendar.Size()), 2); err != nil {
			return err
		}
	}
	for _, step := range steps {
		if err := step(ctx, o, in); err != nil {
			return err
		}
	}
	if s.Select != nil {
		s.Select.prune(o.Calendar)
	}
	return nil
}

// Legible returns an object's text as valid UTF-8, which XML and JSON need. RFC 5545 §3.1 lets a fold split a
// character; such lines are folded again.
func Legible(data []byte) []byte {
	if utf8.Valid(data) {
		return data
	}
	doc, err := ical.Parse(data, ical.Limits{})
	if err != nil || !doc.MendFolds() {
		return data
	}
	return doc.Bytes()
}
