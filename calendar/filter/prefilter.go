package filter

import (
	"slices"
	"strings"

	"caldav-mcp-server/calendar/content"
)

// Selection is the part of a filter that an index can evaluate. Objects outside of it do not match; objects in it
// may match.
type Selection struct {
	// Kinds are the possible kinds of a matching object; nil means any.
	Kinds []string
	// From and Until limit the span of a matching object, in Unix seconds: it begins before Until, and ends at or
	// after From. nil means no limit.
	From, Until *int64
	// Exact is set if every object in the selection matches, so that no further check is needed.
	Exact bool
}

// None reports whether no object can match.
func (s Selection) None() bool { return s.Kinds != nil && len(s.Kinds) == 0 }

// Prefilter returns the selection of the filter. It is never narrower than [Filter.Match].
func (f Filter) Prefilter() Selection {
	s := Selection{Exact: true}
	for _, c := range f {
		switch {
		case !strings.EqualFold(string(c.Name), root):
			// A VCALENDAR is the only component at the top of an object's text.
			s.only(c.IsNotDefined, nil)
		case c.IsNotDefined:
			s.only(false, nil)
		default:
			s.calendar(c)
		}
	}
	return s
}

// calendar applies the conditions on the VCALENDAR.
func (s *Selection) calendar(f CompFilter) {
	if len(f.Props) > 0 {
		s.Exact = false
	}
	if f.TimeRange != nil {
		s.during(f.TimeRange.window())
	}
	for _, c := range f.Components {
		s.component(c)
	}
}

// component applies the conditions on a component of the object.
func (s *Selection) component(f CompFilter) {
	kind := strings.ToUpper(string(f.Name))
	if !slices.Contains(content.Kinds(), kind) {
		s.Exact = false
		return
	}
	if f.IsNotDefined {
		s.only(true, without(kind))
		return
	}
	s.only(true, []string{kind})
	if len(f.Props)+len(f.Components) > 0 {
		s.Exact = false
	}
	if f.TimeRange != nil {
		s.during(f.TimeRange.window())
	}
}

func without(kind string) []string {
	return slices.DeleteFunc(content.Kinds(), func(k string) bool { return k == kind })
}

// only keeps the given kinds, or none if not possible. A nil list keeps all.
func (s *Selection) only(possible bool, kinds []string) {
	switch {
	case !possible:
		s.Kinds = []string{}
	case kinds == nil:
	case s.Kinds == nil:
		s.Kinds = kinds
	default:
		s.Kinds = slices.DeleteFunc(s.Kinds, func(k string) bool { return !slices.Contains(kinds, k) })
	}
}

// during keeps objects that may overlap the window. Some rows of §9.9 include the end of the window.
func (s *Selection) during(w window) {
	s.Exact = false
	w = w.wider()
	if w.start != beginning && (s.From == nil || *s.From < w.start) {
		s.From = &w.start
	}
	if w.end != forever && (s.Until == nil || *s.Until > w.end) {
		s.Until = &w.end
	}
}
