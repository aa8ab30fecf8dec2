// Package filter matches calendar objects against the filter of a calendar-query (RFC 4791 §9.7): by components,
// properties, parameters, text and time.
package filter

import (
	"fmt"
	"time"
)

// Filter is the filter of a query. All of its members must match; an empty one matches everything. RFC 4791 §9.7
// has one member, for VCALENDAR.
type Filter []CompFilter

// CompFilter matches a component (RFC 4791 §9.7.1) of that name and parent that overlaps the time range, if all of
// Props and Components match.
type CompFilter struct {
	Name ComponentName
	// IsNotDefined matches if there is no such component; it ignores the other fields.
	IsNotDefined bool
	TimeRange    *TimeRange
	Props        []PropFilter
	Components   []CompFilter
}

// PropFilter matches a property (RFC 4791 §9.7.2) of that name that overlaps the time range and contains the text,
// if all of Params match.
type PropFilter struct {
	Name         PropertyName
	IsNotDefined bool
	TimeRange    *TimeRange
	Text         *TextMatch
	Params       []ParamFilter
}

// ParamFilter matches a parameter (RFC 4791 §9.7.3).
type ParamFilter struct {
	Name         ParameterName
	IsNotDefined bool
	Text         *TextMatch
}

// Names as in a query, in upper or lower case.
type (
	// ComponentName is the name of a component, such as VEVENT.
	ComponentName string
	// PropertyName is the name of a property, such as SUMMARY.
	PropertyName string
	// ParameterName is the name of a parameter, such as PARTSTAT.
	ParameterName string
)

// TimeRange is the time from Start until End, which is exclusive (RFC 4791 §9.9). A zero Time means no limit.
type TimeRange struct {
	Start, End time.Time
}

// Check returns a [*CollationError] if the filter has an unknown collation.
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

// CollationError reports an unknown collation, which breaks CALDAV:supported-collation (RFC 4791 §7.5).
type CollationError struct {
	Collation Collation
}

// Error returns the message.
func (e *CollationError) Error() string {
	return fmt.Sprintf("the collation %.100q is unknown; use one of %v", string(e.Collation), Collations())
}
