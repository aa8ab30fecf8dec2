// Package render gives a calendar object in the shape in which a reader wants it: expanded
// into its instances, cut to a time, or with only some of its components and properties
// (RFC 4791 §9.6).
package render

import (
	"context"
	"unicode/utf8"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/ical"
)

// Shape is how much of an object a reader wants, and in which form. The zero Shape is the
// whole of it, as it is.
type Shape struct {
	// Expand asks for the instances in that time in place of the series (RFC 4791 §9.6.5).
	Expand *filter.TimeRange
	// Recurrences leaves out overrides that have nothing to do with that time (§9.6.6).
	Recurrences *filter.TimeRange
	// FreeBusy leaves out the FREEBUSY periods of other times (§9.6.7).
	FreeBusy *filter.TimeRange
	// Select is what is wanted of the VCALENDAR; nil is everything.
	Select *Component
}

// Whole tells whether the shape leaves an object as it is.
func (s Shape) Whole() bool { return s == Shape{} }

// Apply brings an object into shape; its parts are then no longer those of the tree. It
// fails with what [recur] says of a series that cannot be expanded within the budget, with
// a [*zone.UnknownError], or with what the meter says.
func (s Shape) Apply(ctx context.Context, o *content.Object, in filter.Context) error {
	steps := []func(context.Context, *content.Object, filter.Context) error{s.expand, s.limitRecurrences, s.limitFreeBusy}
	if s.Expand == nil {
		// It gets no longer by being cut.
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

// Legible returns an object's text as UTF-8 throughout, which XML and JSON need. RFC 5545
// §3.1 lets a fold cut a character in two: those lines are folded anew.
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
