package filter

import (
	"slices"
	"strings"

	"caldav-mcp-server/calendar/content"
)

// Selection is what an index can narrow a filter by: an object that is not in it does not
// match, one that is may or may not.
type Selection struct {
	// Kinds are those of which a matching object can be; nil means any.
	Kinds []string
	// From and Until bound the span of a matching object, in Unix seconds: it begins before
	// Until, and ends at From or later. nil is no bound.
	From, Until *int64
	// Exact tells that every object of those kinds matches: there is nothing else to ask.
	Exact bool
}

// None tells that no object can match.
func (s Selection) None() bool { return s.Kinds != nil && len(s.Kinds) == 0 }

// Prefilter returns what an index can narrow the filter by. It is never narrower than
// [Filter.Match].
func (f Filter) Prefilter() Selection {
	s := Selection{Exact: true}
	for _, c := range f {
		switch {
		case !strings.EqualFold(string(c.Name), root):
			// There is nothing but a VCALENDAR in an object's text.
			s.only(c.IsNotDefined, nil)
		case c.IsNotDefined:
			s.only(false, nil)
		default:
			s.calendar(c)
		}
	}
	return s
}

// calendar narrows by what is asked of the VCALENDAR.
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

// component narrows by what is asked of a component of the object.
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

// only keeps those of the kinds; not possible leaves none. A nil list keeps all.
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

// during keeps what may overlap the window. Some rows of §9.9 count an end that is the
// window's as within.
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
