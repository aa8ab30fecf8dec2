package render

import (
	"slices"
	"strings"

	"caldav-mcp-server/ical"
)

// Component selects what is wanted of a component (RFC 4791 §9.6.1). One that names
// nothing wants everything: the RFC's own example (§7.8.1) has an empty VTIMEZONE answered
// with the whole of it.
type Component struct {
	Name string
	// AllProperties and AllComponents want all of them, and Properties and Components then
	// add nothing.
	AllProperties bool
	Properties    []Property
	AllComponents bool
	Components    []Component
}

// Property selects the properties of a name (RFC 4791 §9.6.4).
type Property struct {
	Name string
	// WithoutValue wants no more than the name and the parameters.
	WithoutValue bool
}

func (s *Component) everything() bool {
	return !s.AllProperties && !s.AllComponents && len(s.Properties) == 0 && len(s.Components) == 0
}

// prune drops what is not wanted.
func (s *Component) prune(c *ical.Component) {
	if s.everything() {
		return
	}
	if !s.AllProperties {
		s.pruneProperties(c)
	}
	if !s.AllComponents {
		s.pruneComponents(c)
	}
}

func (s *Component) pruneProperties(c *ical.Component) {
	for _, p := range slices.Collect(c.Properties()) {
		i := slices.IndexFunc(s.Properties, func(wanted Property) bool { return strings.EqualFold(wanted.Name, p.Name()) })
		switch {
		case i < 0:
			c.RemoveProperty(p)
		case s.Properties[i].WithoutValue:
			p.SetValue("")
		}
	}
}

func (s *Component) pruneComponents(c *ical.Component) {
	for _, sub := range slices.Collect(c.Components()) {
		i := slices.IndexFunc(s.Components, func(wanted Component) bool { return strings.EqualFold(wanted.Name, sub.Name()) })
		if i < 0 {
			c.RemoveComponent(sub)
			continue
		}
		s.Components[i].prune(sub)
	}
}
