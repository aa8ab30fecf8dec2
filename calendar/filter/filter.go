// Package filter decides whether a calendar object is one that a calendar-query asks for
// (RFC 4791 §9.7): components, properties, parameters, their text, and when they take place.
package filter

import (
	"fmt"
	"time"
)

// Filter is what a query asks of an object. All of its members must match; none match
// everything. RFC 4791 §9.7 has one member, for VCALENDAR.
type Filter []CompFilter

// CompFilter asks for a component (RFC 4791 §9.7.1): one of that name, in its place, that
// overlaps the time range and for which all of Props and Components match.
type CompFilter struct {
	Name ComponentName
	// IsNotDefined asks that there is none; the rest is then ignored.
	IsNotDefined bool
	TimeRange    *TimeRange
	Props        []PropFilter
	Components   []CompFilter
}

// PropFilter asks for a property (RFC 4791 §9.7.2): one of that name which overlaps the
// time range, holds the text, and for which all of Params match.
type PropFilter struct {
	Name         PropertyName
	IsNotDefined bool
	TimeRange    *TimeRange
	Text         *TextMatch
	Params       []ParamFilter
}

// ParamFilter asks for a parameter (RFC 4791 §9.7.3).
type ParamFilter struct {
	Name         ParameterName
	IsNotDefined bool
	Text         *TextMatch
}

// Names as a query gives them, in upper or lower case.
type (
	// ComponentName is that of a component, such as VEVENT.
	ComponentName string
	// PropertyName is that of a property, such as SUMMARY.
	PropertyName string
	// ParameterName is that of a parameter, such as PARTSTAT.
	ParameterName string
)

// TimeRange is the time from Start up to, but not including, End (RFC 4791 §9.9). The
// zero Time leaves that end open.
type TimeRange struct {
	Start, End time.Time
}

// Check tells whether every collation in the filter is known. An error is a
// [*CollationError].
func (f Filter) Check() error {
	for _, c := range f {
		if err := c.check(); err != nil {
			return err
		}
	}
	return nil
}

func (c CompFilter) check() error {
	for _, p := range c.Props {
		if err := p.check(); err != nil {
			return err
		}
	}
	return Filter(c.Components).Check()
}

func (p PropFilter) check() error {
	if err := p.Text.check(); err != nil {
		return err
	}
	for _, param := range p.Params {
		if err := param.Text.check(); err != nil {
			return err
		}
	}
	return nil
}

// CollationError says that a query compares text in a way that we do not know, which
// breaks CALDAV:supported-collation (RFC 4791 §7.5).
type CollationError struct {
	Collation Collation
}

// Error says it in one sentence.
func (e *CollationError) Error() string {
	return fmt.Sprintf("the collation %.100q is unknown; use one of %v", string(e.Collation), Collations())
}
